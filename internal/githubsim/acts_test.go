package githubsim_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubsim"
)

func TestEvict_ABusyRunner_ReportsItsJob(t *testing.T) {
	for _, reports := range []bool{true, false} {
		bubbletest.Run(t, func(t *testing.T) {
			h := newHub(githubsim.Options{SessionTimeout: time.Minute})
			c := lasting(t, h, "i-1-1", "a")
			s := connect(t, h, c)
			submit(t, h, githubsim.Job{ID: "j", Label: "a"})
			next(t, s, 0)
			check(t, h.Evict(c.RunnerID))
			expect(t, "Next()", errorOf(s.Next(t.Context(), 0)), githubsim.ErrRunnerGone)
			if rec, err := h.Job("j"); err != nil || rec.State != githubsim.Running {
				t.Errorf("job = %+v, %v, want it running", rec, err)
			}
			want := githubsim.Failure
			if reports {
				want = githubsim.Cancelled
				expect(t, "Complete()", s.Complete(t.Context(), "j", want), nil)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Second)
			defer cancel()
			if rec, err := h.Wait(ctx, "j"); err != nil || rec.Conclusion != want {
				t.Errorf("job = %+v, %v, want it %s", rec, err, want)
			}
			expect(t, "second Evict()", h.Evict(c.RunnerID), githubsim.ErrRunnerGone)
		})
	}
}

// Its runner is told nothing any more.
func TestCancel_OfAJobWhoseRunnerWasEvicted(t *testing.T) {
	h := newHub(githubsim.Options{})
	c := lasting(t, h, "i-1-1", "a")
	s := connect(t, h, c)
	submit(t, h, githubsim.Job{ID: "j", Label: "a"})
	next(t, s, 0)
	check(t, h.Evict(c.RunnerID))
	check(t, h.Cancel("j"))
	if rec, err := h.Job("j"); err != nil || rec.State != githubsim.Running {
		t.Errorf("job = %+v, %v, want it running", rec, err)
	}
}

func TestActs_OnSessions(t *testing.T) {
	h := newHub(githubsim.Options{})
	c := lasting(t, h, "i-1-1", "a")
	h.SetConflicts(1)
	expect(t, "Connect()", errorOf(h.Connect(t.Context(), c)), githubsim.ErrSessionConflict)
	s := connect(t, h, c)
	check(t, h.OfferUpdate(c.RunnerID, githubsim.Update{Version: "2.999.0"}))
	if m := next(t, s, 0); m.Kind != githubsim.MessageUpdate || m.Update.Version != "2.999.0" {
		t.Errorf("Next() = %+v, want the update", m)
	}
	expect(t, "Acquire() of no job", s.Acquire(t.Context(), "j"), githubsim.ErrNoJob)
	check(t, h.Expire(c.RunnerID))
	expect(t, "Next()", errorOf(s.Next(t.Context(), 0)), githubsim.ErrSessionGone)
	connect(t, h, c)
}

func TestActs_OverHTTP(t *testing.T) {
	w := newSite(t, githubsim.Options{})
	c := lasting(t, w.Hub, "i-1-1", "a")
	connect(t, w.Hub, c)
	for _, tt := range []struct {
		method, path string
		body         any
		want         int
	}{
		{http.MethodPut, "/_sim/conflicts", 2, http.StatusNoContent},
		{http.MethodPut, "/_sim/conflicts", "two", http.StatusUnprocessableEntity},
		{http.MethodPost, "/_sim/runners/1/expire", nil, http.StatusNoContent},
		{http.MethodPost, "/_sim/runners/x/expire", nil, http.StatusNotFound},
		{http.MethodDelete, "/_sim/runners/1", nil, http.StatusNoContent},
		{http.MethodDelete, "/_sim/runners/1", nil, http.StatusNotFound},
	} {
		w.answers(t, tt.method, tt.path, tt.body, tt.want)
	}
}
