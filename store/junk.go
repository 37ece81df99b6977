package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// junk reports whether an item has no expiry where only such belong that have: where workflows and machines
// write, of a kind that is none of ours or that is always written with one. Anyone who may write there can
// leave any number, and each scan reads them.
func junk(item Item) bool {
	theirs := strings.HasPrefix(item.Key.Partition, runPrefix) || strings.HasPrefix(item.Key.Partition, instancePrefix)
	if !theirs || !item.ExpiresAt.IsZero() {
		return false
	}
	switch item.Key.Sort {
	case KindRunClient, KindHeartbeat, KindSignal:
		return true
	}
	return !KnownKind(item.Key.Sort)
}

// ExpireJunk lets an item expire at an instant, with what it holds as far as that can be read: should it be a
// record of a later version of this program, that has until then to write it anew. One that was written
// meanwhile is left alone, if it has a version; one that cannot be written again as it is loses what it holds.
func (s *Store) ExpireJunk(ctx context.Context, item Item, at time.Time) error {
	item.ExpiresAt = at.Truncate(time.Second)
	empty := Item{Key: item.Key, ExpiresAt: item.ExpiresAt, Attributes: []byte(`{}`)}
	err := ErrInvalid
	switch {
	case item.Broken != nil || item.Version == math.MaxInt64:
	case item.Version > 0:
		item.Version++
		err = s.table.Put(ctx, item, item.Version-1)
	default:
		err = s.table.Put(ctx, item, Unconditional)
	}
	if errors.Is(err, ErrInvalid) { // no room for an expiry, say
		err = s.table.Put(ctx, empty, Unconditional)
	}
	if err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("expire %.200q %.200q: %w", item.Key.Partition, item.Key.Sort, err)
	}
	return nil
}
