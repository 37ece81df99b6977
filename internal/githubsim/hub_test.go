package githubsim_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// narrow is what the reconciler asks of a client; a hub must do as well.
type narrow interface {
	JITConfig(ctx context.Context, name, label string) (githubapi.JIT, error)
	RegistrationToken(ctx context.Context) (githubapi.Token, error)
	Runners(ctx context.Context) ([]githubapi.Runner, error)
	AddLabel(ctx context.Context, id int64, label string) error
	DeleteRunner(ctx context.Context, id int64) error
	URL() string
}

var _ narrow = (*githubsim.Hub)(nil)

// check ends a test with an error that nothing explains.
func check(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expect judges the error of a call; want nil: it must have none.
func expect(t rapid.TB, call string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error = %v, want %v", call, err, want)
	}
}

// errorOf is the error of a call that has another answer, too.
func errorOf(_ any, err error) error { return err }

func newHub(o githubsim.Options) *githubsim.Hub {
	o.Clock = clock.RealClock{}
	return githubsim.New(o)
}

// jit registers a runner and returns its id and credentials.
func jit(t *testing.T, h *githubsim.Hub, name, label string) (int64, githubsim.Credentials) {
	t.Helper()
	j, err := h.JITConfig(t.Context(), name, label)
	check(t, err)
	c, err := githubsim.DecodeJIT(j.Config)
	check(t, err)
	if c.RunnerID != j.RunnerID {
		t.Fatalf("config is for runner %d, want %d", c.RunnerID, j.RunnerID)
	}
	return j.RunnerID, c
}

// lasting registers a runner for many jobs.
func lasting(t *testing.T, h *githubsim.Hub, name string, labels ...string) githubsim.Credentials {
	t.Helper()
	tok, err := h.RegistrationToken(t.Context())
	check(t, err)
	c, err := h.Register(t.Context(), tok.Value, githubsim.RegisterRequest{Name: name, Labels: labels})
	check(t, err)
	return c
}

// attach runs a whole runner until the test's end or the returned stop, which waits for its end.
func attach(t *testing.T, h *githubsim.Hub, c githubsim.Credentials, run githubsim.RunFunc) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Attach(ctx, c, run) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func submit(t *testing.T, h *githubsim.Hub, jobs ...githubsim.Job) {
	t.Helper()
	for _, j := range jobs {
		check(t, h.Submit(j))
	}
}

func record(t *testing.T, h *githubsim.Hub, id string) githubsim.JobRecord {
	t.Helper()
	rec, err := h.Job(id)
	check(t, err)
	return rec
}

func TestJITRunner_OneJob_ThenGone(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		id, c := jit(t, h, "i-7-3", "Run-1")
		runners, err := h.Runners(t.Context())
		want := []githubapi.Runner{{ID: id, Name: "i-7-3", Labels: []string{"Run-1"}}}
		if diff := cmp.Diff(want, runners); err != nil || diff != "" {
			t.Fatalf("Runners() before it connects: error %v, diff (-want +got):\n%s", err, diff)
		}

		stop := attach(t, h, c, nil)
		synctest.Wait()
		if runners, _ = h.Runners(t.Context()); !runners[0].Online || runners[0].Busy {
			t.Errorf("Runners() once it listens = %+v, want online and idle", runners[0])
		}
		start := time.Now()
		submit(t, h, githubsim.Job{ID: "j1", RunID: "1", Label: "run-1", Name: "build", Seconds: 90}) // S14: case ignored
		synctest.Wait()
		expect(t, "DeleteRunner() while its job runs", h.DeleteRunner(t.Context(), id), githubapi.ErrBusy)
		rec, err := h.Wait(t.Context(), "j1")
		check(t, err)
		wantRec := githubsim.JobRecord{
			Job:   githubsim.Job{ID: "j1", RunID: "1", Repository: "octo/repo", Label: "run-1", Name: "build", Seconds: 90},
			State: githubsim.Completed, Conclusion: githubsim.Success,
			Runner: "i-7-3", RunnerID: id, InstanceID: "i-7",
			QueuedAt: start.UTC(), StartedAt: start.UTC(), FinishedAt: start.Add(90 * time.Second).UTC(),
		}
		if diff := cmp.Diff(wantRec, rec); diff != "" {
			t.Errorf("job record (-want +got):\n%s", diff)
		}
		synctest.Wait()
		if runners, _ = h.Runners(t.Context()); len(runners) != 0 {
			t.Errorf("Runners() after its one job = %+v, want none", runners)
		}
		expect(t, "Attach()", stop(), nil)
		expect(t, "DeleteRunner() of a runner that is gone", h.DeleteRunner(t.Context(), id), nil)
		if got := h.Registrations(); len(got) != 1 || got[0].Removed != githubsim.RemovedUsed {
			t.Errorf("Registrations() = %+v, want one that was used", got)
		}
	})
}

func TestRunnerNames_H37_TakenAndUsedTwice(t *testing.T) {
	h := newHub(githubsim.Options{})
	id, _ := jit(t, h, "i-1-1", "a")
	expect(t, "JITConfig() of a taken name", errorOf(h.JITConfig(t.Context(), "I-1-1", "b")), githubapi.ErrNameTaken)
	if got := h.NamesUsedTwice(); len(got) != 0 {
		t.Errorf("NamesUsedTwice() = %v, want none", got)
	}
	check(t, h.DeleteRunner(t.Context(), id))
	jit(t, h, "i-1-1", "b")
	if diff := cmp.Diff([]string{"i-1-1"}, h.NamesUsedTwice()); diff != "" {
		t.Errorf("NamesUsedTwice() after a second use (-want +got):\n%s", diff)
	}
}

func TestDeleteRunner_S86_NoJobOfTheOldRunAfterwards(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		c := lasting(t, h, "i-1-1", "run-a")
		stop := attach(t, h, c, nil)
		submit(t, h, githubsim.Job{ID: "1", Label: "run-a", Seconds: 1})
		if rec, err := h.Wait(t.Context(), "1"); err != nil || rec.Conclusion != githubsim.Success {
			t.Fatalf("Wait(1) = %+v, %v", rec, err)
		}
		check(t, h.DeleteRunner(t.Context(), c.RunnerID))
		submit(t, h, githubsim.Job{ID: "2", Label: "run-a", Seconds: 1})
		time.Sleep(time.Hour)
		if rec := record(t, h, "2"); rec.State != githubsim.Queued {
			t.Errorf("job of the old run = %+v, want queued for ever", rec)
		}
		expect(t, "Attach()", stop(), githubsim.ErrRunnerGone)
	})
}
