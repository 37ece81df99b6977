package reconciler

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// view is the controller's memory of all records. It is the only writer of instances and statuses,
// so what it wrote through is current. It takes a record only with a higher version and never
// concludes anything from absence.
type view struct {
	mu         sync.RWMutex
	instances  map[store.InstanceID]*instance
	principals map[store.Principal]store.InstanceID
	held       map[store.RequestID]map[store.InstanceID]*instance // owned instances by run
	present    map[store.InstanceID]*instance                     // not terminated
	ending     map[store.InstanceID]*instance                     // terminated, and perhaps not gone
	returning  []*instance                                        // idle, not pooled yet, ordered by id
	runs       map[store.RequestID]*run
	pending    map[store.RequestID]*run // those of runs whose status says so
	launches   map[string]store.Launch
	opening    map[string]store.Launch // those without an outcome
	launchedBy map[store.RequestID][]launchedSeat
	living     map[string]int // instances that are not terminated, by class
	drains     map[string]store.DrainOrder
	template   string // version a machine launched now would get; "" unknown
	brake      bool   // too many went silent at once: our outage, not theirs

	wary atomic.Bool // a listener was refused, and none has come online for good since: what is online for a moment may not stay
}

// instance is one instance: its record, what its agent said, and what was learned elsewhere. All
// but write is guarded by view.mu.
type instance struct {
	wary  *atomic.Bool  // the view's
	write chan struct{} // full from the reading of record to its update, around every write

	record  store.Instance
	doubt   bool // a write's outcome is unknown: read again before the next
	unheard bool // a ring or a scan says that the vitals changed
	vitals  vitals

	minting   bool               // a registration is being made
	minted    store.Registration // made last; its delivery may have failed
	tried     int64              // highest serial ever tried at GitHub by this process
	untold    string             // name that GitHub may have registered: its answer did not come
	blocked   bool               // GitHub's fault that no registration could be made
	away      bool               // GitHub did not answer when its gate closed
	awayAt    time.Time          // when that was last found
	allowance allowance          // of registrations that its agent asks for
	online    online             // when its listener was, last
	trouble   absence            // of its listener, which is not online
	removed   int64              // serial of the registration whose runner is gone at GitHub
	watched   bool               // its request waits for its job to end
	ending    time.Time
	missing   time.Time // since when the fleet's listings lack it; zero: the last one did not
	listed    bool      // a listing of this tenure showed it
	announced bool      // its message was sent, or received
	unwritten time.Time // since when its record is missing in the store; zero: it is there
	unread    bool      // its record could not be read when it was last needed
}

// run is one request: its records and what was observed of its client. Guarded by view.mu.
type run struct {
	id       store.RequestID
	readAt   time.Time // last successful read
	request  *store.RunRequest
	bad      *store.BadRequest // what is stored as its request now, if that cannot be read
	status   *store.RunStatus
	client   store.Time // the client's last sign of life, its clock
	heard    time.Time  // when it last changed, our clock
	reads    int        // successful reads since
	unread   bool       // a ring or a scan says that it changed
	problem  string     // last thing that went wrong, for its message
	hopeless bool       // the fleet will never launch what it asks for
	full     bool       // the fleet has no room for it, and none is waited for
	possible bool       // the fleet has types for it
	refusals int        // in a row
	retry    time.Time  // not before: it was refused
	noted    time.Time  // last progress written
	spared   int        // machines replaced that may have been GitHub's fault: they count for no launch budget
}

// launchedSeat is where a launch tells of a request.
type launchedSeat struct {
	token string
	seat  int
}

func newView() *view {
	return &view{
		instances:  map[store.InstanceID]*instance{},
		principals: map[store.Principal]store.InstanceID{},
		held:       map[store.RequestID]map[store.InstanceID]*instance{},
		present:    map[store.InstanceID]*instance{},
		ending:     map[store.InstanceID]*instance{},
		runs:       map[store.RequestID]*run{},
		pending:    map[store.RequestID]*run{},
		launches:   map[string]store.Launch{},
		opening:    map[string]store.Launch{},
		launchedBy: map[store.RequestID][]launchedSeat{},
		living:     map[string]int{},
		drains:     map[string]store.DrainOrder{},
	}
}

// snapshot is a consistent copy of an instance.
type snapshot struct {
	store.Instance
	vitals    vitals
	doubt     bool
	minted    store.Registration
	tried     int64
	untold    string
	unheard   bool
	minting   bool
	blocked   bool
	away      bool
	awayAt    time.Time
	allowance allowance
	online    online
	trouble   absence
	wary      bool
	removed   int64
	announced bool
	ending    time.Time
	unwritten time.Time
	unread    bool
}

func (in *instance) snapshot() snapshot {
	return snapshot{
		Instance: in.record, vitals: in.vitals, doubt: in.doubt, minted: in.minted, tried: in.tried, untold: in.untold, unheard: in.unheard,
		minting: in.minting, blocked: in.blocked, away: in.away, awayAt: in.awayAt, allowance: in.allowance, removed: in.removed, announced: in.announced, ending: in.ending,
		online: in.online, trouble: in.trouble, wary: in.wary != nil && in.wary.Load(),
		unwritten: in.unwritten, unread: in.unread,
	}
}

// apply takes a record with a higher version.
func (v *view) apply(rec store.Instance) {
	v.mu.Lock()
	defer v.mu.Unlock()
	in, known := v.instances[rec.ID]
	if known && rec.Version <= in.record.Version {
		return
	}
	if !known {
		in = &instance{wary: &v.wary, write: make(chan struct{}, 1), unheard: true}
		v.instances[rec.ID] = in
		v.principals[rec.Principal] = rec.ID
	}
	if known && in.record.State != statemachine.Terminated {
		v.living[in.record.ResourceClass]--
	}
	if rec.State != statemachine.Terminated {
		v.living[rec.ResourceClass]++
	}
	if known && in.record.Assignment != rec.Assignment {
		in.watched, in.blocked = false, false
	}
	v.disown(in)
	in.record, in.doubt = rec, false
	if rec.State.Owned() {
		if v.held[rec.RunID] == nil {
			v.held[rec.RunID] = map[store.InstanceID]*instance{}
		}
		v.held[rec.RunID][rec.ID] = in
	}
	if rec.PooledAt.IsZero() {
		in.announced = false
	}
	v.sort(in)
}

func (v *view) disown(in *instance) {
	if held := v.held[in.record.RunID]; held != nil {
		delete(held, in.record.ID)
		if len(held) == 0 {
			delete(v.held, in.record.RunID)
		}
	}
}

// instance returns the entry to lock for a write.
func (v *view) instance(id store.InstanceID) *instance {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.instances[id]
}

// get returns a copy of one instance.
func (v *view) get(id store.InstanceID) (snapshot, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	in, ok := v.instances[id]
	if !ok {
		return snapshot{}, false
	}
	return in.snapshot(), true
}

// id returns the instance of a principal.
func (v *view) id(p store.Principal) (store.InstanceID, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	id, ok := v.principals[p]
	return id, ok
}

// heldBy returns copies of the instances a run owns, ordered by id.
func (v *view) heldBy(id store.RequestID) []snapshot {
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
func (v *view) holds(id store.RequestID, attempt int) int {
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
func (v *view) eachHeld(id store.RequestID, yield func(*instance)) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, in := range v.held[id] {
		yield(in)
	}
}

// heldFor returns those of heldBy that are of one attempt.
func (v *view) heldFor(id store.RequestID, attempt int) []snapshot {
	return slices.DeleteFunc(v.heldBy(id), func(s snapshot) bool { return s.Attempt != attempt })
}

// with changes what is known of one instance beside its record.
func (v *view) with(id store.InstanceID, change func(*instance)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if in, ok := v.instances[id]; ok {
		change(in)
	}
}

// live counts instances that are not terminated, in all and of class.
func (v *view) live(class string) (total, ofClass int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, n := range v.living {
		total += n
	}
	return total, v.living[class]
}

// lastTerm returns the highest term that records tell of.
func (v *view) lastTerm() int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var last int64
	for _, in := range v.instances {
		last = max(last, in.record.Term)
	}
	for _, d := range v.drains {
		last = max(last, d.Term)
	}
	return last
}

// drop forgets an instance.
func (v *view) drop(id store.InstanceID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if in, known := v.instances[id]; known {
		v.remove(id, in)
	}
}

// remove takes an instance out of every index. v.mu must be held.
func (v *view) remove(id store.InstanceID, in *instance) {
	if in.record.State != statemachine.Terminated {
		v.living[in.record.ResourceClass]--
	}
	v.disown(in)
	delete(v.instances, id)
	delete(v.principals, in.record.Principal)
	delete(v.present, id)
	delete(v.ending, id)
	v.setReturning(in, false)
}

// forget drops what expired, so that memory follows the table's TTL: also an instance that lives, whose record somebody
// let expire. Its machine is one without a record then.
func (v *view) forget(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, in := range v.instances {
		if past(in.record.ExpiresAt, now) {
			v.remove(id, in)
		}
	}
	for id, r := range v.runs {
		if r.expire(now); r.status == nil && r.request == nil && !r.unread {
			delete(v.runs, id)
		}
		v.notePhase(r)
	}
	for token, l := range v.launches {
		if past(l.ExpiresAt, now) {
			delete(v.launches, token)
			delete(v.opening, token)
			for _, s := range l.Seats {
				v.launchedBy[s.RequestID] = slices.DeleteFunc(v.launchedBy[s.RequestID], func(at launchedSeat) bool { return at.token == token })
				if len(v.launchedBy[s.RequestID]) == 0 {
					delete(v.launchedBy, s.RequestID)
				}
			}
		}
	}
	for id, d := range v.drains {
		if past(d.ExpiresAt, now) {
			delete(v.drains, id)
		}
	}
}
