package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H37: a runner is deleted that ran a job before, whose words after it are not heard. Its name was used: the same
// registration would make another runner of that name, which nobody knows.
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
		w.release(store.Now)
		w.waitFor(store.RemoveOK)
		w.do(store.Transition{Event: statemachine.Pooled})
		w.do(store.Transition{Event: statemachine.Claim, RunID: "b", Attempt: 1})
		time.Sleep(time.Minute)
		w.wantStarted(1)
		w.grant(store.Token)
		w.after(5*time.Second, store.RegOK, "")
	})
}
