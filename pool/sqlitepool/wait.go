package sqlitepool

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/remuda-run/remuda/pool"
)

// pollEvery is how often a waiting Receive asks whether another process has written. SQLite has no
// notification between processes. Messages are hints off the way of requests, so a quarter of a
// second is soon enough, and four questions of some 10 µs per class and second cost nothing.
const pollEvery = 250 * time.Millisecond

var errClosed = errors.New("pool is closed")

// receive takes messages, and waits for the first until end.
func (p *Pool) receive(ctx context.Context, class string, limit int, hold time.Duration, end time.Time) ([]pool.Delivery, error) {
	bell := p.listen(class)
	defer p.leave(bell)
	var tick <-chan time.Time
	if !p.memory {
		ticker := p.clock.NewTicker(pollEvery)
		defer ticker.Stop()
		tick = ticker.C()
	}
	var seen int64 // data version before the last look; the first tick looks again
	for {
		now := p.clock.Now()
		visible, found, err := p.look(ctx, class)
		if err != nil {
			return nil, err
		}
		if found && !visible.After(now) {
			out, err := p.take(ctx, class, limit, now, hold)
			if err != nil || len(out) > 0 {
				return out, err
			}
			continue // another took them, or they were malformed
		}
		if !now.Before(end) {
			return nil, nil
		}
		if !found || end.Before(visible) {
			visible = end
		}
		if err := p.wait(ctx, visible.Sub(now), bell, tick, &seen); err != nil {
			return nil, err
		}
	}
}

// look returns when the next message of class is visible, or was.
func (p *Pool) look(ctx context.Context, class string) (time.Time, bool, error) {
	var at sql.NullInt64
	if err := p.stmt.next.QueryRowContext(ctx, class).Scan(&at); err != nil {
		return time.Time{}, false, err
	}
	return time.UnixMilli(at.Int64), at.Valid, nil
}

// wait returns when there may be something to see: after d, when this process has offered, or when
// another has written.
func (p *Pool) wait(ctx context.Context, d time.Duration, bell <-chan struct{}, tick <-chan time.Time, seen *int64) error {
	timer := p.clock.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.closed:
			return errClosed
		case <-timer.C():
			return nil
		case <-bell:
			return nil
		case <-tick:
			var now int64
			if err := p.stmt.version.QueryRowContext(ctx).Scan(&now); err != nil {
				return err
			}
			if now != *seen {
				*seen = now
				return nil
			}
		}
	}
}

// listen returns a bell that rings when this process adds a message of class.
func (p *Pool) listen(class string) chan struct{} {
	bell := make(chan struct{}, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bells[bell] = class
	return bell
}

func (p *Pool) leave(bell chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.bells, bell)
}
