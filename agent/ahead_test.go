package agent_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// pool boots a machine that served run a, and is clean and pooled.
func (w *world) pool() {
	w.t.Helper()
	w.online(store.JIT)
	w.release(store.ReleaseDrain)
	w.waitFor(store.RemoveOK)
	w.do(store.Transition{Event: statemachine.Pooled})
}

// grantAhead gives an idle machine a registration to listen under.
func (w *world) grantAhead() store.Registration {
	w.t.Helper()
	reg := w.grant(store.JIT)
	reg.Ahead = true
	if _, err := w.store.SetRegistration(context.Background(), w.in(), reg, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	return reg
}

// ahead pools a machine and has it listen.
func (w *world) ahead() (store.Registration, *agenttest.Listener) {
	w.t.Helper()
	w.pool()
	reg := w.grantAhead()
	time.Sleep(10 * time.Second)
	synctest.Wait()
	return reg, w.only()
}

// wantBeat fails unless the last heartbeat is of this assignment, and says that it listens under this registration.
func (w *world) wantBeat(assignment, listening int64) {
	w.t.Helper()
	time.Sleep(w.limits.Beat)
	synctest.Wait()
	if _, h := w.said(); h.Beat.Assignment != assignment || h.Beat.Listening != listening {
		w.t.Fatalf("heartbeat is of assignment %d and listens under %d, want %d and %d", h.Beat.Assignment, h.Beat.Listening, assignment, listening)
	}
}

// claimAhead claims a machine that listens, as the controller does.
func (w *world) claimAhead(run store.RequestID) {
	w.t.Helper()
	w.do(store.Transition{Event: statemachine.Claim, RunID: run, Attempt: 1, Ahead: true})
}

func (w *world) judge(run string) error {
	return agent.JobStarted(w.options.Dir, []string{"GITHUB_RUN_ID=" + run, "GITHUB_REPOSITORY=octo/repo"})
}

// An idle machine listens and says so with its heartbeats alone; claimed, its listener goes on for the run.
func TestAhead_TheListenerIsTheRuns(t *testing.T) {
	inBubble(t, func(w *world) {
		reg, l := w.ahead()
		w.wantBeat(w.in().Assignment, reg.Serial)
		w.wantSignal(store.RemoveOK, "")
		if w.judge("77") == nil {
			t.Error("an idle machine admits a job")
		}
		w.claimAhead("77")
		w.waitFor(store.RegOK)
		if got, _ := w.said(); got.Serial != reg.Serial {
			t.Errorf("the report is of registration %d, want %d", got.Serial, reg.Serial)
		}
		if l != w.only() || len(w.runner.Started()) != 2 {
			t.Error("the listener was ended, or another started")
		}
		w.wantBeat(w.in().Assignment, reg.Serial)
		if err := w.judge("77"); err != nil {
			t.Errorf("a job of the run is refused: %v", err)
		}
	})
}

// A claim without the registration is today's: the idle listener ends, and another one is started.
func TestAhead_ClaimedWithoutIt(t *testing.T) {
	inBubble(t, func(w *world) {
		_, l := w.ahead()
		reg := w.claim("77", store.JIT)
		w.waitFor(store.RegOK)
		if now := w.only(); now == l || now.Registration().Serial != reg.Serial {
			t.Errorf("the listener is that of registration %d, want %d", now.Registration().Serial, reg.Serial)
		}
	})
}

// Whatever becomes of an idle machine's listener, the agent asks for another registration and says nothing against the machine;
// it starts that one not sooner than after a pause.
func TestAhead_EndsAreFollowedByAnother(t *testing.T) {
	for name, end := range map[string]func(w *world, l *agenttest.Listener){
		"Dropped":    func(_ *world, l *agenttest.Listener) { l.Exit(agent.ExitOK, "") },
		"Refused":    func(_ *world, l *agenttest.Listener) { l.Exit(agent.ExitTerminated, store.CauseRefused) },
		"Deprecated": func(_ *world, l *agenttest.Listener) { l.Exit(agent.ExitDeprecated, store.CauseDeprecated) },
		"Conflict":   func(_ *world, l *agenttest.Listener) { l.Block(agent.CauseConflict) },
		"Foreign":    func(_ *world, l *agenttest.Listener) { l.StartJob(); l.FinishRefused() },
	} {
		t.Run(name, bubble(func(w *world) {
			reg, l := w.ahead()
			end(w, l)
			time.Sleep(time.Second)
			w.wantSignal(store.RegNext, "")
			if got, _ := w.said(); got.Serial != reg.Serial {
				w.t.Errorf("asked for the registration after %d, want after %d", got.Serial, reg.Serial)
			}
			w.wantBeat(w.in().Assignment, 0)
			next := w.grantAhead()
			time.Sleep(time.Minute)
			w.wantBeat(w.in().Assignment, next.Serial)
		}))
	}
}

// A start that fails says nothing against an idle machine either.
func TestAhead_StartFails(t *testing.T) {
	inBubble(t, func(w *world) {
		w.pool()
		broken := true
		w.runner.StartFunc = func(context.Context, store.Registration, string) error {
			if broken {
				return agent.ErrUnfit
			}
			return nil
		}
		w.grantAhead()
		w.waitFor(store.RegNext)
		broken = false
		next := w.grantAhead()
		time.Sleep(time.Minute)
		w.wantBeat(w.in().Assignment, next.Serial)
	})
}

// A machine that was claimed with a listener that has ended meanwhile asks for the run's next registration.
func TestAhead_EndedBeforeTheAgentKnew(t *testing.T) {
	inBubble(t, func(w *world) {
		reg, l := w.ahead()
		w.claimAhead("77")
		l.Exit(agent.ExitOK, "")
		w.waitFor(store.RegNext)
		if got, _ := w.said(); got.RunID != "77" || got.Serial != reg.Serial {
			t.Errorf("reported %+v, want the next registration of run 77 asked for", got)
		}
	})
}

// A restarted agent goes on with the listener, idle or claimed meanwhile.
func TestAhead_AgentRestarts(t *testing.T) {
	inBubble(t, func(w *world) {
		reg, l := w.ahead()
		w.restart()
		w.wantBeat(w.in().Assignment, reg.Serial)
		w.stop()
		w.claimAhead("77")
		w.boot()
		w.waitFor(store.RegOK)
		if l != w.only() {
			t.Error("the listener was not adopted")
		}
	})
}

// Confirm makes the hook's state as new as its job: a run that has claimed the machine is known then, and where none has
// nothing is; while the record cannot be read nothing is said. It reads once in a second, however often it is asked.
func TestConfirm_ReadsTheRecord(t *testing.T) {
	inBubble(t, func(w *world) {
		w.ahead()
		reading := func(c store.Consistency) func(call) bool {
			return func(got call) bool { return !got.put && got.c == c }
		}
		alone := func(then verdict) { // the agent learns nothing by itself, and Confirm meets this
			w.table.set(func(_ context.Context, c call) verdict {
				switch {
				case reading(store.Eventual)(c):
					return down
				case reading(store.Consistent)(c):
					return then
				}
				return fine
			})
		}
		alone(fine)
		confirm := func() error { return w.agent.Confirm(context.Background()) }
		if err := confirm(); err != nil || w.judge("77") == nil {
			t.Errorf("Confirm of an idle machine = %v, and its hook admits a job", err)
		}
		w.claimAhead("77")
		time.Sleep(10 * time.Second)
		if w.judge("77") == nil {
			t.Fatal("the hook knows of the run before its agent: the test shows nothing")
		}
		alone(down)
		if err := confirm(); !errors.Is(err, store.ErrUnavailable) || w.judge("77") == nil {
			t.Errorf("Confirm without a store = %v, want ErrUnavailable and nothing learned", err)
		}
		alone(fine)
		before, began := w.table.count(reading(store.Consistent)), time.Now()
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				if err := confirm(); err != nil {
					t.Errorf("Confirm = %v", err)
				}
			})
		}
		calls.Wait()
		if got := w.table.count(reading(store.Consistent)) - before; got != 1 || time.Since(began) > 2*time.Second {
			t.Errorf("five calls made %d reads in %s, want 1", got, time.Since(began))
		}
		if err := w.judge("77"); err != nil {
			t.Errorf("the hook refuses a job of the run that was confirmed: %v", err)
		}
		w.waitFor(store.RegOK)
	})
}

// H60: an idle machine that listens ahead reads its record once in two seconds, eventually, which costs half, and writes a heartbeat
// every 15 s.
func TestAhead_IdleCosts_H60(t *testing.T) {
	inBubble(t, func(w *world) {
		w.ahead()
		time.Sleep(5 * time.Second)
		reads := func(c call) bool { return !c.put && c.c == store.Eventual }
		others := func(c call) bool { return c.put || c.c != store.Eventual }
		read, wrote := w.table.count(reads), w.table.count(others)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := w.table.count(reads) - read; n < 140 || n > 160 {
			t.Errorf("%d reads in five minutes, want 150", n)
		}
		if n := w.table.count(others) - wrote; n < 18 || n > 22 {
			t.Errorf("%d heartbeats in five minutes, want 20", n)
		}
	})
}
