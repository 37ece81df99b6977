package agent

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// work runs the script, takes over what an earlier agent left, and then steps until ctx ends.
func (a *Agent) work(ctx context.Context) {
	defer a.leave()
	if !a.prepare(ctx) || !a.adopt(ctx) {
		return
	}
	for ctx.Err() == nil && !a.deadman.halted.Load() {
		wake, more := a.step(ctx)
		if !more {
			a.sleep(ctx, wake)
		}
	}
}

// sleep waits until something changes, or until wake unless that is zero.
func (a *Agent) sleep(ctx context.Context, wake time.Time) {
	var changed <-chan struct{}
	if l := a.current(); l != nil {
		changed = l.Changed()
	}
	var due <-chan time.Time
	if !wake.IsZero() {
		t := a.o.Clock.NewTimer(wake.Sub(a.o.Clock.Now()))
		defer t.Stop()
		due = t.C()
	}
	select {
	case <-ctx.Done():
	case <-a.kick:
	case <-changed:
		poke(a.beatNow)
	case <-due:
	}
}

// leave hands a live listener to the next agent; a halted machine has none.
func (a *Agent) leave() {
	l := a.current()
	if l == nil {
		return
	}
	if a.deadman.halted.Load() {
		l.Kill()
	}
	l.Detach()
}

// prepare runs the script unless it was run, after a first heartbeat. It returns false if ctx ended
// first; the next agent then runs it anew.
func (a *Agent) prepare(ctx context.Context) bool {
	t := a.o.Clock.NewTimer(a.o.Beat)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-a.beaten:
	case <-t.C(): // the store hangs; that is no reason not to be ready when it is back
	}
	if a.disk.get().Script.Done {
		return true
	}
	var err error
	if a.o.Script != nil {
		a.setPhase(RunnerScript)
		began := a.o.Clock.Now()
		err = a.o.Script.Run(ctx)
		if ctx.Err() != nil {
			return false
		}
		a.log.Info("script ended", logkey.Seconds, a.o.Clock.Since(began).Seconds(), logkey.Error, err)
		a.setPhase("")
	}
	done := ScriptState{Done: true}
	if err != nil {
		done.Failed = err.Error()
	}
	a.save(func(s *State) { s.Script = done })
	return true
}

// adopt takes over the listener of an earlier agent, and makes sure that there is no other. It
// returns false if ctx ended first.
func (a *Agent) adopt(ctx context.Context) bool {
	try := func() error {
		w := a.disk.get().Work
		l, err := a.o.Runner.Adopt(ctx, w.Listener, w.Name)
		if err != nil {
			return err
		}
		if l != nil {
			a.log.Info("listener adopted", logkey.Runner, w.Name, logkey.PID, l.Ref().PID)
		}
		a.setListener(l)
		return nil
	}
	again := func(err error, wait time.Duration) {
		a.log.Error("adopt listener", logkey.Error, err, logkey.Seconds, wait.Seconds())
	}
	return backoff.RetryNotify(try, backoff.WithContext(newPause(), ctx), again) == nil
}

// step compares record and machine once, reports, and does what is due. It returns when to look
// again, or that it must be called again at once.
func (a *Agent) step(ctx context.Context) (wake time.Time, more bool) {
	in, ok := a.newest()
	if !ok {
		return time.Time{}, false
	}
	f := a.observe(in, a.o.Clock.Now())
	a.setPace(f)
	d := decide(f, a.o.Clock.Now())
	if d.report.Signal != "" {
		a.report(d.report)
	}
	switch d.do {
	case clean:
		return a.clean(ctx, in)
	case start:
		a.start(ctx, in, d.material)
		return time.Time{}, true
	case retire:
		return a.retire(ctx, d)
	case rest:
	}
	return d.wake, false
}

// observe collects the facts.
func (a *Agent) observe(in store.Instance, now time.Time) facts {
	l := a.current()
	var st Status
	if l != nil {
		st = l.Status()
		a.learn(st, now)
	}
	s := a.disk.get()
	f := facts{
		record: in, script: s.Script, work: s.Work, foul: s.Foul, serial: s.Serial, retry: a.retry,
		since: a.started, onlineLimit: a.o.OnlineLimit,
	}
	if l != nil {
		f.listener = &st
	}
	return f
}

// unjudged is why a machine is given up after a job that the job-started hook neither let in nor refused.
const unjudged = "a job ended here that the job-started hook did not judge: it was cancelled before that, or it ran without leave"

// learn keeps what the status of a listener tells for longer than the listener lives.
func (a *Agent) learn(st Status, now time.Time) {
	w := a.disk.get().Work
	if id := max(w.RunnerID, st.RunnerID); st.Online && !w.Online || id != w.RunnerID {
		a.save(func(s *State) { s.Work.Online, s.Work.RunnerID = w.Online || st.Online, id })
	}
	if st.Unjudged > 0 && a.disk.get().Foul == "" {
		a.log.Error("job without a verdict", logkey.Runner, w.Name)
		a.save(func(s *State) { s.Foul = unjudged })
	}
	if st.Refused > a.refused {
		a.log.Warn("job of another run or repository refused", logkey.Runner, w.Name)
	}
	a.refused = st.Refused
	if st.Online && a.online.IsZero() {
		a.online = now
	}
	if st.Jobs > 0 || !a.online.IsZero() && now.Sub(a.online) >= stable {
		a.retry.failures = 0
		a.pause.Reset()
	}
}

// setPace chooses the poll interval: short while the next step is the controller's.
func (a *Agent) setPace(f facts) {
	waiting := f.script.Failed == "" && !f.work.Dirty && (f.listener == nil || f.listener.State == Exited)
	if a.fast.Swap(waiting) != waiting && waiting {
		poke(a.readNow)
	}
}

// current returns the listener, or nil.
func (a *Agent) current() Listener {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.listener
}

func (a *Agent) setListener(l Listener) {
	a.mu.Lock()
	a.listener = l
	a.mu.Unlock()
	a.started, a.online = a.o.Clock.Now(), time.Time{}
	poke(a.beatNow)
}

// setPhase shows in the heartbeat what the agent does besides watching a listener.
func (a *Agent) setPhase(phase string) {
	a.mu.Lock()
	a.phase = phase
	a.mu.Unlock()
	poke(a.beatNow)
}

// setEnding keeps for the heartbeat why the last listener ended.
func (a *Agent) setEnding(e Ending) {
	a.mu.Lock()
	a.ending = e
	a.mu.Unlock()
}

// report makes v the agent's report unless it says so already. Another detail is nothing new.
func (a *Agent) report(v store.SignalValue) {
	last := a.disk.get().Report
	last.Detail = v.Detail
	if last == v {
		return
	}
	a.save(func(s *State) { s.Report = v })
	a.outbox.post(v)
}
