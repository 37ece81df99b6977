package reconciler_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// crasher makes a controller die at its n-th call with an effect: before it, or after it. Dead, the
// controller reaches nothing any more, as after kill -9.
type crasher struct {
	at    int
	after bool
	die   func()

	mu    sync.Mutex
	calls int
	dead  bool
	where string
}

func (c *crasher) step(ctx context.Context, what string, do func() error) error {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		<-ctx.Done()
		return context.Cause(ctx)
	}
	c.calls++
	mine := c.calls == c.at
	if mine {
		c.where = fmt.Sprintf("%s (call %d)", what, c.calls)
	}
	if mine && !c.after {
		c.dead = true
	}
	c.mu.Unlock()
	if mine && !c.after {
		c.die()
		<-ctx.Done()
		return context.Cause(ctx)
	}
	err := do()
	if mine {
		c.mu.Lock()
		c.dead = true
		c.mu.Unlock()
		c.die()
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return err
}

// never is the step of a controller that does not die.
const never = 0

// count returns the calls with an effect so far.
func (c *crasher) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

func (c *crasher) renew(ctx context.Context, do func() error) error {
	if _, dead := c.fired(); dead {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return do()
}

func (c *crasher) fired() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.where, c.where != ""
}

// doomed starts a controller that dies at its n-th effect.
func (w *world) doomed(n int, after bool) *crasher {
	w.t.Helper()
	w.Config.Limits.Idle = 2 * time.Minute // the end of the story is only a wait for it
	c := &crasher{at: n, after: after}
	died := make(chan struct{})
	c.die = func() { close(died) }
	stop := w.stepping("doomed", c)
	w.Go(func(ended <-chan struct{}) {
		select {
		case <-died:
		case <-ended:
		}
		stop()
	})
	return c
}

// H01 H02 H08 H13 H16 H17 H25 H30 S28 S50 S79: a controller that dies at any step of a cold provision, a
// warm one, or a release changes nothing but the time it takes: its successor goes on. Every call
// with an effect is a step, and the death comes before or after the effect.
func TestCrash_AtEveryStep(t *testing.T) {
	takesLong(t)
	steps := 0
	run(t, func(t *testing.T, w *world) {
		c := w.doomed(never, false)
		crashStory(t, w)
		steps = c.count()
	})
	if steps < 40 {
		t.Fatalf("the story has %d steps, want at least 40: it is not told to its end", steps)
	}
	for _, after := range []bool{false, true} {
		t.Run(map[bool]string{false: "BeforeTheEffect", true: "AfterTheEffect"}[after], func(t *testing.T) {
			var died atomic.Int64
			t.Run("step", func(t *testing.T) {
				for n := 1; n <= steps; n++ {
					t.Run(fmt.Sprint(n), func(t *testing.T) {
						t.Parallel()
						run(t, func(t *testing.T, w *world) {
							c := w.doomed(n, after)
							crashStory(t, w)
							if where, fired := c.fired(); fired {
								died.Add(1)
								t.Logf("died at %s", where)
							}
						})
					})
				}
			})
			// A step more or less is chance: which of two calls comes first.
			if least := int64(steps * 9 / 10); died.Load() < least {
				t.Errorf("only %d of %d stories had a death in them, want at least %d", died.Load(), steps, least)
			}
		})
	}
}

// crashStory tells one story: two cold machines for one run, the same two warm for the next.
func crashStory(t *testing.T, w *world) {
	time.Sleep(10 * time.Millisecond)
	defer w.controller("heir", nil)()

	first := w.serve(spec("100", 2), 3*time.Minute)
	w.awaitJobs(w.jobs("100", 2, 5), time.Minute)
	w.give("100", 1, store.Drain, time.Minute)
	w.await(time.Minute, "two pooled", func() bool { return w.pooled() == 2 })

	second := w.serve(spec("200", 2), time.Minute)
	for id := range ids(second) {
		if !ids(first)[id] {
			t.Errorf("run 200 got %s, want warm ones of %v", id, ids(first))
		}
	}
	w.give("200", 1, store.Drain, time.Minute)

	if launched := w.Fleet.Launched(); launched != 2 {
		t.Errorf("launched %d machines, want 2", launched)
	}
	w.checkDrained(30 * time.Minute) // a runner whose record was lost is swept on second sight
}

// staller makes a controller stand still at its n-th call with an effect, as a paused virtual machine
// does: for a while none of its calls goes out, then all of them do, as late as they are. In between
// the lease has gone to another.
type staller struct {
	at   int
	mu   sync.Mutex
	n    int
	thaw chan struct{} // nil: it has not come to that; closed: it is over
}

// stallFor is far longer than a lease, and far shorter than the limit of any state.
const stallFor = 30 * time.Second

func (s *staller) step(ctx context.Context, _ string, do func() error) error {
	s.mu.Lock()
	if s.n++; s.n == s.at {
		s.thaw = make(chan struct{})
		time.AfterFunc(stallFor, func() { close(s.thaw) })
	}
	s.mu.Unlock()
	return s.renew(ctx, do)
}

func (s *staller) renew(ctx context.Context, do func() error) error {
	s.mu.Lock()
	thaw := s.thaw
	s.mu.Unlock()
	if thaw != nil {
		select {
		case <-thaw:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return do()
}

// H13 H28 S28 S79 invariant 1: a leader that stands still at any step, loses the lease, and wakes up with its
// calls still on their way changes nothing wrong: its successor has long gone on.
func TestStall_AtEveryStep(t *testing.T) {
	for n := 1; n <= 45; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, w *world) {
				w.Config.Limits.Idle = 2 * time.Minute
				w.stepping("stalled", &staller{at: n})
				crashStory(t, w)
			})
		})
	}
}

// stepper decides what befalls the calls of one controller.
type stepper interface {
	// step carries out a call with an effect.
	step(ctx context.Context, what string, do func() error) error
	// renew carries out a write of the lease, which is no step: how many there are is chance.
	renew(ctx context.Context, do func() error) error
}

// The back ends of a controller that may die or stall: every call with an effect is a step, and what
// befalls it is c's to say.
type (
	stepTable struct {
		store.Table
		c stepper
	}
	stepFleet struct {
		fleet.Fleet
		c stepper
	}
	stepPool struct {
		pool.Pool
		c stepper
	}
	stepGitHub struct {
		reconciler.GitHub
		c stepper
	}
)

func (t stepTable) Put(ctx context.Context, item store.Item, expect int64) error {
	if item.Key == store.LeaseKey {
		return t.c.renew(ctx, func() error { return t.Table.Put(ctx, item, expect) })
	}
	return t.c.step(ctx, "put "+item.Key.Sort, func() error { return t.Table.Put(ctx, item, expect) })
}

func (f stepFleet) Launch(ctx context.Context, p fleet.Plan) (out fleet.Outcome, err error) {
	err = f.c.step(ctx, "launch", func() error { out, err = f.Fleet.Launch(ctx, p); return err })
	return out, err
}

func (f stepFleet) Terminate(ctx context.Context, ids ...string) error {
	return f.c.step(ctx, "terminate", func() error { return f.Fleet.Terminate(ctx, ids...) })
}

func (p stepPool) Offer(ctx context.Context, t pool.Ticket) error {
	return p.c.step(ctx, "offer", func() error { return p.Pool.Offer(ctx, t) })
}

func (p stepPool) Done(ctx context.Context, class string, receipts ...string) error {
	return p.c.step(ctx, "done", func() error { return p.Pool.Done(ctx, class, receipts...) })
}

func (g stepGitHub) JITConfig(ctx context.Context, name, label string) (jit githubapi.JIT, err error) {
	err = g.c.step(ctx, "jitconfig", func() error { jit, err = g.GitHub.JITConfig(ctx, name, label); return err })
	return jit, err
}

func (g stepGitHub) DeleteRunner(ctx context.Context, id int64) error {
	return g.c.step(ctx, "delete runner", func() error { return g.GitHub.DeleteRunner(ctx, id) })
}

// stepping starts a controller all of whose effects go through c.
func (w *world) stepping(name string, c stepper) (stop func()) {
	w.t.Helper()
	return w.controllerWith(name, reconciler.Options{
		Table: stepTable{w.Table, c}, Fleet: stepFleet{w.Fleet, c}, Pool: stepPool{w.Pool, c}, GitHub: stepGitHub{w.Hub, c},
	})
}
