package audit

import (
	"cmp"
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

	Missing []Resource // that the installation needs

	// What only a simulation knows. The contract of a pool cannot show what is in it, and its messages
	// are hints: what a live installation offers follows from the records.
	Jobs        []Job                          // running now
	Candidates  map[store.InstanceID]bool      // of the leader's pickup manager; nil: not known
	SilentSince map[store.InstanceID]time.Time // when a job of an earlier assignment was last seen running
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

// instance returns the record of an instance, or nil.
func (s *Snapshot) instance(id store.InstanceID) *Instance {
	i, found := slices.BinarySearchFunc(s.Instances, id, func(in Instance, id store.InstanceID) int { return cmp.Compare(in.ID, id) })
	if !found {
		return nil
	}
	return &s.Instances[i]
}

// run returns what is known of a request, or nil.
func (s *Snapshot) run(id store.RequestID) *Run {
	i, found := slices.BinarySearchFunc(s.Runs, id, func(r Run, id store.RequestID) int { return cmp.Compare(r.ID, id) })
	if !found {
		return nil
	}
	return &s.Runs[i]
}

// machine returns what the fleet says of an instance, or nil.
func (s *Snapshot) machine(id store.InstanceID) *fleet.Machine {
	i, found := slices.BinarySearchFunc(s.Machines, string(id), func(m fleet.Machine, id string) int { return cmp.Compare(m.ID, id) })
	if !found {
		return nil
	}
	return &s.Machines[i]
}

// launch returns a launch, or nil.
func (s *Snapshot) launch(token string) *store.Launch {
	i, found := slices.BinarySearchFunc(s.Launches, token, func(l store.Launch, token string) int { return cmp.Compare(l.Token, token) })
	if !found {
		return nil
	}
	return &s.Launches[i]
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
	return b.Busy && b.Assignment != in.Assignment
}
