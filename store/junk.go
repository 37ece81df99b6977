package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// junk reports whether an item has no expiry where only such belong that have: where workflows and machines
// write, of a kind that is none of ours or that is always written with one. Everybody who may write there can
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

// ExpireJunk lets an item go at an instant, with what it holds as far as that can be read: should it be a
// record of a later version of this program, that has until then to write it anew. One that was written
// meanwhile is left alone, if it has a version.
func (s *Store) ExpireJunk(ctx context.Context, item Item, at time.Time) error {
	item.ExpiresAt = at.Truncate(time.Second)
	if item.Broken != nil {
		item.Broken, item.Version, item.Attributes = nil, 0, []byte(`{}`)
	}
	expect := Any
	if item.Version > 0 {
		expect = item.Version
		item.Version++
	}
	if err := s.table.Put(ctx, item, expect); err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("expire %.200q %.200q: %w", item.Key.Partition, item.Key.Sort, err)
	}
	return nil
}
