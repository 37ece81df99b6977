package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/remuda-run/remuda/store"
)

// intend plans one launch for the wants of a window, and reserves what the caps allow for it.
func (c *launches) intend(ctx context.Context, key string) error {
	for {
		wants := c.batch.take(key)
		if len(wants) == 0 {
			return nil
		}
		asked := c.affordable(wants)
		if len(asked) == 0 {
			c.closeWindow(key, wants)
			return nil
		}
		l, err := c.prepare(ctx, asked)
		if err != nil {
			c.refuse(wants, err)
			c.closeWindow(key, wants)
			return ignorePlan(err)
		}
		if c.reserve(key, asked, l) { // a plan may take the fleet a second, and the pool serve meanwhile
			c.closeWindow(key, wants)
			c.queues.launches.Add(l.Token)
			return nil
		}
	}
}

// reserve checks the caps and uses them up in one step. It reports whether every request still wants as many as were asked for it.
func (c *launches) reserve(key string, asked []want, l store.Launch) bool {
	c.reserving.Lock()
	defer c.reserving.Unlock()
	if !c.stillWanted(key, asked) {
		return false
	}
	c.batch.reserve(l)
	return true
}

// writeIntent writes the record of a reserved launch before anything is launched. A write of unknown outcome is repeated with the same
// record unless the table has it: another record would be another launch. A launch that no request wants any more is dropped. If its
// record was written after all, the next scan finds the record.
func (c *launches) writeIntent(ctx context.Context, token string) error {
	l, is := c.batch.unwritten(token)
	if !is {
		return nil
	}
	var written store.Launch
	var err error
	wanted, found := slices.ContainsFunc(l.Seats, c.cache.wants), false
	if wanted {
		if written, err = c.cache.store.PutLaunch(ctx, l); err != nil {
			have, unread := c.cache.store.Launch(ctx, token)
			if found = unread == nil; found { // an earlier try was applied, and a scan may have seen it: it may have been called
				written, err = have, nil
			}
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("launch %s: %w", token, err)
	case wanted:
		c.cache.launches.applyLaunch(written)
		c.batch.intended(token, found)
	default:
		c.batch.giveUp(token)
	}
	for _, s := range l.Seats {
		if wanted {
			c.cache.note(s.RequestID, store.CodeAsked, "%d %s", s.Count, l.UsageClass)
		}
		c.queues.requests.Add(s.RequestID)
	}
	c.cache.capacity.freed()
	return nil
}

// stillWanted reports whether every request wants as many as were asked for it.
func (c *launches) stillWanted(key string, asked []want) bool {
	now := map[store.RequestID]int{}
	for _, w := range c.affordable(c.batch.take(key)) {
		now[w.id] = w.count
	}
	return !slices.ContainsFunc(asked, func(a want) bool { return now[a.id] < a.count })
}

// affordable cuts wants, oldest first, to what their requests still need, the pool has not got meanwhile, and the caps
// still allow.
func (c *launches) affordable(wants []want) []want {
	if len(wants) == 0 {
		return nil
	}
	left := min(c.cache.capacity.allowed(wants[0].query.ResourceClass), maxLaunch)
	var out []want
	for _, w := range wants {
		if class, floor := w.id.Floor(); floor {
			if w.count = min(w.count, maxLaunch, c.stock.launchable(class)); w.count > 0 {
				out = append(out, w)
			}
			continue
		}
		writing := c.batch.writing(w.id, w.attempt) // first: what is written is open, and what is recorded is held
		open, _ := c.cache.launches.launchedFor(w.id, w.attempt)
		held := c.cache.instances.holds(w.id, w.attempt)
		r, ok := c.cache.requests.getRun(w.id)
		if !ok || !r.alive(w.attempt) {
			continue
		}
		needed := r.request.Count - held - open - writing
		if w.count = min(w.count, left, needed-c.cache.index.claimable(r, w, needed)); w.count > 0 {
			left -= w.count
			out = append(out, w)
		}
	}
	return out
}

// closeWindow ends the wants of a window and lets their requests count again.
func (c *launches) closeWindow(key string, wants []want) {
	c.batch.drop(key, wants)
	for _, w := range wants {
		c.queues.requests.Add(w.id)
	}
	c.cache.capacity.freed()
}

// prepare makes the record of one launch for all wants.
func (c *launches) prepare(ctx context.Context, wants []want) (store.Launch, error) {
	plan, usage, err := c.planner.plan(ctx, wants)
	if err != nil {
		return store.Launch{}, err
	}
	frozen, err := json.Marshal(plan)
	if err != nil {
		return store.Launch{}, fmt.Errorf("launch %s: encode plan: %w", plan.Token, err)
	}
	l := store.Launch{
		Token: plan.Token, ResourceClass: wants[0].query.ResourceClass, UsageClass: usage, Count: plan.Count,
		Plan: frozen, CreatedAt: store.At(c.clock.Now()),
	}
	for _, w := range wants {
		l.Seats = append(l.Seats, store.LaunchSeat{RequestID: w.id, Attempt: w.attempt, Count: w.count})
	}
	return l, nil
}
