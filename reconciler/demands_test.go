package reconciler_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// wanted reads what the items of some days tell, in the order in which it was taken up, as "waited held count warm" in whole seconds.
func (w *world) wanted(from time.Time, days int) []string {
	w.t.Helper()
	var all []store.PastRequest
	for n := range days {
		d, err := store.ReadDemand(w.t.Context(), w.Store, store.DayOf(from.AddDate(0, 0, n)))
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, d.Requests()...)
	}
	slices.SortFunc(all, func(a, b store.PastRequest) int { return a.At.Compare(b.At) })
	var out []string
	for _, e := range all {
		out = append(out, fmt.Sprintf("%t %d %d %s", e.Failed, e.Count, e.Warm, cmp.Or(e.Class, "-")))
	}
	return out
}

// What is over is in the item of its day, once, though the controller that saw it is another's successor, though an attempt was
// replaced before it was looked at, and across midnight.
func TestDemand_OfTwoDaysAndFourControllers(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		begun := w.Clock.Now()
		time.Sleep(begun.UTC().Truncate(24 * time.Hour).Add(24*time.Hour - 2*time.Minute).Sub(begun))
		stop := w.controller("c1", nil)
		w.serve(spec("100", 2), 3*time.Minute)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
		stop()
		stop = w.controller("c2", nil)
		w.serve(spec("200", 1), time.Minute)
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		w.serve(spec("200", 2, func(r *store.RunRequest) { r.Attempt = 2 }), time.Minute)
		time.Sleep(2 * time.Minute)
		stop()
		stop = w.controller("c3", nil)
		w.give("200", 2, store.ReleaseDrain, time.Minute)
		w.submit(spec("300", 1, func(r *store.RunRequest) { r.ResourceClass = "huge" }))
		w.awaitPhase("300", 1, statemachine.Failed, time.Minute)
		time.Sleep(2 * time.Minute)
		stop()
		defer w.controller("c4", nil)()
		time.Sleep(2 * time.Minute)
		want := []string{"false 2 0 small", "false 1 1 small", "false 2 2 small"}
		if got := w.wanted(begun, 3); !slices.Equal(got, want) {
			t.Errorf("the demand is %q, want %q", got, want)
		}
	})
}

// A day's item that cannot be read keeps no other day from being recorded.
func TestDemand_BesideAnItemThatIsNone(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		begun := w.Clock.Now()
		midnight := begun.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		time.Sleep(midnight.Add(-2 * time.Minute).Sub(begun))
		err := w.Under.Put(t.Context(), store.Item{
			Key: store.DemandKey(store.DayOf(begun)), Version: 1, ExpiresAt: midnight.Add(time.Hour), Attributes: []byte(`{"rows":5,"changedAt":""}`),
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.controller("c1", nil)()
		w.serve(spec("100", 1), time.Minute)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		time.Sleep(midnight.Sub(w.Clock.Now()))
		w.serve(spec("200", 2), time.Minute)
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		w.await(3*time.Minute, "the second day is recorded", func() bool { return slices.Equal(w.wanted(midnight, 1), []string{"false 2 1 small"}) })
	})
}

// A controller that dies before or after any of its calls loses no request's demand and doubles none.
func TestDemand_AfterADeathAtItsWrite(t *testing.T) {
	for _, kind := range []sim.Kind{sim.CrashBefore, sim.CrashAfter} {
		t.Run(string(kind), story(func(t *testing.T, w *world) {
			begun, died := w.Clock.Now(), false
			w.Gated("doomed", func(_ sim.Gated, c sim.Call) sim.Kind {
				if died || !strings.HasPrefix(c.About, "META#demand-") || !c.Effect() {
					return ""
				}
				died = true
				return kind
			})
			time.Sleep(10 * time.Millisecond)
			defer w.controller("heir", nil)()
			w.serve(spec("100", 1), 3*time.Minute)
			w.give("100", 1, store.ReleaseDrain, time.Minute)
			time.Sleep(3 * time.Minute)
			if got := w.wanted(begun, 2); !died || !slices.Equal(got, []string{"false 1 0 small"}) {
				t.Errorf("died %t, the demand is %q", died, got)
			}
		}))
	}
}
