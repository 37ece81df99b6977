package sim

import (
	"fmt"
	"sync"
	"time"
	"unsafe"

	"k8s.io/utils/clock"
)

// Clocks. That of each process is off by up to Script.Skew and runs too fast or too slow by up to Script.Drift. Somebody may
// set it: then what it shows is another time, and what elapsed is not, as with the clocks of an operating system.

// clocks are those of all processes.
type clocks struct {
	w *World

	mu    sync.Mutex
	steps map[string]time.Duration // by how much somebody set the clock of a program forward
}

func newClocks(w *World) *clocks { return &clocks{w: w, steps: map[string]time.Duration{}} }

// skewed is the clock of one process. Its timers are exact.
type skewed struct {
	clock.WithTicker

	clocks  *clocks
	program string
	by      time.Duration
	drift   float64 // of each second
	began   time.Time
}

func (c skewed) Now() time.Time {
	elapsed := c.WithTicker.Since(c.began)
	elapsed += time.Duration(c.drift * float64(elapsed))
	return withMonotonic(c.began.Add(elapsed+c.by+c.clocks.stepped(c.program)), elapsed)
}

func (c skewed) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// tick is what the clocks of two machines always differ by, at most: what one instant lets happen on both
// then has an order.
const tick = time.Millisecond

// of returns the clock of a process: off by up to the script's skew, either way.
func (c *clocks) of(name, program string) clock.WithTicker {
	return skewed{
		c.w.clock, c, program, newKey(c.w.o.Seed, name, "clock").between(-c.w.o.Skew-tick, c.w.o.Skew+tick),
		c.w.o.Drift * (2*newKey(c.w.o.Seed, name, "drift").float() - 1), c.w.begin,
	}
}

// instant is how package time keeps an instant that has a monotonic reading: 1 bit that says so, 33 bits of seconds since
// 1885, 30 bits of nanoseconds; then the monotonic reading. TestWithMonotonic holds it to that.
type instant struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

var since1885 = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// withMonotonic returns a wall time with a monotonic reading, which is what time.Now returns, but not in a bubble. Nothing in
// package time makes one.
func withMonotonic(wall time.Time, reading time.Duration) time.Time {
	in := instant{
		wall: 1<<63 | uint64(wall.Unix()-since1885)<<30 | uint64(wall.Nanosecond()), //nolint:gosec // neither is negative
		ext:  int64(reading), loc: time.Local,
	}
	return *(*time.Time)(unsafe.Pointer(&in)) //nolint:gosec // see above
}

// setClock is somebody who sets the clock of a program's computer: controller-<n>, or agents.
type setClock struct {
	Who  string        `script:"program,first"`
	By   time.Duration `script:"by,first"` // whole seconds
	Back bool          `script:"back"`
}

func (a setClock) check() error {
	if a.By%time.Second != 0 || a.By <= 0 {
		return fmt.Errorf("by: got %s, must be whole seconds, at least 1", a.By)
	}
	return checkProgram(a.Who)
}

func (a setClock) do(w *World) {
	if !w.o.StoreTime {
		return // whose store cannot tell the time believes its clock
	}
	who := w.programOf(a.Who)
	if who == "" {
		return
	}
	if a.Back {
		a.By = -a.By
	}
	w.clocks.set(who, a.By)
}

// set sets the clock of a program forward.
func (c *clocks) set(program string, by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps[program] += by
}

// stepped is by how much somebody set the clock of a program forward.
func (c *clocks) stepped(program string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps[program]
}

// mostSet is by how much any clock was set, either way.
func (c *clocks) mostSet() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := time.Duration(0)
	for _, by := range c.steps {
		most = max(most, by.Abs())
	}
	return most
}

// setsAside is what a controller may leave of a clock that was set, and what its store's time is exact to
// (docs/architecture.md, "Reconcilers").
const setsAside = 25 * time.Second

// skew is how far any process's idea of the time may be off.
func (c *clocks) skew() time.Duration {
	d := c.w.o.Skew + tick + time.Duration(c.w.o.Drift*float64(c.w.since()))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.steps) > 0 {
		d += setsAside
	}
	return d
}

// storeTime tells a process how far the store's clock was ahead of its own at the last answer, to the second, if the script's
// store says its time.
func (p *process) storeTime() func() time.Duration {
	if !p.w.o.StoreTime {
		return nil
	}
	return func() time.Duration { return time.Duration(p.ahead.Load()) }
}

// toldTime reads the store's time from an answer.
func (p *process) toldTime() {
	p.ahead.Store(int64(p.w.clock.Now().Round(0).Sub(p.clk.Now().Round(0)).Round(time.Second)))
}
