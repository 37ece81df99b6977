package audit_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/store"
)

// What was not read is not taken for empty, nor for what an earlier look left.
func TestCheck_PartNotRead_NothingSaidOfIt(t *testing.T) {
	s := healthy()
	for i := range s.Instances {
		s.Instances[i].CreatedAt = ago(time.Hour)
	}
	instance(s, "i-created").Threshold = ago(3 * time.Minute)
	machine(s, "i-fresh").LaunchToken = ""
	machine(s, "i-fresh").LaunchedAt = now.Add(-time.Hour)
	runner(s, runnerOf("i-running", 1)).Labels = []string{"another"}
	s.Runners = append(s.Runners, githubapi.Runner{Name: runnerOf("i-gone", 1), Online: true})
	s.Sort()
	if n := len(audit.Check(s, options())); n != 4 {
		t.Fatalf("%d violations with everything read, want the four: %+v", n, audit.Check(s, options()))
	}
	s.FleetRead, s.GitHubRead = false, false
	for _, v := range audit.Check(s, options()) {
		t.Errorf("nothing was read but the store: %+v", v)
	}
	s.Machines, s.Runners = nil, nil
	for _, v := range audit.Check(s, options()) {
		t.Errorf("nothing was read but the store: %+v", v)
	}
}

// Without work no controller need lead; any work is enough (G13).
func TestCheck_NoLeader_OnlyWhereThereIsWork(t *testing.T) {
	over := &store.RunStatus{Attempt: 1, Phase: "Released", ReleasedAt: ago(time.Hour), ExpiresAt: now.Add(time.Hour)}
	lasting := *over
	lasting.ExpiresAt = time.Time{}
	again := request("a", 1, time.Second)
	again.Attempt = 2
	tests := []struct {
		name string
		s    audit.Snapshot
		want int
	}{
		{"Empty", audit.Snapshot{}, 0},
		{"Over", audit.Snapshot{Instances: []audit.Instance{dead("i-1", time.Hour)}, Runs: []audit.Run{run("a", request("a", 1, time.Hour), over)}}, 0},
		{"OnlyItsClient", audit.Snapshot{Runs: []audit.Run{{ID: "a"}}}, 0},
		{"OnlyItsStatus", audit.Snapshot{Runs: []audit.Run{run("a", nil, over)}}, 0},
		{"NotTakenUp", audit.Snapshot{Runs: []audit.Run{run("a", request("a", 1, time.Second), nil)}}, 1},
		{"AttemptNotTakenUp", audit.Snapshot{Runs: []audit.Run{run("a", again, over)}}, 1},
		{"StatusToExpire", audit.Snapshot{Runs: []audit.Run{run("a", nil, &lasting)}}, 1},
		{"NotConfirmedGone", audit.Snapshot{Instances: []audit.Instance{dead("i-1", 30*time.Second)}}, 1},
		{"Alive", audit.Snapshot{Instances: []audit.Instance{*instance(healthy(), "i-pooled")}}, 1},
	}
	for _, tt := range tests {
		tt.s.At = now
		if n := of(&tt.s, 11); n != tt.want {
			t.Errorf("%s: %d violations, want %d", tt.name, n, tt.want)
		}
	}
}

// A machine that ends, or has ended, is not up, whatever its record says.
func TestCheck_EndingMachine_OutlivesNothing(t *testing.T) {
	for _, state := range []fleet.State{fleet.Ending, fleet.Ended} {
		s := healthy()
		instance(s, "i-dead").Since = ago(time.Hour)
		machine(s, "i-dead").State = state
		machine(s, "i-fresh").State, machine(s, "i-fresh").LaunchToken = state, ""
		machine(s, "i-fresh").LaunchedAt = now.Add(-time.Hour)
		if n := of(s, 3) + of(s, 4); n != 0 {
			t.Errorf("%s: %d violations, want none", state, n)
		}
	}
}

// A claim may be written before the status of its attempt, and outlive the record of its request.
func TestCheck_OwnerByHalfItsRecords_NoViolation(t *testing.T) {
	s := healthy()
	instance(s, "i-claimed").RunID = "new" // without a status
	runner(s, runnerOf("i-claimed", 2)).Labels = []string{"new"}
	records(s, "pending").Request = nil
	for _, v := range audit.Check(s, options()) {
		t.Errorf("%+v", v)
	}
}
