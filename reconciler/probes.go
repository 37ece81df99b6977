package reconciler

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/store"
)

// probes is what all machines share whose listener is offline: whose turn it is to try again, and whether one that is alone may be
// replaced. It is the memory of one term.
type probes struct {
	mu       sync.Mutex
	offline  map[store.InstanceID]bool // true: it waits for another registration
	since    time.Time                 // when the first of them failed
	next     time.Time                 // when one may try again
	last     store.InstanceID          // who did
	replaced time.Time                 // when one was replaced that was alone; zero: never
}

// note keeps that a machine's listener is offline. It reports whether it is the first.
func (p *probes) note(id store.InstanceID, refused bool, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := len(p.offline) == 0
	if first {
		p.offline = map[store.InstanceID]bool{}
		p.since, p.next, p.last = now, now.Add(probeSoon), ""
	}
	p.offline[id] = refused
	return first
}

// drop forgets a machine. It reports whether it was the last.
func (p *probes) drop(id store.InstanceID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.offline[id]
	delete(p.offline, id)
	return known && len(p.offline) == 0
}

// turn reports whether it is id's turn to try again, and otherwise when that may be. They take turns, so that one
// whose own fault it is holds up no other.
func (p *probes) turn(id store.InstanceID, now time.Time) (bool, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := p.next
	if p.last == id {
		for other, refused := range p.offline {
			if refused && other != id {
				due = p.next.Add(steady) // the others first
				break
			}
		}
	}
	if now.Before(due) {
		return false, due
	}
	pace := probeSoon
	if now.Sub(p.since) >= probeWhile {
		pace = probeLate
	}
	p.last, p.next = id, now.Add(pace)
	return true, time.Time{}
}

// mayReplace reports whether a machine that is alone may be replaced: once, until one serves of which the registration
// was made later.
func (p *probes) mayReplace(served time.Time) (after time.Time, may bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.replaced, p.replaced.IsZero() || served.After(p.replaced)
}

func (p *probes) replacing(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replaced = now
}

// all lists the machines whose listener is offline.
func (p *probes) all() []store.InstanceID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.offline)) // a map has no order; with one, the same events have the same consequences
}
