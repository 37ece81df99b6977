package reconciler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// room bounds what each zone holds: n machines in the first, none in the others.
func (w *world) room(n int) {
	for i, zone := range []string{"local-a", "local-b"} {
		if i > 0 {
			n = min(n, 0)
		}
		w.Fleet.SetCapacity(fleet.Slot{Zone: zone}, n)
	}
}

// short asks for three machines where there is room for n, and returns how the request fails and after how long.
func (w *world) short(n int, patience time.Duration) (store.RunStatus, time.Duration) {
	w.room(n)
	began := w.Clock.Now()
	r := spec("100", 3)
	r.Timeout = store.SecondsOf(10 * time.Minute)
	w.submit(r)
	st := w.awaitPhase("100", 1, statemachine.Failed, patience)
	return st, w.Clock.Since(began)
}

// S75: with no retry, capacity that is missing everywhere fails a request at once, in the fleet's own words for each
// place; what came is pooled, and nothing more is launched for it.
func TestLaunchRetry_None_FailsAtOnce_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.LaunchRetry = 0
		defer w.controller("c1", nil)()
		st, _ := w.short(1, 5*time.Second)
		if st.Reason != reconciler.ReasonCapacity || strings.Count(st.Message, "InsufficientInstanceCapacity") < 2 {
			t.Errorf("failed for %q: %q, want %q and the code of more than one place", st.Reason, st.Message, reconciler.ReasonCapacity)
		}
		w.room(fleettest.Unlimited)
		w.await(2*time.Minute, "what came is pooled, or ended unready", func() bool { return len(w.Fleet.Alive()) == w.pooled() })
		time.Sleep(5 * time.Minute)
		if n := w.Fleet.Launched(); n != 1 {
			t.Errorf("%d machines launched, want the one there was room for", n)
		}
	})
}

// S75: no retry is no excuse for asking half of the places: on-demand serves what spot cannot.
func TestLaunchRetry_None_EveryPlaceIsAsked_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.LaunchRetry = 0
		w.Fleet.SetCapacity(fleet.Slot{UsageClass: store.Spot}, 1)
		defer w.controller("c1", nil)()
		r := spec("100", 3)
		r.UsageClasses = []string{store.Spot, store.OnDemand}
		w.submit(r)
		w.awaitPhase("100", 1, statemachine.Ready, 2*time.Minute)
	})
}

// S75: with a retry of four minutes, and places that are left alone for three, there is one more try and no other.
func TestLaunchRetry_Bounded_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.LaunchRetry = 4 * time.Minute
		defer w.controller("c1", nil)()
		if st, took := w.short(0, 4*time.Minute); st.Reason != reconciler.ReasonCapacity || took < 3*time.Minute {
			t.Errorf("failed for %q after %s, want %q after the second try, in 3m", st.Reason, took, reconciler.ReasonCapacity)
		}
		r := spec("200", 1)
		w.submit(r)
		time.Sleep(time.Minute)
		w.room(fleettest.Unlimited)
		w.awaitPhase("200", 1, statemachine.Ready, 4*time.Minute)
	})
}

// S75: by default it is tried again until the deadline, and then with the fleet's own words.
func TestLaunchRetry_Default_UntilTheDeadline_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		st, took := w.short(0, 11*time.Minute)
		if st.Reason != reconciler.ReasonTimeout || took < 10*time.Minute || !strings.Contains(st.Message, "InsufficientInstanceCapacity") {
			t.Errorf("failed for %q after %s: %q, want %q after 10m with the code", st.Reason, took, st.Message, reconciler.ReasonTimeout)
		}
	})
}

// S75: a run that lost a machine goes on without it, and gets another when there is room: no retry is about requests.
func TestLaunchRetry_None_RefillsGoOn_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.LaunchRetry = 0
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		lost := w.awaitPhase("100", 1, statemachine.Ready, time.Minute).Instances[0].InstanceID
		w.room(0)
		w.Crash(lost)
		time.Sleep(2 * time.Minute)
		if st := w.status("100"); st.Phase != statemachine.Ready {
			t.Errorf("%s: %q without its machine, want Ready", st.Phase, st.Message)
		}
		w.room(fleettest.Unlimited)
		w.await(10*time.Minute, "refilled", func() bool { return w.in(statemachine.Running) == 1 })
	})
}
