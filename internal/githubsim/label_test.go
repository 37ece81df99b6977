package githubsim_test

import (
	"testing"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// A job that waits for a label goes to an idle runner as soon as that has it, and to none that is offline or busy.
func TestAddLabel_TakesWhatWaits(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		_, idle := jit(t, h, "i-1-1", "idle-1")
		_, offline := jit(t, h, "i-2-1", "idle-2")
		s := connect(t, h, idle)
		submit(t, h, githubsim.Job{ID: "waits", Label: "run-7"})
		submit(t, h, githubsim.Job{ID: "second", Label: "run-7"})
		check(t, h.AddLabel(t.Context(), offline.RunnerID, "run-7"))
		check(t, h.AddLabel(t.Context(), idle.RunnerID, "run-7"))
		if m := next(t, s, 0); m.Job.ID != "waits" {
			t.Errorf("the runner was given %q, want the job that waits", m.Job.ID)
		}
		check(t, h.AddLabel(t.Context(), idle.RunnerID, "run-7"))
		if j, err := h.Job("second"); err != nil || j.State != githubsim.Queued {
			t.Errorf("the second job is %s, %v, want queued: nobody is free", j.State, err)
		}
	})
}
