package reconciler_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H56: a new template takes the idle machines of the old one out of the pool: none of them is handed out once that is
// noticed, they go, and so does one that comes back later.
func TestNewTemplate_OldMachinesGo_H56(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		old := ids(w.awaitPhase("100", 1, statemachine.Ready, time.Minute))
		for id := range ids(w.warm("150", 2, nil)) {
			old[id] = true
		}
		w.SetTemplate("2")
		time.Sleep(w.Config.Sweep + time.Second)
		w.submit(spec("200", 2))
		fresh := w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		w.release("100", 1, store.Drain)
		w.awaitPhase("100", 1, statemachine.ReleasedPhase, time.Minute)
		w.await(10*time.Second, "the old ones gone", func() bool { return len(w.Fleet.Alive()) == 2 })
		for id := range old {
			if in := w.instance(id); in.State != statemachine.Terminated || in.Reason != statemachine.ReasonDismissed || w.Owners(id) != 1 {
				t.Errorf("%s is %s for %q after %d runs, want it dismissed after one", id, in.State, in.Reason, w.Owners(id))
			}
		}
		for id := range ids(fresh) {
			if m, _ := w.Fleet.Machine(string(id)); old[id] || m.TemplateVersion != "2" {
				t.Errorf("run 200 got %s of template %s, want 2", id, m.TemplateVersion)
			}
		}
	})
}

// H56: machines that were launched from a new template before the look that would have noticed it are no older ones; they
// say that the others are.
func TestNewTemplate_ItsFirstMachinesStay_H56(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Config.Sweep = time.Hour
		defer w.controller("c1", nil)()
		old := ids(w.warm("100", 1, nil))
		w.SetTemplate("2")
		w.submit(spec("200", 2))
		both := ids(w.awaitPhase("200", 1, statemachine.Ready, time.Minute))
		w.release("200", 1, store.Drain)
		w.awaitPhase("200", 1, statemachine.ReleasedPhase, time.Minute)
		time.Sleep(10 * time.Second)
		for id := range both {
			in, want := w.instance(id), statemachine.Idle
			if old[id] {
				want = statemachine.Terminated
			}
			if in.State != want {
				t.Errorf("%s, of template %s, is %s for %q, want it %s", id, in.TemplateVersion, in.State, in.Reason, want)
			}
		}
		if w.pooled() != 1 {
			t.Errorf("%d machines are pooled, want the one of template 2", w.pooled())
		}
	})
}

// overheard is a pool that remembers what was offered.
type overheard struct {
	pool.Pool
	mu     sync.Mutex
	offers []pool.Ticket
}

func (o *overheard) Offer(ctx context.Context, t pool.Ticket) error {
	o.mu.Lock()
	o.offers = append(o.offers, t)
	o.mu.Unlock()
	return o.Pool.Offer(ctx, t)
}

// H14: the entry of a machine that comes back from a long run, or from a claim, carries the threshold of its idle
// record, which is the idle limit from its pooling on, and nothing of the run's.
func TestPooled_EntryCarriesTheIdleThreshold_H14(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		p := &overheard{Pool: w.Pool}
		defer w.controllerWith("c1", reconciler.Options{Pool: p})()
		check := func(what string) {
			t.Helper()
			time.Sleep(time.Second)
			p.mu.Lock()
			defer p.mu.Unlock()
			if len(p.offers) != 1 {
				t.Fatalf("%s: %d entries, want one", what, len(p.offers))
			}
			offer := p.offers[0]
			in := w.instance(store.InstanceID(offer.InstanceID))
			if !offer.Threshold.Equal(in.Threshold.Time) || !offer.Threshold.Equal(in.PooledAt.Add(w.Config.Limits.Idle)) {
				t.Errorf("%s: entry up to %s, record up to %s, pooled at %s, want %s from there",
					what, offer.Threshold, in.Threshold.Time, in.PooledAt.Time, w.Config.Limits.Idle)
			}
			p.offers = nil
		}
		w.warm("100", 1, func(r *store.RunRequest) { r.MaxRuntime = store.SecondsOf(3 * time.Hour) })
		check("after a run")
		w.Fleet.SetCapacity(fleet.Slot{}, 1)
		r := spec("200", 2)
		r.Timeout = store.SecondsOf(time.Minute)
		w.submit(r)
		w.awaitPhase("200", 1, statemachine.Failed, 2*time.Minute)
		w.await(10*time.Second, "pooled", func() bool { return w.pooled() == 1 })
		check("after a claim")
	})
}
