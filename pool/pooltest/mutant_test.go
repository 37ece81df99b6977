package pooltest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/pool"
)

// mutant is a back end with a bug: a nil function does what it should.
type mutant struct {
	pool.Pool
	offer   func(p pool.Pool, ctx context.Context, t pool.Ticket) error
	receive func(p pool.Pool, ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error)
	done    func(p pool.Pool, ctx context.Context, class string, receipts ...string) error
}

func (m mutant) Offer(ctx context.Context, t pool.Ticket) error {
	if m.offer == nil {
		return m.Pool.Offer(ctx, t)
	}
	return m.offer(m.Pool, ctx, t)
}

func (m mutant) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	if m.receive == nil {
		return m.Pool.Receive(ctx, class, hold, wait)
	}
	return m.receive(m.Pool, ctx, class, hold, wait)
}

func (m mutant) Done(ctx context.Context, class string, receipts ...string) error {
	if m.done == nil {
		return m.Pool.Done(ctx, class, receipts...)
	}
	return m.done(m.Pool, ctx, class, receipts...)
}

// Every promise that the suite checks, it checks: for each bug, the named checks fail.
func TestRun_FindsPlantedBugs(t *testing.T) {
	for _, c := range []struct {
		bug    string
		caught []string
		mutant mutant
	}{
		{"threshold truncated to seconds", []string{"Offer/ArrivesUnchanged_S45"}, mutant{
			offer: func(p pool.Pool, ctx context.Context, t pool.Ticket) error {
				t.Threshold = t.Threshold.Truncate(time.Second)
				return p.Offer(ctx, t)
			}}},
		{"some messages lost", []string{"Offer/NoneIsLost_H20", "Handles/WorkAtOnce_S46"}, mutant{
			offer: func(p pool.Pool, ctx context.Context, t pool.Ticket) error {
				if t.CPU%8 == 7 {
					return nil
				}
				return p.Offer(ctx, t)
			}}},
		{"a ticket without instance accepted", []string{"Offer/RefusesNoInstance"}, mutant{
			offer: func(p pool.Pool, ctx context.Context, t pool.Ticket) error {
				if t.InstanceID == "" {
					return nil
				}
				return p.Offer(ctx, t)
			}}},
		{"one queue for all classes", []string{"Receive/ClassesApart_S43"}, mutant{
			offer: func(p pool.Pool, ctx context.Context, t pool.Ticket) error {
				other := t
				other.ResourceClass = classB
				return errors.Join(p.Offer(ctx, t), p.Offer(ctx, other))
			}}},
		{"more than a batch", []string{"Handles/WorkAtOnce_S46"}, mutant{
			receive: func(p pool.Pool, ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
				first, err := p.Receive(ctx, class, hold, wait)
				more, again := p.Receive(ctx, class, hold, 0)
				return append(first, more...), errors.Join(err, again)
			}}},
		{"nothing is hidden", []string{"Receive/Hides_S50", "Done/Deletes", "Handles/WorkAtOnce_S46"}, mutant{
			receive: func(p pool.Pool, ctx context.Context, class string, _, wait time.Duration) ([]pool.Message, error) {
				return p.Receive(ctx, class, 0, wait)
			}}},
		{"nothing comes back", []string{"Receive/ComesBackAfterHold_H11"}, mutant{
			receive: func(p pool.Pool, ctx context.Context, class string, _, wait time.Duration) ([]pool.Message, error) {
				return p.Receive(ctx, class, time.Hour, wait)
			}}},
		{"a receive that waits to the end", []string{"Receive/SeesOfferWhileWaiting"}, mutant{
			receive: func(p pool.Pool, ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
				if wait > time.Second {
					time.Sleep(wait)
				}
				return p.Receive(ctx, class, hold, 0)
			}}},
		{"empty is an error", []string{"Receive/EmptyIsNoError"}, mutant{
			receive: func(p pool.Pool, ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
				out, err := p.Receive(ctx, class, hold, wait)
				if len(out) == 0 && err == nil {
					err = errors.New("queue is empty")
				}
				return out, err
			}}},
		{"a short wait ignored", []string{"Receive/EmptyIsNoError"}, mutant{
			receive: func(p pool.Pool, ctx context.Context, class string, hold, _ time.Duration) ([]pool.Message, error) {
				return p.Receive(ctx, class, hold, pool.MaxWait)
			}}},
		{"deletions ignored", []string{"Done/Deletes"}, mutant{
			done: func(pool.Pool, context.Context, string, ...string) error { return nil }}},
		{"only one of a batch deleted", []string{"Done/Deletes"}, mutant{
			done: func(p pool.Pool, ctx context.Context, class string, receipts ...string) error {
				return p.Done(ctx, class, receipts[:1]...)
			}}},
		{"context ignored", []string{"Context/EndsCalls"}, mutant{
			receive: func(p pool.Pool, ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
				return p.Receive(context.WithoutCancel(ctx), class, hold, wait)
			}}},
	} {
		for _, name := range c.caught {
			i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
			if i < 0 {
				t.Fatalf("no check %s", name)
			}
			err := inBubble(t, checks[i], patience/4, func(p pool.Pool) pool.Pool {
				m := c.mutant
				m.Pool = p
				return m
			})
			if err == nil {
				t.Errorf("%s does not notice: %s", name, c.bug)
			}
		}
	}
}

// stubborn does not close.
type stubborn struct{ *Memory }

func (stubborn) Close() error { return nil }

// The bugs that a decorator below the handle cannot have.
func TestRun_FindsPlantedBugsOfHandles(t *testing.T) {
	for _, c := range []struct {
		bug string
		run func(context.Context, Open) error
		of  func(m *Memory) Open
	}{
		{"calls work after Close", closeEnds, func(m *Memory) Open {
			return func(context.Context) (pool.Pool, error) { return stubborn{m}, nil }
		}},
		{"handles without common storage", receiveWaits, func(m *Memory) Open {
			return func(context.Context) (pool.Pool, error) { return NewMemory(m.clock), nil }
		}},
	} {
		bubbletest.Run(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := c.run(ctx, c.of(NewMemory(clock.RealClock{}))); err == nil {
				t.Errorf("goes unnoticed: %s", c.bug)
			}
		})
	}
}
