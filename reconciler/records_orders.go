package reconciler

import (
	"sync"
	"time"

	"github.com/remuda-run/remuda/store"
)

// orderRecords are the drain orders that were taken up.
type orderRecords struct {
	mu   sync.RWMutex
	byID map[string]store.DrainOrder
}

func newOrderRecords() *orderRecords { return &orderRecords{byID: map[string]store.DrainOrder{}} }

// dismissed reports whether an order in force covers in, and whether one does not wait for its job.
func (v *orderRecords) dismissed(in store.Instance, now time.Time) (ordered, atOnce bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, d := range v.byID {
		if d.Matches(in) && now.Before(d.ExpiresAt) {
			ordered, atOnce = true, atOnce || d.Now
		}
	}
	return ordered, atOnce
}

// applyDrain takes a drain order.
func (v *orderRecords) applyDrain(d store.DrainOrder) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.byID[d.ID] = d
}

// lastTerm returns the highest term that took one of them up.
func (v *orderRecords) lastTerm() int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var last int64
	for _, d := range v.byID {
		last = max(last, d.Term)
	}
	return last
}

// forget drops the orders that expired.
func (v *orderRecords) forget(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, d := range v.byID {
		if past(d.ExpiresAt, now) {
			delete(v.byID, id)
		}
	}
}
