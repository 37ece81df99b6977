package githubsim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// statuses asks for a run every five seconds.
func statuses(t *testing.T, w *githubsim.Workflows, id int64, n int) []string {
	t.Helper()
	var out []string
	for range n {
		r, found, err := w.WorkflowRun(t.Context(), repository, id)
		check(t, err)
		if out = append(out, r.Status); !found {
			out[len(out)-1] = "unknown"
		}
		time.Sleep(5 * time.Second)
	}
	return out
}

func TestView_LateFrozenOrSwinging(t *testing.T) {
	const none, active, done = "unknown", githubapi.StatusInProgress, githubapi.StatusCompleted
	for _, tt := range []struct {
		name string
		view githubsim.View
		want []string
	}{
		{"AsItIs", githubsim.View{}, []string{active, active, active, active, done, done, done, done}},
		{"Late", githubsim.View{Lag: 11 * time.Second}, []string{none, none, none, active, active, active, active, done}},
		{"Frozen", githubsim.View{Frozen: 12 * time.Second}, []string{active, active, active, active, active, active, done, done}},
		{"Swinging", githubsim.View{Lag: 11 * time.Second, Swings: true}, []string{none, active, none, active, active, done, active, done}},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			h := newHub(githubsim.Options{})
			w := h.Workflows()
			check(t, w.SetView(tt.view))
			id := start(t, h, githubsim.JobSpec{Key: "a", Hosted: true, Seconds: 20})
			if got := statuses(t, w, id, len(tt.want)); !slices.Equal(got, tt.want) {
				t.Errorf("run is shown as %v, want %v", got, tt.want)
			}
		}))
	}
	h := newHub(githubsim.Options{})
	expect(t, "SetView()", h.Workflows().SetView(githubsim.View{Lag: -1}), githubsim.ErrInvalid)
}

func TestView_Order(t *testing.T) {
	h := newHub(githubsim.Options{})
	w := h.Workflows()
	var ids []int64
	for range 8 {
		ids = append(ids, start(t, h, githubsim.JobSpec{Key: "a", Label: "42"}))
	}
	listed := func() (out []int64) {
		all, err := w.ActiveRuns(t.Context(), repository)
		check(t, err)
		for _, r := range all {
			out = append(out, r.ID)
		}
		return out
	}
	slices.Reverse(ids)
	if got := listed(); !slices.Equal(got, ids) {
		t.Errorf("ActiveRuns() = %v, want the last first, %v", got, ids)
	}
	check(t, w.SetView(githubsim.View{Shuffled: true}))
	got := listed()
	again := listed()
	if slices.Equal(got, ids) || slices.IsSorted(got) || !slices.Equal(got, again) {
		t.Errorf("ActiveRuns() shuffled = %v then %v, want one order that means nothing", got, again)
	}
	slices.Sort(got)
	slices.Reverse(got)
	if !slices.Equal(got, ids) {
		t.Errorf("ActiveRuns() shuffled has %v, want %v", got, ids)
	}
}
