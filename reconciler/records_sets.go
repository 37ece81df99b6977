package reconciler

import (
	"cmp"
	"slices"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// sort puts an instance, whose record was taken, among those that live, end or return. v.mu must be held.
func (v *instanceRecords) sort(in *instance) {
	id := in.record.ID
	delete(v.present, id)
	delete(v.ending, id)
	switch {
	case in.record.State != statemachine.Terminated:
		v.present[id] = in
	case in.record.ExpiresAt.IsZero():
		v.ending[id] = in
	}
	v.setReturning(in, in.record.State == statemachine.Idle && in.record.PooledAt.IsZero())
	v.setIdle(in, in.record.State == statemachine.Idle)
}

func (v *instanceRecords) setIdle(in *instance, idle bool) {
	of := v.idles[in.record.ResourceClass]
	switch {
	case idle && of == nil:
		v.idles[in.record.ResourceClass] = map[store.InstanceID]*instance{in.record.ID: in}
	case idle:
		of[in.record.ID] = in
	default:
		delete(of, in.record.ID)
	}
}

// eachIdleOf is each of the idle ones of a class.
func (v *instanceRecords) eachIdleOf(class string, yield func(*instance)) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, in := range v.idles[class] {
		yield(in)
	}
}

func (v *instanceRecords) setReturning(in *instance, returns bool) {
	at, known := slices.BinarySearchFunc(v.returning, in.record.ID, func(o *instance, id store.InstanceID) int { return cmp.Compare(o.record.ID, id) })
	switch {
	case returns && !known:
		v.returning = slices.Insert(v.returning, at, in)
	case !returns && known:
		v.returning = slices.Delete(v.returning, at, at+1)
	}
}

// idle returns copies of the idle instances.
func (v *instanceRecords) idle() []snapshot {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []*instance
	for _, in := range v.present {
		if in.record.State == statemachine.Idle {
			out = append(out, in)
		}
	}
	return snapshots(out)
}

// eachReturning calls yield with the instances in the release handshake, ordered by id, under the lock, until it returns
// false: yield must neither block nor change anything.
func (v *instanceRecords) eachReturning(yield func(*instance) bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, in := range v.returning {
		if !yield(in) {
			return
		}
	}
}

// each calls yield with every instance, in no order, under the lock: yield must not block. Those that are gone are among
// them for a day.
func (v *instanceRecords) each(yield func(*instance)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, in := range v.byID {
		yield(in)
	}
}

// eachAlive is each of those that are not terminated, eachEnding of those that are and may not be gone.
func (v *instanceRecords) eachAlive(yield func(*instance)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, in := range v.present {
		yield(in)
	}
}

func (v *instanceRecords) eachEnding(yield func(*instance)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, in := range v.ending {
		yield(in)
	}
}

// servedBy returns copies of the records of the instances that have served a request, ordered by id.
func (v *instanceRecords) servedBy(id store.RequestID) []store.Instance {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []store.Instance
	for _, in := range v.served[id.Noted()] {
		out = append(out, in.record)
	}
	slices.SortFunc(out, func(a, b store.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
