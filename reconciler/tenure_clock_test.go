package reconciler_test

import (
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// settable is a clock whose wall time can be set, as NTP or an operator does: what elapses does not change.
type settable struct {
	clock.WithTicker
	first time.Duration // how far it was off at first
	by    *atomic.Int64
	set   *atomic.Int64 // what it showed when it was set ahead, in Unix nanoseconds; 0: it was not
}

func (c settable) Now() time.Time { return c.WithTicker.Now().Round(0).Add(time.Duration(c.by.Load())) }

// Since is right for what was read before the clock was set, as a monotonic reading is, and after it was set ahead.
func (c settable) Since(t time.Time) time.Duration {
	if set := c.set.Load(); set != 0 && t.UnixNano() >= set {
		return c.Now().Sub(t)
	}
	return c.WithTicker.Now().Round(0).Add(c.first).Sub(t)
}

// setBy sets the clock.
func (c settable) setBy(by time.Duration) {
	c.by.Store(int64(by))
	if by > 0 {
		c.set.Store(c.Now().UnixNano())
	}
}

func newSettable(w *world, by time.Duration) settable {
	c := settable{w.Clock, by, new(atomic.Int64), new(atomic.Int64)}
	c.by.Store(int64(by))
	return c
}

// offset is what a store says of whose clock is right.
func (c settable) offset() time.Duration { return -time.Duration(c.by.Load()) }

// H52 invariant 6: a controller's wall clock that is ten minutes ahead, or behind, of the store's ends no machine, pooled, booting
// or at work, and writes thresholds in the store's time.
func TestControllersClock_IsTheStores_H52(t *testing.T) {
	for name, by := range map[string]time.Duration{"Ahead": 10 * time.Minute, "Behind": -10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				c := newSettable(w, by)
				w.controllerWith("c1", reconciler.Options{Clock: c, Offset: c.offset})
				w.warm("100", 3, nil)
				w.submit(spec("200", 1))
				w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
				for id, in := range w.Instances() {
					if left := in.Threshold.Sub(w.Clock.Now()); left <= 0 || left > 30*time.Minute {
						t.Errorf("%s (%s) has %s left by everybody else's clock", id, in.State, left)
					}
				}
				w.awaitJobs(w.jobs("200", 1, 60), 5*time.Minute)
				w.release("200", 1, store.Drain)
				w.awaitPhase("200", 1, statemachine.ReleasedPhase, time.Minute)
				w.checkNoneEnded()
			})
		})
	}
}

// A wall clock that is set by ten minutes in the middle of a tenure ends nothing either, and the tenure goes on, if the
// store says its time. Where nobody does, the next tenure begins with the time that the clock shows now: that of all
// others on the same computer.
func TestControllersClock_IsSet_H52(t *testing.T) {
	for name, tc := range map[string]struct {
		by    time.Duration
		known bool
		terms int64
	}{"Ahead": {10 * time.Minute, true, 1}, "Back": {-10 * time.Minute, true, 1}, "NobodySays": {time.Minute, false, 2}, "Slightly": {15 * time.Second, false, 1}} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				c := newSettable(w, 0)
				o := reconciler.Options{Clock: c}
				if tc.known {
					o.Offset = c.offset
				}
				w.controllerWith("c1", o)
				w.warm("100", 3, nil)
				w.submit(spec("200", 1))
				w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
				c.setBy(tc.by)
				time.Sleep(time.Minute)
				w.checkNoneEnded()
				lease, err := w.Store.Lease(t.Context())
				if err != nil || lease.Term != tc.terms {
					t.Errorf("term %d, %v, want %d", lease.Term, err, tc.terms)
				}
			})
		})
	}
}
