package reconciler_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/costs"
	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// pricesFrom is flat's list, whose prices are unknown before an instant.
type pricesFrom struct{ at *atomic.Pointer[time.Time] }

func (p pricesFrom) PerHour(string, string, string) (float64, bool) {
	if at := p.at.Load(); at == nil || time.Now().Before(*at) {
		return 0, false
	}
	return 3.6, true
}

// keepsTwo has two instances idle for as long as a test lasts.
func (w *world) keepsTwo() {
	w.class("small", func(c *reconciler.Class) {
		c.Floor = reconciler.Floor{Schedule: schedule.Schedule{Base: 2}, MaxAge: 24 * time.Hour, UsageClasses: []string{store.Spot}}
	})
}

// write replaces the item of a day by these attributes.
func (w *world) write(day, attributes string) {
	w.t.Helper()
	items, err := w.Under.Get(w.t.Context(), store.Consistent, store.CostsKey(day))
	if err != nil {
		w.t.Fatal(err)
	}
	expect := int64(0)
	if len(items) > 0 {
		expect = items[0].Version
	}
	item := store.Item{Key: store.CostsKey(day), Version: expect + 1, ExpiresAt: w.Clock.Now().Add(48 * time.Hour).Truncate(time.Second), Attributes: []byte(attributes)}
	if err := w.Under.Put(w.t.Context(), item, expect); err != nil {
		w.t.Fatal(err)
	}
}

// refusesOne is a table that refuses to write, or to read, one item.
type refusesOne struct {
	store.Table
	key         store.Key
	write, read atomic.Bool
}

func (r *refusesOne) Put(ctx context.Context, item store.Item, expect int64) error {
	if r.write.Load() && item.Key == r.key {
		return fmt.Errorf("put: %w", store.ErrUnavailable)
	}
	return r.Table.Put(ctx, item, expect)
}

func (r *refusesOne) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	for _, k := range keys {
		if r.read.Load() && k == r.key {
			return nil, fmt.Errorf("get: %w", store.ErrUnavailable)
		}
	}
	return r.Table.Get(ctx, c, keys...)
}

// No text that a workflow writes stops the count. This leader and the next one keep the budget.
func TestBudget_ForeignText_Review_C2(t *testing.T) {
	for name, repository := range map[string]string{
		"Long": strings.Repeat("x", 201), "NoName": "octo", "Control": "octo/\x1b[2J\u202e", "Longest": strings.Repeat("a", 100) + "/" + strings.Repeat("b", 100),
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			takesLong(t)
			w.budget(3, reconciler.Degradation{At: 1, Do: reconciler.DegradeOnDemand})
			stop := w.controller("c1", nil)
			w.serve(spec("100", 2, lasting(2*time.Hour), func(r *store.RunRequest) { r.Repository = repository }), 3*time.Minute)
			w.await(30*time.Minute, "the budget is used", func() bool { return w.told().Off == "on-demand" })
			stop()
			w.controller("c2", nil)
			w.submit(spec("200", 1, usage(store.OnDemand)))
			if st := w.awaitPhase("200", 1, statemachine.Failed, 5*time.Second); st.Reason != reconciler.ReasonBudget {
				t.Errorf("failed for %s: %s, want for the budget", st.Reason, st.Message)
			}
		}))
	}
}

// One bad row is dropped, and its day and its budget are not.
func TestBudget_BadRowIsDropped_Review_C2(t *testing.T) {
	for name, row := range map[string]string{
		"Repository": `{"class":"small","usage":"spot","repository":"` + strings.Repeat("x", 300) + `","spent":{"busyDollars":1}}`,
		"Type":       `{"class":7}`, "NoObject": `"small"`, "Negative": `{"class":"small","usage":"spot","repository":"","spent":{"busyDollars":-500}}`,
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.budget(100, reconciler.Degradation{At: 0.95, Do: reconciler.DegradeOnDemand})
			time.Sleep(time.Minute) // after midnight
			now := w.Clock.Now()
			w.write(store.DayOf(now), `{"through":"`+store.At(now).String()+`","rows":[`+row+`,{"class":"large","usage":"spot","repository":"","spent":{"busyDollars":96}}]}`)
			w.controller("c1", nil)
			w.await(5*time.Second, "on-demand is off", func() bool { return w.told().Off == "on-demand" && w.told().UnknownSince.IsZero() })
			w.serve(spec("100", 1), 3*time.Minute)
			w.await(3*time.Minute, "it is counted on", func() bool { return w.told().Spent > 96 })
			if day, err := store.ReadCosts(t.Context(), w.Store, store.DayOf(now)); err != nil || day.Lost != 1 || len(day.Rows) < 2 {
				t.Errorf("the day is %+v, %v, want one row lost and the others there", day, err)
			}
		}))
	}
}

// If the price of an instance becomes known after its launch, its cost is counted at once: on the same day, days later, and by the next
// leader.
func TestBudget_PricedLater_Review_C7(t *testing.T) {
	for name, later := range map[string]time.Duration{"SoonAfter": 20 * time.Second, "SameDay": 40 * time.Minute, "NextDay": 26 * time.Hour} {
		t.Run(name, story(func(t *testing.T, w *world) {
			if later > time.Minute {
				takesLong(t)
			}
			var at atomic.Pointer[time.Time]
			begun := w.Clock.Now()
			w.keepsTwo()
			w.Configure(func(c *reconciler.Config) {
				c.Prices, c.Budget = pricesFrom{&at}, reconciler.Budget{Monthly: 1000, Degrade: []reconciler.Degradation{{At: 0.9, Do: reconciler.DegradeFloors}}}
			})
			stop := w.controller("c1", nil)
			w.await(5*time.Minute, "two idle", func() bool { return w.pooled() == 2 })
			if later > time.Minute {
				w.await(5*time.Minute, "unknown", func() bool {
					b := w.told()
					return !b.UnknownSince.IsZero() && strings.Contains(b.Unknown, "costs.prices")
				})
			}
			time.Sleep(later)
			known := w.Clock.Now()
			at.Store(&known)
			stop()
			w.controller("c2", nil)
			time.Sleep(10 * time.Minute)
			b := w.told()
			sum, _ := w.spent(begun, 3)
			if want := w.lived(w.Clock.Now()) / 1000; !b.UnknownSince.IsZero() || math.Abs(b.Spent-want) > 0.3 || sum.Unpriced > 0.01 {
				t.Errorf("the budget says %+v and the days %+v, want %.2f dollars", b, sum, want)
			}
		}))
	}
}

// While an item cannot be read, the last known value applies to this leader and to the next one, and no step starts or ends.
func TestBudget_UnknownKeepsTheLastValue(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.budget(100, reconciler.Degradation{At: 0.95, Do: reconciler.DegradeOnDemand}, reconciler.Degradation{At: 0.97, Do: reconciler.DegradeFloors})
		time.Sleep(time.Minute) // after midnight
		w.spend(96)
		stop := w.controller("c1", nil)
		w.await(5*time.Second, "on-demand is off", func() bool { return w.told().Off == "on-demand" })
		w.serve(spec("50", 2, lasting(2*time.Hour)), 3*time.Minute)
		now := w.Clock.Now()
		w.write(store.DayOf(now), `{"through":7}`)
		w.await(5*time.Minute, "unknown", func() bool { return !w.told().UnknownSince.IsZero() })
		since := w.told()
		stop()
		defer w.controller("c2", nil)()
		w.submit(spec("200", 1, usage(store.OnDemand)))
		w.awaitPhase("200", 1, statemachine.Failed, 5*time.Second)
		time.Sleep(30 * time.Minute)
		if b := w.told(); b.Off != "on-demand" || b.Spent != since.Spent || b.Spent < 96 || !b.UnknownSince.Equal(since.UnknownSince) {
			t.Errorf("the budget says %+v, want the previous value %+v", b, since)
		}
		if text := w.told().Text(); !strings.Contains(text, "unknown since ") || !strings.Contains(text, "last known $96.") {
			t.Errorf("Text() = %q", text)
		}
		w.write(store.DayOf(now), `{"through":"`+store.At(now).String()+`","rows":[]}`)
		w.await(2*time.Minute, "known again", func() bool { b := w.told(); return b.UnknownSince.IsZero() && b.Off == "" && b.Spent > 3 })
	})
}

// Costs whose item takes no writes, or cannot be read, keep a new leader from nothing and its budget applies.
func TestBudget_ItemRefusesCalls(t *testing.T) {
	for _, reads := range []bool{false, true} {
		t.Run(fmt.Sprint(reads), story(func(t *testing.T, w *world) {
			takesLong(t)
			w.budget(100, reconciler.Degradation{At: 0.95, Do: reconciler.DegradeOnDemand})
			time.Sleep(time.Minute) // after midnight
			w.spend(96)
			stop := w.controller("c1", nil)
			w.await(5*time.Second, "on-demand is off", func() bool { return w.told().Off == "on-demand" })
			stop()
			table := &refusesOne{Table: w.Table, key: store.CostsKey(store.DayOf(w.Clock.Now()))}
			table.write.Store(true)
			table.read.Store(reads)
			w.controller("c2", table)
			w.serve(spec("100", 2, lasting(2*time.Hour)), 3*time.Minute)
			w.submit(spec("200", 1, usage(store.OnDemand)))
			if st := w.awaitPhase("200", 1, statemachine.Failed, 5*time.Second); st.Reason != reconciler.ReasonBudget {
				t.Errorf("failed for %s, want for the budget", st.Reason)
			}
			time.Sleep(30 * time.Minute)
			if b := w.told(); b.UnknownSince.IsZero() == reads || b.Off != "on-demand" || !reads && b.Spent < 99 {
				t.Errorf("the budget says %+v", b)
			}
		}))
	}
}

// The month's last value applies in the next month for as long as it is unknown.
func TestBudget_UnknownOverTheMonthsEnd(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.budget(100, reconciler.Degradation{At: 0.95, Do: reconciler.DegradeOnDemand})
		begun := w.Clock.Now().UTC()
		next := time.Date(begun.Year(), begun.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		time.Sleep(next.Add(-time.Hour).Sub(begun))
		w.spend(96)
		w.controller("c1", nil)
		w.await(5*time.Second, "on-demand is off", func() bool { return w.told().Off == "on-demand" })
		w.write(store.DayOf(next), `{"through":7}`)
		w.write(store.DayOf(w.Clock.Now()), `{"through":7}`)
		w.serve(spec("100", 1), 3*time.Minute)
		time.Sleep(next.Add(30 * time.Minute).Sub(w.Clock.Now()))
		if b := w.told(); b.Off != "on-demand" || b.UnknownSince.IsZero() {
			t.Errorf("the budget says %+v, want nothing to begin or end", b)
		}
	})
}

// A request that waits names the cap that is reached, of the three that there are.
func TestWaits_NameTheCapThatIsReached_Review_C5(t *testing.T) {
	for name, tc := range map[string]struct {
		most, own, budget int
		want              string
	}{
		"Budget": {100, 0, 3, "the cap of budget.degrade is reached: it allows 3"}, "BudgetBelowClass": {100, 50, 3, "the cap of budget.degrade is reached: it allows 3"},
		"ClassBelowBudget": {100, 2, 3, "classes.small.cap is reached: it allows 2"}, "MaxBelowBudget": {2, 0, 3, "caps.maxInstances is reached: it allows 2"},
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.budget(100, reconciler.Degradation{At: 0.5, Do: reconciler.DegradeCaps, To: tc.budget})
			time.Sleep(time.Minute) // after midnight
			w.spend(60)
			w.Configure(func(c *reconciler.Config) { c.MaxInstances = tc.most })
			w.class("small", func(c *reconciler.Class) { c.Cap = tc.own })
			w.submit(spec("100", 2))
			w.controller("c1", nil)
			w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
			w.submit(spec("200", 2, within(time.Hour)))
			w.await(3*time.Minute, "it says which", func() bool {
				st := w.status("200")
				return st.Reason == reconciler.ReasonCap && strings.HasPrefix(st.Message, tc.want)
			})
		}))
	}
}

// The same of a floor.
func TestFloors_NameTheCapThatIsReached_Review_C5(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.budget(100, reconciler.Degradation{At: 0.5, Do: reconciler.DegradeCaps, To: 1})
		time.Sleep(time.Minute) // after midnight
		w.spend(60)
		w.keepsTwo()
		w.Waive(sim.Bounded) // it does not know the cap of the budget
		w.controller("c1", nil)
		w.await(5*time.Minute, "it says which", func() bool {
			f := w.floor("small")
			return f.Reason == reconciler.ReasonCap && strings.HasPrefix(f.Detail, "the cap of budget.degrade allows 1")
		})
	})
}

// slow is a table whose writes of some items are slow for the caller.
type slow struct {
	store.Table
	takes time.Duration
	which func(store.Item) bool
}

func (s slow) Put(ctx context.Context, item store.Item, expect int64) error {
	if s.which(item) {
		time.Sleep(s.takes)
	}
	return s.Table.Put(ctx, item, expect)
}

// However long the writes of claims, hand-overs, releases and answers take, each second is in the phase that the histories say, and each
// request that became ready is in the day.
func TestCosts_OfWritesThatLandLate_Review_S12(t *testing.T) {
	for name, which := range map[string]func(store.Item) bool{
		"Instances": func(i store.Item) bool { return i.Key.Sort == store.KindInstance },
		"Statuses":  func(i store.Item) bool { return i.Key.Sort == store.KindRunStatus },
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			begun := w.Clock.Now()
			w.Configure(func(c *reconciler.Config) { c.Prices = flat{} })
			w.controller("c1", slow{w.Table, 25 * time.Second, which})
			w.submit(spec("100", 1, lasting(2*time.Hour)))
			w.awaitPhase("100", 1, statemachine.Ready, 9*time.Minute)
			time.Sleep(5*time.Minute + 17*time.Second)
			w.release("100", 1, store.ReleaseDrain)
			w.awaitPhase("100", 1, statemachine.PhaseReleased, 5*time.Minute)
			w.await(40*time.Minute, "it ended", w.ended)
			time.Sleep(3 * time.Minute)
			sum, rows := w.spent(begun, 2)
			var want store.Spent
			for _, in := range w.Instances() {
				for _, s := range costs.Segments(in, w.Clock.Now()) {
					costs.Add(&want, s.Phase, s.To.Sub(s.From), 3.6)
				}
			}
			requests := 0
			for _, r := range rows {
				requests += r.Requests
			}
			if math.Abs(float64(sum.Booting-want.Booting)) > 0.01 || math.Abs(float64(sum.Busy-want.Busy)) > 0.01 || math.Abs(float64(sum.Idle-want.Idle)) > 0.01 || requests != 1 {
				t.Errorf("counted are %+v and %d requests, the histories say %+v", sum, requests, want)
			}
		}))
	}
}

// A request's cost holds all its instances, however many jobs they ran and whichever request had them next.
func TestCosts_OfManyJobs_Review_C6(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Prices = flat{} })
		w.controller("c1", nil)
		w.serve(spec("100", 1, lasting(3*time.Hour)), 3*time.Minute)
		begun := w.Clock.Now()
		for range 30 {
			w.awaitJobs(w.jobs("100", 1, 5), 3*time.Minute)
		}
		took := w.Clock.Now().Sub(begun).Seconds()
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		if st := w.awaitPhase("100", 1, statemachine.PhaseReleased, time.Minute); float64(st.Spent.Busy) < took || st.Spent.Booting == 0 || st.Spent.Dollars() == 0 {
			t.Errorf("it cost %+v, want %.0f s of busy time and the boot", st.Spent, took)
		}
	})
}

// A day of an earlier month that cannot be read holds up neither the count nor the budget.
func TestBudget_EarlierDayRefusesReads(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.budget(100, reconciler.Degradation{At: 0.95, Do: reconciler.DegradeOnDemand})
		time.Sleep(time.Minute) // after midnight
		w.spend(1)
		table := &refusesOne{Table: w.Table, key: store.CostsKey(store.DayOf(w.Clock.Now().AddDate(0, 0, -10)))}
		table.read.Store(true)
		w.controller("c1", table)
		w.serve(spec("100", 2, lasting(2*time.Hour)), 3*time.Minute)
		time.Sleep(30 * time.Minute)
		if b := w.told(); !b.UnknownSince.IsZero() || b.Spent < 3 {
			t.Errorf("the budget says %+v, want 3 dollars and more", b)
		}
	})
}
