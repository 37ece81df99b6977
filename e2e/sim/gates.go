package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// The contracts as a process sees them. Latencies are those of docs/goals.md; the error of an unknown outcome
// is what the back ends of AWS return for a time-out.
var (
	storeContract = contract{
		fmt.Errorf("simulated: no answer: %w", store.ErrUnavailable),
		fmt.Errorf("simulated: throttled: %w", store.ErrUnavailable), 4 * time.Millisecond, 12 * time.Millisecond,
		2 * time.Second, // store/dynamostore, an item
	}
	poolContract = contract{
		fmt.Errorf("simulated: no answer"), fmt.Errorf("simulated: throttled"), 10 * time.Millisecond, 30 * time.Millisecond, 5 * time.Second,
	}
	launchContract = contract{
		fmt.Errorf("simulated: no answer"), fmt.Errorf("simulated: %w", fleet.ErrThrottled), 1500 * time.Millisecond, 3 * time.Second,
		2 * time.Minute, // fleet/ec2fleet
	}
	fleetContract = contract{
		fmt.Errorf("simulated: no answer"), fmt.Errorf("simulated: %w", fleet.ErrThrottled), 100 * time.Millisecond, 400 * time.Millisecond,
		2 * time.Minute,
	}
	endContract = contract{ // what ends machines, and lists them
		fleetContract.unknown, fleetContract.throttled, fleetContract.least, fleetContract.most,
		30 * time.Second, // fleet/ec2fleet, a call and a page
	}
	githubContract = contract{
		fmt.Errorf("simulated: no answer: %w", githubapi.ErrUnavailable),
		fmt.Errorf("simulated: %w", githubapi.ErrThrottled), 100 * time.Millisecond, 500 * time.Millisecond, githubapi.CallTimeout,
	}
)

// done makes a call that answers nothing.
func done(ctx context.Context, p *process, c contract, s Site, about string, do func(context.Context) error) error {
	_, err := call(ctx, p, c, s, about, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) }, nil)
	return err
}

// tableGate is the store of one process. It embeds nothing, so that a new method of the contract does not
// go round the gate.
type tableGate struct {
	p     *process
	inner store.Table
}

func (g tableGate) site(method, detail string) Site {
	return Site{g.p.role, "store." + method, detail}
}

func (g tableGate) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	detail := "consistent:"
	if c == store.Eventual {
		detail = "eventual:"
	}
	detail += kinds(keys) + g.p.state()
	from := g.p.w.history.now()
	items, err := call(ctx, g.p, storeContract, g.site("Get", detail), about(keys), func(ctx context.Context) ([]store.Item, error) {
		items, err := g.inner.Get(ctx, c, keys...)
		return g.current(items), err
	}, g.p.w.truth.before)
	if err == nil && c == store.Consistent {
		g.p.w.history.reads(g.p, from, keys, items)
	}
	return g.p.w.asLater(items), err
}

func (g tableGate) Put(ctx context.Context, item store.Item, expect int64) error {
	what := g.p.w.truth.records.describe(item)
	sent, answered := g.p.w.history.writes(g.p, what, item, expect)
	err := done(ctx, g.p, storeContract, g.site("Put", what+g.p.state()), about([]store.Key{item.Key}), func(ctx context.Context) error {
		if g.p.w.refusals.refuses(item) {
			return storeContract.throttled
		}
		sent()
		if limit := g.p.w.o.ItemLimit; limit > 0 && len(item.Attributes) > limit {
			return fmt.Errorf("simulated: item of %d bytes, at most %d: %w", len(item.Attributes), limit, store.ErrInvalid)
		}
		g.makeRoom(ctx, item.Key, expect)
		err := g.inner.Put(g.p.as(ctx), item, expect)
		if errors.Is(err, store.ErrConflict) {
			g.p.w.transcript.tellf("%s is refused: %s %s", g.p.name, about([]store.Key{item.Key}), what)
		}
		if err == nil {
			g.p.w.truth.ordered(g.p, item.Key, what)
		}
		return err
	})
	answered(err)
	return err
}

func (g tableGate) Scan(ctx context.Context, yield func(store.Item) error) error {
	from := g.p.w.history.now()
	c := storeContract
	c.patience = 30 * time.Second // store/dynamostore, a page
	items, err := call(ctx, g.p, c, g.site("Scan", ""), "", func(ctx context.Context) ([]store.Item, error) {
		var out []store.Item
		err := g.inner.Scan(ctx, func(item store.Item) error {
			out = append(out, item)
			return nil
		})
		return g.current(out), err
	}, g.torn(ctx))
	for _, item := range items {
		if err == nil {
			g.p.w.history.reads(g.p, from, nil, []store.Item{item})
			err = yield(g.p.w.asLater([]store.Item{item})[0])
		}
	}
	return err
}

// tornPage is how many items a torn scan reads at a time: some pages of what a story holds.
const tornPage = 20

// torn reads all but the first page of a scan again, page by page and seconds apart: what is written meanwhile is seen on
// the pages to come, and not on those read.
func (g tableGate) torn(ctx context.Context) func([]store.Item, Kind, key) []store.Item {
	return func(items []store.Item, kind Kind, k key) []store.Item {
		if kind != Torn {
			return items
		}
		var out []store.Item
		for page := range slices.Chunk(items, tornPage) {
			if out != nil {
				if k = k.next(); wait(ctx, k.between(100*time.Millisecond, 2*time.Second)) != nil {
					return out // the caller gave up
				}
				var keys []store.Key
				for _, item := range page {
					keys = append(keys, item.Key)
				}
				if again, err := g.inner.Get(ctx, store.Consistent, keys...); err == nil {
					page = again
				}
			}
			out = append(out, page...)
		}
		return out
	}
}

func (g tableGate) Notify(ctx context.Context, keys ...store.Key) error {
	// The name draws the latency, and scripts of faults hold it; it stays.
	return done(ctx, g.p, storeContract, g.site("Ring", kinds(keys)), about(keys), func(ctx context.Context) error {
		return g.inner.Notify(ctx, keys...)
	})
}

func (g tableGate) Watch(ctx context.Context, notified func(store.Key)) error {
	err := done(ctx, g.p, storeContract, g.site("Watch", ""), "", func(ctx context.Context) error {
		return g.inner.Watch(ctx, g.p.reached(g.site("Watch", ""), notified))
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // that is the end of a watch, and no error
	}
	return err
}

func (g tableGate) Close() error { return nil } // the table is the world's

// about names the record or records that keys are about, unless their name is another in each story.
func about(keys []store.Key) string {
	var out []string
	for _, k := range keys {
		if k.Sort != store.KindLaunch {
			out = append(out, k.Partition)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "+")
}

// kinds names what keys are about, each kind once.
func kinds(keys []store.Key) string {
	var out []string
	for _, k := range keys {
		out = append(out, strings.TrimPrefix(k.Sort, "TYPE#"))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "+")
}

// poolGate is the pool of one process.
type poolGate struct {
	p     *process
	inner pool.Pool
}

func (g poolGate) Offer(ctx context.Context, t pool.Ticket) error {
	return done(ctx, g.p, poolContract, Site{g.p.role, "pool.Offer", ""}, t.InstanceID, func(ctx context.Context) error {
		return g.inner.Offer(ctx, t)
	})
}

func (g poolGate) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	return call(ctx, g.p, poolContract, Site{g.p.role, "pool.Receive", ""}, class, func(ctx context.Context) ([]pool.Message, error) {
		return g.inner.Receive(ctx, class, hold, wait)
	}, func(all []pool.Message, kind Kind, _ key) []pool.Message {
		if kind == Stale {
			return nil // asked a server that has none; they are hidden for a while
		}
		return all
	})
}

func (g poolGate) Done(ctx context.Context, class string, receipts ...string) error {
	return done(ctx, g.p, poolContract, Site{g.p.role, "pool.Done", ""}, class, func(ctx context.Context) error {
		return g.inner.Done(ctx, class, receipts...)
	})
}

func (g poolGate) Close() error { return nil }

// fleetGate is the fleet of one process.
type fleetGate struct {
	p     *process
	inner fleet.Fleet
}

func (g fleetGate) Plan(ctx context.Context, s fleet.Spec) (fleet.Plan, error) {
	return call(ctx, g.p, fleetContract, Site{g.p.role, "fleet.Plan", ""}, "", func(ctx context.Context) (fleet.Plan, error) {
		return g.inner.Plan(ctx, s)
	}, nil)
}

func (g fleetGate) Launch(ctx context.Context, plan fleet.Plan) (fleet.Outcome, error) {
	return call(ctx, g.p, launchContract, Site{g.p.role, "fleet.Launch", ""}, "", func(ctx context.Context) (fleet.Outcome, error) {
		return g.inner.Launch(ctx, plan)
	}, nil)
}

func (g fleetGate) Terminate(ctx context.Context, ids ...string) error {
	c := endContract
	c.unknown, c.throttled = fleet.TerminateErrors(ids, c.unknown), fleet.TerminateErrors(ids, c.throttled)
	return done(ctx, g.p, c, Site{g.p.role, "fleet.Terminate", ""}, strings.Join(ids, "+"), func(ctx context.Context) error {
		return g.inner.Terminate(ctx, ids...)
	})
}

func (g fleetGate) List(ctx context.Context, token string) ([]fleet.Machine, error) {
	detail := "all"
	if token != "" {
		detail = "launch"
	}
	return call(ctx, g.p, endContract, Site{g.p.role, "fleet.List", detail}, "", func(ctx context.Context) ([]fleet.Machine, error) {
		all, err := g.inner.List(ctx, token)
		if token == "" {
			all = g.p.w.listings.shown(all)
		}
		return all, err
	}, g.p.listed)
}

func (g fleetGate) Templates(ctx context.Context, classes ...string) (map[string]string, error) {
	return call(ctx, g.p, fleetContract, Site{g.p.role, "fleet.Templates", ""}, "", func(ctx context.Context) (map[string]string, error) {
		return g.inner.Templates(ctx, classes...)
	}, nil)
}

func (g fleetGate) Close() error { return nil }

// listed is what a listing of machines shows with a kind of fault.
func (p *process) listed(all []fleet.Machine, kind Kind, _ key) []fleet.Machine {
	if kind == Stale {
		return slices.DeleteFunc(all, func(m fleet.Machine) bool { return p.w.clock.Since(m.LaunchedAt) <= time.Minute })
	}
	if kind == Forgets {
		return p.forgetOne(all)
	}
	return all
}
