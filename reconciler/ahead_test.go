package reconciler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// listening runs test in a world where at most so many idle machines listen, and GitHub takes its time.
func listening(t *testing.T, most int, o sim.Script, test func(t *testing.T, w *world)) {
	t.Helper()
	o.Ahead = most
	runScript(t, o, inMemory, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Ahead = most })
		w.Hub.SetLatency(githubsim.Latency{API: 150 * time.Millisecond, Session: 2700 * time.Millisecond}) // docs/goals.md
		test(t, w)
	})
}

// waiting returns the runners that wait for a run, online, each under a label of its own.
func (w *world) listeners() []githubsim.Registration {
	w.t.Helper()
	var out []githubsim.Registration
	for _, r := range w.Hub.Registrations() {
		if r.Online && r.Removed == "" && len(r.Labels) == 1 && strings.HasPrefix(r.Labels[0], reconciler.IdleLabel) {
			out = append(out, r)
		}
	}
	return out
}

// ahead has n machines in the pool, and at most so many of them listen.
func (w *world) ahead(n, most int) map[store.InstanceID]bool {
	w.t.Helper()
	pooled := ids(w.warm("100", n))
	w.await(30*time.Second, "they listen", func() bool {
		cleared := 0
		for _, in := range w.Instances() {
			if in.Ahead() && in.Registration.Secret == "" { // which is cleared once that is known
				cleared++
			}
		}
		return cleared == min(n, most)
	})
	return pooled
}

// A claim of machines that listen takes a label for each instead of a registration; what the histories tell is no phase longer.
func TestAhead_AClaimIsALabel(t *testing.T) {
	listening(t, 10, sim.Script{}, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		pooled := w.ahead(3, 10)
		before := w.Hub.Calls()
		w.submit(spec("200", 3))
		took := w.awaitEvery(10*time.Millisecond, 10*time.Second, "ready", func() bool { return w.status("200").Phase == statemachine.Ready })
		if took > 400*time.Millisecond { // one call of GitHub, and virtual writes that take no time
			t.Errorf("ready after %s, want the time of one call of GitHub", took)
		}
		if after := w.Hub.Calls(); after[githubsim.CallJIT] != before[githubsim.CallJIT] || after[githubsim.CallLabel]-before[githubsim.CallLabel] != 3 {
			t.Errorf("calls before %v, after %v: want three labels and no registration", before, after)
		}
		st := w.status("200")
		for id := range ids(st) {
			if !pooled[id] {
				t.Errorf("%s was given, which did not listen", id)
			}
			phases := timeline.Phases(st, w.instance(id), w.Clock.Now())
			if n := len(phases); n < 3 || phases[n-2].Name != timeline.Registration || phases[n-2].Outcome != timeline.Done || phases[n-2].Duration() > 400*time.Millisecond {
				t.Errorf("phases of %s are %+v, want a registration that took as long as the label", id, phases)
			}
		}
		w.awaitJobs(w.jobs("200", 3, 5), 20*time.Second)
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		w.await(5*time.Second, "no runner has the label of a run that is over", func() bool {
			return !slices.ContainsFunc(w.Hub.Registrations(), func(r githubsim.Registration) bool {
				return slices.Contains(r.Labels, "200") && r.Removed == ""
			})
		})
		w.launched(3)
	})
}

// A listener that came online since heartbeats were read last serves its claim: they are read once more.
func TestAhead_ClaimedBeforeItsHeartbeatIsRead(t *testing.T) {
	listening(t, 1, sim.Script{}, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.HotPoll, c.WarmPoll = time.Hour, time.Hour })
		w.controller("c1", nil)
		id := w.warm("100", 1).Instances[0].InstanceID
		w.awaitEvery(10*time.Millisecond, 30*time.Second, "it says that it listens", func() bool {
			in := w.instance(id)
			said, err := w.Store.Vitals(t.Context(), func(_ store.Key, err error) { t.Error(err) }, in.Principal)
			return err == nil && said[in.Principal].Heartbeat.Beat.ListensFor(&in)
		})
		if w.instance(id).Registration.Secret == "" {
			t.Fatal("the controller knows already")
		}
		registered := w.Hub.Calls()[githubsim.CallJIT]
		w.serve(spec("200", 1), time.Second)
		if n := w.Hub.Calls()[githubsim.CallJIT] - registered; n != 0 {
			t.Errorf("%d registrations were made for a machine that listens", n)
		}
	})
}

// A job that waits goes to the machine before its agent knows of the run, and is let in.
func TestAhead_AJobBeforeItsAgentKnows(t *testing.T) {
	listening(t, 10, sim.Script{}, func(_ *testing.T, w *world) {
		w.controller("c1", nil)
		w.ahead(1, 10)
		job := w.jobs("200", 1, 5)
		w.submit(spec("200", 1))
		w.awaitJobs(job, 8*time.Second)
		w.awaitPhase("200", 1, statemachine.Ready, time.Second)
		w.checkNoneEnded()
		w.launched(1)
	})
}

// Whatever goes wrong with the label, or with the listener that is to have it, its machine is registered anew, at once, and
// that seat alone. No runner is left that bears the run's label beside.
func TestAhead_OtherwiseTodaysWay(t *testing.T) {
	outage := func(mode githubsim.Mode) func(*world) {
		return func(w *world) {
			w.Hub.SetOutage(githubsim.Outage{Mode: mode, Calls: []githubsim.Call{githubsim.CallLabel}})
		}
	}
	for name, spoil := range map[string]func(w *world){
		"Down":      outage(githubsim.Fails),
		"LostReply": outage(githubsim.Lost),
		"Refused":   outage(githubsim.Revoked),
		"Gone": func(w *world) { // its agent does not know yet
			for _, r := range w.listeners() {
				if err := w.Hub.Evict(r.ID); err != nil {
					w.t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			listening(t, 10, sim.Script{}, func(t *testing.T, w *world) {
				w.controller("c1", nil)
				w.ahead(2, 10)
				spoil(w)
				w.submit(spec("200", 2))
				w.awaitPhase("200", 1, statemachine.Ready, 20*time.Second)
				w.Hub.SetOutage(githubsim.Outage{})
				w.awaitJobs(w.jobs("200", 2, 5), 20*time.Second)
				w.checkNoneEnded()
				w.launched(2)
				bearing := map[string]int{}
				for _, r := range w.Hub.Registrations() {
					if slices.Contains(r.Labels, "200") && r.Removed == "" {
						bearing[githubsim.InstanceOf(r.Name)]++
					}
				}
				for id, n := range bearing {
					if n > 1 {
						t.Errorf("%d runners of %s bear the run's label", n, id)
					}
				}
			})
		})
	}
}

// A label whose answer is lost may have brought a job. The runner cannot be deleted then, and is as good as confirmed.
func TestAhead_LostReply_WithAJob(t *testing.T) {
	listening(t, 10, sim.Script{}, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		pooled := w.ahead(1, 10)
		job := w.jobs("200", 1, 20)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Lost, Calls: []githubsim.Call{githubsim.CallLabel}})
		before := w.listeners()[0]
		st := w.serve(spec("200", 1), 5*time.Second)
		for id := range ids(st) {
			if now := w.instance(id).Registration; !pooled[id] || now.Name != before.Name {
				t.Errorf("%s serves as %s, want the runner that has the job, %s", id, now.Name, before.Name)
			}
		}
		w.awaitJobs(job, time.Minute)
		w.checkNoneEnded()
	})
}

// While GitHub takes no calls the label waits, as a registration does.
func TestAhead_Throttled_Waits(t *testing.T) {
	listening(t, 10, sim.Script{}, func(_ *testing.T, w *world) {
		w.controller("c1", nil)
		w.ahead(1, 10)
		w.Hub.SetRateLimit(githubsim.ResourceCore, githubsim.RateLimit{Limit: 0, Window: time.Hour})
		w.submit(spec("200", 1))
		time.Sleep(time.Minute)
		w.Hub.SetRateLimit(githubsim.ResourceCore, githubsim.RateLimit{})
		w.awaitPhase("200", 1, statemachine.Ready, 15*time.Second)
		w.checkNoneEnded()
		w.launched(1)
	})
}

// blinding is the store of agents that read nothing any more once on is set, and go on writing.
type blinding struct {
	store.Table
	on *atomic.Bool
}

func (b blinding) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if b.on.Load() {
		return nil, fmt.Errorf("get: %w", store.ErrUnavailable)
	}
	return b.Table.Get(ctx, c, keys...)
}

// A seat whose agent does not take the assignment over is filled again within the gate of a claim, and its machine ended.
func TestAhead_Unconfirmed_IsRefilled(t *testing.T) {
	listening(t, 10, sim.Script{}, func(t *testing.T, w *world) {
		w.Waive(statemachine.ReasonUnconfirmed)
		on := &atomic.Bool{}
		w.AgentTable = blinding{w.Table, on}
		w.controller("c1", nil)
		pooled := w.ahead(1, 10)
		on.Store(true)
		w.serve(spec("200", 1), 5*time.Second)
		on.Store(false)
		w.AgentTable = nil
		for id := range pooled {
			on.Store(true)
			w.await(w.Config().Limits.ClaimGate+5*time.Second, "its machine is ended", func() bool {
				return w.instance(id).State == statemachine.Terminated
			})
			if got := w.instance(id).Reason; got != statemachine.ReasonUnconfirmed {
				t.Errorf("%s was ended: %s", id, got)
			}
		}
		w.await(time.Minute, "another serves", func() bool { return w.in(statemachine.Running) == 1 })
	})
}

// GitHub removes who listens after minutes. They are registered anew within their budget, ten times an hour each, no more often than
// every minute, whatever their agents ask for, and not while GitHub takes no calls.
func TestAhead_RenewedWithinABudget(t *testing.T) {
	takesLong(t)
	listening(t, 2, sim.Script{JITLapse: 2 * time.Minute, Idle: 24 * time.Hour}, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Limits.Idle = 24 * time.Hour })
		w.controller("c1", nil)
		w.ahead(3, 2)
		made := func(d time.Duration) int {
			before := w.Hub.Calls()[githubsim.CallJIT]
			time.Sleep(d)
			return w.Hub.Calls()[githubsim.CallJIT] - before
		}
		if n := len(w.listeners()); n != 2 {
			t.Fatalf("%d machines listen, want 2 of 3", n)
		}
		if got := made(time.Hour); got < 20 || got > 2*20 { // an hour's budget is there at once; 60 are asked for
			t.Errorf("in an hour %d registrations, want ten for each of two, and what was there", got)
		}
		w.Hub.SetRateLimit(githubsim.ResourceRegistration, githubsim.RateLimit{Limit: 0, Window: 2 * time.Hour})
		time.Sleep(10 * time.Minute)
		if got := made(10 * time.Minute); got > 2*10 {
			t.Errorf("in ten minutes in which GitHub takes none %d registrations were tried", got)
		}
		w.Hub.SetRateLimit(githubsim.ResourceRegistration, githubsim.RateLimit{})
		w.await(10*time.Minute, "they listen again", func() bool { return len(w.listeners()) > 0 })
		w.checkNoneEnded()
	})
}

// The place of a machine that goes is the next one's.
func TestAhead_ThePlaceGoesOn(t *testing.T) {
	listening(t, 1, sim.Script{}, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.ahead(2, 1)
		first := w.listeners()[0].Name
		w.drain(store.DrainOrder{ID: "one", InstanceID: store.InstanceID(githubsim.InstanceOf(first))})
		w.await(30*time.Second, "the other one listens", func() bool { return len(w.listeners()) == 1 && w.listeners()[0].Name != first })
	})
}

// The runner of an idle machine goes with it, and stays as long as it.
func TestAhead_TheRunnerGoesWithItsMachine(t *testing.T) {
	takesLong(t)
	listening(t, 10, sim.Script{}, func(t *testing.T, w *world) {
		w.Waive(sim.HealthyLives)
		w.Configure(func(c *reconciler.Config) { c.Limits.Idle = 45 * time.Minute })
		w.controller("c1", nil)
		pooled := w.ahead(2, 10)
		time.Sleep(40 * time.Minute) // of sweeps
		if n := len(w.listeners()); n != 2 {
			t.Fatalf("%d machines listen after some sweeps, want 2", n)
		}
		for id := range pooled {
			w.drain(store.DrainOrder{ID: "one", InstanceID: id})
			break
		}
		w.await(time.Minute, "one is left", func() bool { return len(w.Hub.Registered()) == 1 })
		w.await(10*time.Minute, "none is left", func() bool { return len(w.Hub.Registered()) == 0 })
	})
}

// labelless is GitHub whose label calls never come back once.
type labelless struct {
	reconciler.GitHub
	began chan struct{}
}

func (l labelless) AddLabel(ctx context.Context, _ int64, _ string) error {
	close(l.began)
	<-ctx.Done()
	return context.Cause(ctx)
}

// A leader that finds a claimed machine and cannot know whether its listener has the label gives it that again.
func TestAhead_NewLeader_LabelsAgain(t *testing.T) {
	listening(t, 10, sim.Script{}, func(t *testing.T, w *world) {
		gh := labelless{w.Hub, make(chan struct{})}
		stop := w.controllerWith("c1", reconciler.Options{GitHub: gh})
		w.ahead(1, 10)
		w.submit(spec("200", 1))
		<-gh.began
		stop()
		before := w.Hub.Calls()[githubsim.CallJIT]
		w.controller("c2", nil)
		w.awaitPhase("200", 1, statemachine.Ready, 15*time.Second)
		if got := w.Hub.Calls()[githubsim.CallJIT]; got != before {
			t.Errorf("%d registrations were made, want the label alone", got-before)
		}
		w.awaitJobs(w.jobs("200", 1, 1), 10*time.Second)
	})
}

// Without a listener that is known to be online, and in mode token, a claim is today's.
func TestAhead_OffIsToday(t *testing.T) {
	listening(t, 10, sim.Script{}, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		w.ahead(1, 10)
		stop()
		w.Configure(func(c *reconciler.Config) { c.Ahead = 0 })
		w.controller("c2", nil)
		before := w.Hub.Calls()
		w.serve(spec("200", 1), 15*time.Second)
		if after := w.Hub.Calls(); after[githubsim.CallLabel] != before[githubsim.CallLabel] || after[githubsim.CallJIT] != before[githubsim.CallJIT]+1 {
			t.Errorf("calls before %v, after %v: want a registration", before, after)
		}
		w.awaitJobs(w.jobs("200", 1, 1), 10*time.Second)
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		w.await(30*time.Minute, "no runner is left", func() bool { return len(w.Hub.Registered()) == 0 })
	})
}
