// Package sqlitepool keeps the queues of package pool in a SQLite file that any number of processes
// on one machine share. It is a product for one machine, not a test double; it is also stronger
// than the contract asks: a message is in one hand at a time, a deleted one stays deleted, and an
// empty answer is true. See docs/architecture.md#pool.
package sqlitepool

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/pool"
)

// pollEvery is how often a waiting Receive looks. SQLite has no notification between processes, and messages are hints
// off the way of requests, so a quarter of a second is soon enough; four looks of some 10 µs per class and second cost
// nothing.
const pollEvery = 250 * time.Millisecond

//go:embed schema.sql
var schema string

const (
	insert = `INSERT INTO pool_message (class, body, visible_at) VALUES (?1, ?2, ?3)`
	look   = `SELECT EXISTS (SELECT 1 FROM pool_message WHERE class = ?1 AND visible_at <= ?2)`
	take   = `UPDATE pool_message SET visible_at = ?4
		WHERE id IN (SELECT id FROM pool_message WHERE class = ?1 AND visible_at <= ?2 ORDER BY visible_at, id LIMIT ?3)
		RETURNING id, body`
	done = `DELETE FROM pool_message WHERE class = ?1 AND id IN (SELECT CAST(value AS INTEGER) FROM json_each(?2))`
)

// Pool implements pool.Pool.
type Pool struct {
	db    *sqlitedb.DB
	clock clock.WithTicker
}

// Open opens the queues in the file that u names, see sqlitedb.Path; it may be the store's. The caller closes the Pool.
func Open(ctx context.Context, u *url.URL, clk clock.WithTicker) (*Pool, error) {
	path, err := sqlitedb.Path(u)
	if err != nil {
		return nil, err
	}
	db, err := sqlitedb.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx, "pool", schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Pool{db: db, clock: clk}, nil
}

// Close implements pool.Pool. A Receive that waits fails.
func (p *Pool) Close() error { return p.db.Close() }

// Offer implements pool.Pool.
func (p *Pool) Offer(ctx context.Context, t pool.Ticket) error {
	body, err := pool.Encode(t)
	if err != nil {
		return err
	}
	if _, err := p.db.SQL().ExecContext(ctx, insert, t.ResourceClass, body, p.clock.Now().UnixMilli()); err != nil {
		return fmt.Errorf("add message of class %s: %w", t.ResourceClass, err)
	}
	return nil
}

// Receive implements pool.Pool.
func (p *Pool) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	for end := p.clock.Now().Add(wait); ; {
		now := p.clock.Now()
		out, err := p.take(ctx, class, now, hold)
		if err == nil && len(out) == 0 && now.Before(end) {
			err = p.pause(ctx, min(pollEvery, end.Sub(now)))
		} else if err == nil {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("receive from class %s: %w", class, err)
		}
	}
}

// take hides visible messages until now + hold. It writes, and waits for others who do, only if there are any.
func (p *Pool) take(ctx context.Context, class string, now time.Time, hold time.Duration) (out []pool.Message, _ error) {
	var any bool
	if err := p.db.SQL().QueryRowContext(ctx, look, class, now.UnixMilli()).Scan(&any); err != nil || !any {
		return nil, err
	}
	err := p.db.Write(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, take, class, now.UnixMilli(), pool.MaxBatch, now.Add(hold).UnixMilli())
		if err != nil {
			return err
		}
		defer rows.Close() // its error is that of rows.Err
		for rows.Next() {
			var m pool.Message
			if err := rows.Scan(&m.Receipt, &m.Body); err != nil {
				return err
			}
			out = append(out, m)
		}
		return rows.Err()
	})
	return out, err
}

// Done implements pool.Pool. A receipt is the message's id: who was slow deletes what another has looked at meanwhile.
func (p *Pool) Done(ctx context.Context, class string, receipts ...string) error {
	ids, err := json.Marshal(receipts)
	if err == nil {
		_, err = p.db.SQL().ExecContext(ctx, done, class, string(ids))
	}
	if err != nil {
		return fmt.Errorf("delete %d messages of class %s: %w", len(receipts), class, err)
	}
	return nil
}

func (p *Pool) pause(ctx context.Context, d time.Duration) error {
	timer := p.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C():
		return nil
	}
}
