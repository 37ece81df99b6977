package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S14 S16 S37 S39 S40 H71: script, then registration under exactly the run's label, and ready is
// reported only when the listener is online.
func TestAgent_Boot_ReportsScriptThenOnline_S14_S16_S37_S39_S40_H71(t *testing.T) {
	inBubble(t, func(w *world) {
		w.options.Script = scriptFunc(func(context.Context) error {
			w.wantStarted(0)
			time.Sleep(20 * time.Second)
			return nil
		})
		w.launch("run-a")
		w.boot()
		time.Sleep(19 * time.Second)
		if got, _ := w.said(); got.Signal != "" {
			t.Fatalf("signal during the script = %+v, want none", got)
		}
		w.after(2*time.Second, store.ScriptOK, "")

		reg := w.grant(store.JIT)
		time.Sleep(2400 * time.Millisecond) // polled within 250 ms ± 20 %, online 2.7 s later
		w.wantSignal(store.ScriptOK, "")
		w.after(time.Second, store.RegOK, "")
		if got, _ := w.said(); got.Serial != reg.Serial {
			t.Errorf("signal names serial %d, want %d", got.Serial, reg.Serial)
		}
		l := w.only()
		if l.Label() != "run-a" || l.Name() != reg.Name {
			t.Errorf("listener %q has label %q, want %q with run-a", l.Name(), l.Label(), reg.Name)
		}
	})
}

// S39 S40 H44 H46: a failed script is reported with its last lines, and nothing is ever registered or reported ready.
func TestAgent_ScriptFails_Reported_S39(t *testing.T) {
	inBubble(t, func(w *world) {
		w.options.Script = scriptFunc(func(context.Context) error { return errors.New("exit status 7: no disk") })
		w.begin(store.JIT)
		w.after(time.Second, store.ScriptFailed, "")
		if got, _ := w.said(); !strings.Contains(got.Detail, "exit status 7: no disk") {
			t.Errorf("detail = %q, want the script's status and last lines", got.Detail)
		}
		w.release(store.ReleaseDrain) // it must not be reported clean either
		w.after(5*time.Second, store.ScriptFailed, "")
		w.wantStarted(0)
	})
}

// S17 S41 S86: clearing the run ends the listener and cleans the machine before it is reported.
func TestAgent_Released_DeregistersScrubsReports_S17_S41_S86(t *testing.T) {
	inBubble(t, func(w *world) {
		begun, finish := make(chan struct{}), make(chan struct{})
		w.machine.ScrubFunc = func(context.Context) error {
			if n := len(w.runner.Alive()); n != 0 {
				t.Errorf("%d listeners are alive during the scrub", n)
			}
			close(begun)
			<-finish
			return nil
		}
		w.online(store.Token)
		w.release(store.ReleaseDrain)
		<-begun
		time.Sleep(time.Second) // a phase that lasts is shown
		synctest.Wait()
		if got, beat := w.said(); got.Signal == store.RemoveOK || beat.Beat.Runner != agent.RunnerCleaning {
			t.Errorf("during the scrub signal = %s, runner = %q; want no %s yet and %q", got.Signal, beat.Beat.Runner, store.RemoveOK, agent.RunnerCleaning)
		}
		close(finish)
		w.wantSignal(store.RemoveOK, "")
		for _, l := range w.runner.Started() {
			if l.StartJob() {
				t.Errorf("listener %s took a job after it was reported gone", l.Name())
			}
		}
	})
}

// S84: a machine that cannot be cleaned says so, and registers for no one until it was cleaned.
func TestAgent_ScrubFails_Reported_S41_H42(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		w.machine.ScrubFunc = func(context.Context) error { return errors.New("process 77 cannot be killed") }
		w.release(store.ReleaseDrain)
		w.after(3*time.Second, store.RemoveFailed, "")
		w.claim("b", store.JIT) // against all rules
		w.after(5*time.Second, store.RegFailed, store.CauseMachine)
		w.wantStarted(1)
	})
}

// H38: a running job is waited for, and shown as busy with its own assignment meanwhile.
func TestAgent_ReleasedWhileBusy_Drains_H38(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		l.StartJob()
		before := w.in().Assignment
		w.release(store.ReleaseDrain)
		time.Sleep(time.Minute)
		if got, beat := w.said(); !beat.Beat.Busy || beat.Beat.Assignment != before || got.Assignment != before {
			t.Errorf("while draining beat = %+v, signal = %+v; want busy with assignment %d and no answer", beat.Beat, got, before)
		}
		if l.Status().State != agent.Busy {
			t.Fatal("the job was killed")
		}
		l.FinishJob()
		w.after(100*time.Millisecond, store.RemoveOK, "")
		if _, beat := w.said(); beat.Beat.Busy {
			t.Errorf("after the job beat = %+v, want none busy", beat.Beat)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if _, beat := w.said(); beat.Beat.Busy || beat.Beat.Assignment != w.in().Assignment {
			t.Errorf("after the job beat = %+v, want idle with the new assignment", beat.Beat)
		}
	})
}

// H38: a job that comes between the decision to stop the listener and the stop is waited for too: the machine is
// neither scrubbed under it nor reported clean.
func TestAgent_JobArrivesAtStop_Drains_H38(t *testing.T) {
	inBubble(t, func(w *world) {
		w.runner.OnStop = func(l *agenttest.Listener) { l.StartJob() }
		l := w.online(store.JIT)
		before := w.in().Assignment
		w.release(store.ReleaseDrain)
		time.Sleep(time.Minute)
		if l.Status().State != agent.Busy {
			t.Fatal("the job was killed")
		}
		if got, beat := w.said(); got.Assignment != before || !beat.Beat.Busy || beat.Beat.Assignment != before || w.machine.Scrubs() != 0 {
			t.Errorf("while the job runs signal = %+v, beat = %+v, %d scrubs; want busy with assignment %d, no answer, no scrub",
				got, beat.Beat, w.machine.Scrubs(), before)
		}
		l.FinishJob()
		w.wantSignal(store.RemoveOK, "")
	})
}

// A cancelled run does not wait.
func TestAgent_ReleasedNow_EndsJob(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		l.StartJob()
		w.release(store.ReleaseNow)
		w.after(3*time.Second, store.RemoveOK, "")
		if l.Status().State != agent.Exited {
			t.Error("the job outlived a release that does not wait")
		}
	})
}

// H18: the time that a job takes to be cut is not that of the clean-up.
func TestAgent_ReleasedNow_CutTakesLong_H18(t *testing.T) {
	inBubble(t, func(w *world) {
		w.options.CleanLimit, w.runner.StopFor = 20*time.Second, 40*time.Second
		l := w.online(store.JIT)
		l.StartJob()
		w.release(store.ReleaseNow)
		w.after(45*time.Second, store.RemoveOK, "")
	})
}

// H40: run a → none → run a between two reads is a new assignment.
func TestAgent_SameRunAgain_NoticedByAssignment_H40(t *testing.T) {
	inBubble(t, func(w *world) {
		first := w.online(store.Token)
		w.release(store.ReleaseDrain)
		w.claim("a", store.Token)
		w.after(10*time.Second, store.RegOK, "")
		if first.Status().State != agent.Exited || w.machine.Scrubs() != 1 {
			t.Errorf("first listener is %s, %d scrubs; want it ended and one scrub in between", first.Status().State, w.machine.Scrubs())
		}
		if second := w.only(); second == first {
			t.Error("the listener of the old assignment was kept")
		}
	})
}

// Scrubbed between two runs even if the agent never saw the time between them, job waited for.
func TestAgent_MovedToAnotherRun_DrainsAndScrubsFirst_H42(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		l.StartJob()
		w.release(store.ReleaseDrain)
		w.claim("b", store.JIT)
		time.Sleep(30 * time.Second)
		if l.Status().State != agent.Busy {
			t.Fatal("the job of run a was killed for run b")
		}
		l.FinishJob()
		w.after(5*time.Second, store.RegOK, "")
		if w.machine.Scrubs() != 1 || w.only().Label() != "b" {
			t.Errorf("%d scrubs, label %q; want 1 and b", w.machine.Scrubs(), w.only().Label())
		}
	})
}

// Every assignment is answered, also when there is nothing to remove.
func TestAgent_UnownedBeforeItBooted_StillAnswers(t *testing.T) {
	inBubble(t, func(w *world) {
		w.launch("a")
		w.release(store.ReleaseDrain)
		w.boot()
		w.after(time.Second, store.RemoveOK, "")
	})
}

// S85 S87 S88: ten cycles on one machine; the script runs once, an assignment is noticed at once.
func TestAgent_TenCycles_S85_S87_S88(t *testing.T) {
	inBubble(t, func(w *world) {
		scripts := 0
		w.options.Script = scriptFunc(func(context.Context) error { scripts++; return nil })
		w.online(store.JIT).StartJob()
		for i, run := range []store.RequestID{"b", "c", "d", "e", "f", "g", "h", "i", "j", "k"} {
			w.only().FinishJob()
			w.release(store.ReleaseDrain)
			w.after(3*time.Second, store.RemoveOK, "")
			time.Sleep(time.Duration(i) * 3 * time.Second)
			mode := store.JIT
			if i%2 == 1 {
				mode = store.Token
			}
			w.claim(run, mode)
			time.Sleep(350 * time.Millisecond) // one idle poll of at most 300 ms
			if l := w.only(); l.Label() != string(run) {
				t.Fatalf("cycle %d: label %q, want %q within one poll", i, l.Label(), run)
			}
			w.after(3*time.Second, store.RegOK, "")
			w.do(store.Transition{Event: statemachine.HandedOver})
			if !w.only().StartJob() {
				t.Fatalf("cycle %d: the listener takes no job", i)
			}
		}
		if scripts != 1 || w.runner.Most() != 1 || w.machine.Scrubs() != 10 {
			t.Errorf("%d scripts, %d listeners at once, %d scrubs; want 1, 1, 10", scripts, w.runner.Most(), w.machine.Scrubs())
		}
		names := map[string]bool{}
		for _, l := range w.runner.Started() {
			if names[l.Name()] {
				t.Errorf("runner name %s was used twice", l.Name())
			}
			names[l.Name()] = true
		}
	})
}

// S18: the agent touches its own partition only, and writes nothing but heartbeats and signals.
func TestAgent_OwnPartitionOnly_S18(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		w.release(store.ReleaseDrain)
		time.Sleep(time.Minute)
		seen := map[call]bool{}
		w.table.count(func(c call) bool { seen[call{put: c.put, key: c.key}] = true; return true })
		want := map[call]bool{
			{put: false, key: store.InstanceKey(self, store.KindInstance)}: true,
			{put: true, key: store.InstanceKey(self, store.KindHeartbeat)}: true,
			{put: true, key: store.InstanceKey(self, store.KindSignal)}:    true,
		}
		for c := range seen {
			if !want[c] {
				t.Errorf("the agent made the call %+v", c)
			}
		}
		if len(seen) != len(want) {
			t.Errorf("%d kinds of call, want %d", len(seen), len(want))
		}
	})
}

// What it costs to learn of a run: four reads a second while idle, twenty in the two seconds in which its registration is to come,
// one in two seconds otherwise, and each of them eventual, which costs half.
func TestAgent_PollIntervals_S87(t *testing.T) {
	reads := func(w *world, d time.Duration) int {
		isRead := func(c call) bool { return !c.put }
		before := w.table.count(isRead)
		time.Sleep(d)
		synctest.Wait()
		return w.table.count(isRead) - before
	}
	inBubble(t, func(w *world) {
		w.online(store.Token)
		consistent := func(c call) bool { return !c.put && c.c != store.Eventual }
		first := w.table.count(consistent) // of an agent that knows nothing yet
		if n := reads(w, time.Minute); n < 27 || n > 33 {
			t.Errorf("%d reads a minute while running, want 30", n)
		}
		w.release(store.ReleaseDrain)
		time.Sleep(5 * time.Second)
		if n := reads(w, time.Minute); n < 230 || n > 250 {
			t.Errorf("%d reads a minute while idle, want 240", n)
		}
		w.do(store.Transition{Event: statemachine.Pooled})
		time.Sleep(5 * time.Second)
		w.do(store.Transition{Event: statemachine.Claim, RunID: "b", Attempt: 1})
		time.Sleep(time.Second / 2) // by then it knows
		if n := reads(w, time.Second); n < 17 || n > 23 {
			t.Errorf("%d reads in a second after a claim, want 20", n)
		}
		time.Sleep(5 * time.Second)
		if n := reads(w, time.Minute); n < 230 || n > 250 {
			t.Errorf("%d reads a minute while GitHub gives no registration, want 240", n)
		}
		if n := w.table.count(consistent) - first; n != 0 {
			t.Errorf("%d consistent reads, which cost twice as much, want none", n)
		}
	})
	for _, tt := range []struct {
		jitter float64
		want   time.Duration
	}{{0, 200 * time.Millisecond}, {0.999999, 300 * time.Millisecond}} {
		inBubble(t, func(w *world) {
			w.options.Jitter = func() float64 { return tt.jitter }
			w.launch("a")
			w.boot()
			time.Sleep(5 * time.Second)
			n := reads(w, time.Minute)
			if want := int(time.Minute / tt.want); n < want-1 || n > want+1 {
				t.Errorf("jitter %v: %d reads a minute, want %d", tt.jitter, n, want)
			}
		})
	}
}

var _ agent.Machine = (*agenttest.Machine)(nil)
