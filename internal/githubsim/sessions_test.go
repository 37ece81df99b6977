package githubsim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

func connect(t *testing.T, h *githubsim.Hub, c githubsim.Credentials) *githubsim.Session {
	t.Helper()
	s, err := h.Connect(t.Context(), c)
	if err != nil {
		t.Fatalf("Connect(%s) error = %v", c.Name, err)
	}
	return s
}

func next(t *testing.T, s *githubsim.Session, seen int64) githubsim.Message {
	t.Helper()
	m, err := s.Next(t.Context(), seen)
	if err != nil {
		t.Fatalf("Next(%d) error = %v", seen, err)
	}
	return m
}

func TestConnect_Refusals(t *testing.T) {
	h := newHub(githubsim.Options{})
	c := lasting(t, h, "i-1-1", "a")
	for _, tt := range []struct {
		name string
		cred githubsim.Credentials
		want error
	}{
		{"Unknown", githubsim.Credentials{RunnerID: 99, Secret: c.Secret}, githubsim.ErrRunnerGone},
		{"WrongSecret", githubsim.Credentials{RunnerID: c.RunnerID, Secret: "guess"}, githubsim.ErrUnauthorized},
		{"NoSecret", githubsim.Credentials{RunnerID: c.RunnerID}, githubsim.ErrUnauthorized},
	} {
		if _, err := h.Connect(t.Context(), tt.cred); !errors.Is(err, tt.want) {
			t.Errorf("%s: Connect() error = %v, want %v", tt.name, err, tt.want)
		}
	}
	connect(t, h, c)
	if _, err := h.Connect(t.Context(), c); !errors.Is(err, githubsim.ErrSessionConflict) {
		t.Errorf("second Connect() error = %v, want ErrSessionConflict", err)
	}
}

func TestNext_NotAcknowledged_IsDeliveredAgain(t *testing.T) {
	h := newHub(githubsim.Options{})
	s := connect(t, h, lasting(t, h, "i-1-1", "a"))
	submit(t, h, githubsim.Job{ID: "j", Label: "a"})
	m := next(t, s, 0)
	if again := next(t, s, 0); again != m || m.Job.ID != "j" {
		t.Errorf("Next(0) twice = %+v, %+v, want the same message", m, again)
	}
	if err := h.Cancel("j"); err != nil {
		t.Fatalf("Cancel() error = %v", err)
	}
	if c := next(t, s, m.ID); c.Kind != githubsim.MessageCancel || c.ID <= m.ID {
		t.Errorf("Next(%d) = %+v, want the cancellation", m.ID, c)
	}
}

// Found by the model: a cancellation that was not delivered in time reached the runner in its next job.
func TestComplete_TakesBackWhatWasNotDelivered(t *testing.T) {
	h := newHub(githubsim.Options{})
	s := connect(t, h, lasting(t, h, "i-1-1", "a"))
	submit(t, h, githubsim.Job{ID: "1", Label: "a"}, githubsim.Job{ID: "2", Label: "a"})
	m := next(t, s, 0)
	if err := h.Cancel("1"); err != nil {
		t.Fatalf("Cancel() error = %v", err)
	}
	if err := s.Complete(t.Context(), "1", githubsim.Success); err != nil {
		t.Fatalf("Complete() error = %v", err)
	}
	if got := next(t, s, m.ID); got.Kind != githubsim.MessageJob || got.Job.ID != "2" {
		t.Errorf("Next() = %+v, want job 2", got)
	}
}

func TestClose_UnacknowledgedJobGoesBackToTheQueue(t *testing.T) {
	for _, acknowledged := range []bool{false, true} {
		h := newHub(githubsim.Options{PollWait: time.Millisecond})
		s := connect(t, h, lasting(t, h, "i-1-1", "a"))
		submit(t, h, githubsim.Job{ID: "j", Label: "a"})
		m := next(t, s, 0)
		want := githubsim.Queued
		if acknowledged {
			next(t, s, m.ID)
			want = githubsim.Completed
		}
		s.Close()
		s.Close()
		rec := record(t, h, "j")
		if rec.State != want || acknowledged && rec.Conclusion != githubsim.Failure {
			t.Errorf("job acknowledged %v after Close() = %+v, want %s", acknowledged, rec, want)
		}
		if _, err := s.Next(t.Context(), 0); !errors.Is(err, githubsim.ErrSessionGone) {
			t.Errorf("Next() after Close() error = %v, want ErrSessionGone", err)
		}
	}
}

func TestSession_TimesOut_AtItsLimit(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{OnlineFor: 5 * time.Second, SessionTimeout: 20 * time.Second})
		c := lasting(t, h, "i-1-1", "a")
		s := connect(t, h, c)
		submit(t, h, githubsim.Job{ID: "j", Label: "a"})
		next(t, s, 0)
		end := time.Now().Add(20 * time.Second)
		online := func() bool { return h.Registrations()[0].Online }
		time.Sleep(5*time.Second - 1)
		if !online() {
			t.Error("offline one tick before the limit")
		}
		time.Sleep(1)
		if online() {
			t.Error("online at the limit")
		}
		time.Sleep(15*time.Second - 1)
		if rec := record(t, h, "j"); rec.State != githubsim.Running {
			t.Errorf("job one tick before the session's limit = %+v, want running", rec)
		}
		if _, err := h.Connect(t.Context(), c); !errors.Is(err, githubsim.ErrSessionConflict) {
			t.Errorf("Connect() one tick before error = %v, want ErrSessionConflict", err)
		}
		time.Sleep(time.Hour) // the job ended at the limit, whenever one looks
		rec := record(t, h, "j")
		if rec.Conclusion != githubsim.Failure || !rec.FinishedAt.Equal(end) {
			t.Errorf("job = %+v, want failure at %s", rec, end)
		}
		if err := s.Complete(t.Context(), "j", githubsim.Success); !errors.Is(err, githubsim.ErrSessionGone) {
			t.Errorf("late Complete() error = %v, want ErrSessionGone", err)
		}
		connect(t, h, c)
	})
}

func TestWait_LearnsOfATimeout(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		s := connect(t, h, lasting(t, h, "i-1-1", "a"))
		submit(t, h, githubsim.Job{ID: "j", Label: "a"})
		next(t, s, 0)
		start := time.Now()
		if rec, err := h.Wait(t.Context(), "j"); err != nil || rec.Conclusion != githubsim.Failure {
			t.Errorf("Wait() = %+v, %v, want failure", rec, err)
		}
		if got := time.Since(start); got != githubsim.DefaultSessionTimeout {
			t.Errorf("waited %s, want %s", got, githubsim.DefaultSessionTimeout)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		submit(t, h, githubsim.Job{ID: "k", Label: "nobody"})
		if _, err := h.Wait(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait() for a queued job error = %v, want DeadlineExceeded", err)
		}
		if _, err := h.Wait(t.Context(), "none"); !errors.Is(err, githubsim.ErrNoJob) {
			t.Errorf("Wait() for no job error = %v, want ErrNoJob", err)
		}
	})
}

func TestAttach_Cancelled_ReportsItsJob(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		stop := attach(t, h, lasting(t, h, "i-1-1", "a"), nil)
		submit(t, h, githubsim.Job{ID: "1", Label: "a", Seconds: 60}, githubsim.Job{ID: "2", Label: "a", Seconds: 60}, githubsim.Job{ID: "3", Label: "a"})
		time.Sleep(30 * time.Second)
		if err := h.Cancel("1"); err != nil {
			t.Fatalf("Cancel() error = %v", err)
		}
		rec, err := h.Wait(t.Context(), "1")
		if err != nil || rec.Conclusion != githubsim.Cancelled || rec.FinishedAt.Sub(rec.StartedAt) != 30*time.Second {
			t.Errorf("Wait(1) = %+v, %v, want cancelled after 30 s", rec, err)
		}
		if err := h.Cancel("1"); err != nil {
			t.Errorf("Cancel() of a completed job error = %v, want nil", err)
		}
		time.Sleep(10 * time.Second)
		if err := stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("Attach() error = %v, want Canceled", err)
		}
		if rec := record(t, h, "2"); rec.Conclusion != githubsim.Cancelled {
			t.Errorf("job at the runner's end = %+v, want cancelled", rec)
		}
		if err := h.Cancel("3"); err != nil {
			t.Fatalf("Cancel(3) error = %v", err)
		}
		if rec := record(t, h, "3"); rec.Conclusion != githubsim.Cancelled || rec.Runner != "" {
			t.Errorf("job cancelled in the queue = %+v", rec)
		}
	})
}

func TestListen_ServiceAwayAtTheJobsEnd_IsToldLater(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		_, c := jit(t, h, "i-1-1", "a")
		stop := attach(t, h, c, nil)
		submit(t, h, githubsim.Job{ID: "j", Label: "a", Seconds: 10})
		time.Sleep(9 * time.Second)
		h.SetOutage(githubsim.Outage{Mode: githubsim.Fails})
		time.Sleep(20 * time.Second)
		h.SetOutage(githubsim.Outage{})
		if rec, err := h.Wait(t.Context(), "j"); err != nil || rec.Conclusion != githubsim.Success {
			t.Errorf("Wait() = %+v, %v, want success", rec, err)
		}
		if err := stop(); err != nil {
			t.Errorf("Attach() error = %v, want nil", err)
		}
	})
}

func TestDeprecated_NoMessages(t *testing.T) {
	h := newHub(githubsim.Options{})
	_, c := jit(t, h, "i-1-1", "a")
	h.SetDeprecated(true)
	if err := h.Attach(t.Context(), c, nil); !errors.Is(err, githubsim.ErrDeprecated) {
		t.Errorf("Attach() error = %v, want ErrDeprecated", err)
	}
	h.SetDeprecated(false)
	s := connect(t, h, c)
	submit(t, h, githubsim.Job{ID: "j", Label: "a"})
	if m := next(t, s, 0); m.Job.ID != "j" {
		t.Errorf("Next() afterwards = %+v, want the job", m)
	}
}

func TestRegister_Tokens(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		tok, err := h.RegistrationToken(t.Context())
		if err != nil || time.Until(tok.Expires) != time.Hour {
			t.Fatalf("RegistrationToken() = %v, %v, want one for an hour", tok, err)
		}
		register := func(token, name string) error {
			_, err := h.Register(t.Context(), token, githubsim.RegisterRequest{Name: name, Labels: []string{"a"}})
			return err
		}
		time.Sleep(time.Hour - 1)
		for _, name := range []string{"one", "two"} {
			if err := register(tok.Value, name); err != nil {
				t.Errorf("Register(%s) within the hour error = %v", name, err)
			}
		}
		if err := register(tok.Value, "ONE"); !errors.Is(err, githubapi.ErrNameTaken) {
			t.Errorf("Register(ONE) error = %v, want ErrNameTaken", err)
		}
		if err := register("guess", "three"); !errors.Is(err, githubsim.ErrUnauthorized) {
			t.Errorf("Register() with a guess error = %v, want ErrUnauthorized", err)
		}
		if err := h.Unregister(t.Context(), tok.Value, 1); err != nil {
			t.Errorf("Unregister() error = %v", err)
		}
		if err := h.Unregister(t.Context(), tok.Value, 1); err != nil {
			t.Errorf("Unregister() again error = %v, want nil", err)
		}
		time.Sleep(1)
		if err := register(tok.Value, "three"); !errors.Is(err, githubsim.ErrUnauthorized) {
			t.Errorf("Register() after the hour error = %v, want ErrUnauthorized", err)
		}
		if err := h.Unregister(t.Context(), tok.Value, 2); !errors.Is(err, githubsim.ErrUnauthorized) {
			t.Errorf("Unregister() after the hour error = %v, want ErrUnauthorized", err)
		}
	})
}
