package reconciler_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/advisor"
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
		to := w.Clock.Now()
		d, err := store.ReadDemand(t.Context(), w.Store, store.DayOf(from))
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := d.Wanted()
		if err != nil || len(wanted) != 24 {
			t.Fatalf("%d entries, %v, want 24", len(wanted), err)
		}
		demand := advisor.NewDemand(wanted, from, to)
		really, idled := advisor.Really(demand)["small"], w.idled()
		result, err := advisor.Replay(w.Config(), demand)
		if err != nil {
			t.Fatal(err)
		}
		replayed := result.Classes["small"]
		t.Logf("hit rate %.3f and %.3f, waited %s and %s, idle %s and %s", really.HitRate(), replayed.HitRate(), really.Waited(), replayed.Waited(), idled, replayed.Idle)
		if off := advisor.Off(replayed.Idle.Seconds(), idled.Seconds()); !replayed.Agrees(really) || off > advisor.Agreement {
			t.Errorf("hit rate %.3f, waited %s, idle %s; really %.3f, %s, %s", replayed.HitRate(), replayed.Waited(), replayed.Idle, really.HitRate(), really.Waited(), idled)
		}
		w.class("small", func(c *reconciler.Class) { c.Idle = time.Minute })
		if result, err = advisor.Replay(w.Config(), demand); err != nil || result.Classes["small"].Agrees(really) {
			t.Errorf("with another limit they agree, too: %v", err)
		}
	})
}
