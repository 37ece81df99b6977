package reconciler_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// flat is the same price for all: 3.60 dollars an hour, a tenth of a cent a second.
type flat struct{}

func (flat) PerHour(string, string, string) (float64, bool) { return 3.6, true }

// spent reads what the items of some days come to.
func (w *world) spent(from time.Time, days int) (sum store.Spent, rows []store.CostRow) {
	w.t.Helper()
	for n := range days {
		c, err := store.ReadCosts(w.t.Context(), w.Store, store.DayOf(from.AddDate(0, 0, n)))
		if err != nil && !errors.Is(err, store.ErrInvalid) {
			w.t.Fatal(err)
		}
		rows = append(rows, c.Rows...)
	}
	for _, r := range rows {
		sum = sum.Plus(r.Spent)
	}
	return sum, rows
}

// lived is how long machines were paid for, as the table says when it was born and ended.
func (w *world) lived(until time.Time) (seconds float64) {
	for _, in := range w.Instances() {
		end := until
		if in.State == statemachine.Terminated {
			end = in.Since.Time
		}
		seconds += end.Sub(in.CreatedAt.Time).Seconds()
	}
	return seconds
}

// ended reports whether no machine lives any more, by the records.
func (w *world) ended() bool {
	for _, in := range w.Instances() {
		if in.State != statemachine.Terminated {
			return false
		}
	}
	return true
}

// What machines cost is counted once, across midnight and two fail-overs: the dollars are those of the machines' lives, to the cent, and
// what was not idle is in the figures of the runs.
func TestCosts_OfTwoDaysAndThreeControllers(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		begun := w.Clock.Now()
		time.Sleep(begun.UTC().Truncate(24 * time.Hour).Add(24*time.Hour - 10*time.Minute).Sub(begun))
		w.Configure(func(c *reconciler.Config) { c.Prices = flat{} })
		stop := w.controller("c1", nil)
		w.serve(spec("100", 2, func(r *store.RunRequest) { r.Repository, r.MaxRuntime = "octo/one", store.SecondsOf(3*time.Hour) }), 3*time.Minute)
		time.Sleep(time.Hour) // a job of an hour, over midnight, would take as long
		stop()
		stop = w.controller("c2", nil)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
		w.serve(spec("200", 1, func(r *store.RunRequest) { r.Repository = "octo/two" }), time.Minute)
		time.Sleep(100 * time.Second)
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		stop()
		defer w.controller("c3", nil)()
		w.await(20*time.Minute, "all ended", w.ended)
		time.Sleep(3 * time.Minute)

		sum, rows := w.spent(begun, 3)
		if want := w.lived(w.Clock.Now()) / 1000; math.Abs(sum.Dollars()-want) > 0.001 || want < 7 {
			t.Errorf("%.4f dollars are counted, machines lived for %.4f", sum.Dollars(), want)
		}
		one, two := w.status("100").Spent, w.status("200").Spent
		if runs := one.Plus(two); math.Abs(runs.Dollars()+sum.IdleDollars-sum.Dollars()) > 0.001 || runs.Idle != 0 || one.Busy < 7200 || two.Booting != 0 {
			t.Errorf("runs say %+v and %+v, of all %+v", one, two, sum)
		}
		requests, warm, cold := map[string]int{}, 0, 0
		for _, r := range rows {
			requests[r.Repository] += r.Requests
			warm, cold = warm+r.Warm, cold+r.Cold
		}
		if requests["octo/one"] != 1 || requests["octo/two"] != 1 || warm != 1 || cold != 2 {
			t.Errorf("requests %v, %d warm and %d cold starts, want one of each repository, 1 and 2", requests, warm, cold)
		}
	})
}

// A controller that dies before or after any of its writes of costs counts no second twice, and loses none.
func TestCosts_AfterADeathAtItsWrite(t *testing.T) {
	for _, kind := range []sim.Kind{sim.CrashBefore, sim.CrashAfter} {
		t.Run(string(kind), story(func(t *testing.T, w *world) {
			begun, died := w.Clock.Now(), 0
			w.Gated("doomed", func(_ sim.Gated, c sim.Call) sim.Kind {
				if !strings.HasPrefix(c.About, "META#costs-") || !c.Effect() {
					return ""
				}
				died++
				if died != 2 {
					return ""
				}
				return kind
			})
			time.Sleep(10 * time.Millisecond)
			defer w.controller("heir", nil)()
			w.serve(spec("100", 1), 3*time.Minute)
			time.Sleep(4 * time.Minute)
			w.give("100", 1, store.ReleaseDrain, time.Minute)
			w.await(20*time.Minute, "it ended", w.ended)
			time.Sleep(3 * time.Minute)
			sum, _ := w.spent(begun, 2)
			if want := w.lived(w.Clock.Now()); died < 2 || math.Abs(float64(sum.Seconds())-want) > 0.01 || math.Abs(float64(sum.Unpriced-sum.Seconds())) > 0.01 {
				t.Errorf("at the %d. write: %+v is counted, machines lived %v s", died, sum, want)
			}
		}))
	}
}

// A day's item that cannot be read is counted anew once it is deleted, and stops nothing meanwhile.
func TestCosts_BesideAnItemThatIsNone(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		begun := w.Clock.Now()
		spoiled := store.Item{
			Key: store.CostsKey(store.DayOf(begun)), Version: 1, ExpiresAt: begun.Add(50 * time.Minute), Attributes: []byte(`{"through":"now"}`),
		}
		if err := w.Under.Put(t.Context(), spoiled, 0); err != nil {
			t.Fatal(err)
		}
		defer w.controller("c1", nil)()
		w.serve(spec("100", 1), 3*time.Minute)
		time.Sleep(50*time.Minute - w.Clock.Now().Sub(begun)) // it counts as deleted
		w.serve(spec("200", 1), 3*time.Minute)
		w.await(2*time.Hour, "it is counted again", func() bool {
			sum, _ := w.spent(begun, 1)
			return sum.Seconds() > 0
		})
	})
}
