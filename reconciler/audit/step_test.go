package audit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// write makes the next version of an instance.
func write(s *audit.Snapshot, id store.InstanceID, change func(*audit.Instance)) {
	i := instance(s, id)
	i.Version++
	i.ChangedAt = store.At(s.At)
	change(i)
}

// S02 S24 S80: what the tables allow is no violation, whether one write was made or many.
func TestStep_ByTheTables_NoViolation(t *testing.T) {
	was, is := healthy(), healthy()
	write(is, "i-running", func(i *audit.Instance) {
		i.State, i.RunID, i.Assignment, i.Threshold = statemachine.Idle, "", 2, in(7*time.Minute)
	})
	write(is, "i-pooled", func(i *audit.Instance) {
		i.State, i.RunID, i.Assignment, i.Threshold = statemachine.Claimed, "new", 3, in(5*time.Minute)
	})
	write(is, "i-claimed", func(i *audit.Instance) { i.State, i.Threshold = statemachine.Running, in(30*time.Minute) })
	write(is, "i-created", func(i *audit.Instance) { // unclaimed, pooled, claimed, handed over
		i.Version, i.State, i.RunID, i.Assignment = i.Version+3, statemachine.Running, "new", 3
	})
	write(is, "i-draining", func(i *audit.Instance) {
		i.State, i.Threshold, i.Reason = statemachine.Terminated, store.Time{}, statemachine.ReasonThreshold
		i.ChangedAt = instance(was, "i-draining").Threshold
	})
	records(is, "pending").Status = &store.RunStatus{Attempt: 1, Phase: statemachine.Ready, Version: 4}
	records(is, "again").Status = &store.RunStatus{Attempt: 2, Phase: statemachine.Pending, Version: 4}
	records(is, "ready").Status = &store.RunStatus{Attempt: 1, Phase: statemachine.PhaseReleased, Version: 5}
	records(is, "new").Status = &store.RunStatus{Attempt: 1, Phase: statemachine.Pending, Version: 1}
	records(is, "released").Status = nil // expired
	failed := records(was, "failed").Status
	failed.ExpiresAt = now.Add(-time.Second) // expired too, and its id came again
	records(is, "failed").Status = &store.RunStatus{Attempt: 1, Phase: statemachine.Pending, Version: 1}
	is.Runs = append(is.Runs, run("zeta", request("zeta", 1, time.Second), &store.RunStatus{Attempt: 1, Phase: statemachine.Pending}))
	is.Lease.Version++
	for _, v := range audit.Step(was, is, options()) {
		t.Errorf("%+v", v)
	}
}

// S02 S24 S68 S80 H40 G13
func TestStep_OutsideTheTables_ExactlyThatViolation(t *testing.T) {
	tests := []struct {
		broken
		was func(*audit.Snapshot)
	}{
		{broken: broken{"NoEdge", func(s *audit.Snapshot) {
			write(s, "i-returning", func(i *audit.Instance) { i.State, i.RunID, i.Assignment = statemachine.Running, "new", 3 })
		}, 9, "instance i-returning", "from idle to running in 1 writes"}},
		{broken: broken{"Revived", func(s *audit.Snapshot) {
			write(s, "i-dead", func(i *audit.Instance) { i.State, i.Version = statemachine.Idle, i.Version+9 })
		}, 9, "instance i-dead", "from terminated to idle"}},
		{broken: broken{"VersionBack", func(s *audit.Snapshot) { instance(s, "i-pooled").Version-- }, 9, "instance i-pooled", "went back"}},
		{broken: broken{"AssignmentBack", func(s *audit.Snapshot) {
			write(s, "i-pooled", func(i *audit.Instance) { i.Assignment-- })
		}, 9, "instance i-pooled", "went back"}},
		{broken: broken{"SameAssignment", func(s *audit.Snapshot) {
			write(s, "i-pooled", func(i *audit.Instance) { i.State, i.RunID, i.Version = statemachine.Claimed, "new", i.Version+3 })
		}, 9, "instance i-pooled", "within assignment 2"}},
		{broken: broken{"AssignmentSkipped", func(s *audit.Snapshot) {
			write(s, "i-pooled", func(i *audit.Instance) { i.State, i.RunID, i.Assignment = statemachine.Claimed, "new", 4 })
		}, 9, "instance i-pooled", "with assignment 2 to 4"}},
		{broken: broken{"AssignmentForNothing", func(s *audit.Snapshot) {
			write(s, "i-pooled", func(i *audit.Instance) { i.Assignment++ })
		}, 9, "instance i-pooled", "with assignment 2 to 3"}},
		{broken: broken{"PassedOn", func(s *audit.Snapshot) {
			write(s, "i-running", func(i *audit.Instance) { i.RunID, i.Assignment = "new", 2 })
		}, 9, "instance i-running", "without being free"}},
		{broken: broken{"RenewedTooLate", func(s *audit.Snapshot) {
			write(s, "i-created", func(i *audit.Instance) { i.Threshold = in(time.Hour) })
		}, 9, "instance i-created", "after the old one had passed"}, was: func(s *audit.Snapshot) { instance(s, "i-created").Threshold = ago(time.Second) }},
		{broken: broken{"ClaimedUnpooled", func(s *audit.Snapshot) {
			write(s, "i-returning", func(i *audit.Instance) { i.State, i.RunID, i.Assignment = statemachine.Claimed, "new", 3 })
		}, 9, "instance i-returning", "had not been pooled"}},
		{broken: broken{"PhaseBack", func(s *audit.Snapshot) {
			records(s, "ready").Status = &store.RunStatus{Attempt: 1, Phase: statemachine.Pending, Version: 4}
		}, 9, "request ready", "from Ready to Pending"}},
		{broken: broken{"FailedToReady", func(s *audit.Snapshot) {
			records(s, "failed").Status = &store.RunStatus{Attempt: 1, Phase: statemachine.Ready, Version: 4}
		}, 9, "request failed", "from Failed to Ready"}},
		{broken: broken{"AttemptBack", func(s *audit.Snapshot) {
			records(s, "ready").Status = &store.RunStatus{Attempt: 0, Phase: statemachine.Ready, Version: 4}
		}, 9, "request ready", "went back"}},
		{broken: broken{"KilledEarly", func(s *audit.Snapshot) {
			write(s, "i-pooled", func(i *audit.Instance) {
				i.State, i.Threshold, i.Reason = statemachine.Terminated, store.Time{}, statemachine.ReasonThreshold
			})
		}, 6, "instance i-pooled", "6m0s before it"}},
		{broken: broken{"TermBack", func(s *audit.Snapshot) { s.Lease.Term-- }, 11, "lease", "went back"}},
		{broken: broken{"WrittenUnled", func(s *audit.Snapshot) {
			s.Lease.Renewed = ago(time.Minute)
			write(s, "i-claimed", func(i *audit.Instance) { i.State, i.Threshold = statemachine.Running, in(30*time.Minute) })
		}, 11, "instance i-claimed", "while no controller held the lease"}, was: func(s *audit.Snapshot) { s.Lease.Renewed = ago(time.Minute) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			was, is := healthy(), healthy()
			if tt.was != nil {
				tt.was(was)
			}
			tt.breaks(is)
			found := audit.Step(was, is, options())
			if len(found) != 1 || found[0].ID != tt.id || found[0].Resource != tt.resource || !strings.Contains(found[0].Problem, tt.problem) || !found[0].Definite {
				t.Errorf("Step = %+v, want %d %s: …%s…", found, tt.id, tt.resource, tt.problem)
			}
		})
	}
}

// A record that was deleted and made anew begins with version 1 again (docs/adr/0007).
func TestStep_RecordMadeAnew_NoViolation(t *testing.T) {
	was, is := healthy(), healthy()
	i := instance(is, "i-running")
	i.Version, i.Assignment, i.CreatedAt, i.State = 1, 1, ago(time.Second), statemachine.Created
	if found := audit.Step(was, is, options()); len(found) > 0 {
		t.Errorf("Step = %+v, want none", found)
	}
}

// What two looks do not both show was only read at two times, unless it contradicts within one record.
func TestConfirm(t *testing.T) {
	a := audit.Violation{ID: 4, Resource: "machine a", Mark: "1"}
	b := audit.Violation{ID: 1, Resource: "instance b", Mark: "1"}
	fleeting := audit.Violation{ID: 9, Resource: "instance c", Mark: "x", Definite: true}
	moved := b
	moved.Mark = "2" // the same fault of another assignment is another
	text := func(vs []audit.Violation) string {
		var out []string
		for _, v := range vs {
			out = append(out, v.Resource+" "+v.Mark)
		}
		return strings.Join(out, ", ")
	}
	tests := []struct {
		name          string
		first, second []audit.Violation
		want          string
	}{
		{"None", nil, nil, ""},
		{"OnlyFirst", []audit.Violation{a}, nil, ""},
		{"OnlySecond", nil, []audit.Violation{a}, ""},
		{"Both", []audit.Violation{b, a}, []audit.Violation{a, b}, "instance b 1, machine a 1"},
		{"Moved", []audit.Violation{b}, []audit.Violation{moved}, ""},
		{"DefiniteFirst", []audit.Violation{fleeting}, nil, "instance c x"},
		{"DefiniteSecond", nil, []audit.Violation{fleeting}, "instance c x"},
		{"DefiniteBoth", []audit.Violation{fleeting}, []audit.Violation{fleeting}, "instance c x"},
	}
	for _, tt := range tests {
		if got := text(audit.Confirm(tt.first, tt.second)); got != tt.want {
			t.Errorf("%s: Confirm = %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The same snapshot gives the same answer, in whatever order it was read.
func TestCheck_OrderOfReading_ChangesNothing(t *testing.T) {
	breakAll := func(s *audit.Snapshot) {
		for n := range s.Instances {
			s.Instances[n].Threshold = ago(time.Hour)
		}
		s.Lease = store.Lease{}
	}
	a, b := healthy(), healthy()
	breakAll(a)
	breakAll(b)
	slices.Reverse(b.Instances)
	slices.Reverse(b.Machines)
	slices.Reverse(b.Runs)
	slices.Reverse(b.Launches)
	slices.Reverse(b.Runners)
	b.Sort()
	want := audit.Check(a, options())
	if got := audit.Check(b, options()); !slices.Equal(got, want) || len(want) < 7 {
		t.Errorf("Check = %+v, want %+v", got, want)
	}
}
