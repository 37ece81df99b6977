package pool

import (
	"context"
	"strconv"
)

// ReceiveOnce does what Run does with one class, once and without waiting.
func (p *Pickup) ReceiveOnce(ctx context.Context, class string, lookup func(string) (Ticket, bool)) error {
	_, err := p.receiveBatch(ctx, class, 0, lookup)
	return err
}

// DeleteOnce does what Run does with discarded messages, once and without lingering.
func (p *Pickup) DeleteOnce(ctx context.Context) error { return p.deleteAll(ctx) }

// Discard discards n messages of class.
func (p *Pickup) Discard(class string, n int) {
	for i := range n {
		p.discards.add(class, strconv.Itoa(i))
	}
}

// Key is the key of q in the memo.
func (q Query) Key() string { return string(q.appendKey(nil)) }

// Planned is how many groups the memo holds.
func (p *Pickup) Planned() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, plan := range p.index.plans {
		for _, groups := range plan.groups {
			n += len(groups)
		}
	}
	return n
}

// The bounds that tests meet.
const (
	MaxPlans       = maxPlans
	MaxEmptyGroups = maxEmptyGroups
	MaxReceivers   = maxReceivers
	MaxReceipts    = maxReceipts
	MaxDiscards    = maxDiscards
	DiscardWorkers = discardWorkers
)
