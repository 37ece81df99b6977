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

func TestOutage_Modes(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		h.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallJIT}})
		expect(t, "JITConfig()", errorOf(h.JITConfig(t.Context(), "n", "a")), githubapi.ErrUnavailable)
		expect(t, "Runners() in an outage of others", errorOf(h.Runners(t.Context())), nil)

		h.SetOutage(githubsim.Outage{Mode: githubsim.Lost})
		expect(t, "JITConfig() with a lost reply", errorOf(h.JITConfig(t.Context(), "n", "a")), githubapi.ErrUnavailable)
		h.SetOutage(githubsim.Outage{})
		expect(t, "JITConfig() again", errorOf(h.JITConfig(t.Context(), "n", "a")), githubapi.ErrNameTaken) // the first was carried out

		h.SetOutage(githubsim.Outage{Mode: githubsim.Hangs})
		start := time.Now()
		if _, err := h.Runners(t.Context()); !errors.Is(err, githubapi.ErrUnavailable) || time.Since(start) != githubapi.CallTimeout {
			t.Errorf("Runners() error = %v after %s, want ErrUnavailable after the client's own timeout", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		expect(t, "Runners() of an impatient caller", errorOf(h.Runners(ctx)), context.DeadlineExceeded)
		go func() {
			time.Sleep(time.Second)
			h.SetOutage(githubsim.Outage{})
		}()
		expect(t, "Runners() as the outage ends", errorOf(h.Runners(t.Context())), nil)
		if got := h.Calls(); got[githubsim.CallList] != 4 || got[githubsim.CallJIT] != 3 {
			t.Errorf("Calls() = %v, want 4 listings and 3 registrations", got)
		}
	})
}

// A revoked credential is the client's: a runner has its own. An answer later than a client waits is lost,
// but what was asked for is done.
func TestOutage_Revoked_AndSlow(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		tok, err := h.RegistrationToken(t.Context())
		check(t, err)
		h.SetOutage(githubsim.Outage{Mode: githubsim.Revoked})
		if _, err := h.JITConfig(t.Context(), "n", "a"); !errors.Is(err, githubapi.ErrRefused) || !errors.Is(err, githubsim.ErrUnauthorized) {
			t.Errorf("JITConfig() with a revoked credential error = %v, want ErrRefused, a 401", err)
		}
		_, err = h.Register(t.Context(), tok.Value, githubsim.RegisterRequest{Name: "own", Labels: []string{"a"}})
		expect(t, "Register() of a runner meanwhile", err, nil)
		h.SetOutage(githubsim.Outage{})
		h.SetLatency(githubsim.Latency{API: time.Minute})
		start := time.Now()
		if _, err := h.JITConfig(t.Context(), "slow", "a"); !errors.Is(err, githubapi.ErrUnavailable) || time.Since(start) != githubapi.CallTimeout {
			t.Errorf("JITConfig() error = %v after %s, want ErrUnavailable after the client's own timeout", err, time.Since(start))
		}
		h.SetLatency(githubsim.Latency{})
		if r, ok, err := h.FindRunner(t.Context(), "SLOW"); !ok || err != nil || r.Name != "slow" {
			t.Errorf("FindRunner() = %v, %v, %v, want what the slow call made", r, ok, err)
		}
	})
}

func TestRateLimit_WindowAfterWindow(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		h.SetRateLimit(githubsim.ResourceRegistration, githubsim.RateLimit{Limit: 2, Window: time.Minute})
		time.Sleep(30 * time.Second)
		call := func() error { _, err := h.RegistrationToken(t.Context()); return err }
		for range 2 {
			expect(t, "call within the limit", call(), nil)
		}
		for range 2 {
			expect(t, "call over the limit", call(), githubapi.ErrThrottled)
		}
		expect(t, "Runners()", errorOf(h.Runners(t.Context())), nil) // it has another budget
		time.Sleep(30*time.Second - 1)
		expect(t, "call one tick before the next window", call(), githubapi.ErrThrottled)
		time.Sleep(1)
		expect(t, "call in the next window", call(), nil)
		time.Sleep(10 * time.Minute)
		h.SetRateLimit(githubsim.ResourceRegistration, githubsim.RateLimit{})
		for range 10 {
			expect(t, "call without a limit", call(), nil)
		}
	})
}

func TestLatency_DelaysTheAnswer(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{Latency: githubsim.Latency{API: 200 * time.Millisecond, Session: 2 * time.Second}})
		start := time.Now()
		_, c := jit(t, h, "i-1-1", "a")
		if got := time.Since(start); got != 200*time.Millisecond {
			t.Errorf("JITConfig() took %s, want 200 ms", got)
		}
		start = time.Now()
		s := connect(t, h, c)
		if got := time.Since(start); got != 2*time.Second {
			t.Errorf("Connect() took %s, want 2 s", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		expect(t, "Runners()", errorOf(h.Runners(ctx)), context.DeadlineExceeded)
		h.SetLatency(githubsim.Latency{})
		start = time.Now()
		submit(t, h, githubsim.Job{ID: "j", Label: "a"})
		next(t, s, 0)
		if got := time.Since(start); got != 0 {
			t.Errorf("handing a job over took %s, want no time", got)
		}
	})
}

func TestBusyLag_OnlyTheListingIsLate(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{BusyLag: time.Minute})
		c := lasting(t, h, "i-1-1", "a")
		stop := attach(t, h, c, nil)
		busy := func() bool {
			all, err := h.Runners(t.Context())
			if err != nil || len(all) != 1 {
				t.Fatalf("Runners() = %v, %v", all, err)
			}
			return all[0].Busy
		}
		submit(t, h, githubsim.Job{ID: "j", Label: "a", Seconds: 120})
		time.Sleep(time.Minute - 1)
		if busy() {
			t.Error("listing shows busy one tick too early")
		}
		expect(t, "DeleteRunner()", h.DeleteRunner(t.Context(), c.RunnerID), githubapi.ErrBusy)
		time.Sleep(1)
		if !busy() {
			t.Error("listing shows idle after the lag")
		}
		time.Sleep(time.Minute + time.Second)
		if !busy() {
			t.Error("listing shows idle within the lag of the job's end")
		}
		time.Sleep(time.Minute)
		if busy() {
			t.Error("listing shows busy after the lag of the job's end")
		}
		expect(t, "Attach()", stop(), context.Canceled)
	})
}

func TestTimeAlone_EndsRegistrationsAndJobs(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name   string
		o      githubsim.Options
		add    func(t *testing.T, h *githubsim.Hub)
		after  time.Duration
		reason string
	}{
		{"OfflineForTwoWeeks", githubsim.Options{}, func(t *testing.T, h *githubsim.Hub) { lasting(t, h, "n", "a") },
			14 * day, githubsim.RemovedPruned},
		{"EphemeralOfflineForADay", githubsim.Options{}, func(t *testing.T, h *githubsim.Hub) { jit(t, h, "n", "a") },
			day, githubsim.RemovedPruned},
		{"OfflineAfterASession", githubsim.Options{}, func(t *testing.T, h *githubsim.Hub) {
			c := lasting(t, h, "n", "a")
			time.Sleep(13 * day)
			s := connect(t, h, c)
			time.Sleep(10 * time.Second)
			s.Close()
		}, 14 * day, githubsim.RemovedPruned},
		{"IdleJIT", githubsim.Options{JITLapse: 5 * time.Minute}, func(t *testing.T, h *githubsim.Hub) { jit(t, h, "n", "a") },
			5 * time.Minute, githubsim.RemovedLapsed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				h := newHub(tt.o)
				tt.add(t, h)
				time.Sleep(tt.after - 1)
				if got := h.Registrations()[0]; got.Removed != "" {
					t.Errorf("one tick before: %+v, want registered", got)
				}
				time.Sleep(1)
				if got := h.Registrations()[0]; got.Removed != tt.reason || !got.RemovedAt.Equal(time.Now()) {
					t.Errorf("at the limit: %+v, want %s", got, tt.reason)
				}
			})
		})
	}
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		submit(t, h, githubsim.Job{ID: "1", Label: "a"})
		time.Sleep(time.Hour)
		submit(t, h, githubsim.Job{ID: "2", Label: "a"})
		time.Sleep(23*time.Hour - 1)
		if rec := record(t, h, "1"); rec.State != githubsim.Queued {
			t.Errorf("job one tick before a day in the queue = %+v, want queued", rec)
		}
		time.Sleep(1)
		if rec := record(t, h, "1"); rec.Conclusion != githubsim.Cancelled {
			t.Errorf("job after a day in the queue = %+v, want cancelled", rec)
		}
		if rec, err := h.Wait(t.Context(), "2"); err != nil || rec.FinishedAt.Sub(rec.QueuedAt) != day {
			t.Errorf("Wait(2) = %+v, %v, want its end after a day", rec, err)
		}
	})
}

func TestSubmit_Refusals(t *testing.T) {
	h := newHub(githubsim.Options{URL: "http://h.invalid/acme"})
	submit(t, h, githubsim.Job{ID: "j", Label: "a"})
	for name, j := range map[string]githubsim.Job{
		"NoID": {Label: "a"}, "NoLabel": {ID: "k"}, "Taken": {ID: "j", Label: "a"}, "Negative": {ID: "k", Label: "a", Seconds: -1},
	} {
		expect(t, name+": Submit()", h.Submit(j), githubsim.ErrInvalid)
	}
	expect(t, "Cancel() of no job", h.Cancel("none"), githubsim.ErrNoJob)
	if got := record(t, h, "j").Repository; got != "acme/repo" {
		t.Errorf("repository of a job that named none = %q, want one of the organisation", got)
	}
}

func TestInstanceOf(t *testing.T) {
	for name, want := range map[string]string{
		"i-0abc-12": "i-0abc", "host-1-2": "host-1", "i-0abc": "", "1": "", "-1": "", "x-": "", "x-1a": "", "": "",
	} {
		if got := githubsim.InstanceOf(name); got != want {
			t.Errorf("InstanceOf(%q) = %q, want %q", name, got, want)
		}
	}
}

// FuzzDecodeJIT: nothing that a caller passes makes the decoder fail otherwise than by an error.
func FuzzDecodeJIT(f *testing.F) {
	f.Add("")
	f.Add("eyIucnVubmVyIjoiZTMwPSJ9")
	f.Add("eyIucnVubmVyIjoiZTMwPSIsIi5jcmVkZW50aWFscyI6ImUzMD0ifQ==")
	f.Fuzz(func(t *testing.T, encoded string) {
		files, err := githubsim.DecodeJITFiles(encoded)
		_, cerr := githubsim.DecodeJIT(encoded)
		if err != nil && (cerr == nil || files != nil) {
			t.Errorf("DecodeJITFiles(%q) error = %v, DecodeJIT() error = %v", encoded, err, cerr)
		}
	})
}
