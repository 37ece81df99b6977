package audit_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// What is allowed some time is allowed exactly that time, by the configured numbers: a fail-over and two
// polls are 9 s by default, and two sweeps besides 69 s. Skew of the clocks and slack come on top.
func TestCheck_TimeAllowed_ToTheMillisecond(t *testing.T) {
	const react, sweep, scan = 9 * time.Second, 69 * time.Second, 189 * time.Second
	// at moves what counts so far into the past; skew and slack say which of them it is granted too.
	tests := []struct {
		name        string
		at          func(*audit.Snapshot, time.Duration)
		allowed     time.Duration
		skew, slack bool
	}{
		{"Overstay S30", func(s *audit.Snapshot, d time.Duration) { instance(s, "i-created").Threshold = ago(d) }, 2 * time.Minute, true, false},
		{"Terminated S12", func(s *audit.Snapshot, d time.Duration) {
			instance(s, "i-dead").Since, machine(s, "i-dead").State = ago(d), fleet.Up
		}, 2 * time.Minute, true, false},
		{"Orphan H01", func(s *audit.Snapshot, d time.Duration) {
			m := machine(s, "i-fresh")
			m.LaunchToken, m.LaunchedAt = "l-done", now.Add(-d)
		}, 2*time.Minute + sweep, true, true},
		{"Launch", func(s *audit.Snapshot, d time.Duration) {
			s.Launches[1].CreatedAt, s.Launches[1].Seats[0].RequestID = ago(d), "failed"
		}, 5*time.Minute + scan, true, true},
		{"Deadline S80", func(s *audit.Snapshot, d time.Duration) { records(s, "pending").Status.Deadline = ago(d) }, react, true, true},
		{"TakenUp", func(s *audit.Snapshot, d time.Duration) { records(s, "new").Request.CreatedAt = ago(d) }, scan, true, true},
		{"Runtime S31", func(s *audit.Snapshot, d time.Duration) { records(s, "ready").Status.ReadyAt = ago(d) }, 40*time.Minute + scan, true, true},
		{"Handshake S84", func(s *audit.Snapshot, d time.Duration) {
			i := instance(s, "i-draining")
			i.Heartbeat.Beat.Busy, i.Since = false, ago(d)
		}, 2*time.Minute + 4*time.Second + react, true, true},
		{"Lease G13", func(s *audit.Snapshot, d time.Duration) { s.Lease.Renewed = ago(d) }, react, true, true},
		{"Gone S11", func(s *audit.Snapshot, d time.Duration) {
			machine(s, "i-running").State = fleet.Ending
			instance(s, "i-running").Since, instance(s, "i-running").Heartbeat.UpdatedAt = ago(d), ago(d)
		}, 15*time.Second + sweep, true, true},
		{"Absent S11", func(s *audit.Snapshot, d time.Duration) {
			lost(s, "i-running")
			i := instance(s, "i-running")
			i.CreatedAt, i.Since, i.Heartbeat.UpdatedAt = ago(d), ago(4*time.Minute), ago(4*time.Minute)
		}, 5*time.Minute + sweep, true, true},
		{"Silent H07", func(s *audit.Snapshot, d time.Duration) {
			i := instance(s, "i-pooled")
			i.Since, i.PooledAt, i.Heartbeat.UpdatedAt = ago(5*time.Minute), ago(5*time.Minute), ago(d)
		}, 60*time.Second + 30*time.Second + 15*time.Second + react, true, true},
		{"Used H43", func(s *audit.Snapshot, d time.Duration) {
			i := instance(s, "i-running")
			i.Registration.Secret, i.Signal.UpdatedAt = "jit", ago(d)
		}, react, true, true},
		{"RunnerOfAnother S15", func(s *audit.Snapshot, d time.Duration) {
			runner(s, runnerOf("i-running", 1)).Labels = []string{"other"}
			instance(s, "i-running").Since = ago(d)
		}, 2*time.Minute + react, true, true},
		{"OfflineRunner H37", func(s *audit.Snapshot, d time.Duration) {
			instance(s, "i-gone").Since = ago(d)
			s.Runners = append(s.Runners, githubapi.Runner{Name: runnerOf("i-gone", 1)})
		}, 22*time.Minute + react, true, true},
		{"PreparedRunner", func(s *audit.Snapshot, d time.Duration) { // for the next job: 160 s from the beginning of this one
			i := instance(s, "i-running")
			i.Since, i.Registration.MintedAt, i.ChangedAt, i.Threshold = ago(25*time.Minute), ago(25*time.Minute), ago(25*time.Minute), in(5*time.Minute)
			i.Heartbeat.Beat.JobBegan = ago(d)
			s.Runners = append(s.Runners, githubapi.Runner{Name: runnerOf("i-running", 9)})
		}, 24*time.Minute + 40*time.Second + react, true, true},
	}
	for _, tt := range tests {
		for _, granted := range []struct {
			name        string
			skew, slack time.Duration
		}{{"", 0, 0}, {" skew", 30 * time.Second, 0}, {" slack", 0, 50 * time.Second}} {
			o, allowed := options(), tt.allowed
			o.Skew, o.Slack = granted.skew, granted.slack
			if tt.skew {
				allowed += granted.skew
			}
			if tt.slack {
				allowed += granted.slack
			}
			count := func(d time.Duration) int {
				s := healthy()
				tt.at(s, d)
				for i := range s.Instances { // a later beginning was a later change
					if in := &s.Instances[i]; in.Since.After(in.ChangedAt.Time) {
						in.ChangedAt = in.Since
					}
				}
				s.Sort()
				return len(audit.Check(s, o))
			}
			if n := count(allowed - time.Millisecond); n != 0 {
				t.Errorf("%s%s: %d violations a millisecond before %s, want none", tt.name, granted.name, n, allowed)
			}
			if n := count(allowed + time.Millisecond); n != 1 {
				t.Errorf("%s%s: %d violations a millisecond after %s, want one", tt.name, granted.name, n, allowed)
			}
		}
	}
}

// What all share is no machine's own fault: the controller gives up none, so none is a violation (H07).
func TestCheck_Outage_NobodyIsBlamed(t *testing.T) {
	silence := func(s *audit.Snapshot, n int) {
		for i := range s.Instances {
			if in := &s.Instances[i]; in.State != statemachine.Terminated && n > 0 {
				in.Since, in.PooledAt, in.Heartbeat.UpdatedAt = ago(6*time.Minute), store.Time{}, ago(6*time.Minute)
				in.Heartbeat.Beat = store.Beat{Assignment: in.Assignment}
				n--
			}
		}
	}
	few, many := healthy(), healthy()
	silence(few, 3)
	silence(many, 4)
	if n := silent(few); n != 3 {
		t.Errorf("three silent: %d violations, want each", n)
	}
	if n := silent(many); n != 0 {
		t.Errorf("four of seven silent: %d violations, want none", n)
	}
	few.Lease.Renewed = ago(time.Minute)
	if n := silent(few); n != 0 {
		t.Errorf("three silent and no leader: %d violations of silence, want none", n)
	}
	missing := func(n int) int {
		s := healthy()
		for i := range s.Instances {
			if in := &s.Instances[i]; in.State != statemachine.Terminated && n > 0 {
				lost(s, string(in.ID))
				in.CreatedAt, in.Since, in.Heartbeat.UpdatedAt = ago(10*time.Minute), ago(10*time.Minute), ago(10*time.Minute)
				n--
			}
		}
		return of(s, 13)
	}
	if few, many := missing(3), missing(4); few != 3 || many != 0 {
		t.Errorf("three and four of seven missing: %d and %d violations, want 3 and none", few, many)
	}
}

// silent counts the instances that are blamed for their silence.
func silent(s *audit.Snapshot) int { return of(s, 13) + of(s, 5) }

func of(s *audit.Snapshot, id int) int {
	inv := audit.Invariants()[id-1]
	return len(inv.Check(s, options()))
}
