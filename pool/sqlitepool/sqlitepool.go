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
	"log/slog"
	"net/url"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/pool"
)

//go:embed schema.sql
var schema string

// Pool implements pool.Pool.
type Pool struct {
	db     *sqlitedb.DB
	clock  clock.WithTicker
	log    *slog.Logger
	memory bool // no other process can offer
	stmt   statements

	closed  chan struct{}
	closing sync.Once

	mu    sync.Mutex
	bells map[chan struct{}]string // the class of each Receive of this Pool that waits
}

// Open opens the queues in the file that u names, see sqlitedb.Path; it may be the store's. Malformed
// messages are logged to log. The caller closes the Pool.
func Open(ctx context.Context, u *url.URL, clk clock.WithTicker, log *slog.Logger) (*Pool, error) {
	path, err := sqlitedb.Path(u)
	if err != nil {
		return nil, err
	}
	return open(ctx, path, clk, log)
}

// OpenMemory opens queues that live in memory until they are closed, and logs nothing.
func OpenMemory(ctx context.Context, clk clock.WithTicker) (*Pool, error) {
	return open(ctx, sqlitedb.Memory, clk, slog.New(slog.DiscardHandler))
}

func open(ctx context.Context, path string, clk clock.WithTicker, log *slog.Logger) (*Pool, error) {
	db, err := sqlitedb.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	p := &Pool{
		db: db, clock: clk, log: log, memory: path == sqlitedb.Memory,
		closed: make(chan struct{}), bells: map[chan struct{}]string{},
	}
	if err = db.Migrate(ctx, "pool", schema); err == nil {
		p.stmt, err = prepare(ctx, db.SQL())
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return p, nil
}

// Close implements pool.Pool. A Receive that waits fails.
func (p *Pool) Close() error {
	p.closing.Do(func() { close(p.closed) })
	return p.db.Close()
}

// Offer implements pool.Pool.
func (p *Pool) Offer(ctx context.Context, t pool.Ticket) error {
	body, err := pool.Encode(t)
	if err != nil {
		return err
	}
	return p.add(ctx, t.ResourceClass, body)
}

// add adds a message and wakes those of this process who wait for it.
func (p *Pool) add(ctx context.Context, class, body string) error {
	if _, err := p.stmt.insert.ExecContext(ctx, class, body, p.clock.Now().UnixMilli()); err != nil {
		return fmt.Errorf("add message of class %s: %w", class, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for bell, of := range p.bells {
		if of != class {
			continue
		}
		select {
		case bell <- struct{}{}:
		default: // it has yet to look, and will see this message too
		}
	}
	return nil
}

// Receive implements pool.Pool.
func (p *Pool) Receive(ctx context.Context, class string, limit int, hold, wait time.Duration) ([]pool.Delivery, error) {
	err := pool.CheckReceive(limit, hold, wait)
	var out []pool.Delivery
	if err == nil {
		out, err = p.receive(ctx, class, limit, hold, p.clock.Now().Add(wait))
	}
	if err != nil {
		return nil, fmt.Errorf("receive from class %s: %w", class, err)
	}
	return out, nil
}

// take hides up to limit visible messages until now + hold, and deletes the malformed ones among
// them (H21, H22).
func (p *Pool) take(ctx context.Context, class string, limit int, now time.Time, hold time.Duration) (out []pool.Delivery, _ error) {
	err := p.db.Write(ctx, func(tx *sql.Tx) error {
		until := now.Add(hold).UnixMilli()
		messages, err := scan(tx.StmtContext(ctx, p.stmt.take).QueryContext(ctx, class, now.UnixMilli(), limit, until))
		if err != nil {
			return err
		}
		for _, m := range messages {
			t, bad := pool.Decode(m.body)
			if bad == nil {
				out = append(out, pool.Delivery{Ticket: t, Receipt: m.receipt})
				continue
			}
			p.log.WarnContext(ctx, "malformed message removed", logkey.Class, class, logkey.Error, bad)
			if _, err := tx.ExecContext(ctx, deleteOne, m.id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// message is a row that was taken.
type message struct {
	id            int64
	body, receipt string
}

func scan(rows *sql.Rows, err error) (out []message, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() // its error is that of rows.Err
	for rows.Next() {
		var m message
		if err := rows.Scan(&m.id, &m.body, &m.receipt); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

// Done implements pool.Pool.
func (p *Pool) Done(ctx context.Context, class string, receipts ...string) error {
	list, err := json.Marshal(receipts)
	if err != nil {
		return fmt.Errorf("delete messages of class %s: %w", class, err)
	}
	if _, err := p.stmt.done.ExecContext(ctx, class, p.clock.Now().UnixMilli(), string(list)); err != nil {
		return fmt.Errorf("delete %d messages of class %s: %w", len(receipts), class, err)
	}
	return nil
}
