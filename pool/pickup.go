package pool

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"k8s.io/utils/clock"
)

// MaxLooks is how often one request attempt may take the same instance: enough for bad luck, and an end to a candidate
// that keeps coming back.
const MaxLooks = 5

// Pickup is the one source of candidates for all claim workers of a controller (S49).
//
// Its index holds the records that are idle, pooled, healthy and unexpired; its owner
// keeps it so with Put and Drop, from a full scan at start and from every change afterwards. So a
// crash hides nothing, and no answer rests on what a queue says or does not say. Messages only have
// records looked at (see Run).
//
// Take, Takeable, Put, Drop, Count, Return and Forget are lookups in memory and never call the Pool. All methods
// are safe for concurrent use.
type Pickup struct {
	pool     Pool
	clock    clock.WithTicker
	log      *slog.Logger
	maxLooks int

	mu    sync.Mutex
	index *index
	looks map[string]map[string]int // who, instance id: times taken
}

// NewPickup returns an empty Pickup over p, which the caller keeps and closes after Run ended.
func NewPickup(p Pool, clk clock.WithTicker, log *slog.Logger) *Pickup {
	return &Pickup{pool: p, clock: clk, log: log, maxLooks: MaxLooks, index: newIndex(), looks: make(map[string]map[string]int)}
}

// Put says that the instance's record is idle, pooled and healthy: it is, or stays, a candidate
// with the attributes of t. One that was taken stays hidden. An expired one is dropped. It reports
// whether the instance was none before.
func (p *Pickup) Put(t Ticket) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.index.entries[t.InstanceID]
	if t.Threshold.After(p.clock.Now()) {
		p.index.put(t)
		return e == nil
	}
	if e != nil {
		p.index.remove(e)
	}
	return false
}

// Count returns how many candidates q has at present, of all usage classes. One that expired lately may
// be among them.
func (p *Pickup) Count(q Query) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, groups := range p.index.plan(q) {
		for _, g := range groups {
			n += len(g.ready)
		}
	}
	return n
}

// Available returns the ids of the candidates that no one has taken and that have not expired, in no order.
func (p *Pickup) Available() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, out := p.clock.Now(), make([]string, 0, len(p.index.entries))
	for id, e := range p.index.entries {
		if e.pos != hidden && !e.expired(now) {
			out = append(out, id)
		}
	}
	return out
}

// Kind is what candidates are counted by.
type Kind struct{ ResourceClass, UsageClass string }

// Kinds counts the candidates that no one has taken. One that expired lately may be among them.
func (p *Pickup) Kinds() map[Kind]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[Kind]int{}
	for k, g := range p.index.groups {
		out[Kind{k.class, k.usage}] += len(g.ready)
	}
	return out
}

// Drop says that the instance is no candidate any more: claimed, terminated, unhealthy.
func (p *Pickup) Drop(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.index.entries[id]; e != nil {
		p.index.remove(e)
	}
}

// Take hides the best candidate for q from all others until Return or Drop, and returns it: of the
// first usage class that has any, the one with the oldest threshold (S50). False means that there
// is none for this query now (S58, S59).
//
// who names the request and its attempt: an instance that it took MaxLooks times is passed over.
// veto, which may be nil, is asked about matching candidates, best first: true means that this one
// must be left for an older request. It is passed over and at no time hidden from others, so veto
// is called with the Pickup locked: it must be quick, and must neither call the Pickup nor wait
// for a lock under which another does.
func (p *Pickup) Take(q Query, who string, veto func(Ticket) bool) (Ticket, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.index.pick(q, p.clock.Now(), p.passedOver(who, veto))
	if e == nil {
		return Ticket{}, false
	}
	looks := p.looks[who]
	if looks == nil {
		looks = make(map[string]int)
		p.looks[who] = looks
	}
	looks[e.id]++
	return e.ticket(), true
}

// Takeable returns how many candidates Take would give who for q, at most n. It takes none, and counts no look.
func (p *Pickup) Takeable(q Query, who string, n int, veto func(Ticket) bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	passedOver, found := p.passedOver(who, veto), 0
	last := p.index.pick(q, p.clock.Now(), func(e *entry) bool {
		if found < n && !passedOver(e) {
			found++
		}
		return found < n
	})
	if last != nil {
		last.group.show(last)
	}
	return found
}

// passedOver returns the test of what who must leave alone. The lock must be held while it is asked.
func (p *Pickup) passedOver(who string, veto func(Ticket) bool) func(*entry) bool {
	looks := p.looks[who]
	return func(e *entry) bool { return looks[e.id] >= p.maxLooks || veto != nil && veto(e.ticket()) }
}

// Return says that the claim of a taken instance did not happen: it is available again. The caller
// must be the one who took it; after Drop it does nothing.
func (p *Pickup) Return(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.index.entries[id]; e != nil && e.pos == hidden {
		e.group.show(e)
	}
}

// Untake is Return for a claim whose failure says nothing of the candidate: the look does not count against who.
func (p *Pickup) Untake(id, who string) {
	p.Return(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if looks := p.looks[who]; looks[id] > 0 {
		looks[id]--
	}
}

// Forget says that the request attempt is over: what it looked at needs no count any more.
func (p *Pickup) Forget(who string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.looks, who)
}

// Offer sends the message of a newly pooled instance. After an error it may have been sent. The
// instance is a candidate by Put, whether or not this succeeds.
func (p *Pickup) Offer(ctx context.Context, t Ticket) error {
	if err := p.pool.Offer(ctx, t); err != nil {
		return fmt.Errorf("offer instance %s: %w", t.InstanceID, err)
	}
	return nil
}
