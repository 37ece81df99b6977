package reconciler_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// slowScan is a table that takes its time to be read.
type slowScan struct {
	store.Table
	clock clock.Clock
	lasts time.Duration
}

func (s slowScan) Scan(ctx context.Context, yield func(store.Item) error) error {
	s.clock.Sleep(s.lasts)
	return s.Table.Scan(ctx, yield)
}

// Candidates are the pooled machines without the one whose claim is under way, of the controller that leads and has read
// the records. Where none are known there is no answer, which is not the same as none.
func TestCandidates_WhatLiesInThePool(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		check := func(when string, op *reconciler.Operator, want map[store.InstanceID]bool) {
			t.Helper()
			if got := op.Candidates(); (got == nil) != (want == nil) || !maps.Equal(got, want) {
				t.Errorf("%s: Candidates = %v (known: %t), want %v (known: %t)", when, got, got != nil, want, want != nil)
			}
		}
		held := &heldWrite{
			Table: w.Table, clock: w.Clock, lasts: 5 * time.Second,
			match: func(in store.Instance) bool { return in.State == statemachine.Claimed },
		}
		first, stop := w.operator("c1", reconciler.Options{Table: held})
		check("nothing pooled", first, map[store.InstanceID]bool{})
		second, _ := w.operator("c2", reconciler.Options{Table: slowScan{w.Table, w.Clock, 4 * time.Second}})
		check("another leads", second, nil)

		pooled := ids(w.warm("100", 2, nil))
		check("two pooled", first, pooled)
		w.submit(spec("200", 1))
		time.Sleep(time.Second)
		during := first.Candidates()
		claimed := ids(w.awaitPhase("200", 1, statemachine.Ready, 10*time.Second))
		left := maps.Clone(pooled)
		maps.DeleteFunc(left, func(id store.InstanceID, _ bool) bool { return claimed[id] })
		if !held.held.Load() || len(left) != 1 || !maps.Equal(during, left) {
			t.Errorf("while %v was claimed of %v: Candidates = %v, want %v", claimed, pooled, during, left)
		}
		check("one claimed", first, left)

		stop()
		check("stopped", first, nil)
		w.await(5*time.Second, "the other one leads", func() bool {
			l, err := w.Store.Lease(t.Context())
			return err == nil && l.Holder == "c2"
		})
		time.Sleep(time.Second)
		check("the records are being read", second, nil)
		time.Sleep(4 * time.Second)
		check("the other one has read them", second, left)
	})
}
