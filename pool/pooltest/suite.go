// Package pooltest checks that a back end keeps the contract in package pool, and provides Memory
// and Weaken for tests of what stands on top of it.
//
// The suite is written for the weakest back end (SQS): a message may come twice, late, or again
// after it was deleted, and an empty answer proves nothing. So "arrives" means that repeated calls
// see it before a deadline, and "is hidden" or "is deleted" that most are.
package pooltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/pool"
)

// Open returns another handle on some storage, as another process has it. Who calls it closes that.
type Open func(ctx context.Context) (pool.Pool, error)

// Factory makes fresh, empty storage for one check; tb ends what it started.
type Factory func(tb testing.TB) Open

// patience bounds one check, on a machine that other tests share. SQS may show a message only after some seconds
// (SQS Developer Guide, "Short and long polling").
const patience = 3 * time.Minute

// check is one promise of the contract. It returns what is wrong.
type check struct {
	name string
	run  func(ctx context.Context, open Open) error
}

// Run checks a back end, everything at once: most of the time is spent waiting for holds to end.
func Run(t *testing.T, storage Factory) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := make([]error, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		open := storage(t)
		all.Go(func() { results[i] = c.run(ctx, open) })
	}
	all.Wait()
	for i, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if results[i] != nil {
				t.Error(results[i])
			}
		})
	}
}

var checks = []check{
	{"Offer/ArrivesUnchanged_S45", with(offerUnchanged)},
	{"Offer/NoneIsLost_H20", with(offerNoneLost)},
	{"Offer/RefusesNoInstance", with(offerNoInstance)},
	{"Receive/ClassesApart_S43", with(receiveClasses)},
	{"Receive/Hides_S50", with(receiveHides)},
	{"Receive/ComesBackAfterHold_H11", with(receiveComesBack)},
	{"Receive/SeesOfferWhileWaiting", receiveWaits},
	{"Receive/EmptyIsNoError", with(receiveEmpty)},
	{"Done/Deletes", with(doneDeletes)},
	{"Handles/WorkAtOnce_S46", handlesConcurrent},
	{"Context/EndsCalls", with(contextEnds)},
	{"Close/EndsCalls", closeEnds},
}

// with opens one handle for a check.
func with(run func(ctx context.Context, p pool.Pool) error) func(context.Context, Open) error {
	return func(ctx context.Context, open Open) (err error) {
		p, err := open(ctx)
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		return run(ctx, p)
	}
}

// The classes used, and a hold that outlives every check.
const (
	classA   = "suite-a"
	classB   = "suite-b"
	longHold = time.Hour
)

// tickets returns n tickets with different attributes.
func tickets(class string, n int) []pool.Ticket {
	all := make([]pool.Ticket, n)
	for i := range all {
		all[i] = pool.Ticket{
			InstanceID: fmt.Sprintf("i-%s-%03d", class, i), UsageClass: []string{"spot", "on-demand"}[i%2],
			InstanceType: "c6i.large", CPU: 2 + i, Mem: 4096 + i, ResourceClass: class,
			Threshold: time.Date(2031, 5, 6, 7, 8, i%60, 123*int(time.Millisecond), time.UTC),
		}
	}
	return all
}

// offer sends tickets until each call has succeeded: one that failed may or may not have.
func offer(ctx context.Context, p pool.Pool, all ...pool.Ticket) error {
	for _, t := range all {
		if err := retry(ctx, func() error { return p.Offer(ctx, t) }); err != nil {
			return fmt.Errorf("Offer(%s): %w", t.InstanceID, err)
		}
	}
	return nil
}

// receive receives a batch. It pauses a little, so that a back end that always has something to
// say cannot keep a check busy for ever.
func receive(ctx context.Context, p pool.Pool, class string, hold time.Duration) (out []pool.Message, err error) {
	time.Sleep(20 * time.Millisecond)
	err = retry(ctx, func() error {
		out, err = p.Receive(ctx, class, hold, time.Second)
		return err
	})
	if err == nil && len(out) > pool.MaxBatch {
		err = fmt.Errorf("returns %d messages", len(out))
	}
	if err != nil {
		return nil, fmt.Errorf("Receive(%s): %w", class, err)
	}
	return out, nil
}

// retry repeats do while it fails with the faults of Weaken. Others are the back end's own.
func retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, ErrFault) || ctx.Err() != nil {
			return err
		}
	}
}

// seen maps instance ids to the receipts that their messages came with, in order.
type seen map[string][]string

// collect receives into s until it has every id of want, or fails when ctx ends.
func (s seen) collect(ctx context.Context, p pool.Pool, class string, hold time.Duration, want []pool.Ticket) error {
	for {
		missing := s.missing(want)
		if len(missing) == 0 {
			return nil
		}
		if err := s.receive(ctx, p, class, hold); err != nil {
			return fmt.Errorf("%w; still missing %s", err, strings.Join(missing, " "))
		}
	}
}

// watch receives into s for a while, whatever comes.
func (s seen) watch(ctx context.Context, p pool.Pool, class string, hold, during time.Duration) error {
	for end := time.Now().Add(during); time.Now().Before(end); {
		if err := s.receive(ctx, p, class, hold); err != nil {
			return err
		}
	}
	return nil
}

func (s seen) receive(ctx context.Context, p pool.Pool, class string, hold time.Duration) error {
	out, err := receive(ctx, p, class, hold)
	return errors.Join(err, s.add(out))
}

func (s seen) add(out []pool.Message) error {
	for _, m := range out {
		t, err := pool.Decode(m.Body)
		if err != nil {
			return err
		}
		s[t.InstanceID] = append(s[t.InstanceID], m.Receipt)
	}
	return nil
}

func (s seen) missing(want []pool.Ticket) []string {
	var ids []string
	for _, t := range want {
		if len(s[t.InstanceID]) == 0 {
			ids = append(ids, t.InstanceID)
		}
	}
	slices.Sort(ids)
	return ids
}

// receipts returns all of them.
func (s seen) receipts() []string { return slices.Concat(slices.Collect(maps.Values(s))...) }
