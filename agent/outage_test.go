package agent_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

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
		t.Run(tt.name+"Token", func(t *testing.T) {
			inBubble(t, func(w *world) {
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
			})
		})
		t.Run(tt.name+"JIT", func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.runner.Latency, w.options.OnlineLimit = time.Hour, time.Hour
				w.launch("a")
				w.grantAt(store.JIT, time.Now())
				w.boot()
				time.Sleep(tt.away)
				w.only().Exit(agent.ExitTerminated, store.CauseRefused)
				w.wantSignal(tt.want, tt.cause)
			})
		})
	}
}
