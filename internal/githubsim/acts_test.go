package githubsim_test

import (
	"context"
	"errors"
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
			if err := h.Evict(c.RunnerID); err != nil {
				t.Fatalf("Evict() error = %v", err)
			}
			if _, err := s.Next(t.Context(), 0); !errors.Is(err, githubsim.ErrRunnerGone) {
				t.Errorf("Next() = %v, want ErrRunnerGone", err)
			}
			if rec, err := h.Job("j"); err != nil || rec.State != githubsim.Running {
				t.Errorf("job = %+v, %v, want it running", rec, err)
			}
			want := githubsim.Failure
			if reports {
				want = githubsim.Cancelled
				if err := s.Complete(t.Context(), "j", want); err != nil {
					t.Errorf("Complete() error = %v", err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Second)
			defer cancel()
			if rec, err := h.Wait(ctx, "j"); err != nil || rec.Conclusion != want {
				t.Errorf("job = %+v, %v, want it %s", rec, err, want)
			}
			if err := h.Evict(c.RunnerID); !errors.Is(err, githubsim.ErrRunnerGone) {
				t.Errorf("second Evict() = %v, want ErrRunnerGone", err)
			}
		})
	}
}

func TestActs_OnSessions(t *testing.T) {
	h := newHub(githubsim.Options{})
	c := lasting(t, h, "i-1-1", "a")
	h.SetConflicts(1)
	if _, err := h.Connect(t.Context(), c); !errors.Is(err, githubsim.ErrSessionConflict) {
		t.Errorf("Connect() = %v, want ErrSessionConflict", err)
	}
	s := connect(t, h, c)
	if err := h.OfferUpdate(c.RunnerID, githubsim.Update{Version: "2.999.0"}); err != nil {
		t.Fatalf("OfferUpdate() error = %v", err)
	}
	if m := next(t, s, 0); m.Kind != githubsim.MessageUpdate || m.Update.Version != "2.999.0" {
		t.Errorf("Next() = %+v, want the update", m)
	}
	if err := s.Acquire(t.Context(), "j"); !errors.Is(err, githubsim.ErrNoJob) {
		t.Errorf("Acquire() of no job = %v, want ErrNoJob", err)
	}
	if err := h.Expire(c.RunnerID); err != nil {
		t.Fatalf("Expire() error = %v", err)
	}
	if _, err := s.Next(t.Context(), 0); !errors.Is(err, githubsim.ErrSessionGone) {
		t.Errorf("Next() = %v, want ErrSessionGone", err)
	}
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
		if got := w.do(t, tt.method, tt.path, tt.body, nil).StatusCode; got != tt.want {
			t.Errorf("%s %s %v = %d, want %d", tt.method, tt.path, tt.body, got, tt.want)
		}
	}
}
