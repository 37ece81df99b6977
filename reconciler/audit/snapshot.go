package audit

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Snapshot is an installation at one moment, or as nearly as it can be read. Look and Sort bring its
// lists into the order that the invariants rely on.
type Snapshot struct {
	At        time.Time  // when the reading began: everything is at least as new
	Instances []Instance // by id
	Runs      []Run      // by id
	Launches  []store.Launch
	Lease     store.Lease
	Bad       []BadRecord // by key

	// Machines are the fleet's, by id; meaningless unless FleetRead.
	FleetRead bool
	Machines  []fleet.Machine

	// Runners are GitHub's, by name; meaningless unless GitHubRead.
	GitHubRead bool
	Runners    []githubapi.Runner

	Unread  []Unread   // parts that could not be read
	Missing []Resource // that the installation needs

	// What only a simulation knows. The contract of a pool cannot show what is in it, and its messages
	// are hints: what a live installation offers follows from the records.
	Jobs         []Job                          // running now
	Candidates   map[store.InstanceID]bool      // of the leader's pickup manager; nil: not known
	LastOtherJob map[store.InstanceID]time.Time // when a job of an earlier assignment was last seen running
}

// Instance is the record of an instance and what its agent said last.
type Instance struct {
	store.Instance
	store.Vitals
}

// Run is a request, by the records that there are.
type Run struct {
	ID store.RequestID
	store.RunRecords
}

// BadRecord is an item that cannot be decoded.
type BadRecord struct {
	Key   store.Key
	Cause string
}

// Unread is a part that could not be read.
type Unread struct {
	Part  Part
	Cause error
}

// Resource is something outside that is missing or differs.
type Resource struct {
	Name   string // kind and name, such as "table remuda"
	Detail string // what would have to be done
}

// Job is a job that runs.
type Job struct {
	Name     string
	Run      store.RequestID
	Instance store.InstanceID
}

// Sort brings the lists into the order of their names.
func (s *Snapshot) Sort() {
	slices.SortFunc(s.Instances, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Instance.Principal, b.Instance.Principal))
	})
	slices.SortFunc(s.Runs, func(a, b Run) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Launches, func(a, b store.Launch) int { return cmp.Compare(a.Token, b.Token) })
	slices.SortFunc(s.Bad, func(a, b BadRecord) int {
		return cmp.Or(cmp.Compare(a.Key.Partition, b.Key.Partition), cmp.Compare(a.Key.Sort, b.Key.Sort))
	})
	slices.SortFunc(s.Machines, func(a, b fleet.Machine) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Runners, func(a, b githubapi.Runner) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(s.Jobs, func(a, b Job) int { return cmp.Compare(a.Name, b.Name) })
}

// find returns the element of a sorted list that has a key, or nil.
func find[E any, K cmp.Ordered](list []E, key K, of func(E) K) *E {
	i, found := slices.BinarySearchFunc(list, key, func(e E, key K) int { return cmp.Compare(of(e), key) })
	if !found {
		return nil
	}
	return &list[i]
}

// each yields the addresses of the elements, which are large.
func each[E any](list []E) iter.Seq[*E] {
	return func(yield func(*E) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// instance returns the record of an instance, or nil.
func (s *Snapshot) instance(id store.InstanceID) *Instance {
	return find(s.Instances, id, func(in Instance) store.InstanceID { return in.ID })
}

// run returns what is known of a request, or nil.
func (s *Snapshot) run(id store.RequestID) *Run {
	return find(s.Runs, id, func(r Run) store.RequestID { return r.ID })
}

// runs reports whether a machine is alive and not on its way out.
func runs(m *fleet.Machine) bool {
	return m != nil && (m.State == fleet.Starting || m.State == fleet.Up)
}

// ofRunner returns the instance whose registration gave a runner its name, "<instance id>-<term>.<serial>", or nil.
func (s *Snapshot) ofRunner(name string) *Instance {
	id, ours := reconciler.InstanceOf(name)
	if !ours {
		return nil
	}
	return s.instance(id)
}

// alive reports whether a request's attempt may still use instances.
func (r *Run) alive(attempt int) bool {
	if r == nil || r.Request == nil || r.Request.Attempt != attempt || r.Request.Released() {
		return false
	}
	if r.Status == nil || r.Status.Attempt < attempt {
		return true // about to be taken up
	}
	return r.Status.Attempt == attempt && (r.Status.Phase == statemachine.Pending || r.Status.Phase == statemachine.Ready)
}

// ready reports whether the seats of a request's status are its own: Ready, and not given back.
func (r *Run) ready() bool {
	return r.Status != nil && r.Status.Phase == statemachine.Ready && r.alive(r.Status.Attempt)
}

// pooled reports whether an instance is offered.
func (in *Instance) pooled() bool { return in.State == statemachine.Idle && !in.PooledAt.IsZero() }

// draining reports whether a job of an earlier assignment still runs, as far as the agent said.
func (in *Instance) draining() bool {
	b := in.Heartbeat.Beat
	return b.Busy && !b.Of(&in.Instance)
}
