package pool_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/pool"
)

// 16 workers draw 200 candidates while others refresh, return and veto: no one ever holds what
// another holds, and no one leaves empty-handed while there is enough. S49, S50, S60, S61, S62
func TestPickup_S60_WorkersShareOneSource(t *testing.T) {
	const workers, rounds, candidates = 16, 300, 200
	p, _ := newPickup()
	p.SetMaxLooks(workers * rounds)
	holder := make(map[string]*atomic.Int32)
	for n := range candidates {
		p.Put(spot(n))
		holder[spot(n).InstanceID] = new(atomic.Int32)
	}
	var all, noise sync.WaitGroup
	var stop atomic.Bool
	for n := range 2 {
		noise.Go(func() {
			for i := 0; !stop.Load(); i++ {
				p.Put(spot((i*7 + n) % candidates)) // the record still says so
				p.Take(query(), "vetoed", func(pool.Ticket) bool { return true })
				p.Sizes()
			}
		})
	}
	for w := range workers {
		all.Go(func() {
			who := fmt.Sprintf("r-%d", w)
			for range rounds {
				got, ok := p.Take(query(), who, nil)
				if !ok {
					t.Errorf("%s finds nothing though %d workers hold one each of %d", who, workers, candidates)
					return
				}
				if n := holder[got.InstanceID].Add(1); n != 1 {
					t.Errorf("%s is held by %d workers", got.InstanceID, n)
				}
				holder[got.InstanceID].Add(-1)
				p.Return(got.InstanceID)
			}
			p.Forget(who)
		})
	}
	all.Wait()
	stop.Store(true)
	noise.Wait()
	p.Forget("vetoed")
	if s := p.Sizes(); s.Available != candidates || s.Taken != 0 || s.Requests != 0 {
		t.Errorf("Sizes = %+v, want all %d available", s, candidates)
	}
}

// One candidate, 100 claimants: one gets it, the others know at once. S46, S61, S62
func TestPickup_S61_OneOfHundredGetsIt(t *testing.T) {
	p, _ := newPickup()
	p.Put(spot(1))
	var won atomic.Int32
	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			if _, ok := p.Take(query(), fmt.Sprintf("r-%d", n), nil); ok {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d claimants got the only candidate", won.Load())
	}
}

// Storms of Put and Drop from many sides leave exactly what was put last. S44
func TestPickup_S44_StormsLeaveTheTruth(t *testing.T) {
	const sides, each = 8, 100
	p, _ := newPickup()
	var all sync.WaitGroup
	for side := range sides {
		all.Go(func() { // every instance has one owner, as the record's lock gives it
			for i := range 20 * each {
				n := side*each + i%each
				switch i % 3 {
				case 0:
					p.Drop(spot(n).InstanceID)
				case 1:
					p.Put(spot(n))
				default:
					odd := spot(n)
					odd.InstanceType, odd.Threshold = "m5.large", odd.Threshold.Add(time.Hour)
					p.Put(odd)
				}
			}
			for n := side * each; n < (side+1)*each; n++ {
				if n%2 == 0 {
					p.Put(spot(n))
				} else {
					p.Drop(spot(n).InstanceID)
				}
			}
		})
	}
	all.Wait()
	if got, want := p.Sizes().Available, sides*each/2; got != want {
		t.Errorf("%d are available, want %d", got, want)
	}
	for n := 0; n < sides*each; n += 2 {
		take(t, p, query(), "r", spot(n).InstanceID)
	}
	take(t, p, query(), "r", "")
}
