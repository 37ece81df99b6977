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

// keep gives a class a floor.
func (w *world) keep(class string, n int, otherwise ...func(*reconciler.Floor)) {
	w.class(class, func(c *reconciler.Class) {
		c.Floor = reconciler.Floor{
			Schedule: schedule.Schedule{Base: n}, MaxAge: 24 * time.Hour, UsageClasses: []string{store.Spot, store.OnDemand},
		}
		for _, change := range otherwise {
			change(&c.Floor)
		}
	})
}

// floor reads the record of a floor.
func (w *world) floor(class string) store.Floor {
	w.t.Helper()
	var found store.Found
	if err := w.Store.Scan(w.t.Context(), found.Visitor()); err != nil {
		w.t.Fatal(err)
	}
	for _, f := range found.Floors {
		if f.Class == class {
			return f
		}
	}
	return store.Floor{}
}

// A floor fills while nobody asks, without a registration at GitHub, stays filled for hours, and serves a request warm. What the
// request took is launched anew, and what comes back is one too many, which goes.
func TestFloors_FillAndServe(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 2)
		w.controller("c1", nil)
		w.await(2*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
		time.Sleep(40 * time.Minute)
		w.launched(2)
		if n := len(w.Hub.Registrations()); n > 0 || w.pooled() != 2 {
			t.Errorf("%d registrations and %d pooled, want none and 2", n, w.pooled())
		}
		if f := w.floor("small"); f.Wanted != 2 || f.Have != 2 || f.Reason != "" {
			t.Errorf("the floor's record is %+v", f)
		}
		st := w.serve(spec("100", 1), time.Minute)
		if !st.Instances[0].Warm {
			t.Errorf("served by %+v, want a warm one", st.Instances[0])
		}
		w.await(2*time.Minute, "filled again", func() bool { return w.pooled() == 2 })
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "three pooled", func() bool { return w.pooled() == 3 })
		w.await(10*time.Minute, "two again", func() bool { return w.pooled() == 2 && len(w.Fleet.Alive()) == 2 })
		time.Sleep(10 * time.Minute)
		w.launched(3)
	})
}

// A machine is replaced before it is older than maxAge, and an outdated one at once.
func TestFloors_Replace(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 2, func(f *reconciler.Floor) { f.MaxAge = 40 * time.Minute })
		w.controller("c1", nil)
		w.await(2*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
		for range 45 * 6 {
			time.Sleep(10 * time.Second)
			if w.pooled() < 2 {
				t.Fatalf("%d pooled, want the successors to be there first", w.pooled())
			}
			for _, in := range w.Instances() {
				if in.State == statemachine.Idle && in.Threshold.Sub(in.CreatedAt.Time) > 40*time.Minute {
					t.Fatalf("%s is kept to an age of %s", in.ID, in.Threshold.Sub(in.CreatedAt.Time))
				}
			}
		}
		w.launched(4)
		w.SetTemplate("2", "")
		w.await(5*time.Minute, "replaced", func() bool {
			n := 0
			for _, in := range w.Instances() {
				if in.State == statemachine.Idle && !in.PooledAt.IsZero() && in.TemplateVersion == "2" {
					n++
				}
			}
			return n == 2
		})
	})
}

// spring is a place an hour ahead of Greenwich whose clocks are set forward on the first day of each year, at 02:00, which a world
// reaches after an hour.
func spring(t *testing.T) *time.Location {
	t.Helper()
	header := "TZif2" + strings.Repeat("\x00", 15+5*4+3) + "\x01\x00\x00\x00\x04"
	header = header[:36] + "\x00\x00\x00\x01\x00\x00\x00\x04" // one zone, of four letters
	body := "\x00\x00\x0e\x10\x00\x00STD\x00"
	place, err := time.LoadLocationFromTZData("Spring", []byte(header+body+header+body+"\nSTD-1DST,J1/2,J300/3\n"))
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// The schedule fills and drains a floor, also on the day on which the clocks are set forward: 02:00 becomes 03:00.
func TestFloors_ScheduleAcrossAChangeOfTheClocks(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		entry := schedule.Entry{From: 90, To: 210, Location: spring(t), Min: 2} // 01:30 to 03:30
		w.keep("small", 0, func(f *reconciler.Floor) { f.Schedule.Entries = []schedule.Entry{entry} })
		w.controller("c1", nil)
		begin := w.Clock.Now() // 01:00
		time.Sleep(29 * time.Minute)
		w.launched(0)
		w.await(4*time.Minute, "filled from 01:30 on", func() bool { return w.pooled() == 2 })
		time.Sleep(begin.Add(59*time.Minute + 30*time.Second).Sub(w.Clock.Now())) // 01:59:30
		if w.pooled() != 2 {
			t.Errorf("%d pooled before 02:00, want 2", w.pooled())
		}
		time.Sleep(29 * time.Minute) // 03:28:30, an hour after it began, and not two
		if w.pooled() != 2 {
			t.Errorf("%d pooled before 03:30, want 2", w.pooled())
		}
		w.await(9*time.Minute, "drained from 03:30 on", func() bool { return len(w.Fleet.Alive()) == 0 })
		if f := w.floor("small"); f.Wanted != 0 || f.Have != 0 || f.Reason != "" {
			t.Errorf("the floor's record is %+v", f)
		}
		w.launched(2)
	})
}

// A floor never launches above a cap, says so, and gives up what a waiting request cannot use and needs the room of.
func TestFloors_ComeAfterRequests(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 3 })
		w.keep("small", 5)
		w.controller("c1", nil)
		w.await(2*time.Minute, "three pooled", func() bool { return w.pooled() == 3 })
		time.Sleep(time.Minute)
		w.launched(3)
		if f := w.floor("small"); f.Wanted != 5 || f.Have != 3 || f.Reason != reconciler.ReasonCap {
			t.Errorf("the floor's record is %+v", f)
		}
		w.serve(spec("100", 2, ofClass("large")), 2*time.Minute)
		w.launched(5)
		if w.pooled() != 1 {
			t.Errorf("%d pooled, want the one that the request left", w.pooled())
		}
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(10*time.Minute, "three pooled of the class", func() bool {
			n := 0
			for _, in := range w.Instances() {
				if in.State == statemachine.Idle && in.ResourceClass == "small" && !in.PooledAt.IsZero() {
					n++
				}
			}
			return n == 3
		})
	})
}

// What a workflow writes under a floor's id releases, replaces and holds nothing.
func TestFloors_NoRequestIsAFloor(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 2)
		w.Waive("a record breaks its rules and was skipped")
		for _, body := range []string{
			`{"attempt":1,"count":1,"usageClass":["spot"],"allowedInstanceTypes":["*"],"resourceClass":"small","timeout":600,"releasedAttempt":1,"release":"now"}`,
			`{"attempt":9,"count":9,"usageClass":["spot"],"allowedInstanceTypes":["*"],"resourceClass":"small","timeout":600}`,
		} {
			item := store.Item{Key: store.Key{Partition: "RUN#pool-small", Sort: store.KindRunRequest}, Attributes: []byte(body)}
			if err := w.Table.Put(t.Context(), item, store.Unconditional); err != nil {
				t.Fatal(err)
			}
			if err := w.Table.Notify(t.Context(), item.Key); err != nil {
				t.Fatal(err)
			}
			if body[11] == '1' {
				w.controller("c1", nil)
			}
			w.await(2*time.Minute, "two pooled", func() bool { return w.pooled() == 2 })
			time.Sleep(8 * time.Minute)
			w.launched(2)
		}
		if _, err := w.Store.Submit(t.Context(), spec("pool-small", 1)); err == nil {
			t.Error("a request under a floor's id is taken")
		}
	})
}

// A script that always fails launches less and less.
func TestFloors_FailingScript(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.keep("small", 4)
		w.Script = failingScript{"1"}
		w.Waive(statemachine.ReasonScript)
		w.Waive(sim.Bounded) // after failures in a row, the pause is longer than the law waits
		w.controller("c1", nil)
		time.Sleep(time.Hour)
		if n := w.Fleet.Launched(); n < 12 || n > 4+4+4+20 {
			t.Errorf("%d machines were launched in an hour for a script that always fails", n)
		}
		if f := w.floor("small"); f.Have != 0 || f.Reason != reconciler.FloorFailing || f.Detail == "" {
			t.Errorf("the floor's record is %+v", f)
		}
	})
}
