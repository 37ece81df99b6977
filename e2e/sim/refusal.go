package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// refusals are the single items that the table takes no write of, as a hot partition or a condition of a policy does it. Everything
// else works, so no law exempts a fault that concerns other items.
type refusals struct {
	w *World

	mu    sync.Mutex
	until map[store.Key]time.Duration        // items that take no write
	next  time.Duration                      // until when the next launch is such an item; 0: it is not
	hurt  map[store.RequestID]time.Duration  // until when a request may suffer by it; so may the minimum idle of a class
	ill   map[store.InstanceID]time.Duration // until when an instance may
}

func newRefusals(w *World) *refusals {
	return &refusals{w: w, until: map[store.Key]time.Duration{}, hurt: map[store.RequestID]time.Duration{}, ill: map[store.InstanceID]time.Duration{}}
}

// The items that may take no write.
const (
	itemCosts    = "costs"    // of the day
	itemDemand   = "demand"   // of the day
	itemFloor    = "floor"    // how the minimum idle of class small stands
	itemLaunch   = "launch"   // the next one
	itemInstance = "instance" // one whose record is kept
	itemStatus   = "status"   // of a request that waits, or holds instances
)

// refuseItem keeps one item from being written.
type refuseItem struct {
	Item string `script:"item,first"`
	span

	Of float64 `script:"of"` // which of the instances, or requests: the one at so much of 1 of them
}

func (a refuseItem) check() error {
	return errors.Join(oneOf("item", a.Item, itemCosts, itemDemand, itemFloor, itemLaunch, itemInstance, itemStatus), a.span.check())
}

func (a refuseItem) do(w *World) {
	r := w.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	until := w.since() + a.For
	switch today := store.DayOf(w.clock.Now()); a.Item {
	case itemCosts:
		r.until[store.CostsKey(today)] = until
	case itemDemand:
		r.until[store.DemandKey(today)] = until
	case itemFloor:
		r.until[store.FloorKey("small")] = until
	case itemLaunch:
		r.next = until
	case itemInstance:
		if in, found := w.truth.records.kept(a.Of); found {
			r.until[store.InstanceKey(in.Principal, store.KindInstance)] = until
			r.ill[in.ID] = until
			w.machines.disturbFor(string(in.ID), a.For)
		}
	case itemStatus:
		if id, found := w.truth.records.open(a.Of); found {
			r.until[store.RequestKey(id, store.KindRunStatus)] = until
			r.hurt[id] = until
		}
	}
}

// kept returns one of the instances whose record is kept: the one at x of 1 of them.
func (r *records) kept(x float64) (store.Instance, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(r.instances)), func(id store.InstanceID) bool { return !r.instances[id].ExpiresAt.IsZero() })
	if len(all) == 0 {
		return store.Instance{}, false
	}
	return r.instances[all[min(int(x*float64(len(all))), len(all)-1)]], true
}

// open returns one of the requests that wait, or hold instances: the one at x of 1 of them.
func (r *records) open(x float64) (id store.RequestID, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []store.RequestID
	for id := range maps.Keys(r.requests) {
		if p := r.status[id].Phase; p == statemachine.Pending || p == statemachine.Ready || r.status[id].Attempt == 0 {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return "", false
	}
	slices.Sort(all)
	return all[min(int(x*float64(len(all))), len(all)-1)], true
}

// refuses reports whether the table takes no write of an item.
func (r *refusals) refuses(item store.Item) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.w.since()
	var l store.Launch
	if item.Key.Sort == store.KindLaunch {
		if json.Unmarshal(item.Attributes, &l) != nil {
			return false
		}
		if item.Version == 1 && now < r.next {
			r.until[item.Key], r.next = r.next, 0
		}
	}
	until := r.until[item.Key]
	if now >= until {
		return false
	}
	for _, seat := range l.Seats {
		r.hurt[seat.RequestID] = until
	}
	return true
}

// suffers reports whether an item took no write lately without which a request cannot be served.
func (r *refusals) suffers(id store.RequestID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, hurt := r.hurt[id]
	return hurt && r.w.since() < until+r.w.o.paced(settles)
}

// isIll reports whether the record of an instance took no write lately.
func (r *refusals) isIll(id store.InstanceID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, ill := r.ill[id]
	return ill && r.w.since() < until+r.w.o.paced(settles)
}

// spoil puts a bad row among those of the day: of costs, or of demand. Another program did it, or a version of this one.
type spoil struct {
	Item string `script:"item,first"`
}

func (a spoil) check() error { return oneOf("item", a.Item, itemCosts, itemDemand) }

func (a spoil) do(w *World) {
	key := store.CostsKey(store.DayOf(w.clock.Now()))
	if a.Item == itemDemand {
		key = store.DemandKey(store.DayOf(w.clock.Now()))
	}
	items, err := w.truth.Get(context.Background(), store.Consistent, key)
	if err != nil || len(items) == 0 {
		return // nothing was counted yet
	}
	item, all := items[0], map[string]any{}
	if err := json.Unmarshal(item.Attributes, &all); err != nil {
		w.verdicts.broke("records", "%v: %v", key, err)
		return
	}
	bad := map[string]any{"class": fmt.Sprintf("%0300d", 1), "spent": map[string]any{"idleDollars": 0.001}, "hour": 99}
	rows, _ := all["rows"].([]any)
	all["rows"] = append([]any{bad}, rows...)
	was := item.Version
	item.Version++
	item.Attributes, err = json.Marshal(all)
	if err == nil {
		err = w.truth.Put(context.Background(), item, was)
	}
	if err != nil {
		w.verdicts.broke("records", "%v: %v", key, err)
	}
}

// deaf keeps the agent of an instance from reading the store. Its writes arrive.
type deaf struct {
	Of float64 `script:"of,first"`
	span
}

func (a deaf) do(w *World) {
	w.machines.ofAlive(a.Of, func(m *machine) {
		w.machines.disturbFor(m.id, a.For)
		m.deaf.Store(int64(w.since() + a.For))
	})
}

// isDeaf reports whether a call of an agent is a read that gets no answer.
func (ms *machines) isDeaf(p *process, s Site) bool {
	m := ms.of(string(p.on))
	return m != nil && s.Method == "store.Get" && int64(ms.w.since()) < m.deaf.Load()
}
