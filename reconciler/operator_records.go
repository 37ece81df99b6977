package reconciler

import "github.com/remuda-run/remuda/store"

// Records returns what the operator knows of instances and requests, without the secrets of registrations, and false while it
// does not lead or has not read them. Instances are one consistent copy and requests another: the store has no instant that
// is common to both either. What requests and statuses point to must not be changed. It calls nothing and costs some
// milliseconds for 10,000 instances.
func (op *Operator) Records() (store.Found, bool) {
	m := op.manager.Load()
	if m == nil || !m.scanner.loaded.Load() {
		return store.Found{}, false
	}
	var out store.Found
	out.Visitor() // which makes the maps
	m.cache.instances.copyInto(&out)
	m.cache.requests.copyInto(&out)
	return out, true
}

// copyInto adds every instance with what its agent reported.
func (v *instanceRecords) copyInto(out *store.Found) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out.Instances = make([]store.Instance, 0, len(v.byID))
	for _, in := range v.byID {
		rec := in.record
		rec.Registration.Secret = ""
		out.Instances = append(out.Instances, rec)
		out.Vitals[rec.Principal] = store.Vitals{Heartbeat: in.vitals.beat, Signal: in.vitals.signal}
	}
}

// copyInto adds every request with its status. Both are replaced and never changed, so that they need no copies.
func (v *requestRecords) copyInto(out *store.Found) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for id, r := range v.byID {
		out.Runs[id] = store.RunRecords{Request: r.request, Status: r.status, Bad: r.bad}
		if r.bad != nil && !r.refused() {
			out.Bad[store.RequestKey(id, store.KindRunRequest)] = r.bad.Err
		}
	}
}
