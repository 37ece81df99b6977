//go:build linux

package actionsrunner_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// busy starts a listener with a job in a worker of its own.
func (w *world) busy() (agent.Listener, process.Ref) {
	w.t.Helper()
	l := w.start(store.JIT)
	w.tell("say Listening for Jobs")
	w.tell("worker")
	child := w.child()
	w.tell("say Running job: build")
	w.want(l, agent.Busy)
	return l, child
}

// A job runs while its worker does, whatever a line of its name says; and its end in peace is no complaint.
func TestListener_NameOfAJob_H38_H71(t *testing.T) {
	w := newWorld(t)
	l, worker := w.busy()
	w.tell("cry An error occurred: Runner version v9 is deprecated and cannot receive messages.")
	w.tell("say Job build completed with result: Succeeded")
	w.tell("say Listening for Jobs")
	w.tell("say Runner connect error: to be read after the others. Retrying until reconnected.")
	eventually(t, func() bool { return l.Status().Cause == store.CauseUnavailable }, func() string { return "the lines are not read" })
	if err := l.Stop(context.Background(), store.ReleaseDrain); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("Stop(drain) while the worker lives = %v, want ErrBusy", err)
	}
	if err := process.Signal(worker, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.want(l, agent.Listening)
	w.tell("exit 0")
	if st := w.want(l, agent.Exited); st.Cause != "" || st.Exit != agent.ExitOK || st.Jobs != 1 {
		t.Errorf("status = %+v, want a job, exit 0 and no cause", st)
	}
}

// The worker of a listener that was killed may end its job, and the machine is busy until then; an order to stop
// at once ends it.
func TestListener_Killed_ItsWorkerGoesOn_H38_H39(t *testing.T) {
	for _, mode := range []store.ReleaseMode{store.ReleaseDrain, store.ReleaseNow} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			l, worker := w.busy()
			if err := process.Signal(l.Ref(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			w.gone(l.Ref())
			if err := l.Stop(context.Background(), store.ReleaseDrain); !errors.Is(err, agent.ErrBusy) || !worker.Alive() {
				t.Fatalf("Stop(drain) = %v, worker alive: %t; want ErrBusy, and the job goes on", err, worker.Alive())
			}
			if mode == store.ReleaseNow {
				if err := l.Stop(context.Background(), store.ReleaseNow); err != nil || worker.Alive() {
					t.Errorf("Stop(now) = %v, worker alive: %t; want it ended", err, worker.Alive())
				}
			} else if err := process.Signal(worker, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if st := w.want(l, agent.Exited); st.Exit != 128+int(syscall.SIGKILL) || st.Jobs != 1 {
				t.Errorf("status = %+v, want the end of the listener, after its job", st)
			}
		})
	}
}

// sightless is a clock by which no listener is looked at until it is opened.
type sightless struct {
	patience
	open chan time.Time
}

func (c sightless) After(d time.Duration) <-chan time.Time {
	select {
	case <-c.open:
	default:
		if d < time.Second {
			return c.open
		}
	}
	return c.patience.After(d)
}

// The same holds where the listener took the job and ended between two looks at it.
func TestListener_KilledUnseen_ItsWorkerGoesOn_H38(t *testing.T) {
	w := newWorld(t)
	dark := sightless{patient, make(chan time.Time)}
	w.options.Clock = dark
	l := w.start(store.JIT)
	w.tell("say Listening for Jobs")
	w.tell("worker")
	worker := w.child()
	w.tell("say Running job: build")
	w.tell("die")
	w.gone(l.Ref())
	close(dark.open)
	w.want(l, agent.Busy)
	if err := l.Stop(context.Background(), store.ReleaseDrain); !errors.Is(err, agent.ErrBusy) || !worker.Alive() {
		t.Fatalf("Stop(drain) = %v, worker alive: %t; want ErrBusy, and the job goes on", err, worker.Alive())
	}
	if err := process.Signal(worker, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if st := w.want(l, agent.Exited); st.Exit != 128+int(syscall.SIGSEGV) || st.Jobs != 1 {
		t.Errorf("status = %+v, want the end of the listener, after its job", st)
	}
}
