package agent_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// op is one thing that happens to a machine or its record. One that is not possible when its turn
// comes does nothing.
type op string

const (
	opClaim      op = "claim" // pooled if need be, even if the agent has not reported clean
	opGrant      op = "grant" // material for the present assignment
	opHandOver   op = "hand over"
	opRelease    op = "release"     // waits for jobs
	opReleaseNow op = "release now" // does not
	opStartJob   op = "start job"
	opFinishJob  op = "finish job"
	opCrash      op = "crash" // of the listener
	opLapse      op = "lapse" // GitHub removes the runner
	opBlock      op = "block" // the listener loses GitHub
	opUnblock    op = "unblock"
	opRestart    op = "restart" // of the agent
	opWeak       op = "weak"    // the store fails, forgets to answer and lies from here on
	opHonest     op = "honest"  // and no more
	opMoment     op = "a moment"
	opSeconds    op = "some seconds"
	opMinute     op = "a minute"
)

var ops = []op{
	opClaim, opClaim, opGrant, opGrant, opHandOver, opRelease, opRelease, opReleaseNow, opStartJob, opStartJob, opFinishJob,
	opCrash, opLapse, opBlock, opUnblock, opRestart, opWeak, opHonest, opMoment, opSeconds, opSeconds, opMinute,
}

// law keeps the first violation.
type law struct {
	mu        sync.Mutex
	violation error
	random    *rand.Rand
	runs      map[int64]store.RequestID // by assignment
	used      store.RequestID           // whose listener was on the machine since it was cleaned
	ended     time.Time                 // when the record became terminated
}

func (l *law) broken(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.violation == nil {
		l.violation = fmt.Errorf(format, args...)
	}
}

// dice returns a number in [0,n).
func (l *law) dice(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.random.IntN(n)
}

// player carries a history out on a world.
type player struct {
	*world
	law    *law
	claims int
	jobs   map[*agenttest.Listener]bool // busy when last looked at
	doomed map[*agenttest.Listener]bool // may be ended with its job
}

func newPlayer(t *testing.T, dir string, seed uint64) *player {
	w := newWorld(t)
	w.options.Dir, w.options.IdlePoll = dir, time.Second
	w.limits = statemachine.Limits{Created: 100 * time.Hour, Claimed: 100 * time.Hour, Running: 100 * time.Hour, Idle: 100 * time.Hour}
	p := &player{
		world: w, law: &law{random: rand.New(rand.NewPCG(seed, 1)), runs: map[int64]store.RequestID{1: "run-0"}},
		jobs: map[*agenttest.Listener]bool{}, doomed: map[*agenttest.Listener]bool{},
	}
	w.runner.Latency, w.runner.StopFor = 2*time.Second, time.Second
	w.runner.StartFunc, w.machine.ScrubFunc = p.started, p.scrubbed
	w.launch("run-0")
	w.boot()
	return p
}

// started judges a registration, and takes its time.
func (p *player) started(ctx context.Context, reg store.Registration, label string) error {
	p.law.mu.Lock()
	run, used, ended := p.law.runs[reg.Assignment], p.law.used, p.law.ended
	p.law.used = store.RequestID(label)
	p.law.mu.Unlock()
	switch {
	case label != string(run):
		p.law.broken("registered for %q with material of run %q", label, run)
	case used != "" && used != run:
		p.law.broken("registered for %q on a machine that %q used", run, used)
	case !ended.IsZero() && time.Since(ended) > 3*time.Second:
		p.law.broken("registered %s after the end", time.Since(ended))
	}
	return pause(ctx, time.Duration(p.law.dice(4))*time.Second)
}

// scrubbed takes its time too.
func (p *player) scrubbed(ctx context.Context) error {
	if n := len(p.runner.Alive()); n != 0 {
		p.law.broken("scrubbed beside %d listeners", n)
	}
	if err := pause(ctx, time.Duration(p.law.dice(4))*time.Second); err != nil {
		return err
	}
	p.law.mu.Lock()
	p.law.used = ""
	p.law.mu.Unlock()
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// lie decides one call of the agent while the store is weak.
func (p *player) lie(_ context.Context, c call) verdict {
	switch n := p.law.dice(10); {
	case n == 0:
		return down
	case n == 1 && c.put:
		return lost
	case n <= 3 && !c.put:
		return stale
	}
	return fine
}

// play carries out one operation.
func (p *player) play(o op) {
	in := p.in()
	switch o {
	case opMoment:
		time.Sleep(100 * time.Millisecond)
	case opSeconds:
		time.Sleep(4 * time.Second)
	case opMinute:
		time.Sleep(time.Minute)
	case opRestart:
		p.restart()
	case opWeak:
		p.table.set(p.lie)
	case opHonest:
		p.table.set(nil)
	case opClaim:
		if in.State == statemachine.Idle {
			p.claims++
			run := store.RequestID(fmt.Sprintf("run-%d", p.claims%3)) // the same one may come back
			p.law.mu.Lock()
			p.law.runs[in.Assignment+1] = run
			p.law.mu.Unlock()
			p.claim(run, p.mode())
		}
	case opGrant:
		if in.State.Owned() {
			p.grant(p.mode())
		}
	case opHandOver:
		if in.State == statemachine.Created || in.State == statemachine.Claimed {
			p.do(store.Transition{Event: statemachine.HandedOver})
		}
	case opRelease, opReleaseNow:
		p.giveBack(in, o == opReleaseNow)
	default:
		for _, l := range p.runner.Alive() {
			p.disturb(o, l)
		}
	}
}

func (p *player) mode() store.RegistrationMode {
	return []store.RegistrationMode{store.JIT, store.Token}[p.law.dice(2)]
}

func (p *player) giveBack(in store.Instance, now bool) {
	if !in.State.Owned() {
		return
	}
	if !now {
		p.release(store.ReleaseDrain)
		return
	}
	for _, l := range p.runner.Alive() {
		p.doomed[l] = true
	}
	p.release(store.ReleaseNow)
}

// disturb does something to a listener.
func (p *player) disturb(o op, l *agenttest.Listener) {
	switch o {
	case opStartJob:
		l.StartJob()
	case opFinishJob:
		p.doomed[l] = l.FinishJob() || p.doomed[l]
	case opCrash:
		p.doomed[l] = l.Exit(agent.ExitTerminated, "") || p.doomed[l]
	case opLapse:
		p.doomed[l] = l.Exit(agent.ExitTerminated, store.CauseRefused) || p.doomed[l]
	case opBlock:
		l.Block(store.CauseUnavailable)
	default:
		l.Unblock()
	}
}

// check looks for violations that show at any time.
func (p *player) check(when string) {
	if n := p.runner.Most(); n > 1 {
		p.law.broken("%s: %d listeners at once", when, n)
	}
	for _, l := range p.runner.Started() {
		st := l.Status()
		if p.jobs[l] && st.State == agent.Exited && !p.doomed[l] {
			p.law.broken("%s: a job of %s was ended", when, l.Name())
		}
		p.jobs[l] = st.State == agent.Busy
	}
	if halts := p.machine.Halts(); len(halts) > 0 {
		p.law.broken("%s: halted: %s", when, halts[0])
	}
}

// quiet lets everything settle, and wants the answer to the present assignment.
func (p *player) quiet() {
	p.table.set(nil)
	for _, l := range p.runner.Alive() {
		p.disturb(opUnblock, l)
		p.disturb(opFinishJob, l)
	}
	time.Sleep(2 * time.Minute)
	in := p.in()
	want := store.RemoveOK
	if in.RunID != "" {
		want = store.RegOK
		p.grant(store.Token)
		time.Sleep(2 * time.Minute)
	}
	synctest.Wait()
	p.check("when quiet")
	if got, _ := p.said(); got.Signal != want || got.RunID != in.RunID || got.Assignment != in.Assignment {
		p.law.broken("when quiet the signal is %+v, want %s for run %q, assignment %d", got, want, in.RunID, in.Assignment)
	}
	alive := p.runner.Alive()
	if want == store.RegOK && (len(alive) != 1 || alive[0].Label() != string(in.RunID) || alive[0].Registration().Serial != p.serial) {
		p.law.broken("when quiet %d listeners live, want one of run %q", len(alive), in.RunID)
	}
	if want == store.RemoveOK && len(alive) != 0 {
		p.law.broken("when quiet %d listeners live on a clean machine", len(alive))
	}
}

// end terminates the record, and wants the machine off.
func (p *player) end() {
	p.do(store.Transition{Event: statemachine.Dismissed})
	p.law.mu.Lock()
	p.law.ended = time.Now()
	p.law.mu.Unlock()
	time.Sleep(10 * time.Second)
	synctest.Wait()
	if got := p.machine.Halts(); len(got) != 1 || len(p.runner.Alive()) != 0 {
		p.law.broken("after the end: halts %q, %d listeners; want one halt and none", got, len(p.runner.Alive()))
	}
}
