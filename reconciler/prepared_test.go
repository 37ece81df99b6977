package reconciler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// tardy runs test in a world whose GitHub takes its time.
func tardy(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	runScript(t, sim.Script{}, inMemory, func(t *testing.T, w *world) {
		w.Hub.SetLatency(githubsim.Latency{API: time.Second, Session: 2700 * time.Millisecond}) // docs/goals.md, but for the call's
		test(t, w)
	})
}

// left returns the names of the runners that are registered, the oldest first.
func (w *world) left() []string {
	w.t.Helper()
	var out []string
	for _, r := range w.Hub.Registered() {
		out = append(out, r.Name)
	}
	return out
}

// The registration for a run's next job is made while one runs: between two there is no call of GitHub's, whose time is only that of
// its listener's coming online. The last job's is deleted with the run's end.
func TestPrepared_NextJobNeedsNoCall(t *testing.T) {
	tardy(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.serve(spec("100", 1), time.Minute)
		const each = 20
		first, second := w.jobs("100", 1, each), w.jobs("100", 1, each)
		w.await(30*time.Second, "the second is prepared for", func() bool { return registrations(w) == 2 })
		a := w.awaitJobs(first, time.Minute)[0]
		b := w.awaitJobs(second, time.Minute)[0]
		if apart := b.StartedAt.Sub(a.FinishedAt); apart > 3500*time.Millisecond {
			t.Errorf("%s between two jobs, want GitHub's 2.7 s, the agent's part, and no call of a second", apart)
		}
		w.release("100", 1, store.ReleaseDrain)
		w.await(time.Minute, "no runner is left", func() bool { return len(w.left()) == 0 })
		if n := registrations(w); n != 3 {
			t.Errorf("%d registrations for two jobs, want one each and the one that listened last", n)
		}
	})
}

// GitHub forgets a runner that does not come for minutes: the one that waits for the end of a long job is deleted before that, and
// another made once the agent asks.
func TestPrepared_NotForLong(t *testing.T) {
	tardy(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.serve(spec("100", 1), time.Minute)
		long := w.jobs("100", 1, 600)
		w.await(30*time.Second, "the next is prepared", func() bool { return len(w.left()) == 2 })
		kept := w.left()
		time.Sleep(time.Minute)
		if got := w.left(); !slices.Equal(got, kept) {
			t.Errorf("runners %v, want %v still", got, kept)
		}
		w.await(2*time.Minute, "it is deleted", func() bool { return slices.Equal(w.left(), kept[:1]) })
		time.Sleep(3 * time.Minute)
		if n := registrations(w); n != 2 {
			t.Errorf("%d registrations before the job's end, want the present and one more", n)
		}
		w.awaitJobs(long, 10*time.Minute)
		w.awaitJobs(w.jobs("100", 1, 30), 2*time.Minute)
		if n := registrations(w); n > 4 {
			t.Errorf("%d registrations, want none made ahead where a job of the run was long", n)
		}
		w.release("100", 1, store.ReleaseDrain)
		w.await(time.Minute, "no runner is left", func() bool { return len(w.left()) == 0 })
	})
}

// A leader that takes over does not know of it: GitHub's runners are compared with the records, and it is deleted.
func TestPrepared_LostWithItsLeader(t *testing.T) {
	takesLong(t)
	tardy(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		w.serve(spec("100", 1), time.Minute)
		long := w.jobs("100", 1, 1500)
		w.await(30*time.Second, "the next is prepared", func() bool { return len(w.left()) == 2 })
		kept := w.left()
		time.Sleep(time.Minute)
		stop()
		defer w.controller("c2", nil)()
		w.await(2*w.Config().Runners, "it is deleted", func() bool { return slices.Equal(w.left(), kept[:1]) })
		w.awaitJobs(long, time.Hour)
		w.awaitJobs(w.jobs("100", 1, 5), time.Minute)
		w.release("100", 1, store.ReleaseDrain)
	})
}

// That it cannot be made delays nobody, and is not tried again and again.
func TestPrepared_GitHubFails(t *testing.T) {
	for name, mode := range map[string]githubsim.Mode{"Down": githubsim.Fails, "LostReply": githubsim.Lost, "Refused": githubsim.Revoked} {
		t.Run(name, func(t *testing.T) {
			tardy(t, func(t *testing.T, w *world) {
				w.controller("c1", nil)
				w.serve(spec("100", 1), time.Minute)
				w.Hub.SetOutage(githubsim.Outage{Mode: mode, Calls: []githubsim.Call{githubsim.CallJIT}})
				first := w.jobs("100", 1, 60)
				w.await(30*time.Second, "it is tried", func() bool { return registrations(w) == 2 })
				time.Sleep(20 * time.Second)
				if n := registrations(w); n != 2 {
					t.Errorf("%d calls while one job runs, want one try", n-1)
				}
				w.Hub.SetOutage(githubsim.Outage{})
				w.awaitJobs(first, 2*time.Minute)
				w.awaitJobs(w.jobs("100", 1, 5), 30*time.Second)
				w.checkNoneEnded()
				w.release("100", 1, store.ReleaseDrain)
				w.await(time.Minute, "no runner is left", func() bool { return len(w.left()) == 0 })
			})
		})
	}
}

// Nothing is prepared of the last tenth of an hour's calls, nor with a token, with which one runner takes all jobs.
func TestPrepared_OnlyWhereItHelps(t *testing.T) {
	for name, c := range map[string]struct {
		mode store.RegistrationMode
		left int
		want int
	}{
		"Enough":    {store.JIT, 600, 2},
		"LastTenth": {store.JIT, 499, 1},
		"Token":     {store.Token, 600, 1},
	} {
		t.Run(name, func(t *testing.T) {
			tardy(t, func(t *testing.T, w *world) {
				w.Configure(func(cfg *reconciler.Config) { cfg.Registration = c.mode })
				w.controllerWith("c1", reconciler.Options{Health: func() store.Health {
					return store.Health{GitHub: store.GitHubBudget{Remaining: c.left, Limit: 5000, ResetAt: store.At(w.Clock.Now().Add(time.Hour))}}
				}})
				w.serve(spec("100", 1), time.Minute)
				job := w.jobs("100", 1, 20)
				time.Sleep(15 * time.Second)
				if n := len(w.Hub.Registrations()); n != c.want {
					t.Errorf("%d registrations while a job runs, want %d", n, c.want)
				}
				w.awaitJobs(job, time.Minute)
				w.release("100", 1, store.ReleaseDrain)
			})
		})
	}
}
