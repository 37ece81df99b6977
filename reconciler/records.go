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

// recorded returns how many instances that a launch brought for a request certainly have records.
func (v *records) recorded(token string, id store.RequestID) int {
	if id.Noted() != string(id) {
		return 0 // another request of the launch may be noted in the same way
	}
	v.instances.mu.RLock()
	defer v.instances.mu.RUnlock()
	return len(v.instances.served[byLaunch(token, string(id))])
}

// unrecorded returns how many instances of an open launch have no record. A launch stays open while a record cannot be written.
func (v *records) unrecorded(l store.Launch) int {
	v.instances.mu.RLock()
	defer v.instances.mu.RUnlock()
	return max(0, l.Count-len(v.instances.served[byLaunch(l.Token, "")]))
}

// supplied returns how many instances an attempt holds or gets by launches.
func (v *records) supplied(id store.RequestID, attempt int) int {
	open, _ := v.launchedFor(id, attempt)
	return open + v.instances.holds(id, attempt)
}

// launchedFor returns how many instances are being launched for an attempt, and how many were. An instance of an open launch was launched
// if it has a record. A caller that also counts the held instances reads them afterwards: an instance then counts twice, not never.
func (v *records) launchedFor(id store.RequestID, attempt int) (open, launched int) {
	asked, launched := v.launches.launchedFor(id, attempt)
	for token, n := range asked {
		recorded := min(n, v.recorded(token, id))
		open, launched = open+n-recorded, launched+recorded
	}
	return open, launched
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
