package reconciler

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// A job is lost with its instance if the controller ended the instance because its agent did not confirm the assignment.
func TestLossOf_Unconfirmed_Review_C8(t *testing.T) {
	cfg := Defaults()
	clk := clocktesting.NewFakeClock(dawn.Add(time.Minute))
	in := store.Instance{
		ID: "i-1", State: statemachine.Terminated, Reason: statemachine.ReasonUnconfirmed, Since: store.At(dawn), Version: 1,
		Registration: store.Registration{Name: "i-1-7.1", Serial: 1},
	}
	records := newRecords()
	records.instances.apply(in)
	records.instances.with(in.ID, func(in *instance) {
		in.vitals.beat = store.Heartbeat{UpdatedAt: store.At(dawn.Add(-2 * time.Second)), Beat: store.Beat{Busy: true}}
	})
	ten := &tenure{cfg: cfg, clock: clk}
	l := &lostJobs{tenure: ten, cache: &cache{tenure: ten, records: records}}
	for _, tt := range []struct {
		what string
		end  time.Time
		want lossOf
	}{
		{"it ended with its instance", dawn.Add(10 * time.Second), withMachine},
		{"it ended before", dawn.Add(-time.Second), byItself},
	} {
		j := githubapi.WorkflowJob{RunnerName: "i-1-7.1", StartedAt: dawn.Add(-5 * time.Second), CompletedAt: tt.end, Conclusion: githubapi.ConclusionFailure}
		if got := l.lossOf(j); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, got, tt.want)
		}
	}
}
