package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/store"
)

// H49: a restarted agent takes its live listener over, job included, and does not run the script
// again.
func TestRestart_AdoptsListener_H49(t *testing.T) {
	inBubble(t, func(w *world) {
		scripts := 0
		w.options.Script = scriptFunc(func(context.Context) error { scripts++; return nil })
		l := w.online(store.JIT)
		l.StartJob()
		w.restart()
		w.after(time.Minute, store.RegOK, "")
		if _, beat := w.said(); !beat.Beat.Busy {
			t.Error("the adopted listener's job does not show in the heartbeat")
		}
		if w.only() != l || scripts != 1 {
			t.Errorf("%d scripts, want one, and the listener kept", scripts)
		}
		l.FinishJob()
		w.wantSignal(store.RegNext, "")
	})
}

// A listener that ended while no agent ran is noticed.
func TestRestart_ListenerGone_AsksForNext_H71(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		inBubble(t, func(w *world) {
			l := w.online(mode)
			time.Sleep(3 * time.Second)
			w.stop()
			l.Exit(agent.ExitOK, "")
			w.boot()
			w.after(time.Second, store.RegNext, "")
		})
	}
}

// A listener whose start the dead agent could not record is ended, and its registration is used up.
func TestRestart_UnknownListener_Ended(t *testing.T) {
	inBubble(t, func(w *world) {
		w.begin(store.JIT)
		time.Sleep(time.Second)
		leftover := w.only()
		w.stop()
		file := filepath.Join(w.options.Dir, "agent-state.json")
		removeListener(t, file)
		w.boot()
		w.after(time.Second, store.RegNext, "")
		if leftover.Status().State != agent.Exited {
			t.Error("the listener no one knows of still takes jobs")
		}
	})
}

// A script that was cut off runs again.
func TestRestart_ScriptCutOff_RunsAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		scripts := 0
		w.options.Script = scriptFunc(func(ctx context.Context) error {
			if scripts++; scripts == 1 {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		w.launch("a")
		w.boot()
		time.Sleep(time.Second)
		w.restart()
		w.after(time.Second, store.ScriptOK, "")
		if scripts != 2 {
			t.Errorf("%d scripts, want 2", scripts)
		}
	})
}

// A failed script stays failed.
func TestRestart_ScriptFailed_StaysFailed_S39(t *testing.T) {
	inBubble(t, func(w *world) {
		scripts := 0
		w.options.Script = scriptFunc(func(context.Context) error { scripts++; return errors.New("exit status 1") })
		w.launch("a")
		w.boot()
		time.Sleep(time.Second)
		w.restart()
		w.after(time.Second, store.ScriptFailed, "")
		if scripts != 1 {
			t.Errorf("%d scripts, want 1", scripts)
		}
	})
}

// A report that died with its agent is delivered by the next.
func TestRestart_ReportDelivered_H48(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.JIT)
		w.table.setFor(isSignal, always(down))
		w.release(store.ReleaseDrain)
		time.Sleep(5 * time.Second)
		w.stop()
		w.table.set(nil)
		w.boot()
		w.after(time.Second, store.RemoveOK, "")
	})
}

// Reads older than what was seen, even by the agent before this one, are ignored.
func TestAgent_OlderVersion_Ignored(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.Token)
		w.release(store.ReleaseDrain)
		w.after(5*time.Second, store.RemoveOK, "")
		w.table.setFor(func(c call) bool { return !c.put }, always(stale)) // shows run a again, material included
		time.Sleep(time.Minute)
		w.restart()
		w.after(time.Minute, store.RemoveOK, "")
		if _, beat := w.said(); beat.Beat.Assignment != w.in().Assignment {
			t.Errorf("the agent went back to assignment %d", beat.Beat.Assignment)
		}
		if n := len(w.runner.Started()); n != 1 || l.Status().State != agent.Exited {
			t.Errorf("%d listeners were started, want only the first, ended", n)
		}
	})
}

// A state that cannot be read is set aside: the agent lives, trusts nothing on the machine and cleans
// it before the first registration.
func TestRestart_BadState_SetAside_H51(t *testing.T) {
	inBubble(t, func(w *world) {
		l := w.online(store.Token)
		time.Sleep(3 * time.Second)
		w.stop()
		file := filepath.Join(w.options.Dir, "agent-state.json")
		if err := os.WriteFile(file, []byte(`{"version": 3, "wo`), 0o644); err != nil {
			t.Fatal(err)
		}
		w.boot()
		time.Sleep(time.Second)
		if l.Status().State != agent.Exited || w.machine.Scrubs() != 1 {
			t.Errorf("listener is %s after %d scrubs, want it ended and one scrub", l.Status().State, w.machine.Scrubs())
		}
		w.grant(store.Token)
		w.after(5*time.Second, store.RegOK, "")
		if _, err := os.Stat(file + ".bad"); err != nil {
			t.Errorf("the bad state is not kept for people: %v", err)
		}
	})
}

// An agent whose memory was lost trusts no read that may be old with the first word on its assignment and its threshold: no
// version that it remembers would refuse it.
func TestRestart_MemoryLost_NoStaleFirstWord_H51(t *testing.T) {
	inBubble(t, func(w *world) {
		w.online(store.Token)
		w.release(store.ReleaseDrain)
		w.after(5*time.Second, store.RemoveOK, "")
		w.table.setFor(func(c call) bool { return !c.put && c.c != store.Consistent }, always(stale)) // shows run a again
		w.stop()
		if err := os.Remove(filepath.Join(w.options.Dir, "agent-state.json")); err != nil {
			t.Fatal(err)
		}
		w.boot()
		time.Sleep(time.Minute)
		w.wantOn()
		if _, beat := w.said(); beat.Beat.Assignment != w.in().Assignment {
			t.Errorf("the agent went back to assignment %d, its record is in %d", beat.Beat.Assignment, w.in().Assignment)
		}
	})
}
