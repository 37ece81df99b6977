package reconciler

import (
	"slices"
	"strings"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Tracer is told of each request that became Ready or Failed, or is over, by the controller whose write of that succeeded:
// at most once, also across a fail-over. request is nil where it cannot be read. instances are those known to have served it,
// the lost ones too; they are the Tracer's. It must not wait.
type Tracer interface {
	Answered(request *store.RunRequest, st store.RunStatus, instances []store.Instance)
}

// trace tells the tracer of a request's status that was just written.
func (w *statuses) trace(st store.RunStatus, event statemachine.RequestEvent) {
	if w.tracer == nil || event != statemachine.Fulfil && event != statemachine.Fail && event != statemachine.Finish {
		return
	}
	r, _ := w.cache.requests.getRun(st.ID)
	var ids []store.InstanceID
	for _, seat := range st.Instances {
		ids = append(ids, seat.InstanceID)
	}
	for _, s := range w.cache.instances.heldBy(st.ID) {
		ids = append(ids, s.ID)
	}
	for _, e := range st.History.Entries(st.PendingAt) {
		if id, _, _ := strings.Cut(e.Detail, ":"); e.Code == store.CodeLostSeat {
			ids = append(ids, store.InstanceID(id))
		}
	}
	slices.Sort(ids)
	var instances []store.Instance
	for _, id := range slices.Compact(ids) {
		if s, ok := w.cache.instances.get(id); ok {
			in := s.Instance
			in.History = s.noted.onto(in.History, in.CreatedAt)
			instances = append(instances, in)
		}
	}
	w.tracer.Answered(r.request, st, instances)
}
