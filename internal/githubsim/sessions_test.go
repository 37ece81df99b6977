package githubsim_test

import (
	"context"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

func connect(t *testing.T, h *githubsim.Hub, c githubsim.Credentials) *githubsim.Session {
	t.Helper()
	s, err := h.Connect(t.Context(), c)
	check(t, err)
	return s
}

func next(t *testing.T, s *githubsim.Session, seen int64) githubsim.Message {
	t.Helper()
	m, err := s.Next(t.Context(), seen)
	check(t, err)
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
		expect(t, tt.name+": Connect()", errorOf(h.Connect(t.Context(), tt.cred)), tt.want)
	}
	connect(t, h, c)
	expect(t, "second Connect()", errorOf(h.Connect(t.Context(), c)), githubsim.ErrSessionConflict)
}

func TestNext_NotAcknowledged_IsDeliveredAgain(t *testing.T) {
	h := newHub(githubsim.Options{})
	s := connect(t, h, lasting(t, h, "i-1-1", "a"))
	submit(t, h, githubsim.Job{ID: "j", Label: "a"})
	m := next(t, s, 0)
	if again := next(t, s, 0); again != m || m.Job.ID != "j" {
		t.Errorf("Next(0) twice = %+v, %+v, want the same message", m, again)
	}
	check(t, h.Cancel("j"))
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
	check(t, h.Cancel("1"))
	check(t, s.Complete(t.Context(), "1", githubsim.Success))
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
		expect(t, "Next() after Close()", errorOf(s.Next(t.Context(), 0)), githubsim.ErrSessionGone)
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
		expect(t, "Connect() one tick before", errorOf(h.Connect(t.Context(), c)), githubsim.ErrSessionConflict)
		time.Sleep(time.Hour) // the job ended at the limit, whenever one looks
		rec := record(t, h, "j")
		if rec.Conclusion != githubsim.Failure || !rec.FinishedAt.Equal(end) {
			t.Errorf("job = %+v, want failure at %s", rec, end)
		}
		expect(t, "late Complete()", s.Complete(t.Context(), "j", githubsim.Success), githubsim.ErrSessionGone)
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
		expect(t, "Wait() for a queued job", errorOf(h.Wait(ctx, "k")), context.DeadlineExceeded)
		expect(t, "Wait() for no job", errorOf(h.Wait(t.Context(), "none")), githubsim.ErrNoJob)
	})
}

func TestAttach_Cancelled_ReportsItsJob(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		stop := attach(t, h, lasting(t, h, "i-1-1", "a"), nil)
		submit(t, h, githubsim.Job{ID: "1", Label: "a", Seconds: 60}, githubsim.Job{ID: "2", Label: "a", Seconds: 60}, githubsim.Job{ID: "3", Label: "a"})
		time.Sleep(30 * time.Second)
		check(t, h.Cancel("1"))
		rec, err := h.Wait(t.Context(), "1")
		if err != nil || rec.Conclusion != githubsim.Cancelled || rec.FinishedAt.Sub(rec.StartedAt) != 30*time.Second {
			t.Errorf("Wait(1) = %+v, %v, want cancelled after 30 s", rec, err)
		}
		expect(t, "Cancel() of a completed job", h.Cancel("1"), nil)
		time.Sleep(10 * time.Second)
		expect(t, "Attach()", stop(), context.Canceled)
		if rec := record(t, h, "2"); rec.Conclusion != githubsim.Cancelled {
			t.Errorf("job at the runner's end = %+v, want cancelled", rec)
		}
		check(t, h.Cancel("3"))
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
		expect(t, "Attach()", stop(), nil)
	})
}

func TestDeprecated_NoMessages(t *testing.T) {
	h := newHub(githubsim.Options{})
	_, c := jit(t, h, "i-1-1", "a")
	h.SetDeprecated(true)
	expect(t, "Attach()", h.Attach(t.Context(), c, nil), githubsim.ErrDeprecated)
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
			expect(t, "Register("+name+") within the hour", register(tok.Value, name), nil)
		}
		expect(t, "Register(ONE)", register(tok.Value, "ONE"), githubapi.ErrNameTaken)
		expect(t, "Register() with a guess", register("guess", "three"), githubsim.ErrUnauthorized)
		expect(t, "Unregister()", h.Unregister(t.Context(), tok.Value, 1), nil)
		expect(t, "Unregister() again", h.Unregister(t.Context(), tok.Value, 1), nil)
		time.Sleep(1)
		expect(t, "Register() after the hour", register(tok.Value, "three"), githubsim.ErrUnauthorized)
		expect(t, "Unregister() after the hour", h.Unregister(t.Context(), tok.Value, 2), githubsim.ErrUnauthorized)
	})
}
