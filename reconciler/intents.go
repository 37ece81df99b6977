package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/remuda-run/remuda/store"
)

// intend plans one launch for the requests of a window, and reserves the capacity under the caps.
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
		if c.reserve(key, asked, l) { // planning can take a second, and the pool may serve requests meanwhile
			c.closeWindow(key, wants)
			c.queues.launches.Add(l.Token)
			return nil
		}
	}
}

// reserve checks the caps and reserves the launch in one step. It reports false if a request now needs fewer instances than planned.
func (c *launches) reserve(key string, asked []want, l store.Launch) bool {
	c.reserving.Lock()
	defer c.reserving.Unlock()
	if !c.stillWanted(key, asked) {
		return false
	}
	c.batch.reserve(l)
	return true
}

// writeIntent writes the record of a reserved launch before any instance is launched. If the outcome of the write is unknown, writeIntent
// repeats the write unless the table has the record. A new record would be a second launch. If no request needs the launch any more,
// writeIntent drops it. If the record was written nevertheless, the next scan finds it.
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
			if found = unread == nil; found { // an earlier write took effect; a scan may have found the record and launched it
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

// stillWanted reports whether every request still needs as many instances as planned.
func (c *launches) stillWanted(key string, asked []want) bool {
	now := map[store.RequestID]int{}
	for _, w := range c.affordable(c.batch.take(key)) {
		now[w.id] = w.count
	}
	return !slices.ContainsFunc(asked, func(a want) bool { return now[a.id] < a.count })
}

// affordable reduces wants, oldest first, to the instances that their requests still need, the pool did not supply, and the caps allow.
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
		writing := c.batch.writing(w.id, w.attempt) // read this first: a written launch is open
		supplied := c.cache.supplied(w.id, w.attempt)
		r, ok := c.cache.requests.getRun(w.id)
		if !ok || !r.alive(w.attempt) {
			continue
		}
		needed := r.request.Count - supplied - writing
		if w.count = min(w.count, left, needed-c.cache.index.claimable(r, w, needed)); w.count > 0 {
			left -= w.count
			out = append(out, w)
		}
	}
	return out
}

// closeWindow removes the wants of a window and wakes their requests.
func (c *launches) closeWindow(key string, wants []want) {
	c.batch.drop(key, wants)
	for _, w := range wants {
		c.queues.requests.Add(w.id)
	}
	c.cache.capacity.freed()
}

// prepare creates the record of one launch for all wants.
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
