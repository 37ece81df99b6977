package reconciler

import (
	"context"
	"sync"
)

// slots bounds the looks of one queue that are under way. One that waits for GitHub steps aside: its slot is taken by
// another, so that a GitHub that hangs for a hundred machines delays nothing that needs no GitHub.
type slots struct {
	free  chan struct{} // holds one for every slot that is taken
	aside chan struct{} // the same for those that stepped aside
}

// maxAside bounds the looks of a queue that wait for GitHub at once, for the memory they take. Beyond it they keep their
// slots.
const maxAside = 1024

func newSlots(n int) *slots {
	return &slots{free: make(chan struct{}, n), aside: make(chan struct{}, maxAside)}
}

// slot is the place that a look has. Several calls of the look may be under way at once.
type slot struct {
	of    *slots
	mu    sync.Mutex
	calls int
	left  bool // it is another's now
}

// slotKey is where a context holds its look's slot.
type slotKey struct{}

// take waits for a slot and returns it.
func (p *slots) take() *slot {
	p.free <- struct{}{}
	return &slot{of: p}
}

// leave gives the slot up for good.
func (p *slot) leave() { <-p.of.free }

// stepAside gives the slot up until the returned function is called, which waits for another.
func stepAside(ctx context.Context) (back func()) {
	p, ok := ctx.Value(slotKey{}).(*slot)
	if !ok {
		return func() {}
	}
	p.begin()
	return p.end
}

func (p *slot) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls++; p.calls > 1 {
		return
	}
	select {
	case p.of.aside <- struct{}{}:
		<-p.of.free
		p.left = true
	default:
	}
}

func (p *slot) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls > 0 || !p.left {
		return
	}
	<-p.of.aside
	p.of.free <- struct{}{}
	p.left = false
}
