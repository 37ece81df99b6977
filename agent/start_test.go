package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

// Errors of the machine's own that do not pass are said at once, those that may pass after five tries.
func TestStart_OwnErrors_H71(t *testing.T) {
	for _, tt := range []struct {
		name   string
		err    error
		starts int
	}{
		{"FullDisk", fmt.Errorf("start runner: %w", &fs.PathError{Op: "open", Path: "log", Err: syscall.ENOSPC}), 1},
		{"FullDiskOfTheProgram", errors.New("config.sh: exit status 1: No space left on device : '/opt/runner/.runner'"), 1},
		{"ReadOnly", &fs.PathError{Op: "open", Path: "log", Err: syscall.EROFS}, 1},
		{"NoProgram", &fs.PathError{Op: "fork/exec", Path: "Runner.Listener", Err: syscall.ENOENT}, 5},
		{"NoBaseline", fmt.Errorf("prepare the first runner: %w: a login of the user", agent.ErrUnfit), 5},
	} {
		t.Run(tt.name, bubble(func(w *world) {
			starts := 0
			w.runner.StartFunc = func(context.Context, store.Registration, string) error { starts++; return tt.err }
			w.begin(store.JIT)
			w.after(4*time.Minute, store.RegFailed, store.CauseMachine)
			if starts != tt.starts {
				w.t.Errorf("%d starts, want %d", starts, tt.starts)
			}
		}))
	}
}

// Errors of the start are sorted by cause: GitHub's are tried again for ever, the machine's own five
// times, a refusal never.
func TestStart_Errors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		err      error
		cause    string
		min, max int // starts within 4 minutes
	}{
		{"Throttled", fmt.Errorf("config: %w", githubapi.ErrThrottled), store.CauseThrottled, 8, 20},
		{"Unavailable", fmt.Errorf("config: %w", githubapi.ErrUnavailable), store.CauseUnavailable, 8, 20},
		{"Refused", fmt.Errorf("config: %w", githubapi.ErrRefused), store.CauseRefused, 1, 1},
		{"Deprecated", fmt.Errorf("config: %w", agent.ErrDeprecated), store.CauseDeprecated, 1, 1},
		{"OwnFault", errors.New("fork: out of memory"), store.CauseRefused, 5, 5},
	} {
		t.Run(tt.name, bubble(func(w *world) {
			starts := 0
			var back atomic.Bool
			w.runner.StartFunc = func(context.Context, store.Registration, string) error {
				if back.Load() {
					return nil
				}
				starts++
				return tt.err
			}
			w.begin(store.Token)
			w.after(4*time.Minute, store.RegFailed, tt.cause)
			if starts < tt.min || starts > tt.max {
				w.t.Errorf("%d starts in 4 min, want %d to %d", starts, tt.min, tt.max)
			}
			if tt.min > 5 { // GitHub is back
				back.Store(true)
				w.after(time.Minute, store.RegOK, "")
			}
		}))
	}
}

// A start that takes long ends when the assignment is over.
func TestStart_AssignmentOver_Aborted(t *testing.T) {
	inBubble(t, func(w *world) {
		w.runner.StartFunc = func(ctx context.Context, _ store.Registration, _ string) error { <-ctx.Done(); return ctx.Err() }
		w.begin(store.Token)
		time.Sleep(5 * time.Second)
		w.release(store.ReleaseDrain)
		w.after(3*time.Second, store.RemoveOK, "")
	})
}

// A name is taken by a try of our own whose answer was lost: another one is asked for (H37, H53).
func TestStart_NameTaken_AsksForNext_H37_H53(t *testing.T) {
	inBubble(t, func(w *world) {
		var taken atomic.Bool
		w.runner.StartFunc = func(_ context.Context, reg store.Registration, _ string) error {
			switch {
			case reg.Serial > 1:
				return nil
			case taken.Load():
				return fmt.Errorf("config: %w", githubapi.ErrNameTaken)
			}
			return fmt.Errorf("config: %w", githubapi.ErrUnavailable)
		}
		w.begin(store.Token)
		time.Sleep(3 * time.Minute) // pauses are at their longest
		w.wantSignal(store.RegFailed, store.CauseUnavailable)
		taken.Store(true)
		w.waitFor(store.RegNext)
		w.grant(store.Token)
		time.Sleep(5 * time.Second) // within a gate
		w.wantSignal(store.RegOK, "")
	})
}

// A registration may end while GitHub is away: a token after its hour, a runner that never came after
// minutes. One that is refused then is replaced; one that is refused at once is the machine's end (H35, H53).
func TestRefused_AfterAnOutage_AsksForNext_H35_H53(t *testing.T) {
	for _, tt := range []struct {
		name  string
		away  time.Duration
		want  store.SignalName
		cause string
	}{
		{"Soon", 3 * time.Minute, store.RegFailed, store.CauseRefused},
		{"Late", 6 * time.Minute, store.RegNext, ""},
	} {
		t.Run(tt.name+"Token", bubble(func(w *world) {
			began := time.Now()
			w.runner.StartFunc = func(_ context.Context, reg store.Registration, _ string) error {
				switch {
				case reg.Serial > 1:
					return nil
				case time.Since(began) >= tt.away:
					return fmt.Errorf("config: %w", githubapi.ErrRefused)
				}
				return fmt.Errorf("config: %w", githubapi.ErrUnavailable)
			}
			w.launch("a")
			w.grantAt(store.Token, began)
			w.boot()
			time.Sleep(tt.away + 50*time.Second) // past the longest pause
			w.wantSignal(tt.want, tt.cause)
			w.grantAt(store.Token, time.Now())
			w.waitFor(store.RegOK)
		}))
		t.Run(tt.name+"JIT", bubble(func(w *world) {
			w.runner.Latency, w.options.OnlineLimit = time.Hour, time.Hour
			w.launch("a")
			w.grantAt(store.JIT, time.Now())
			w.boot()
			time.Sleep(tt.away)
			w.only().Exit(agent.ExitTerminated, store.CauseRefused)
			w.wantSignal(tt.want, tt.cause)
		}))
	}
}
