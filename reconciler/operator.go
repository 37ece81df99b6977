package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// Options are what an Operator works with. The caller keeps ownership of all of it.
type Options struct {
	Config    Config
	Table     store.Table
	Pool      pool.Pool
	Fleet     fleet.Fleet
	GitHub    GitHub
	Runs      Runs    // nil: no run is watched
	Chores    []Chore // done while leading, at once and then every Config.Housekeeping
	Clock     clock.WithTicker
	Offset    func() time.Duration // the store's clock minus ours, if it is known; nil: no difference
	Log       *slog.Logger
	Health    func() store.Health // what only the caller knows of that: version and GitHub; must not wait; nil: neither
	Telemetry Telemetry
}

// validate holds o to what New and Renew take.
func (o Options) validate() error {
	switch {
	case o.Config.Holder == "":
		return errors.New("reconciler: holder must not be empty")
	case o.Config.MaxCount > store.MaxSeats:
		return fmt.Errorf("reconciler: maxCount must be at most %d, got %d", store.MaxSeats, o.Config.MaxCount)
	case len(o.Config.Classes) == 0:
		return errors.New("reconciler: classes must not be empty")
	}
	if err := o.Config.Limits.Validate(); err != nil {
		return fmt.Errorf("reconciler: %w", err)
	}
	for i, c := range o.Chores {
		if c.Name == "" || slices.ContainsFunc(o.Chores[:i], func(other Chore) bool { return other.Name == c.Name }) {
			return fmt.Errorf("reconciler: chores[%d]: name must be one of a kind, got %q", i, c.Name)
		}
	}
	return nil
}

// Operator runs the controller.
type Operator struct {
	o        atomic.Pointer[Options]
	elector  *elector
	manager  atomic.Pointer[manager]            // nil: it does not lead
	turn     atomic.Pointer[context.CancelFunc] // ends what manager runs; nil: it never led
	stopping atomic.Bool                        // Run is told to end, or has ended
}

// New returns an Operator. It starts nothing.
func New(o Options) (*Operator, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Offset == nil {
		o.Offset = func() time.Duration { return 0 }
	}
	if o.Health == nil {
		o.Health = func() store.Health { return store.Health{} }
	}
	op := &Operator{}
	op.o.Store(&o)
	op.elector = &elector{
		store: store.New(o.Table), clock: o.Clock, offset: o.Offset, log: o.Log, holder: o.Config.Holder,
		ttl: o.Config.LeaseTTL, request: o.Config.LeaseRequest, health: op.health,
	}
	return op, nil
}

// Run waits for the lease, controls, and waits again should it be lost. It returns nil when ctx ends,
// after everything it started has ended and the lease is given up. It runs once.
func (op *Operator) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { op.stopping.Store(true) })()
	l := op.elector
	return l.run(ctx, op.lead)
}

// lead controls for one term of the lease, in as many turns as Renew makes of it.
func (op *Operator) lead(ctx context.Context, number int64) error {
	last := op.health().Budget
	for turn := 0; ; {
		current, end := context.WithCancel(ctx)
		op.turn.Store(&end) // before the options are read, so that no Renew is missed
		m := newManager(*op.o.Load(), number, turn, op.elector.fence(), op.elector.since)
		m.cache.budget.take(last)
		op.manager.Store(m)
		err := m.run(current)
		op.manager.Store(nil)
		last = m.cache.budget.health()
		renewed := ctx.Err() == nil && current.Err() != nil
		end()
		if err != nil || !renewed {
			return err
		}
		if m.scanner.loaded.Load() { // else it has done nothing yet
			turn++
		}
	}
}

// Renew replaces what the controller works by: its configuration, the machines' and what is kept beside them. One that leads
// keeps its lease and its term. Within it everything begins anew, as if another controller had taken over at this moment: what
// is under way ends, and the records are read again. Who elects and how stays: Holder and the times of the lease are those
// of New, and so are prices. The former fleet may be closed afterwards.
func (op *Operator) Renew(c Config, f fleet.Fleet, chores []Chore) error {
	o := *op.o.Load()
	c.Holder, c.LeaseTTL, c.LeaseRequest, c.Prices = o.Config.Holder, o.Config.LeaseTTL, o.Config.LeaseRequest, o.Config.Prices
	o.Config, o.Fleet, o.Chores = c, f, chores
	if err := o.validate(); err != nil {
		return err
	}
	op.o.Store(&o)
	if end := op.turn.Load(); end != nil {
		(*end)()
	}
	return nil
}

// Candidates returns the instances that a request can be given at this moment, and nil while the operator does not lead or has not
// read the records. One whose claim is under way is no candidate.
func (op *Operator) Candidates() map[store.InstanceID]bool {
	m := op.manager.Load()
	if m == nil || !m.scanner.loaded.Load() {
		return nil
	}
	out := map[store.InstanceID]bool{}
	for _, id := range m.cache.index.pickup.Available() {
		out[store.InstanceID(id)] = true
	}
	return out
}
