package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// worker compares record and machine, and acts. All of it is its own goroutine's.
type worker struct {
	o       *Options
	log     *slog.Logger
	disk    *disk
	key     store.MachineKey // opens registrations
	outbox  *outbox
	deadman *deadman
	watch   *watch
	heart   *heart
	keeper  *keeper

	confirmer *confirmer

	retry   retry
	pause   *backoff.ExponentialBackOff
	started time.Time // when the listener was started or adopted
	online  time.Time // when it was first seen online; zero: not yet
	refused int       // jobs of the listener that the hook refused
}

// run runs the script, takes over what an earlier agent left, and then steps until ctx ends.
func (w *worker) run(ctx context.Context) {
	defer w.leave()
	if !w.prepare(ctx) || !w.adopt(ctx) {
		return
	}
	for ctx.Err() == nil && !w.deadman.halted.Load() {
		wake, more := w.step(ctx)
		if !more {
			w.sleep(ctx, wake)
		}
	}
}

// sleep waits until something changes, or until wake unless that is zero.
func (w *worker) sleep(ctx context.Context, wake time.Time) {
	var changed <-chan struct{}
	if l := w.heart.current(); l != nil {
		changed = l.Changed()
	}
	var due <-chan time.Time
	if !wake.IsZero() {
		due = w.o.Clock.After(wake.Sub(w.o.Clock.Now()))
	}
	select {
	case <-ctx.Done():
	case <-w.watch.changed:
	case <-changed:
		poke(w.heart.now)
	case <-due:
	}
}

// leave hands a live listener to the next agent; a halted machine has none.
func (w *worker) leave() {
	l := w.heart.current()
	if l == nil {
		return
	}
	if w.deadman.halted.Load() {
		l.Kill()
	}
	l.Detach()
}

// prepare runs the script unless it was run, after a first heartbeat. It returns false if ctx ended
// first; the next agent then runs it anew.
func (w *worker) prepare(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-w.heart.first:
	case <-w.o.Clock.After(w.o.Beat): // the store hangs; that is no reason not to be ready when it is back
	}
	if w.disk.get().Script.Done {
		return true
	}
	var err error
	var took time.Duration
	if w.o.Script != nil {
		w.heart.setPhase(RunnerScript)
		began := w.o.Clock.Now()
		err = w.o.Script.Run(ctx)
		if ctx.Err() != nil {
			return false
		}
		took = w.o.Clock.Since(began).Round(time.Millisecond)
		w.log.Info("script ended", logkey.Seconds, took.Seconds(), logkey.Error, err)
		w.heart.setPhase("")
	}
	done := ScriptState{Done: true, Seconds: store.SecondsOf(took)}
	if err != nil {
		done.Failed = err.Error()
	}
	w.disk.save(func(s *State) { s.Script = done })
	return true
}

// adopt takes over the listener of an earlier agent, and makes sure that there is no other. It
// returns false if ctx ended first.
func (w *worker) adopt(ctx context.Context) bool {
	try := func() error {
		work := w.disk.get().Work
		l, err := w.o.Runner.Adopt(ctx, work.Listener, work.Boundary)
		if err != nil {
			return err
		}
		if l != nil {
			w.log.Info("listener adopted", logkey.Runner, work.Name, logkey.PID, l.Ref().PID)
		}
		w.setListener(l)
		return nil
	}
	again := func(err error, wait time.Duration) {
		w.log.Error("a running listener could not be adopted; it is tried again", logkey.Error, err, logkey.Seconds, wait.Seconds())
	}
	return backoff.RetryNotify(try, backoff.WithContext(newPause(), ctx), again) == nil
}

// step compares record and machine once, reports, and does what is due. It returns when to look
// again, or that it must be called again at once.
func (w *worker) step(ctx context.Context) (wake time.Time, more bool) {
	in, ok := w.watch.newest()
	if !ok {
		return time.Time{}, false
	}
	f := w.observe(in, w.o.Clock.Now())
	w.watch.hurry(f.pace())
	d := decide(f, w.o.Clock.Now())
	w.report(d.report)
	switch d.do {
	case clean:
		return w.clean(ctx, in)
	case assume:
		return w.assume(in)
	case start:
		w.start(ctx, in, d.material)
		return time.Time{}, true
	case retire:
		return w.retire(ctx, d)
	case wait:
	}
	return d.wake, false
}

// assume takes over the assignment of the run that the listener is for now.
func (w *worker) assume(in store.Instance) (wake time.Time, more bool) {
	if err := w.disk.assume(in); err != nil {
		w.log.Error("the agent's state could not be saved; it is tried again", logkey.Error, err)
		return w.o.Clock.Now().Add(w.o.Poll), false
	}
	w.retry.failures, w.retry.at = 0, time.Time{}
	w.log.Info("listener is a run's", logkey.RequestID, in.RunID, logkey.Assignment, in.Assignment)
	return time.Time{}, true
}

// observe collects the facts.
func (w *worker) observe(in store.Instance, now time.Time) facts {
	var listener *Status
	if l := w.heart.current(); l != nil {
		st := l.Status()
		w.learn(st, now)
		listener = &st
	}
	s := w.disk.get()
	f := facts{
		record: in, script: s.Script, work: s.Work, foul: s.Foul, serial: s.Serial, listener: listener, retry: w.retry,
		since: w.started, onlineLimit: w.o.OnlineLimit,
	}
	if listener == nil && (in.RunID != "" || in.Ahead()) {
		f.refusal = w.o.Refusal(in.ResourceClass)
	}
	return f
}

// unjudged is why a machine is given up after a job that the job-started hook neither let in nor refused.
const unjudged = "a job ended here that the job-started hook did not judge: it was cancelled before that, or it ran without leave"

// learn keeps what the status of a listener says for longer than the listener lives.
func (w *worker) learn(st Status, now time.Time) {
	work := w.disk.get().Work
	if id := max(work.RunnerID, st.RunnerID); st.Online && !work.Online || id != work.RunnerID {
		w.disk.save(func(s *State) { s.Work.Online, s.Work.RunnerID = work.Online || st.Online, id })
	}
	if st.Unjudged > 0 && w.disk.get().Foul == "" {
		w.log.Error("a job ended that the job-started hook neither admitted nor refused", logkey.Runner, work.Name)
		w.disk.save(func(s *State) { s.Foul = unjudged })
	}
	if st.Refused > w.refused {
		w.log.Warn("a job of another run or repository was refused", logkey.Runner, work.Name)
	}
	w.refused = st.Refused
	if st.Online && w.online.IsZero() {
		w.online = now
	}
	if st.Jobs > 0 || !w.online.IsZero() && now.Sub(w.online) >= stable {
		w.retry.failures = 0
		w.pause.Reset()
	}
}

// setListener notes which listener there is; nil: none.
func (w *worker) setListener(l Listener) {
	w.heart.setListener(l)
	w.started, w.online = w.o.Clock.Now(), time.Time{}
}

// report makes v the agent's report, if it is one, unless it says so already. Another detail is nothing new.
func (w *worker) report(v store.SignalValue) {
	last := w.disk.get().Report
	last.Detail = v.Detail
	if v.Signal == "" || last == v {
		return
	}
	if rejects(v) { // before others know, who may end the machine
		w.keeper.now(string(v.Signal))
	}
	w.disk.save(func(s *State) { s.Report = v })
	// A run whose listener was ahead has had its answer, as a rule, when its agent learns of it. Its word is for the gate, which
	// closes after minutes; who waits for it, since listeners were refused of late, reads it every two seconds.
	w.outbox.post(v, v.Signal == store.RegOK && v.Assignment != last.Assignment && w.disk.get().Work.Ahead)
}
