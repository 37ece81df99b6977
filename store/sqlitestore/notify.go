package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/store"
)

// pollEvery is how often a watcher looks for notifications of other processes. SQLite notifies no other
// process; docs/goals.md (G1) wants a warm start within 110 % of the calls it needs (0.16 s), so a
// notification must not wait for long. See the benchmark for what looking costs.
const pollEvery = 20 * time.Millisecond

// keepNotifications is how many notifications stay in the file, more or less, so that it does not grow. A watcher
// that falls behind by more loses the oldest, as it may. pruneNotifications is how many are removed at once.
const (
	keepNotifications  = 10_000
	pruneNotifications = 1000
)

// Notify implements store.Table. The notification reaches every watcher, in this process at once.
func (t *Table) Notify(ctx context.Context, keys ...store.Key) error {
	if err := t.addNotifications(ctx, keys); err != nil {
		return classified(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for bell := range t.bells {
		select {
		case bell <- struct{}{}:
		default: // it has yet to look, and will see these too
		}
	}
	return nil
}

func (t *Table) addNotifications(ctx context.Context, keys []store.Key) error {
	if len(keys) == 0 {
		return nil
	}
	result, err := t.stmt.notify.ExecContext(ctx, list(keys))
	if err != nil {
		return err
	}
	last, err := result.LastInsertId()
	if err != nil {
		return err
	}
	if first := last - int64(len(keys)); first/pruneNotifications == last/pruneNotifications {
		return nil
	}
	_, err = t.db.SQL().ExecContext(ctx, deleteNotifications, last-keepNotifications)
	return err
}

// Watch implements store.Table. It delivers the notifications that come after its start. A file that is
// unavailable for a time delays them only.
func (t *Table) Watch(ctx context.Context, notify func(store.Key)) error {
	bell := make(chan struct{}, 1)
	t.mu.Lock()
	t.bells[bell] = true
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.bells, bell)
		t.mu.Unlock()
	}()

	var tick <-chan time.Time
	if !t.memory {
		ticker := t.clock.NewTicker(pollEvery)
		defer ticker.Stop()
		tick = ticker.C()
	}
	w := watcher{db: t.db.SQL(), stmt: t.stmt, notify: notify, last: unknown}
	for {
		err := w.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !sqlitedb.Unavailable(err) {
			return err
		}
		for due := false; !due; {
			select {
			case <-ctx.Done():
				return nil
			case <-bell:
				due = true
			case <-tick:
				due = w.changed(ctx)
			}
		}
	}
}

// unknown is the position of a watcher that has not read the end of the sequence yet.
const unknown = -1

// watcher reads the sequence of notifications from a position on.
type watcher struct {
	db     *sql.DB
	stmt   statements
	notify func(store.Key)
	last   int64 // sequence number of the last notification seen
	data   int64 // SQLite's data version at the last look
}

// changed reports whether another connection wrote to the file since the last call. It costs a
// quarter of a look. An error counts as a change: the look will meet it too, and judge it.
func (w *watcher) changed(ctx context.Context) bool {
	var data int64
	if err := w.stmt.version.QueryRowContext(ctx).Scan(&data); err != nil {
		return true
	}
	if data == w.data {
		return false
	}
	w.data = data
	return true
}

// look delivers all notifications since the last look.
func (w *watcher) look(ctx context.Context) error {
	if w.last == unknown {
		var end int64
		if err := w.db.QueryRowContext(ctx, lastNotification).Scan(&end); err != nil {
			return err
		}
		w.last = end
	}
	for {
		keys, err := w.page(ctx)
		if err != nil {
			return err
		}
		for _, k := range keys {
			w.notify(k)
		}
		if len(keys) < pageSize {
			return nil
		}
	}
}

// page reads the next notifications and moves the position behind them.
func (w *watcher) page(ctx context.Context) (keys []store.Key, _ error) {
	rows, err := w.stmt.notifications.QueryContext(ctx, w.last, pageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // its error is that of rows.Err
	seq := w.last
	for rows.Next() {
		var k store.Key
		if err := rows.Scan(&seq, &k.Partition, &k.Sort); err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	w.last = seq
	return keys, nil
}
