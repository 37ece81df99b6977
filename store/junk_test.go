package store

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

// tooLarge refuses an item that holds anything, as DynamoDB does where an expiry would exceed 400 KB.
type tooLarge struct {
	Table
	got []Item
}

func (t *tooLarge) Put(_ context.Context, item Item, expect int64) error {
	if string(item.Attributes) != `{}` {
		return ErrInvalid
	}
	if expect != Unconditional {
		return errors.New("an item that lost what it held has no version")
	}
	t.got = append(t.got, item)
	return nil
}

// H61: what cannot be written again as it is loses what it holds.
func TestExpireJunk_CannotBeWritten_H61(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UTC()
	for name, item := range map[string]Item{
		"TooLarge": {Attributes: []byte(`{"a":1}`)}, "Versioned": {Version: 3, Attributes: []byte(`{"a":1}`)},
		"LastVersion": {Version: math.MaxInt64, Attributes: []byte(`{}`)}, "Broken": {Broken: ErrExpiry},
	} {
		t.Run(name, func(t *testing.T) {
			table := &tooLarge{}
			item.Key = Key{"RUN#1", "TYPE#Note"}
			if err := New(table).ExpireJunk(t.Context(), item, at); err != nil || len(table.got) != 1 || !table.got[0].ExpiresAt.Equal(at) || table.got[0].Version != 0 {
				t.Errorf("ExpireJunk = %v, wrote %+v, want an empty item until %s", err, table.got, at)
			}
		})
	}
}
