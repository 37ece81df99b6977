package reconciler_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Of what comes back no more stays idle than max, long before its time is over.
func TestFloors_Max(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 1, func(f *reconciler.Floor) { f.Max = 2 })
		w.controller("c1", nil)
		w.await(2*time.Minute, "one pooled", func() bool { return w.pooled() == 1 })
		w.serve(spec("100", 3), 2*time.Minute)
		w.await(2*time.Minute, "filled again", func() bool { return w.pooled() == 1 })
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "two pooled of four", func() bool {
			return w.pooled() == 2 && w.in(statemachine.Idle) == 2 && len(w.Fleet.Alive()) == 2
		})
		w.await(w.Config().Limits.Idle+10*time.Minute, "one again", func() bool { return len(w.Fleet.Alive()) == 1 })
		w.launched(4)
	})
}

// With the cap of its class reached a floor launches nothing, and a request that waits for room gets it first.
func TestFloors_CapOfTheirClass(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.class("small", func(c *reconciler.Class) { c.Cap = 2 })
		w.keep("small", 3)
		w.controller("c1", nil)
		w.await(2*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
		w.serve(spec("100", 2), time.Minute)
		w.submit(spec("200", 2))
		time.Sleep(5 * time.Minute)
		w.launched(2)
		if f := w.floor("small"); f.Wanted != 3 || f.Have != 0 || f.Reason != reconciler.ReasonBehind {
			t.Errorf("the floor's record is %+v", f)
		}
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		w.give("200", 1, store.ReleaseDrain, time.Minute)
		w.await(2*time.Minute, "two pooled again", func() bool { return w.pooled() == 2 })
		w.launched(2)
		w.await(time.Minute, "its record says so", func() bool {
			f := w.floor("small")
			return f.Have == 2 && f.Reason == reconciler.ReasonCap
		})
	})
}

// A schedule goes by the clocks of Berlin: those were set forward from 02:00 to 03:00 on 26 March 2000, and back from 03:00 to
// 02:00 on 29 October. It fills a floor when an entry begins, and drains it when that ends.
func TestFloors_ScheduleInBerlin(t *testing.T) {
	takesLong(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	type look struct {
		at   string // UTC
		idle int
	}
	for name, day := range map[string]struct {
		begin    string // UTC
		from, to schedule.Clock
		looks    []look
	}{
		"an hour less": {"2000-03-26T00:25:00Z", 90, 210, []look{ // 01:30 to 03:30
			{"2000-03-26T00:29:00Z", 0}, {"2000-03-26T00:34:00Z", 2}, {"2000-03-26T01:29:00Z", 2}, {"2000-03-26T01:39:00Z", 0},
		}},
		"an hour more": {"2000-10-29T00:50:00Z", 90, 210, []look{ // it is 02:50, for the first time
			{"2000-10-29T00:54:00Z", 2}, {"2000-10-29T01:29:00Z", 2}, {"2000-10-29T02:29:00Z", 2}, {"2000-10-29T02:39:00Z", 0},
		}},
		"an hour that comes twice": {"2000-10-29T00:35:00Z", 135, 165, []look{ // 02:15 to 02:45
			{"2000-10-29T00:44:00Z", 2}, {"2000-10-29T00:54:00Z", 0}, {"2000-10-29T01:14:00Z", 0}, {"2000-10-29T01:19:00Z", 2},
		}},
		"an hour that does not come": {"2000-03-26T00:55:00Z", 135, 165, []look{{"2000-03-26T01:20:00Z", 0}}},
	} {
		t.Run(name, bubbletest.Case(func(t *testing.T) {
			until := func(at string) {
				when, err := time.Parse(time.RFC3339, at)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Until(when))
			}
			until(day.begin)
			w := newWorld(t, sim.Script{}, inMemory)
			w.keep("small", 0, func(f *reconciler.Floor) {
				f.Schedule.Entries = []schedule.Entry{{From: day.from, To: day.to, Location: berlin, Min: 2}}
			})
			w.controller("c1", nil)
			for _, l := range day.looks {
				if until(l.at); w.pooled() != l.idle || len(w.Fleet.Alive()) != l.idle {
					t.Errorf("%s: %d idle of %d machines, want %d", l.at, w.pooled(), len(w.Fleet.Alive()), l.idle)
				}
			}
		}))
	}
}

// A controller that dies at any step of filling a floor leaves exactly what the floor wants: before or after each call with an effect.
func TestFloors_CrashAtEveryStep(t *testing.T) {
	takesLong(t)
	filled := func(t *testing.T, w *world) {
		time.Sleep(10 * time.Millisecond)
		w.controller("heir", nil)
		w.await(10*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
	}
	var steps int64
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 2)
		calls := w.faultAt(0, nil)
		filled(t, w)
		steps = calls.Load()
	})
	if steps < 8 {
		t.Fatalf("a floor fills in %d steps, want at least 8: it is not played to its end", steps)
	}
	for _, kind := range []sim.Kind{sim.CrashBefore, sim.CrashAfter} {
		t.Run(string(kind), func(t *testing.T) {
			var died atomic.Int64
			t.Run("step", func(t *testing.T) {
				for n := range steps {
					t.Run(fmt.Sprint(n+1), storyBeside(func(t *testing.T, w *world) {
						w.keep("small", 2)
						w.faultAt(n+1, func(sim.Gated) sim.Kind { died.Add(1); return kind })
						filled(t, w)
						time.Sleep(6 * time.Minute) // two scans, and every renewal
						w.launched(2)
						if alive := len(w.Fleet.Alive()); alive != 2 || w.pooled() != 2 || len(w.Hub.Registered()) != 0 {
							t.Errorf("%d machines, %d pooled, runners %v; want 2, 2 and none", alive, w.pooled(), w.Hub.Registered())
						}
					}))
				}
			})
			if least := steps * 9 / 10; died.Load() < least { // a step more or less is chance
				t.Errorf("only %d of %d stories had a death in them, want at least %d", died.Load(), steps, least)
			}
		})
	}
}
