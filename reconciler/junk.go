package reconciler

import (
	"context"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// What no part of remuda writes is given an expiry: junkLife is time for a later version of this program,
// which a rollback may have put aside, to claim what is its own; junkLimit bounds what one scan does about it, and
// the memory for it. An item has at most store.MaxForeign bytes of attributes; a larger one is broken and has none.
const (
	junkLife  = 7 * 24 * time.Hour
	junkLimit = 25
)

// junkItems are those that one scan found.
type junkItems []store.Item

func (s *junkItems) add(item store.Item) {
	if len(*s) < junkLimit {
		*s = append(*s, item)
	}
}

// expireJunk gives an expiry to what would stay for ever. What fails is found by the next scan.
func (c *scanner) expireJunk(ctx context.Context, junk junkItems, now time.Time) {
	_ = sideBySide(junk, func(item store.Item) error { // each call logs its error
		err := c.cache.store.ExpireJunk(ctx, item, now.Add(junkLife))
		if err != nil {
			c.log.Warn("an item that no part writes could not be given an expiry", logkey.Error, store.Head(err.Error(), maxLoggedError))
			return err
		}
		c.log.Info("an item that no part writes expires in a week", logkey.Key, item.Key.String())
		return nil
	})
}
