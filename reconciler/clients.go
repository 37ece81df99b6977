package reconciler

import (
	"context"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// clientPoll is how often the client of a pending request is looked for: often enough for several
// reads within ClientSilence.
func (c Config) clientPoll() time.Duration { return c.ClientSilence / 6 }

// pollClients looks for the clients of pending requests, all that are due in one batch, until ctx ends. A request is
// woken only if its client has changed it, or has gone: a thousand that wait are ten or twenty calls in clientPoll, and no look.
func (t *term) pollClients(ctx context.Context) error {
	ticker := t.clock.NewTicker(t.cfg.HotPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if err := t.hearClients(ctx); err != nil && ctx.Err() == nil {
			t.log.Warn("poll", logkey.Error, err)
		}
	}
}

// hearClients reads what the clients of pending requests wrote that were not read for clientPoll.
func (t *term) hearClients(ctx context.Context) error {
	due := t.clock.Now().Add(-t.cfg.clientPoll())
	ids := t.view.unheardSince(due)
	if len(ids) == 0 {
		return nil
	}
	got, err := t.store.Clients(ctx, t.badRecord, ids...)
	if err != nil {
		return fmt.Errorf("hear clients: %w", err)
	}
	now := t.clock.Now()
	for _, id := range ids {
		if t.heardClient(id, got[id], now) {
			t.requests.add(id)
		}
	}
	return nil
}

// heardClient takes what was read and reports whether it is worth a look.
func (t *term) heardClient(id store.RequestID, rec store.RunRecords, now time.Time) bool {
	before, _ := t.view.getRun(id)
	t.view.applyRun(id, rec, now)
	t.view.heardRun(id, rec.Client, now)
	after, _ := t.view.getRun(id)
	return after.request != before.request || after.vanished(now, t.writable(), t.cfg.ClientSilence)
}
