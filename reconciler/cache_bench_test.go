package reconciler

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// BenchmarkCache measures what a look at a large installation walks: the seats of a request, the machines on their way back,
// the living among those that ended within a day.
func BenchmarkCache(b *testing.B) {
	fill := func(n int, state statemachine.State) *records {
		v := newRecords()
		for i := range n {
			v.instances.apply(inState(fmt.Sprintf("i-%05d", i), 1, state, "100"))
		}
		return v
	}
	b.Run("copies=10000", func(b *testing.B) {
		v := fill(10_000, statemachine.Idle)
		for b.Loop() {
			var out store.Found
			out.Visitor()
			v.instances.copyInto(&out)
		}
	})
	b.Run("seats=1000", func(b *testing.B) {
		v := fill(1000, statemachine.Running)
		for b.Loop() {
			v.instances.heldBy("100")
		}
	})
	b.Run("returning=10000", func(b *testing.B) {
		known, t := fill(10_000, statemachine.Idle), &tenure{clock: clock.RealClock{}, cfg: Defaults()}
		line := newWaiting(nothing, nobody)
		c := &cache{tenure: t, records: known, index: &index{tenure: t, records: known, waiting: line}}
		f := &filler{tenure: t, cache: c, waiting: line}
		t.cfg.Classes = map[string]Class{"small": {CPU: 2, Mem: 4096}}
		known.instances.each(func(in *instance) { in.vitals.fresh, in.record.Since = true, store.At(time.Now()) })
		for _, typ := range []string{"c6i.*", "m5.*"} { // every machine, and none
			b.Run(typ, func(b *testing.B) {
				me := waiter{id: "1", short: 1, query: pool.Query{ResourceClass: "small", UsageClasses: []string{store.Spot}, AllowedTypes: []string{typ}, CPU: 2, Mem: 4096}}
				for b.Loop() {
					f.arriving(me)
				}
			})
		}
	})
	b.Run("living=1000/ended=100000", func(b *testing.B) {
		v := fill(100_000, statemachine.Terminated)
		for i := range 1000 {
			v.instances.apply(inState(fmt.Sprintf("l-%05d", i), 1, statemachine.Running, "100"))
		}
		for b.Loop() {
			v.instances.eachAlive(func(*instance) {})
		}
	})
	b.Run("line=10000", func(b *testing.B) {
		w := newWaiting(nothing, nobody)
		me := waiter{id: "me", since: dawn.Add(time.Hour), query: small()}
		for i := range 10_000 {
			w.set(inLine(fmt.Sprint(i), i%60, 1, small()))
		}
		for b.Loop() {
			me.short = 1
			w.set(me)
			reserve(w.ahead(me, false))
			w.leave(me.id)
		}
	})
}

// BenchmarkSummary measures what one look at the metrics takes of a large installation, under its locks.
func BenchmarkSummary(b *testing.B) {
	o := Options{Config: Defaults(), Clock: clock.RealClock{}, Offset: func() time.Duration { return 0 }, Log: slog.New(slog.DiscardHandler)}
	m := newManager(o, 1, 0, fence{}, time.Now)
	defer m.queues.shutDown()
	m.scanner.loaded.Store(true)
	for i := range 10_000 {
		m.cache.instances.apply(inState(fmt.Sprintf("i-%05d", i), 1, statemachine.Running, "100"))
	}
	for i := range 1000 {
		id := store.RequestID(fmt.Sprint(i))
		m.cache.requests.applyRun(id, store.RunRecords{
			Request: &store.RunRequest{ID: id, ResourceClass: "small", Version: 1}, Status: &store.RunStatus{ID: id, Phase: statemachine.Pending, Version: 1},
		}, time.Now())
	}
	op := &Operator{}
	op.manager.Store(m)
	b.ReportAllocs()
	for b.Loop() {
		op.Summary()
	}
}
