package reconciler

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// wrongClock shows another time of day than everybody else's. It runs as fast.
type wrongClock struct {
	clock.WithTicker
	by time.Duration
}

func (c wrongClock) Now() time.Time                  { return c.WithTicker.Now().Add(c.by) }
func (c wrongClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// faults make a link as bad as a network can be: calls take long or for ever, fail, lose their
// reply, or arrive long after their caller gave up. All of it may happen to a paused process as well.
type faults struct {
	mu   sync.Mutex
	rand *rand.Rand
	bad  float64 // chance of a fault per call
	late sync.WaitGroup
}

func (w *faults) dice() (bad bool, kind int, delay time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.Float64() < w.bad, w.rand.IntN(5), time.Duration(w.rand.IntN(4000)) * time.Millisecond
}

func (w *faults) call(ctx context.Context, write func() error) error {
	if write == nil {
		write = func() error { return nil }
	}
	bad, kind, delay := w.dice()
	if !bad {
		return write()
	}
	switch kind {
	case 0:
		return store.ErrUnavailable
	case 1:
		return losesReply(ctx, write)
	case 2: // slow
		select {
		case <-time.After(delay / 8):
			return write()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	case 3: // arrives after its caller gave up
		w.late.Go(func() {
			time.Sleep(delay)
			_ = write() // nobody learns of it
		})
		<-ctx.Done()
		return context.Cause(ctx)
	default:
		return hangs(ctx, nil)
	}
}

// Whatever the network does to whichever calls, and whatever the controllers' clocks show: no two are
// trusted at the same time, no term has two leaders, terms only grow, and when there are no faults
// again somebody leads.
func TestLeader_NeverTwoTrusted(t *testing.T) {
	if testing.Short() {
		t.Skip("lets three rivals live through a hundred minutes: make check runs it")
	}
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		bad := rapid.SampledFrom([]float64{0.05, 0.3, 0.7}).Draw(rt, "bad")
		kills := rapid.SliceOfN(rapid.IntRange(0, 2), 0, 4).Draw(rt, "killed, one every 10 s")
		var violation string
		bubbletest.Run(t, func(t *testing.T) { violation = storm(t, seed, bad, kills) })
		if violation != "" {
			rt.Fatal(violation)
		}
	})
}

// storm lets three rivals live through a minute of faults and ten seconds without.
func storm(t *testing.T, seed uint64, bad float64, kills []int) (violation string) {
	table := storetest.NewMemory(clock.RealClock{})
	w := &faults{rand: rand.New(rand.NewPCG(seed, 0)), bad: bad}
	var rivals []*rival
	for i, name := range []string{"a", "b", "c"} {
		c := newRival(t, name, table, wrongClock{clock.RealClock{}, time.Duration(i-1) * 7 * time.Hour})
		c.link.set(w.call)
		rivals = append(rivals, c)
	}
	watch := func(length time.Duration) {
		for end := time.Now().Add(length); time.Now().Before(end) && violation == ""; time.Sleep(5 * time.Millisecond) {
			var trusted []string
			for _, c := range rivals {
				if c.trust() {
					trusted = append(trusted, c.holder)
				}
			}
			if len(trusted) > 1 {
				violation = "trusted at the same time: " + trusted[0] + " and " + trusted[1]
			}
		}
	}
	for round := range 6 {
		watch(10 * time.Second)
		if round < len(kills) {
			victim := rivals[kills[round]]
			victim.link.set(hangs)
			victim.stop(t)
			again := newRival(t, victim.holder+"'", table, victim.clock)
			again.link.set(w.call)
			rivals[kills[round]] = again
		}
	}
	for _, c := range rivals {
		c.link.set(nil)
	}
	watch(10 * time.Second)
	var terms []int64
	leads := 0
	for _, c := range rivals {
		led, _, now := c.led()
		terms = append(terms, led...)
		if !slices.IsSorted(led) && violation == "" {
			violation = c.holder + "'s terms do not grow"
		}
		if now && c.trust() {
			leads++
		}
	}
	slices.Sort(terms)
	switch {
	case violation != "":
	case leads != 1:
		violation = "without faults not exactly one leads"
	case len(slices.Compact(slices.Clone(terms))) != len(terms):
		violation = "two led in the same term"
	}
	for _, c := range rivals {
		c.stop(t)
	}
	w.late.Wait()
	return violation
}
