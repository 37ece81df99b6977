package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// JIT: after its job the next registration is asked for and used.
func TestSupervise_JIT_NextAfterJob(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		for range 3 {
			l.StartJob()
			w.after(time.Minute, store.RegOK, "")
			l.FinishJob()
			w.wantSignal(store.RegNext, "")
			reg := w.grant(store.JIT)
			time.Sleep(300 * time.Millisecond) // one idle poll, however slow the polls were before
			if n := len(w.runner.Alive()); n != 1 {
				t.Fatalf("%d listeners one idle poll after the next registration came, want 1", n)
			}
			w.after(4*time.Second, store.RegOK, "")
			if l = w.only(); l.Name() != reg.Name {
				t.Fatalf("listener %s, want %s", l.Name(), reg.Name)
			}
		}
	})
}

// Token: one registration serves all jobs and survives a crash of the listener (H71).
func TestSupervise_Token_RestartedAfterCrash_H71(t *testing.T) {
	inBubble(t, func(w *world) {
		first := w.online(store.Token)
		first.StartJob()
		first.FinishJob()
		w.after(time.Second, store.RegOK, "")
		first.Exit(agent.ExitTerminated, "")
		w.wantSignal(store.RegFailed, store.CauseUnavailable) // never silent
		w.after(6*time.Second, store.RegOK, "")
		if second := w.only(); second == first || second.Name() != first.Name() {
			t.Errorf("listener %s, want a new one of the same registration %s", second.Name(), first.Name())
		}
	})
}

// H71: whatever ends a listener that should be there is reported at once, and cured if it can be.
func TestSupervise_UnexpectedExit_H71(t *testing.T) {
	for _, tt := range []struct {
		name   string
		exit   int
		cause  string
		want   store.SignalName
		reason string
		ending agent.Ending // that is shown until the controller helps
		back   bool         // comes back without it
	}{
		{"Terminated", agent.ExitTerminated, "", store.RegFailed, store.CauseUnavailable, "", true},
		{"Retryable", agent.ExitRetryable, "", store.RegFailed, store.CauseUnavailable, "", true},
		{"Updating", agent.ExitUpdating, "", store.RegFailed, store.CauseUnavailable, "", true},
		{"UpdatingOnce", agent.ExitUpdatingOnce, "", store.RegFailed, store.CauseUnavailable, "", true},
		{"Internal", agent.ExitInternal, "", store.RegFailed, store.CauseUnavailable, "", true},
		{"Signal", 128 + 11, "", store.RegFailed, store.CauseUnavailable, "", true},
		{"CutOff", agent.ExitRetryable, store.CauseUnavailable, store.RegFailed, store.CauseUnavailable, "", true},
		{"Throttled", agent.ExitTerminated, store.CauseThrottled, store.RegFailed, store.CauseThrottled, "", true},
		{"SessionConflict", agent.ExitConflict, "", store.RegNext, "", agent.Conflict, false},
		{"IdleLapse", agent.ExitOK, "", store.RegNext, "", agent.Lapsed, false},
		{"Deleted", agent.ExitTerminated, store.CauseRefused, store.RegNext, "", agent.Lapsed, false},
		{"Deprecated", agent.ExitDeprecated, "", store.RegFailed, store.CauseDeprecated, agent.Deprecated, false},
	} {
		t.Run(tt.name, bubble(func(w *world) {
			w.online(store.JIT).Exit(tt.exit, tt.cause)
			w.wantSignal(tt.want, tt.reason)
			if tt.back {
				time.Sleep(10 * time.Second)
				w.wantSignal(store.RegOK, "")
				return
			}
			w.wantShown(string(tt.ending))
			time.Sleep(10 * time.Second)
			w.wantSignal(tt.want, tt.reason)
			w.grant(store.JIT)
			w.after(5*time.Second, store.RegOK, "")
		}))
	}
}

// A job's end is shown, too, until the next registration is there.
func TestSupervise_Completed_Shown(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		w.wantShown(string(agent.Listening))
		l.StartJob()
		w.wantShown(string(agent.Busy))
		l.FinishJob()
		w.wantSignal(store.RegNext, "")
		w.wantShown(string(agent.Completed))
		w.grant(store.JIT)
		time.Sleep(4 * time.Second)
		w.wantShown(string(agent.Listening))
	})
}

// A listener that was refused before it was ever online is the registration's fault, not a lapse.
func TestSupervise_RefusedAtOnce_Reported(t *testing.T) {
	inBubble(t, func(w *world) {
		w.runner.Latency = time.Hour
		w.begin(store.JIT)
		time.Sleep(time.Second)
		w.only().Exit(agent.ExitTerminated, store.CauseRefused)
		w.wantSignal(store.RegFailed, store.CauseRefused)
	})
}

// A listener that fails again and again is not started for ever: five times, then it is reported
// for good.
func TestSupervise_CrashLoop_GivenUp_H71(t *testing.T) {
	inBubble(t, func(w *world) {
		w.runner.Latency = time.Hour
		w.runner.OnOffline = func(string) {}
		w.begin(store.JIT)
		for i := range 5 {
			time.Sleep(40 * time.Second)
			w.wantStarted(i + 1)
			w.only().Exit(agent.ExitRetryable, "")
		}
		w.wantSignal(store.RegFailed, store.CauseRefused)
		time.Sleep(3 * time.Minute)
		w.wantStarted(5)
	})
}

// Crashes far apart are not a loop: a listener that was online for a minute starts the count anew.
func TestSupervise_CrashesFarApart_NeverGivenUp(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.Token)
		for range 8 {
			w.after(70*time.Second, store.RegOK, "")
			w.only().Exit(agent.ExitTerminated, "")
		}
		w.after(10*time.Second, store.RegOK, "")
	})
}

// A listener that loses GitHub says so, is left to try, and says when it is back.
func TestSupervise_Blocked_ReportedAndBack(t *testing.T) {
	for _, cause := range []string{store.CauseThrottled, store.CauseUnavailable} {
		inBubble(t, func(w *world) {
			l := w.online(store.JIT)
			l.Block(cause)
			w.after(5*time.Minute, store.RegFailed, cause)
			l.Unblock()
			w.wantSignal(store.RegOK, "")
			w.wantStarted(1)
		})
	}
}

// A session that GitHub believes to exist is escaped by a new registration.
func TestSupervise_ConflictWhileConnecting_AsksForNext(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT).Block(agent.CauseConflict)
		w.wantSignal(store.RegNext, "")
		w.grant(store.JIT)
		w.after(5*time.Second, store.RegOK, "")
	})
}

// The pause of an agent grows while GitHub cuts its listeners off. The registration that it asks for then is used within its
// readiness check, and a second conflict in quick succession is reported before another registration is asked for.
func TestSupervise_ConflictAfterLongPauses_UsesTheNextAtOnce_H53(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.JIT)
		for range 8 { // the longest pause
			l.Exit(agent.ExitRetryable, store.CauseUnavailable)
			w.wantSignal(store.RegFailed, store.CauseUnavailable)
			for len(w.runner.Alive()) == 0 {
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
			}
			l = w.only()
		}
		l.Exit(agent.ExitConflict, "")
		w.wantSignal(store.RegNext, "")
		w.grant(store.JIT)
		time.Sleep(time.Second)
		w.only().Exit(agent.ExitConflict, "")
		w.wantSignal(store.RegFailed, store.CauseUnavailable)
		w.waitFor(store.RegNext)
		w.grant(store.JIT)
		w.after(5*time.Second, store.RegOK, "")
	})
}

// A listener that says nothing is reported, and left to wait for GitHub, whose calls may hang; it is started again
// only after any call must have ended, and that never counts against the machine.
func TestSupervise_NeverOnline_ReportedAndReplaced_H53(t *testing.T) {
	inBubble(t, func(w *world) {
		w.runner.Latency = 100 * time.Hour
		w.begin(store.JIT)
		w.after(62*time.Second, store.RegFailed, store.CauseSilent)
		time.Sleep(100 * time.Second)
		if n := len(w.runner.Started()); n != 1 || w.only() == nil {
			t.Errorf("%d listeners were started within 162 s, want the first kept", n)
		}
		time.Sleep(6 * time.Minute) // below the threshold
		if n := len(w.runner.Started()); n != 3 || w.only() == nil {
			t.Errorf("%d listeners were started, want one every 3 minutes and one alive", n)
		}
		w.wantSignal(store.RegFailed, store.CauseSilent)
	})
}

// After a refusal new material is used at once: when to try again is the controller's to say.
func TestSupervise_Refused_TriesAgainWithNewMaterial_H53(t *testing.T) {
	inBubble(t, func(w *world) {
		w.runner.Latency = time.Hour
		w.begin(store.JIT)
		for range 8 {
			time.Sleep(time.Second)
			w.only().Exit(agent.ExitDeprecated, "")
			w.wantSignal(store.RegFailed, store.CauseDeprecated)
			w.grant(store.JIT)
		}
		time.Sleep(time.Second)
		w.wantStarted(9)
	})
}

// Newer material replaces a listener that runs no job, and waits for one that does.
func TestSupervise_NewerMaterial_Replaces(t *testing.T) {
	inBubble(t, func(w *world) {
		first := w.online(store.Token)
		first.StartJob()
		reg := w.grant(store.Token)
		time.Sleep(time.Minute)
		if w.only() != first {
			t.Fatal("a listener with a job was replaced")
		}
		first.FinishJob()
		w.after(5*time.Second, store.RegOK, "")
		if got, _ := w.said(); got.Serial != reg.Serial || w.only().Name() != reg.Name || w.runner.Most() != 1 {
			t.Errorf("serial %d on %s, at most %d at once; want %d on %s, 1", got.Serial, w.only().Name(), w.runner.Most(), reg.Serial, reg.Name)
		}
	})
}

// A registration made for another assignment, or used before, is nothing.
func TestAgent_ForeignMaterial_Ignored(t *testing.T) {
	inBubble(t, func(w *world) {
		w.launch("a")
		reg := w.grant(store.JIT)
		reg.Assignment++
		if _, err := w.store.SetRegistration(context.Background(), w.in(), reg, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.boot()
		time.Sleep(time.Minute)
		w.wantStarted(0)
		w.wantSignal(store.ScriptOK, "")
		if w.in().State != statemachine.Created {
			t.Error("the agent changed its record")
		}
	})
}

// GitHub may be away for longer than any number of tries: listeners that it ends are started again and
// again, with growing pauses, and the machine is not given up (H53).
func TestSupervise_CutOffForLong_NeverGivenUp_H53(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		ends := 0
		for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
			for _, l := range w.runner.Alive() {
				if l.Exit(agent.ExitRetryable, store.CauseUnavailable) {
					ends++
				}
			}
			w.wantSignal(store.RegFailed, store.CauseUnavailable)
		}
		if ends < 10 || ends > 60 {
			t.Errorf("%d listeners in 10 min, want some with growing pauses", ends)
		}
		w.after(time.Minute, store.RegOK, "")
	})
}

// H37: a runner is deleted that ran a job before, whose words after it do not count. Its name was used: the same
// registration would make another runner of that name, which no one knows.
func TestSupervise_DeletedAfterAJob_AsksForNext_H37(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.Token)
		l.StartJob()
		time.Sleep(time.Second)
		l.FinishJob()
		time.Sleep(time.Second)
		l.Exit(agent.ExitOK, "")
		w.after(time.Minute, store.RegNext, "")
		w.wantShown(string(agent.Lapsed))
		w.wantStarted(1)
		w.grant(store.Token)
		w.after(5*time.Second, store.RegOK, "")
	})
}

// Lapses in quick succession are paced, so that they do not eat the registration budget.
func TestSupervise_LapsesPaced(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		granted := 0
		for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
			for _, l := range w.runner.Alive() {
				if l.Status().Online {
					l.Exit(agent.ExitOK, "")
				}
			}
			if got, _ := w.said(); got.Signal == store.RegNext && got.Serial == w.serial {
				w.grant(store.JIT)
				granted++
			}
		}
		if granted < 5 || granted > 30 {
			t.Errorf("%d registrations in 5 min of lapses, want a few with growing pauses", granted)
		}
	})
}

// S85: what one run's listener was about to do is nothing to the next run: its runner is registered with its own
// material only.
func TestSupervise_EndsWithItsAssignment_S85(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.Token).Exit(agent.ExitTerminated, "") // to be started again after a pause
		synctest.Wait()
		w.wantSignal(store.RegFailed, store.CauseUnavailable)
		w.release(store.ReleaseNow)
		w.waitFor(store.RemoveOK)
		w.do(store.Transition{Event: statemachine.Pooled})
		w.do(store.Transition{Event: statemachine.Claim, RunID: "b", Attempt: 1})
		time.Sleep(time.Minute)
		w.wantStarted(1)
		w.grant(store.Token)
		w.after(5*time.Second, store.RegOK, "")
	})
}
