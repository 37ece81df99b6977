package reconciler

import (
	"time"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Summary is an installation in numbers, as the controller that leads knows it.
type Summary struct {
	Term       int64                  // of the lease
	Trusted    bool                   // it may act: it has renewed the lease in time
	Instances  map[InstanceKind]int   // those that ended until their fleet has confirmed it
	Agents     map[string]int         // living instances by the version that their agents report, in their own words
	Candidates map[pool.Kind]int      // instances that a request could be given
	Listening  int                    // idle instances with a listener online
	Waiting    map[WaitKind]Waiting   // requests that are Pending
	Floors     map[string]store.Floor // of the classes that have one, as they were last found
	Budget     store.Budget           // what the month has cost of what it may; zero: there is none
	Looked
	Silence  bool // the circuit breaker is open: too many agents went silent at once
	Unlisted bool // the fleet's listing is not believed: too many machines went missing at once
}

// Looked is when what lies outside was last looked at.
type Looked struct {
	Scanned time.Time // all records, to the end; zero: never
	Swept   time.Time // the fleet, against the records; zero: not yet
}

// InstanceKind is what instances are counted by.
type InstanceKind struct {
	State        statemachine.State
	Class, Usage string
}

// WaitKind is what waiting requests are counted by: their class, in their clients' words, and the reason of their status.
type WaitKind struct{ Class, Reason string }

// Waiting is how many requests wait, and the longest time that one of them has.
type Waiting struct {
	Count  int
	Oldest time.Duration
}

// Summary returns the present one. It is false while the operator does not lead or has not read the records; the term
// alone is set then if it leads. It walks the living instances and the waiting requests once, in memory.
func (op *Operator) Summary() (Summary, bool) {
	m := op.manager.Load()
	if m == nil {
		return Summary{}, false
	}
	out := Summary{
		Term: m.term, Trusted: op.elector.trust(), Instances: map[InstanceKind]int{}, Agents: map[string]int{}, Floors: map[string]store.Floor{}, Waiting: m.cache.requests.waiting(m.clock.Now()),
		Silence: m.observer.breaker.isOpen(), Unlisted: m.fleetSweep.incomplete.is(),
		Candidates: m.cache.index.pickup.Kinds(), Budget: m.cache.budget.health(),
	}
	if !m.scanner.loaded.Load() {
		return Summary{Term: m.term, Trusted: out.Trusted}, false
	}
	for _, class := range m.cfg.floors() {
		out.Floors[class] = m.cache.floors.get(class).record
	}
	count := func(in *instance) {
		out.Instances[InstanceKind{in.record.State, in.record.ResourceClass, in.record.UsageClass}]++
	}
	m.cache.instances.eachAlive(func(in *instance) {
		count(in)
		if listensAhead(in.snapshot()) {
			out.Listening++
		}
		if v := in.vitals.beat.Beat.AgentVersion; v != "" {
			out.Agents[v]++
		}
	})
	m.cache.instances.eachEnding(count)
	out.Scanned, out.Swept = m.scanner.scanned.get().Time, m.fleetSweep.swept.get().Time
	return out, true
}

// waiting sums up the requests that are Pending.
func (v *requestRecords) waiting(now time.Time) map[WaitKind]Waiting {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := map[WaitKind]Waiting{}
	for _, r := range v.pending {
		kind := WaitKind{Reason: r.status.Reason}
		if r.request != nil {
			kind.Class = r.request.ResourceClass
		}
		w := out[kind]
		out[kind] = Waiting{w.Count + 1, max(w.Oldest, now.Sub(r.status.PendingAt.Time))}
	}
	return out
}
