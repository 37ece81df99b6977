package agent

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// keepLimit is how long the end of a machine, or a report, waits for its output to be kept. A folder takes
// milliseconds, a service a second; a disk that hangs takes for ever.
const keepLimit = 2 * time.Second

// maxSecrets is how many registrations are masked in what is kept: the logs of those before are gone (agent/scrub).
const maxSecrets = 8

// keeper has the machine's output kept where it outlives the machine.
type keeper struct {
	clock clock.WithTicker
	log   *slog.Logger
	keep  func(ctx context.Context, reason string, secrets []string) error // nil: nowhere
	turn  chan struct{}                                                    // of one: a store takes one log of a machine at a time

	mu      sync.Mutex
	secrets []string
}

// learn makes a secret known that must not be in what is kept.
func (k *keeper) learn(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.secrets, secret) {
		k.secrets = append(k.secrets, secret)
		k.secrets = k.secrets[max(0, len(k.secrets)-maxSecrets):]
	}
}

// now keeps the output. It waits for that no longer than keepLimit, even if a call hangs: the dead-man may be waiting.
func (k *keeper) now(reason string) {
	if k.keep == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepLimit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		select {
		case k.turn <- struct{}{}:
			defer func() { <-k.turn }()
		case <-ctx.Done():
			return
		}
		k.mu.Lock()
		secrets := slices.Clone(k.secrets)
		k.mu.Unlock()
		done <- k.keep(ctx, reason, secrets)
	}()
	var err error
	select {
	case err = <-done:
	case <-k.clock.After(keepLimit):
		err = context.DeadlineExceeded
	}
	if err != nil {
		k.log.Warn("the output of this machine could not be kept", logkey.Reason, reason, logkey.Error, err)
	}
}

// rejects reports whether a signal may be a machine's last.
func rejects(v store.SignalValue) bool {
	refused := v.Signal == store.RegFailed && v.Cause != store.CauseThrottled && v.Cause != store.CauseUnavailable
	return refused || v.Signal == store.ScriptFailed || v.Signal == store.RemoveFailed
}
