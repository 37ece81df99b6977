package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Store gives the items of a Table their types and rules. It is safe for concurrent use and starts
// nothing. It keeps the last instance it read, to decode one that has not changed only once.
type Store struct {
	table    Table
	patience time.Duration           // for one write; 0: until its context ends
	last     atomic.Pointer[decoded] // instance read
}

// New returns a Store on table. The caller keeps ownership of table.
func New(table Table) *Store { return &Store{table: table} }

// NewPatient returns a Store that repeats a write of unknown outcome for d, and then returns ErrUnconfirmed. It cancels no call of the
// table. The write may still be applied, so the caller must read the record before it writes again.
func NewPatient(table Table, d time.Duration) *Store { return &Store{table: table, patience: d} }

// Table returns the table below, for notifications and watches.
func (s *Store) Table() Table { return s.table }

// retryFirst and retryMax bound the pause between two identical writes. The first is a little more
// than a DynamoDB write takes (docs/goals.md: 7.5 ms), the last keeps a dead back end from being hammered.
const (
	retryFirst = 20 * time.Millisecond
	retryMax   = 2 * time.Second
)

// put writes r over version expect and repeats the identical write while its outcome is unknown, until ctx ends or patience is over. If the
// table already holds the same record, an earlier try was applied and only its reply was lost. That is success (H13).
func (s *Store) put(ctx context.Context, r record, expect int64) error {
	version := expect + 1
	if expect == Unconditional {
		version = 0
	}
	item, err := encode(r, version)
	if err != nil {
		return err
	}
	var last error
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(retryFirst), backoff.WithMaxInterval(retryMax), backoff.WithMaxElapsedTime(0))
	write := func() error {
		before := last
		err := s.table.Put(ctx, item, expect)
		last = err
		if (errors.Is(err, ErrNotLeader) || errors.Is(err, ErrRefused)) && before != nil { // this try had no effect, but an earlier one may have been applied
			return backoff.Permanent(unknown(before, err))
		}
		if conflict := (*ConflictError)(nil); errors.As(err, &conflict) && conflict.Current != nil && same(*conflict.Current, item) {
			return nil
		}
		if errors.Is(err, ErrConflict) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrRefused) || errors.Is(err, ErrNotLeader) {
			return backoff.Permanent(err)
		}
		if err != nil && s.patience > 0 && pause.GetElapsedTime() >= s.patience { // the table bounds each call
			return backoff.Permanent(fmt.Errorf("%w within %s: %w", ErrUnconfirmed, s.patience, err))
		}
		return err
	}
	if err := backoff.Retry(write, backoff.WithContext(pause, ctx)); err != nil {
		if ended := ctx.Err(); ended != nil && errors.Is(err, ended) && !errors.Is(last, err) { // say also what it was waiting for
			err = fmt.Errorf("%w: %w", err, last)
		}
		return fmt.Errorf("write %s %s: %w", item.Key.Partition, item.Key.Sort, err)
	}
	if v, _ := r.meta(); v != nil {
		*v = version
	}
	return nil
}

// stored writes now over the version it carries. After an error, which says what failed, it returns was.
func stored[R any, P interface {
	*R
	record
}](ctx context.Context, s *Store, what string, was, now R) (R, error) {
	version, _ := P(&now).meta()
	if err := s.put(ctx, P(&now), *version); err != nil {
		return was, fmt.Errorf("%s: %w", what, err)
	}
	return now, nil
}

// same reports whether a was written by the very call that wants b. Every versioned record
// carries the instant of its change, so two different writers never write the same bytes by chance
// and with the same effect.
func same(a, b Item) bool {
	return a.Version == b.Version && a.ExpiresAt.Equal(b.ExpiresAt) && bytes.Equal(canonical(a.Attributes), canonical(b.Attributes))
}

// get reads one record into r, or returns ErrNotFound.
func (s *Store) get(ctx context.Context, c Consistency, k Key, r record) error {
	item, err := s.item(ctx, c, k)
	if err != nil {
		return err
	}
	return decode(item, r)
}

// item reads one item, or returns ErrNotFound.
func (s *Store) item(ctx context.Context, c Consistency, k Key) (Item, error) {
	items, err := s.table.Get(ctx, c, k)
	if err != nil {
		return Item{}, fmt.Errorf("read %s %s: %w", k.Partition, k.Sort, err)
	}
	if len(items) == 0 {
		return Item{}, fmt.Errorf("read %s %s: %w", k.Partition, k.Sort, ErrNotFound)
	}
	return items[0], nil
}

// unknown returns the error of a write with unknown outcome. before is the error of a try that may have been applied. err is the error of a
// try without effect, and its kind is hidden because it is definite.
func unknown(before, err error) error {
	if !errors.Is(before, ErrUnavailable) {
		before = fmt.Errorf("%w: %w", ErrUnavailable, before)
	}
	return fmt.Errorf("%w: %v", before, err) //nolint:errorlint // see above
}
