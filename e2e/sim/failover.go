package sim

import (
	"context"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Fenced is the law that conditions hold off a deposed leader, not clocks (G13).
const Fenced = "G13 a deposed leader writes nothing over its successor"

// Lapsed is the law on when a lease may be taken.
const Lapsed = "a lease is taken once it has lapsed"

// Failover is what the death of a leader cost.
type Failover struct {
	At    time.Duration // of the story, when it died
	Lead  time.Duration // from then until another held the lease
	Claim time.Duration // from then until that one had claimed an instance for a request, both of which it found; 0: it found none
}

// terms follows who leads and who wrote what. The lock of the records guards it.
type terms struct {
	w       *World
	records *records

	of     map[string]int64          // the last term that each process won
	wrote  map[store.Key]int64       // the highest term that wrote an item
	now    int64                     // the term of the lease
	found  map[store.InstanceID]bool // pooled when the present leader began
	died   time.Duration             // when the leader died; negative: it lives, or another has followed
	waits  int                       // the failover whose leader has claimed nothing yet, from 1; 0: none
	all    []Failover
	undone int // writes of deposed leaders that were refused
	late   int // and those that came in time for an item that their successor had not written yet

	ledSince time.Time // when the present term began
	renewed  time.Time // when the lease was last written
}

func newTerms(w *World, r *records) *terms {
	return &terms{w: w, records: r, of: map[string]int64{}, wrote: map[store.Key]int64{}, died: -1}
}

// writer is the key of a context that says which process writes.
type writer struct{}

// as says that p writes.
func (p *process) as(ctx context.Context) context.Context { return context.WithValue(ctx, writer{}, p) }

// signed holds one write of a controller, applied or refused, to the terms of the lease. The lock must be held.
func (t *terms) signed(ctx context.Context, item store.Item, applied bool) {
	p, _ := ctx.Value(writer{}).(*process)
	if p == nil || p.role != Controller || item.Key == store.LeaseKey {
		return
	}
	term, last := t.of[p.name], t.wrote[item.Key]
	if term < t.now && !applied {
		t.undone++
	}
	if !applied {
		return
	}
	if term < t.now {
		t.late++
	}
	if term < last {
		t.w.verdicts.broke(Fenced, "%s wrote %v in term %d, after term %d had", p.name, item.Key, term, last)
	}
	t.wrote[item.Key] = max(term, last)
}

// leads notes an applied write of the lease. The lock must be held.
func (t *terms) leads(was, l store.Lease) {
	if l.Holder != "" && l.Term == was.Term && was.Holder != "" && l.Holder != was.Holder {
		t.w.verdicts.broke(Fenced, "%s took the lease of %s within term %d", l.Holder, was.Holder, l.Term)
	}
	if l.Holder == "" || l.Term == was.Term {
		return
	}
	if l.Term <= t.now {
		t.w.verdicts.broke(Fenced, "%s took the lease for term %d after term %d", l.Holder, l.Term, t.now)
	}
	t.of[l.Holder], t.now = l.Term, l.Term
	t.ledSince = t.w.clock.Now()
	t.waits = 0
	if t.died >= 0 {
		t.all = append(t.all, Failover{At: t.died, Lead: t.w.since() - t.died})
		t.died, t.waits = -1, len(t.all)
		t.found = map[store.InstanceID]bool{}
		for id, in := range t.records.instances {
			t.found[id] = in.State == statemachine.Idle && !in.PooledAt.IsZero()
		}
	}
}

// claimed notes the first claim of a new leader. The lock must be held.
func (t *terms) claimed(was, in store.Instance) {
	if t.waits == 0 || was.State != statemachine.Idle || in.State != statemachine.Claimed {
		return
	}
	f := &t.all[t.waits-1]
	t.waits = 0
	if asked := t.records.requests[in.RunID][in.Attempt].at; t.found[in.ID] && asked.Before(t.w.begin.Add(f.At+f.Lead)) {
		f.Claim = t.w.since() - f.At
	}
}

// bereaved notes the death of a process.
func (t *terms) bereaved(p *process) {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	if p.name == t.records.lease.Holder && t.died < 0 {
		t.died = t.w.since()
	}
}

// lapsed: nobody takes a lease that was renewed within its time to live, by one clock for all.
func (t *terms) lapsed(was, l store.Lease) {
	now := t.w.clock.Now()
	if least := t.w.supervisor.config().LeaseTTL * 9 / 10; l.Term > was.Term && was.Holder != "" && l.Holder != was.Holder && now.Sub(t.renewed) < least {
		t.w.verdicts.broke(Lapsed, "%s took the lease of %s %s after that was written", l.Holder, was.Holder, now.Sub(t.renewed))
	}
	t.renewed = now
}
