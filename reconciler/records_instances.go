package reconciler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// instanceRecords are the instances, in the sets that are asked for.
type instanceRecords struct {
	mu         sync.RWMutex
	byID       map[store.InstanceID]*instance
	principals map[store.Principal]store.InstanceID
	held       map[store.RequestID]map[store.InstanceID]*instance // owned instances by request
	present    map[store.InstanceID]*instance                     // not terminated
	ending     map[store.InstanceID]*instance                     // terminated, and perhaps not gone
	returning  []*instance                                        // idle, not pooled yet, ordered by id
	idles      map[string]map[store.InstanceID]*instance          // idle, by class
	living     map[string]int                                     // instances that are not terminated, by class
	served     servedRuns                                         // the instances by each request that they have served, as named in histories, and by launch

	removed func(store.Instance) // called with each forgotten instance, without a lock

	distrustOnline atomic.Bool // a listener was refused, and none has come online for good since: what is online for a moment may not stay
}

func newInstanceRecords() *instanceRecords {
	return &instanceRecords{
		byID:       map[store.InstanceID]*instance{},
		principals: map[store.Principal]store.InstanceID{},
		held:       map[store.RequestID]map[store.InstanceID]*instance{},
		present:    map[store.InstanceID]*instance{},
		ending:     map[store.InstanceID]*instance{},
		idles:      map[string]map[store.InstanceID]*instance{},
		living:     map[string]int{},
		removed:    func(store.Instance) {},
		served:     servedRuns{},
	}
}

// apply stores a record with a higher version. It returns the replaced record, and false if it replaced none.
func (v *instanceRecords) apply(rec store.Instance) (was store.Instance, replaced bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	in, known := v.byID[rec.ID]
	if known && rec.Version <= in.record.Version {
		return was, false
	}
	if !known {
		in = &instance{distrustOnline: &v.distrustOnline, write: make(chan struct{}, 1)}
		in.vitals.reportChanged = true
		v.byID[rec.ID] = in
		v.principals[rec.Principal] = rec.ID
	}
	if known && in.record.State != statemachine.Terminated {
		v.living[in.record.ResourceClass]--
	}
	if rec.State != statemachine.Terminated {
		v.living[rec.ResourceClass]++
	}
	if known && in.record.Assignment != rec.Assignment {
		in.awaited, in.reg.githubDown = false, false
	}
	v.disown(in)
	was = in.record
	assigned := !known || in.record.Assignment != rec.Assignment
	in.record, in.stored.outcomeUnknown = rec, false
	if assigned {
		runs := rec.History.Runs(rec.RunID)
		if in.launchedFor == "" && len(runs) > 0 {
			in.launchedFor = runs[0] // a long history may lose it afterwards
		}
		v.served.set(in, append(runs, byLaunch(rec.LaunchToken, ""), byLaunch(rec.LaunchToken, in.launchedFor)))
	}
	if rec.State.Owned() {
		if v.held[rec.RunID] == nil {
			v.held[rec.RunID] = map[store.InstanceID]*instance{}
		}
		v.held[rec.RunID][rec.ID] = in
	}
	if rec.PooledAt.IsZero() {
		in.offered = false
	}
	v.sort(in)
	return was, known
}

// servedRuns maps the requests named in histories to the instances that have served them.
type servedRuns map[string]map[store.InstanceID]*instance

// byLaunch is the key of servedRuns for the instances that a launch brought for a request; "": for all. No request id has a space.
func byLaunch(token, run string) string { return "launch " + token + " " + run }

// set records the requests that an instance has served.
func (v servedRuns) set(in *instance, runs []string) {
	for _, run := range in.served {
		if delete(v[run], in.record.ID); len(v[run]) == 0 {
			delete(v, run)
		}
	}
	for _, run := range runs {
		if v[run] == nil {
			v[run] = map[store.InstanceID]*instance{}
		}
		v[run][in.record.ID] = in
	}
	in.served = runs
}

func (v *instanceRecords) disown(in *instance) {
	if held := v.held[in.record.RunID]; held != nil {
		delete(held, in.record.ID)
		if len(held) == 0 {
			delete(v.held, in.record.RunID)
		}
	}
}

// instance returns the entry to lock for a write.
func (v *instanceRecords) instance(id store.InstanceID) *instance {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.byID[id]
}

// get returns a copy of one instance.
func (v *instanceRecords) get(id store.InstanceID) (snapshot, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	in, ok := v.byID[id]
	if !ok {
		return snapshot{}, false
	}
	return in.snapshot(), true
}

// id returns the instance of a principal.
func (v *instanceRecords) id(p store.Principal) (store.InstanceID, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	id, ok := v.principals[p]
	return id, ok
}

// heldBy returns copies of the instances a run owns, ordered by id.
func (v *instanceRecords) heldBy(id store.RequestID) []snapshot {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return snapshots(slices.Collect(maps.Values(v.held[id])))
}

// snapshots copies instances, ordered by id. v.mu must be held.
func snapshots(list []*instance) []snapshot {
	slices.SortFunc(list, func(a, b *instance) int { return cmp.Compare(a.record.ID, b.record.ID) }) // before the copies, which are long
	out := make([]snapshot, 0, len(list))
	for _, in := range list {
		out = append(out, in.snapshot())
	}
	return out
}

// holds returns how many instances a run's attempt owns.
func (v *instanceRecords) holds(id store.RequestID, attempt int) int {
	n := 0
	v.eachHeld(id, func(in *instance) {
		if in.record.Attempt == attempt {
			n++
		}
	})
	return n
}

// eachHeld calls yield with every instance that a run owns, in no order, under the lock: yield must neither block nor
// change anything.
func (v *instanceRecords) eachHeld(id store.RequestID, yield func(*instance)) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, in := range v.held[id] {
		yield(in)
	}
}

// heldFor returns those of heldBy that are of one attempt.
func (v *instanceRecords) heldFor(id store.RequestID, attempt int) []snapshot {
	return slices.DeleteFunc(v.heldBy(id), func(s snapshot) bool { return s.Attempt != attempt })
}

// with changes what is known of one instance beside its record.
func (v *instanceRecords) with(id store.InstanceID, change func(*instance)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if in, ok := v.byID[id]; ok {
		change(in)
	}
}

// live counts instances that are not terminated, in all and of class.
func (v *instanceRecords) live(class string) (total, ofClass int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, n := range v.living {
		total += n
	}
	return total, v.living[class]
}

// mostHeld says which two requests hold the most instances.
func (v *instanceRecords) mostHeld() string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	ids := slices.SortedFunc(maps.Keys(v.held), func(a, b store.RequestID) int {
		return cmp.Or(cmp.Compare(len(v.held[b]), len(v.held[a])), cmp.Compare(a, b))
	})
	if len(ids) == 0 {
		return ""
	}
	var most []string
	for _, id := range ids[:min(2, len(ids))] {
		most = append(most, fmt.Sprintf("request %s holds %d", id, len(v.held[id])))
	}
	return strings.Join(most, ", ")
}

// drop forgets an instance.
func (v *instanceRecords) drop(id store.InstanceID) {
	v.dropIf(func(in *instance) bool { return in.record.ID == id })
}

// dropIf forgets the instances that match.
func (v *instanceRecords) dropIf(match func(*instance) bool) {
	var gone []store.Instance
	v.mu.Lock()
	for id, in := range v.byID {
		if match(in) {
			v.remove(id, in)
			gone = append(gone, in.record)
		}
	}
	v.mu.Unlock()
	slices.SortFunc(gone, func(a, b store.Instance) int { return cmp.Compare(a.ID, b.ID) }) // maps have no order
	for _, in := range gone {
		v.removed(in)
	}
}

// remove takes an instance out of every index. v.mu must be held.
func (v *instanceRecords) remove(id store.InstanceID, in *instance) {
	if in.record.State != statemachine.Terminated {
		v.living[in.record.ResourceClass]--
	}
	v.disown(in)
	v.served.set(in, nil)
	delete(v.byID, id)
	delete(v.principals, in.record.Principal)
	delete(v.present, id)
	delete(v.ending, id)
	v.setReturning(in, false)
	v.setIdle(in, false)
}

// forget drops the instances that expired: also one that lives, whose record someone let expire. Its machine is one
// without a record then.
func (v *instanceRecords) forget(now time.Time) {
	v.dropIf(func(in *instance) bool { return past(in.record.ExpiresAt, now) })
}

// lastTerm returns the highest term that launched one of them.
func (v *instanceRecords) lastTerm() int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var last int64
	for _, in := range v.byID {
		last = max(last, in.record.Term)
	}
	return last
}

// holders lists the requests that own an instance.
func (v *instanceRecords) holders() []store.RequestID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Collect(maps.Keys(v.held))
}
