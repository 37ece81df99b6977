package reconciler_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/advisor"
	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// idled is how long the instances were unowned, as their histories tell.
func (w *world) idled() time.Duration {
	var sum time.Duration
	for _, in := range w.Instances() {
		var since time.Time
		for _, e := range in.History.Entries(in.CreatedAt) {
			switch e.Code {
			case store.CodeReleased, store.CodeUnclaimed:
				since = e.At
			case store.CodeClaimed, store.CodeEnded:
				if !since.IsZero() {
					sum += e.At.Sub(since)
				}
				since = time.Time{}
			default:
			}
		}
	}
	return sum
}

// agrees replays what so many requests wanted since an instant under the settings that were in force, and holds it to what happened.
func (w *world) agrees(from time.Time, requests int) (advisor.Demand, *advisor.Figures) {
	w.t.Helper()
	d, err := store.ReadDemand(w.t.Context(), w.Store, store.DayOf(from))
	if err != nil {
		w.t.Fatal(err)
	}
	past := d.Requests()
	if len(past) != requests {
		w.t.Fatalf("%d requests, want %d", len(past), requests)
	}
	demand := advisor.NewDemand(past, time.Hour, from, w.Clock.Now())
	really, idled := advisor.Really(demand)["small"], w.idled()
	replayed := advisor.Replay(w.Config(), demand)["small"]
	w.t.Logf("hit rate %.3f and %.3f, waited %s and %s, idle %s and %s", really.HitRate(), replayed.HitRate(), really.Waited(), replayed.Waited(), idled, replayed.Idle)
	if off := advisor.Off(replayed.Idle.Seconds(), idled.Seconds()); !replayed.Agrees(really) || off > advisor.Agreement {
		w.t.Errorf("hit rate %.3f, waited %s, idle %s; really %.3f, %s, %s", replayed.HitRate(), replayed.Waited(), replayed.Idle, really.HitRate(), really.Waited(), idled)
	}
	return demand, really
}

// What an installation lived through, and a replay of its own record under the same settings, differ by no more than 5 % in hit
// rate, time waited and idle time; with another idle limit they differ.
func TestDemand_ReplayedAgrees(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.class("small", func(c *reconciler.Class) { c.Idle = 5 * time.Minute })
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 3 })
		defer w.controller("c1", nil)()
		from, chance := w.Clock.Now(), rand.New(rand.NewPCG(1, 2))
		for i := range 24 {
			id, held := fmt.Sprint(1000+i), time.Duration(20+chance.IntN(160))*time.Second
			w.submit(spec(id, 1+chance.IntN(2)))
			w.Go(func(ended <-chan struct{}) {
				for w.status(id).ReadyAt.IsZero() {
					select {
					case <-time.After(time.Second):
					case <-ended:
						return
					}
				}
				time.Sleep(held)
				w.release(id, 1, store.ReleaseDrain)
			})
			time.Sleep(time.Duration(chance.IntN(480)) * time.Second)
		}
		time.Sleep(15 * time.Minute)
		demand, really := w.agrees(from, 24)
		w.class("small", func(c *reconciler.Class) { c.Idle = time.Minute })
		if advisor.Replay(w.Config(), demand)["small"].Agrees(really) {
			t.Error("with another limit they agree, too")
		}
	})
}

// So do they where the class has a floor in some of that time.
func TestDemand_ReplayedAgrees_WithAFloor(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.class("small", func(c *reconciler.Class) {
			c.Idle = 2 * time.Minute
			c.Floor = reconciler.Floor{
				Schedule: schedule.Schedule{Entries: []schedule.Entry{{From: 30, To: 90, Min: 2}}}, MaxAge: 24 * time.Hour, UsageClasses: []string{store.Spot},
			}
		})
		defer w.controller("c1", nil)()
		from, chance := w.Clock.Now(), rand.New(rand.NewPCG(3, 4))
		for i := range 20 {
			id := fmt.Sprint(1000 + i)
			w.serve(spec(id, 1+i%2), 5*time.Minute)
			time.Sleep(time.Duration(20+chance.IntN(100)) * time.Second)
			w.give(id, 1, store.ReleaseDrain, time.Minute)
			time.Sleep(time.Duration(chance.IntN(480)) * time.Second)
		}
		time.Sleep(15 * time.Minute)
		w.agrees(from, 20)
	})
}
