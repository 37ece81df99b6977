package sim_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/store"
)

// rivals is a story of two controllers that are paused and killed while three runs fight over two machines.
func rivals(seed uint64) sim.Script {
	return sim.Script{
		Seed: seed, Controllers: 2, Boot: 10 * time.Second, Idle: 45 * time.Second, Largest: 3,
		Steps: []sim.Step{
			sim.Begin(0, sim.Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second}),
			sim.Begin(30*time.Second, sim.Workflow{ID: "200", Count: 1, Jobs: 1, Job: 3 * time.Second}),
			sim.Begin(30*time.Second, sim.Workflow{ID: "300", Count: 2, Jobs: 2, Job: 3 * time.Second}),
			sim.Begin(30*time.Second, sim.Workflow{ID: "400", Count: 1, Jobs: 1, Job: 3 * time.Second}),
			sim.Pause(30010*time.Millisecond, "controller", 15*time.Second),
			sim.Kill(60*time.Second, "controller"),
			sim.Begin(61*time.Second, sim.Workflow{ID: "200", Attempt: 2, Count: 2, Jobs: 1, Job: 3 * time.Second}),
		},
		Rates:  sim.Rates{sim.CrashAfter: 0.002, sim.LostReply: 0.05, sim.Late: 0.05, sim.Twice: 0.05, sim.Throttled: 0.02, sim.Stale: 0.1},
		CalmAt: 90 * time.Second,
	}
}

// What rivals do to an instance has one order, whatever became of their calls, and no two runs hold one (H07 H13).
func TestHistory_OfRivals(t *testing.T) {
	var accesses, open int
	for seed := range uint64(12) {
		r := sim.Run(t, rivals(seed))
		for _, v := range r.Violations {
			if v.Law == sim.OneHistory || v.Law == sim.OneHolder { // TestRandom judges the others
				t.Errorf("seed %d: %s", seed, v)
			}
		}
		accesses, open = accesses+r.Accesses, open+r.Open
	}
	if accesses < 500 || open < 20 {
		t.Errorf("%d accesses, %d of them without an answer, in 12 stories: too few to show anything", accesses, open)
	}
	t.Logf("%d accesses, %d of them without an answer", accesses, open)
}

// A table that breaks its contract is found out by what the processes were told.
func TestHistory_FindsABrokenTable(t *testing.T) {
	claim := sim.Site{Role: sim.Controller, Method: "store.Put", Detail: "Instance:idle>claimed"}
	again := sim.Fault{Call: sim.Call{Site: claim, About: "INSTANCE#i-00000000000000001"}, N: 1, Kind: sim.Twice}
	tests := []struct {
		name   string
		change func(*broken)
	}{
		{"WritesWithoutItsCondition", func(b *broken) { b.unconditional = true }},
		{"WritesWhatItRefuses", func(b *broken) { b.refuses = true }},
		{"ReadsWhatWasBefore", func(b *broken) { b.old = true }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := story()
			s.Boot = 2 * time.Second // records have been written twice when the second scan of a leader reads them, after 10 s
			s.Faults = []sim.Fault{again}
			if r := sim.Run(t, s); len(r.Violations) > 0 || !fired(r, again) {
				t.Fatalf("with a sound table: faults %v, violations %v, want one and none", r.Fired, r.Violations)
			}
			var b *broken
			s.Under = func(inner store.Table) store.Table {
				b = &broken{Table: inner, before: map[store.Key]store.Item{}}
				tt.change(b)
				return b
			}
			r := sim.Run(t, s)
			if !b.done {
				t.Fatal("the table kept its contract")
			}
			if !slices.ContainsFunc(r.Violations, func(v sim.Violation) bool { return v.Law == sim.OneHistory }) {
				t.Errorf("violations %v, want one of %q", r.Violations, sim.OneHistory)
			}
		})
	}
}

// broken is a table that breaks its contract.
type broken struct {
	store.Table

	unconditional, refuses, old bool // what it does

	mu     sync.Mutex
	before map[store.Key]store.Item
	done   bool
}

// once reports whether it is time.
func (b *broken) once(now bool, k store.Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ok := now && !b.done && k.Sort == store.KindInstance
	b.done = b.done || ok
	return ok
}

func (b *broken) Put(ctx context.Context, item store.Item, expect int64) error {
	had, err := b.Table.Get(ctx, store.Consistent, item.Key)
	if err != nil {
		return err
	}
	err = b.Table.Put(ctx, item, expect)
	var c *store.ConflictError
	if errors.As(err, &c) && c.Current != nil && b.once(b.unconditional, item.Key) {
		item.Version = c.Current.Version + 1
		return b.Table.Put(ctx, item, c.Current.Version)
	}
	if err == nil && len(had) > 0 && item.Key.Sort == store.KindInstance {
		b.mu.Lock()
		b.before[item.Key] = had[0]
		b.mu.Unlock()
		if b.once(b.refuses, item.Key) {
			return &store.ConflictError{Key: item.Key, Expect: expect, Current: &had[0]}
		}
	}
	return err
}

func (b *broken) Scan(ctx context.Context, yield func(store.Item) error) error {
	return b.Table.Scan(ctx, func(item store.Item) error {
		b.mu.Lock()
		if was, ok := b.before[item.Key]; b.old && ok { // of instances that were written more than once
			item, b.done = was, true // each time: some reads are those of the audit
		}
		b.mu.Unlock()
		return yield(item)
	})
}
