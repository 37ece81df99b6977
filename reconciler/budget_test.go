package reconciler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// budget sets a month's dollars, where a machine costs 3.60 an hour.
func (w *world) budget(monthly float64, steps ...reconciler.Degradation) {
	w.Configure(func(c *reconciler.Config) {
		c.Prices, c.Budget = flat{}, reconciler.Budget{Monthly: monthly, WarnAt: 0.5, Degrade: steps}
	})
}

// spend has this day cost so much besides, while no controller counts.
func (w *world) spend(dollars float64) {
	w.t.Helper()
	now := w.Clock.Now()
	day, err := store.ReadCosts(w.t.Context(), w.Store, store.DayOf(now))
	if err != nil {
		w.t.Fatal(err)
	}
	if day.Through.IsZero() {
		day.Through = store.At(now)
	}
	day.Rows = append(day.Rows, store.CostRow{Class: "earlier", Usage: store.Spot, Spent: store.Spent{BusyDollars: dollars}})
	if _, err := store.WriteCosts(w.t.Context(), w.Store, day, now); err != nil {
		w.t.Fatal(err)
	}
}

func usage(classes ...string) func(*store.RunRequest) {
	return func(r *store.RunRequest) { r.UsageClasses = classes }
}

func (w *world) told() store.Budget {
	w.t.Helper()
	l, err := w.Store.Lease(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return l.Health.Budget
}

// Once the share of on-demand is used, a request that allows nothing else fails at once, though the pool has a machine for it; others
// are served by spot.
func TestBudget_OnDemandOff(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.budget(100, reconciler.Degradation{At: 0.95, Do: reconciler.DegradeOnDemand})
		stop := w.controller("c1", nil)
		w.serve(spec("100", 1, usage(store.OnDemand)), 3*time.Minute)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		stop()
		w.spend(95)
		defer w.controller("c2", nil)()
		w.submit(spec("200", 1, usage(store.OnDemand)))
		if st := w.awaitPhase("200", 1, statemachine.Failed, 2*time.Second); st.Reason != reconciler.ReasonBudget || !strings.Contains(st.Message, "95 % of the budget of ") {
			t.Errorf("failed for %s: %q, want for the budget, and how far it is used", st.Reason, st.Message)
		}
		if s := w.serve(spec("300", 2, usage(store.OnDemand, store.Spot)), 3*time.Minute).Instances; w.instance(s[0].InstanceID).UsageClass == w.instance(s[1].InstanceID).UsageClass {
			t.Errorf("served by %+v, want by the pool's on-demand machine and one on spot", s)
		}
		w.await(5*time.Second, "told", func() bool {
			b := w.told()
			return b.Off == "on-demand" && b.Warns && b.Monthly == 100 && b.Spent >= 95
		})
	})
}

// Where floors are off their machines go by their thresholds, and requests are served cold; when the month ends, all is as before.
func TestBudget_FloorsOff_UntilTheMonthEnds(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.Waive(sim.Bounded) // no controller leads at first, and the law does not know budgets
		w.budget(10, reconciler.Degradation{At: 0.8, Do: reconciler.DegradeFloors})
		w.class("small", func(c *reconciler.Class) {
			c.Floor = reconciler.Floor{Schedule: schedule.Schedule{Base: 2}, MaxAge: 24 * time.Hour, UsageClasses: []string{store.Spot}}
		})
		begun := w.Clock.Now().UTC()
		next := time.Date(begun.Year(), begun.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		time.Sleep(next.Add(-3 * time.Hour).Sub(begun))
		defer w.controller("c1", nil)()
		w.await(5*time.Minute, "two idle", func() bool { return w.pooled() == 2 })
		// Two machines cost 7.20 an hour, so 8 dollars are spent after 67 minutes.
		w.await(80*time.Minute, "the floor is off", func() bool { return w.told().Off == "floors" })
		if got := w.told().Spent; got < 8 || got > 8.3 {
			t.Errorf("off at %.2f dollars, want within a step of 8", got)
		}
		w.await(8*time.Minute, "drained", func() bool { return w.ended() })
		if f := w.floor("small"); f.Wanted != 0 || f.Reason != reconciler.ReasonBudget {
			t.Errorf("the floor is %+v, want none wanted for the budget", f)
		}
		if s := w.serve(spec("100", 1), 3*time.Minute).Instances[0]; s.Warm {
			t.Error("a request was served warm of a pool that was empty")
		}
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		time.Sleep(time.Until(next))
		w.await(10*time.Minute, "filled in the new month", func() bool { return w.pooled() >= 2 && w.told().Off == "" })
	})
}

// A lower cap is kept by what comes next: a request for more than it fails at once, one within it waits for room, and what lives stays.
func TestBudget_Caps(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.budget(100, reconciler.Degradation{At: 0.5, Do: reconciler.DegradeCaps, To: 3}, reconciler.Degradation{At: 1, Do: reconciler.DegradeCaps, To: 2})
		stop := w.controller("c1", nil)
		w.serve(spec("100", 4), 3*time.Minute)
		stop()
		w.spend(100)
		defer w.controller("c2", nil)()
		w.submit(spec("200", 3))
		w.submit(spec("300", 2))
		if st := w.awaitPhase("200", 1, statemachine.Failed, 2*time.Second); st.Reason != reconciler.ReasonBudget {
			t.Errorf("failed for %s: %q, want for the budget", st.Reason, st.Message)
		}
		time.Sleep(5 * time.Minute)
		if st, living := w.status("300"), len(w.Fleet.Alive()); st.Phase != statemachine.Pending || st.Reason != reconciler.ReasonCap || living != 4 {
			t.Errorf("%s for %q beside %d machines, want it to wait for the cap beside all 4", st.Phase, st.Reason, living)
		}
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.awaitPhase("300", 1, statemachine.Ready, 3*time.Minute)
	})
}

// A workflow that loses a machine keeps the others: the seat stays empty where on-demand alone could
// fill it, and one that waits is told at the moment at which on-demand is turned off.
func TestBudget_UsedUpMeanwhile(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.budget(3, reconciler.Degradation{At: 1, Do: reconciler.DegradeOnDemand})
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 2 })
		defer w.controller("c1", nil)()
		ready := w.serve(spec("100", 2, usage(store.OnDemand), func(r *store.RunRequest) { r.MaxRuntime = store.SecondsOf(2 * time.Hour) }), 3*time.Minute)
		w.submit(spec("200", 1, usage(store.OnDemand), func(r *store.RunRequest) { r.Timeout = store.SecondsOf(2 * time.Hour) }))
		// Two machines cost 3 dollars in 25 minutes.
		if st := w.awaitPhase("200", 1, statemachine.Failed, 28*time.Minute); st.Reason != reconciler.ReasonBudget {
			t.Errorf("failed for %s: %q, want for the budget", st.Reason, st.Message)
		}
		lost := ready.Instances[0].InstanceID
		w.Crash(lost)
		w.await(5*time.Minute, "told of the empty seat", func() bool {
			st := w.status("100")
			return st.Phase == statemachine.Ready && strings.Contains(st.Message, "on-demand instances are off")
		})
		if n := len(w.Fleet.Alive()); n != 1 {
			t.Errorf("%d machines live, want the one that is left", n)
		}
	})
}

// Jobs that were lost with their machines are run again on demand: while that is off they are not, and the check run says so.
func TestBudget_LostJobsAreNotRunAgain(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.budget(100, reconciler.Degradation{At: 0.95, Do: reconciler.DegradeOnDemand})
		w.spend(95)
		w.Configure(func(c *reconciler.Config) { c.Watch.Serves, c.Watch.RerunLost = repository, true })
		w.controllerWith("c1", reconciler.Options{Runs: w.Hub.Workflows()})
		w.losing(1, 1, 0)
		w.await(15*time.Minute, "decided", func() bool {
			lost := w.status("4711").Watch
			return lost.Rerun == store.NotDone && strings.Contains(lost.Detail, "on-demand instances are off")
		})
		if n, left := w.reruns(), w.Hub.Workflows().CheckRuns(); n != 0 || len(left) != 1 {
			t.Errorf("%d calls to run jobs again and %d check runs, want none and one", n, len(left))
		}
	})
}
