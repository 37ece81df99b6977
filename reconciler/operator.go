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

// Operator runs the controller.
type Operator struct {
	o        Options
	elector  *elector
	manager  atomic.Pointer[manager] // nil: it does not lead
	stopping atomic.Bool             // Run is told to end, or has ended
}

// New returns an Operator. It starts nothing.
func New(o Options) (*Operator, error) {
	switch {
	case o.Config.Holder == "":
		return nil, errors.New("reconciler: holder must not be empty")
	case o.Config.MaxCount > store.MaxSeats:
		return nil, fmt.Errorf("reconciler: maxCount must be at most %d, got %d", store.MaxSeats, o.Config.MaxCount)
	case len(o.Config.Classes) == 0:
		return nil, errors.New("reconciler: classes must not be empty")
	}
	if err := o.Config.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("reconciler: %w", err)
	}
	for i, c := range o.Chores {
		if c.Name == "" || slices.ContainsFunc(o.Chores[:i], func(other Chore) bool { return other.Name == c.Name }) {
			return nil, fmt.Errorf("reconciler: chores[%d]: name must be one of a kind, got %q", i, c.Name)
		}
	}
	if o.Offset == nil {
		o.Offset = func() time.Duration { return 0 }
	}
	if o.Health == nil {
		o.Health = func() store.Health { return store.Health{} }
	}
	op := &Operator{o: o}
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
	return l.run(ctx, func(ctx context.Context, number int64) error {
		m := newManager(op.o, number, l.fence(), l.since)
		op.manager.Store(m)
		defer op.manager.Store(nil)
		return m.run(ctx)
	})
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
