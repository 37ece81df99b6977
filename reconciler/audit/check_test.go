package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// G11: nothing that may be is a violation.
func TestCheck_Healthy_NoViolation(t *testing.T) {
	for _, v := range audit.Check(healthy(), options()) {
		t.Errorf("%+v", v)
	}
}

type broken struct {
	name     string
	breaks   func(*audit.Snapshot)
	id       int
	resource string
	problem  string // a part of it
}

// Each clause of each invariant, broken alone, is reported alone.
func TestCheck_Broken_ExactlyThatViolation(t *testing.T) {
	seen := map[int]bool{}
	for _, tt := range slices.Concat(brokenOwners, brokenMachines, brokenIdle, brokenRequests, brokenFields, brokenRest) {
		seen[tt.id] = true
		t.Run(tt.name, func(t *testing.T) {
			s := healthy()
			tt.breaks(s)
			s.Sort()
			found := audit.Check(s, options())
			if len(found) != 1 {
				t.Fatalf("Check = %+v, want one violation", found)
			}
			v := found[0]
			if v.ID != tt.id || v.Resource != tt.resource || !strings.Contains(v.Problem, tt.problem) {
				t.Errorf("Check = %d %q: %q, want %d %q: …%s…", v.ID, v.Resource, v.Problem, tt.id, tt.resource, tt.problem)
			}
			if want := tt.id == 9 || tt.id == 12 || slices.Contains(definite, tt.name); v.Definite != want {
				t.Errorf("%+v: Definite = %t, want %t", v, v.Definite, want)
			}
			if v.Advice == "" || v.Mark == "" || v.Invariant == "" {
				t.Errorf("%+v: want advice, mark and name", v)
			}
		})
	}
	for _, inv := range audit.Invariants() {
		if !seen[inv.ID] {
			t.Errorf("no case breaks invariant %d %s", inv.ID, inv.Name)
		}
	}
}

// definite are the cases that contradict within one record, besides those of fields: no order of reading
// explains them, so that one look is enough.
var definite = []string{
	"TwoRecords", "NoReason", "NoMessage", "SeatOverfull", "SecretOfIdle", "SecretOfDead", "SecretOfEarlierAssignment", "SecretShared",
}

// S13 S46 S61 S68
var brokenOwners = []broken{
	{"TwoRecords", func(s *audit.Snapshot) {
		other := *instance(s, "i-created")
		other.Instance.Principal, other.LaunchToken = "role:i-created", ""
		s.Instances = append(s.Instances, other)
	}, 1, "instance i-created", "two records"},
	{"SeatOfAnother", func(s *audit.Snapshot) {
		instance(s, "i-running").RunID = "pending"
		runner(s, runnerOf("i-running", 1)).Labels = []string{"pending"}
	}, 1, "instance i-running", "given to request ready, and its record is running by request pending"},
	{"SeatOfNobody", func(s *audit.Snapshot) {
		st := records(s, "ready").Status
		st.Instances[0].InstanceID = "i-pooled"
	}, 1, "instance i-pooled", "idle by no request"},
	{"TwoSeats", func(s *audit.Snapshot) {
		st := *records(s, "ready").Status
		st.Instances, st.Deadline = []store.Seat{{InstanceID: "i-gone"}, {InstanceID: "i-gone"}}, store.Time{}
		records(s, "ready").Status = &st
	}, 1, "instance i-gone", "was given to request ready and to request ready"},
	{"OwnerUnknown", func(s *audit.Snapshot) { instance(s, "i-created").RunID = "nobody" }, 1, "instance i-created", "does not exist"},
	{"OwnerOver", func(s *audit.Snapshot) { instance(s, "i-created").RunID = "released" }, 1, "instance i-created", "is Released"},
	{"AttemptToCome", func(s *audit.Snapshot) { instance(s, "i-created").Attempt = 2 }, 1, "instance i-created", "attempt 2 of request pending, which is at attempt 1"},
	// S15 S17 S86 H41
	{"Job", func(s *audit.Snapshot) {
		s.Jobs = []audit.Job{{Name: "build", Run: "ready", Instance: "i-running"}, {Name: "test", Run: "ready", Instance: "i-claimed"}}
	}, 2, "instance i-claimed", "runs job test of run ready"},
	{"JobInPool", func(s *audit.Snapshot) { s.Jobs = []audit.Job{{Name: "test", Run: "ready", Instance: "i-pooled"}} }, 2, "instance i-pooled", "runs job test"},
	{"JobOfEarlierAssignment", func(s *audit.Snapshot) {
		instance(s, "i-pooled").Heartbeat.Beat = store.Beat{Assignment: 1, Busy: true}
	}, 2, "instance i-pooled", "a job of assignment 1 runs"},
	{"RunnerOfAnother", func(s *audit.Snapshot) { runner(s, runnerOf("i-running", 1)).Labels = []string{"pending"} }, 2, "instance i-running", "runs a job at GitHub"},
	{"RunnerInHandshake", func(s *audit.Snapshot) {
		i := instance(s, "i-draining")
		i.Heartbeat.Beat.Busy = false
		s.LastOtherJob = map[store.InstanceID]time.Time{i.ID: now.Add(-time.Second)}
		s.Runners = append(s.Runners, githubapi.Runner{Name: runnerOf(i.ID, 1), Online: true, Labels: []string{"ready"}})
	}, 2, "instance i-draining", "is online at GitHub"},
}

// S11 S12 S22 S26 S30 H01 H03 H06 H07 H08
var brokenMachines = []broken{
	{"Expired", func(s *audit.Snapshot) { instance(s, "i-created").Threshold = ago(121 * time.Second) }, 3, "machine i-created", "after its threshold"},
	{"TerminatedStillUp", func(s *audit.Snapshot) {
		instance(s, "i-dead").Since = ago(121 * time.Second)
		machine(s, "i-dead").State = fleet.Up
	}, 3, "machine i-dead", "after it was terminated"},
	{"NoRecord", func(s *audit.Snapshot) {
		s.Machines = append(s.Machines, fleet.Machine{ID: "i-lone", State: fleet.Up, LaunchToken: "l-done", LaunchedAt: now.Add(-190 * time.Second)})
	}, 4, "machine i-lone", "has no record"},
	{"NoRecordNoLaunch", func(s *audit.Snapshot) {
		m := machine(s, "i-fresh")
		m.LaunchToken, m.LaunchedAt = "", now.Add(-190*time.Second)
	}, 4, "machine i-fresh", "has no record"},
	{"OtherPartition", func(s *audit.Snapshot) { machine(s, "i-pooled").Principal = "role:i-pooled" }, 4, "machine i-pooled", "in that of i-pooled"},
	{"LaunchForNobody", func(s *audit.Snapshot) {
		s.Launches = append(s.Launches, store.Launch{Token: "l-left", Count: 2, CreatedAt: ago(10 * time.Minute), Seats: []store.LaunchSeat{{RequestID: "failed", Attempt: 1, Count: 2}}})
	}, 4, "launch l-left", "no request waits for its 2 machines"},
	{"Absent", func(s *audit.Snapshot) {
		lost(s, "i-running")
		i := instance(s, "i-running")
		i.CreatedAt, i.Heartbeat.UpdatedAt = ago(10*time.Minute), ago(2*time.Minute)
	}, 13, "instance i-running", "its machine is gone"},
	{"Ended", func(s *audit.Snapshot) {
		machine(s, "i-created").State = fleet.Ended
		i := instance(s, "i-created")
		i.Since, i.Heartbeat.UpdatedAt = ago(2*time.Minute), ago(2*time.Minute)
	}, 13, "instance i-created", "its machine is gone"},
	{"Silent", func(s *audit.Snapshot) {
		i := instance(s, "i-running")
		i.Since, i.Heartbeat.UpdatedAt = ago(8*time.Minute), ago(8*time.Minute)
	}, 13, "instance i-running", "silent for 8m0s"},
	// S14 S37 H37
	{"RunnerOfDead", func(s *audit.Snapshot) {
		s.Runners = append(s.Runners, githubapi.Runner{Name: runnerOf("i-gone", 1), Online: true, Labels: []string{"ready"}})
	}, 14, "runner " + runnerOf("i-gone", 1), "is online, and its instance was terminated"},
	{"OfflineRunnerOfDead", func(s *audit.Snapshot) {
		s.Runners = append(s.Runners, githubapi.Runner{Name: runnerOf("i-gone", 1), Labels: []string{"ready"}})
	}, 14, "runner " + runnerOf("i-gone", 1), "is registered, and its instance was terminated"},
	{"RunnerReplaced", func(s *audit.Snapshot) {
		i := instance(s, "i-running")
		i.Since, i.Registration.MintedAt, i.ChangedAt = ago(25*time.Minute), ago(25*time.Minute), ago(25*time.Minute)
		i.Threshold = in(5 * time.Minute)
		s.Runners = append(s.Runners, githubapi.Runner{Name: runnerOf("i-running", 9), Labels: []string{"ready"}})
	}, 14, "runner " + runnerOf("i-running", 9), "has not used it for 25m0s"},
}

// S22 S44 S48 S83 S84 H16 H17
var brokenIdle = []broken{
	{"Handshake", func(s *audit.Snapshot) { instance(s, "i-draining").Heartbeat.Beat.Busy = false }, 5, "instance i-draining", "not offered 5m0s after its run"},
	{"HandshakeAfterJob", func(s *audit.Snapshot) {
		instance(s, "i-draining").Heartbeat.Beat.Busy = false
		s.LastOtherJob = map[store.InstanceID]time.Time{"i-draining": now.Add(-3 * time.Minute)}
	}, 5, "instance i-draining", "not offered 3m0s after its run"},
	{"ClassRemoved", func(s *audit.Snapshot) {
		i := instance(s, "i-pooled")
		i.ResourceClass, i.Since, i.PooledAt = "large", ago(2*time.Minute), ago(2*time.Minute)
	}, 5, "instance i-pooled", `class "large"`},
	{"Silent", func(s *audit.Snapshot) {
		i := instance(s, "i-pooled")
		i.Since, i.PooledAt, i.Heartbeat.UpdatedAt = ago(3*time.Minute), ago(2*time.Minute), ago(2*time.Minute)
	}, 5, "instance i-pooled", "silent for 2m0s"},
	{"NoCandidate", func(s *audit.Snapshot) { s.Candidates = map[store.InstanceID]bool{"i-other": true} }, 5, "instance i-pooled", "no candidate"},
}

// S42 S69 S80 H02 H33
var brokenRequests = []broken{
	{"NotTakenUp", func(s *audit.Snapshot) { records(s, "new").Request.CreatedAt = ago(4 * time.Minute) }, 7, "request new", "no controller has taken it up"},
	{"AttemptNotTakenUp", func(s *audit.Snapshot) { records(s, "again").Request.CreatedAt = ago(4 * time.Minute) }, 7, "request again", "attempt 2 was submitted 4m0s ago"},
	{"Deadline", func(s *audit.Snapshot) { records(s, "pending").Status.Deadline = ago(10 * time.Second) }, 7, "request pending", "Pending 10s past its deadline"},
	{"TooMany", func(s *audit.Snapshot) { records(s, "ready").Request.Count = 1 }, 7, "request ready", "Ready with 2 of 1"},
	{"Runtime", func(s *audit.Snapshot) { records(s, "ready").Status.ReadyAt = ago(44 * time.Minute) }, 7, "request ready", "longer than its runtime"},
	{"NoReason", func(s *audit.Snapshot) { records(s, "failed").Status.Reason = "" }, 7, "request failed", "does not say why"},
	{"NoMessage", func(s *audit.Snapshot) { records(s, "failed").Status.Message = "" }, 7, "request failed", "does not say why"},
	{"Budget", func(s *audit.Snapshot) {
		s.Launches = append(s.Launches, store.Launch{Token: "l-more", Count: 5, CreatedAt: ago(time.Second), Seats: []store.LaunchSeat{{RequestID: "pending", Attempt: 1, Count: 5}}})
	}, 8, "request pending", "7 instances were launched for the 3 of attempt 1; at most 6"},
	{"SeatOverfull", func(s *audit.Snapshot) {
		s.Launches[0].Seats[0].Instances = []store.InstanceID{"i-created", "i-claimed"}
	}, 8, "launch l-done", "gave request pending 2 instances and was asked for 1"},
	{"LaunchOverfull", func(s *audit.Snapshot) { s.Launches[0].Count = 8 }, 8, "launch l-done", "brought 9 instances and was asked for 8"},
	{"Cap", func(s *audit.Snapshot) { s.Launches[1].Count = 94 }, 8, "installation", "7 instances live and 94 more"},
}

// A lost seat is being refilled, and what was given back needs no answer.
func TestCheck_RefillAndReleaseAreNoViolations(t *testing.T) {
	for name, change := range map[string]func(*audit.Snapshot){
		"Refill": func(s *audit.Snapshot) { records(s, "ready").Request.Count = 3 },
		"Release": func(s *audit.Snapshot) {
			p := records(s, "pending")
			p.Status.Deadline, p.Request.ReleasedAttempt = ago(10*time.Second), 1
		},
	} {
		s := healthy()
		change(s)
		for _, v := range audit.Check(s, options()) {
			if v.ID == 7 {
				t.Errorf("%s: %s: %s", name, v.Resource, v.Problem)
			}
		}
	}
}

// One machine that did not report ready in time may have been replaced for GitHub's sake, which counts for no budget (ADR 0015);
// a second one has to be paid for.
func TestCheck_LaunchBudget_SparesOne(t *testing.T) {
	for more, want := range map[int]int{1: 0, 2: 1} {
		s, o := healthy(), options()
		budget := reconciler.LaunchBudget(records(s, "failed").Request.Count)
		seat := store.LaunchSeat{RequestID: "failed", Attempt: 1, Count: budget + more}
		for n := range seat.Count {
			in := dead(store.InstanceID(fmt.Sprint("i-spared-", n)), time.Hour)
			in.LaunchToken, in.Reason = "l-many", statemachine.ReasonSilent
			if n < more {
				in.Reason = statemachine.ReasonGate
			}
			s.Instances = append(s.Instances, in)
			seat.Instances = append(seat.Instances, in.ID)
		}
		s.Launches = append(s.Launches, store.Launch{Token: "l-many", Count: seat.Count, CreatedAt: ago(time.Hour), Done: true, Seats: []store.LaunchSeat{seat}})
		got := 0
		for _, v := range audit.Check(s, o) {
			if v.Invariant == "too-many-launched" && v.Resource == "request "+string(seat.RequestID) {
				got++
			}
		}
		if got != want {
			t.Errorf("%d more than the budget: %d violations of it, want %d", more, got, want)
		}
	}
}

// A launch that goes on counts for what has no record yet: what has one is counted as living.
func TestCheck_OpenLaunch_CountsWhatHasNoRecord(t *testing.T) {
	s, o := healthy(), options()
	live := 0
	for i := range s.Instances {
		if in := &s.Instances[i]; in.State != statemachine.Terminated {
			if live++; live <= 2 {
				in.LaunchToken = "l-open"
			}
		}
	}
	s.Launches = []store.Launch{{Token: "l-open", Count: 3, CreatedAt: ago(time.Second)}}
	for room, want := range map[int]int{1: 0, 0: 1} { // the third comes
		o.Config.MaxInstances = live + room
		got := 0
		for _, v := range audit.Check(s, o) {
			if v.Invariant == "too-many-launched" && v.Resource == "installation" {
				got++
			}
		}
		if got != want {
			t.Errorf("with room for %d more: %d violations of the cap, want %d", room, got, want)
		}
	}
}
