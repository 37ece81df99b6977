package reconciler

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/store"
)

// floorRecords are the floors: their records, and what is known beside.
type floorRecords struct {
	mu      sync.RWMutex
	byClass map[string]*floor
}

// floor is one floor.
type floor struct {
	record   store.Floor
	hungry   bool   // it is short, and waits for room
	failures int    // in a row
	reason   string // of the last one, and what it was
	problem  string
	retry    time.Time // nothing is launched before
}

func newFloorRecords() *floorRecords { return &floorRecords{byClass: map[string]*floor{}} }

// applyFloor takes a record with a higher version.
func (v *floorRecords) applyFloor(rec store.Floor) {
	v.with(rec.Class, func(f *floor) {
		if rec.Version > f.record.Version {
			f.record = rec
		}
	})
}

// with changes what is known of the floor of a class.
func (v *floorRecords) with(class string, change func(*floor)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.byClass[class]
	if f == nil {
		f = &floor{record: store.Floor{Class: class}}
		v.byClass[class] = f
	}
	change(f)
}

// get returns a copy.
func (v *floorRecords) get(class string) floor {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if f := v.byClass[class]; f != nil {
		return *f
	}
	return floor{record: store.Floor{Class: class}}
}

// list returns the classes of those that match, in order.
func (v *floorRecords) list(match func(*floor) bool) []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Sorted(maps.Keys(maps.Collect(func(yield func(string, bool) bool) {
		for class, f := range v.byClass {
			if match(f) && !yield(class, true) {
				return
			}
		}
	})))
}

// stored lists those that have a record without an expiry, hungry those that wait for room.
func (v *floorRecords) stored() []string {
	return v.list(func(f *floor) bool { return f.record.Version > 0 && f.record.ExpiresAt.IsZero() })
}

func (v *floorRecords) hungry() []string { return v.list(func(f *floor) bool { return f.hungry }) }

// Pauses after failures in a row, of launches or of machines that were launched: 1, 2, 4 … s, at most failPause, so that a script
// that always fails costs twelve machines an hour; from failOne of them on one machine at a time is tried. Machines that fail
// together are one failure.
const (
	failFirst = time.Second
	failPause = 5 * time.Minute
	failOne   = 3
)

// failed notes a failure.
func (f *floor) failed(reason, problem string, now time.Time) {
	f.reason, f.problem = reason, problem
	if now.Before(f.retry) {
		return
	}
	f.failures++
	f.retry = now.Add(min(failFirst<<min(f.failures-1, 20), failPause))
}
