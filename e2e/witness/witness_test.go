package witness

import (
	"cmp"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A job is held against what was seen, and against nothing that happened between two looks.
func TestJobs_OnlyWhatWasSeenAccuses(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	record := func(version, assignment int64, state statemachine.State, run store.RequestID, since int) store.Instance {
		return store.Instance{
			ID: "i-1", Version: version, State: state, RunID: run, Assignment: assignment,
			Since: store.At(at(since)), CreatedAt: store.At(at(0)), Threshold: store.At(at(100)),
		}
	}
	created := record(1, 1, statemachine.Created, "100", 0)
	idle := record(3, 2, statemachine.Idle, "", 10)
	again := record(5, 3, statemachine.Claimed, "200", 20)
	ended := record(4, 2, statemachine.Terminated, "", 10)
	for _, c := range []struct {
		name     string
		seen     []store.Instance
		label    string
		from, to int
		accused  bool
		how      githubsim.Conclusion // "": success
	}{
		{"its run's", []store.Instance{created, idle}, "100", 5, 9, false, ""},
		{"another's", []store.Instance{created, idle}, "200", 5, 9, true, ""},
		{"after its run", []store.Instance{created, idle}, "100", 12, 14, true, ""},
		{"before its run", []store.Instance{created, idle, again}, "200", 12, 14, true, ""},
		{"when nobody looked at the start", []store.Instance{idle, again}, "100", 5, 9, false, ""},
		{"when nobody looked at two changes", []store.Instance{created, again}, "300", 12, 14, false, ""},
		{"after nobody looked", []store.Instance{created, again}, "100", 22, 24, true, ""},
		{"cut short while its machine ended", []store.Instance{created, ended}, "100", 11, 12, false, githubsim.Failure},
		{"whole after its machine ended", []store.Instance{created, ended}, "100", 11, 12, true, ""},
		{"another's while its machine ended", []store.Instance{created, ended}, "200", 11, 12, true, githubsim.Failure},
		{"long after its machine ended", []store.Instance{created, ended}, "100", 13, 14, true, githubsim.Failure},
		{"cut short after its run", []store.Instance{created, idle}, "100", 11, 12, true, githubsim.Failure},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := New(nil, 3*time.Second)
			for _, in := range c.seen {
				w.see(&audit.Snapshot{At: at(30), Instances: []audit.Instance{{Instance: in}}})
			}
			w.Jobs([]githubsim.JobRecord{{
				Job: githubsim.Job{Name: "job", Label: c.label}, State: githubsim.Completed, Conclusion: cmp.Or(c.how, githubsim.Success),
				InstanceID: "i-1", StartedAt: at(c.from), FinishedAt: at(c.to),
			}}, c.label)
			if got := w.Violations(); (len(got) > 0) != c.accused {
				t.Errorf("violations = %q, want some: %t", got, c.accused)
			}
		})
	}
}
