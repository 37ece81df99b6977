package pool

import "context"

// ReceiveOnce does what Run does with one class, once and without waiting.
func (p *Pickup) ReceiveOnce(ctx context.Context, class string, look func(string)) error {
	_, err := p.receiveBatch(ctx, class, 0, look)
	return err
}

// Sizes are what a Pickup holds.
type Sizes struct{ Available, Taken, Groups, Requests int }

// Sizes returns them, expired candidates removed first.
func (p *Pickup) Sizes() Sizes {
	p.expire()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Sizes{Groups: len(p.index.groups), Requests: len(p.looks)}
	for _, e := range p.index.entries {
		if e.pos == hidden {
			s.Taken++
		} else {
			s.Available++
		}
	}
	return s
}

// Kept is how many candidates it holds, expired ones included.
func (p *Pickup) Kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.index.entries)
}

// SetMaxLooks changes how often one request attempt may take the same instance.
func (p *Pickup) SetMaxLooks(n int) { p.maxLooks = n }

// Hold is how long Run hides a message.
const Hold = hold
