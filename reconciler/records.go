package reconciler

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/store"
)

// records is the controller's memory of all records. It is the only writer of instances and statuses,
// so what it wrote through is current. It takes a record only with a higher version and never
// concludes anything from absence. Each set has a lock of its own; no call of one holds another's.
type records struct {
	instances *instanceRecords
	requests  *requestRecords
	launches  *launchRecords
	orders    *orderRecords
	floors    *floorRecords
}

func newRecords() *records {
	return &records{newInstanceRecords(), newRequestRecords(), newLaunchRecords(), newOrderRecords(), newFloorRecords()}
}

// unrecorded returns how many instances of an open launch have no record. A launch stays open while a record cannot be written.
func (v *records) unrecorded(l store.Launch) int {
	v.instances.mu.RLock()
	defer v.instances.mu.RUnlock()
	return max(0, l.Count-len(v.instances.served[byLaunch(l.Token)]))
}

// lastTerm returns the highest term that records name.
func (v *records) lastTerm() int64 { return max(v.instances.lastTerm(), v.orders.lastTerm()) }

// forget drops what expired, so that memory follows the table's TTL.
func (v *records) forget(now time.Time) {
	v.instances.forget(now)
	v.requests.forget(now)
	v.launches.forget(now)
	v.orders.forget(now)
}

// unfinished lists the requests that still need looks.
func (v *records) unfinished() []store.RequestID {
	out := v.requests.unfinished()
	for _, id := range v.instances.holders() {
		if _, known := v.requests.getRun(id); !known {
			out = append(out, id) // held by a run without a record: it must be given back
		}
	}
	slices.Sort(out) // a map has no order; with one, the same events have the same consequences
	return out
}
