package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// facts is what the world knows for itself of what the laws judge: what clients and operators did, when, and what came of it
// outside. Nothing in it is what a controller or an agent says of its reasons. It belongs to truth and is guarded by its lock.
type facts struct {
	seen         map[store.RequestID]time.Time         // the last sign of life of a request's client that the store took
	given        map[store.RequestID]map[int]time.Time // attempts that somebody gave back: first tried
	asked        map[store.RequestID]map[int]time.Time // attempts of which the store knows that they were given back, since when
	hurried      map[store.RequestID]map[int]time.Time // attempts of which a client was told that they end now, whatever runs
	readyAt      map[store.RequestID]map[int]time.Time // attempts that were answered Ready, and when
	over         map[store.RequestID]time.Time         // requests that are Released
	orders       map[string]order
	came         map[store.RequestID]map[int]int            // machines that live or lived, of launches for one attempt alone
	share        map[store.RequestID]map[int]int            // machines at most, of launches that several share
	writable     time.Time                                  // since when nothing has kept clients from writing
	leadable     time.Time                                  // since when the store has let somebody lead
	hindered     map[store.RequestID]time.Time              // when something last kept a pending request from being served
	cramped      map[store.RequestID]time.Time              // when the fleet last had bounds wherever a request may be served
	spared       map[store.RequestID]map[int]map[int64]bool // terms in which a machine of an attempt went before it listened
	replaced     int64                                      // the term that last replaced a machine because GitHub could not be reached
	ledSince     time.Time                                  // when the present term began
	renewed      time.Time                                  // when the lease was last written
	reportedOnce map[string]bool                            // violations that are told once
}

// order is an operator's drain order.
type order struct {
	store.DrainOrder

	at, taken time.Time
}

// names reports whether the order is for an instance, however old that is. It is written out here so that the product's own
// reading is judged, too.
func (o order) names(in store.Instance) bool {
	return (o.InstanceID == "" || o.InstanceID == in.ID) && (o.ResourceClass == "" || o.ResourceClass == in.ResourceClass)
}

func newFacts() facts {
	return facts{
		seen: map[store.RequestID]time.Time{}, given: map[store.RequestID]map[int]time.Time{}, asked: map[store.RequestID]map[int]time.Time{},
		hurried: map[store.RequestID]map[int]time.Time{},
		readyAt: map[store.RequestID]map[int]time.Time{}, over: map[store.RequestID]time.Time{}, orders: map[string]order{},
		spared: map[store.RequestID]map[int]map[int64]bool{}, came: map[store.RequestID]map[int]int{}, share: map[store.RequestID]map[int]int{},
		hindered: map[store.RequestID]time.Time{}, cramped: map[store.RequestID]time.Time{}, reportedOnce: map[string]bool{},
	}
}

// in returns the map of a key, which it makes if there is none.
func in[K comparable, V any](m map[K]map[int]V, k K) map[int]V {
	if m[k] == nil {
		m[k] = map[int]V{}
	}
	return m[k]
}

// spare notes that a leader may have replaced a machine of an attempt whose listener did not come online: whether that was GitHub's
// fault cannot be told of one alone (ADR 0015).
func (f *facts) spare(run store.RequestID, attempt int, term int64) {
	attempts := in(f.spared, run)
	if attempts[attempt] == nil {
		attempts[attempt] = map[int64]bool{}
	}
	attempts[attempt][term] = true
}

// client notes a sign of life that the store took.
func (t *truth) client(item store.Item, c store.RunClient) {
	id, _ := item.Key.RequestID()
	t.seen[id] = t.w.clock.Now()
}

// drainOrdered notes an operator's order, and that a controller took it up.
func (t *truth) drainOrdered(item store.Item, d store.DrainOrder) {
	d.ID, _ = item.Key.DrainID()
	d.ExpiresAt = item.ExpiresAt
	o, known := t.orders[d.ID]
	if !known {
		o.at = t.w.clock.Now()
	}
	if o.DrainOrder = d; o.taken.IsZero() && d.Taken() {
		o.taken = t.w.clock.Now()
	}
	t.orders[d.ID] = o
}

// gaveBack notes that somebody gives an attempt back.
func (t *truth) gaveBack(id store.RequestID, attempt int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.given[id][attempt]; !known {
		in(t.given, id)[attempt] = t.w.clock.Now()
	}
}

// hurry notes that the client of an attempt was told that it ends now.
func (t *truth) hurry(id store.RequestID, attempt int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	in(t.hurried, id)[attempt] = t.w.clock.Now()
}

// givenBack returns when an attempt, or a later one, was given back or replaced by another; zero: it was not.
func (t *truth) givenBack(id store.RequestID, attempt int) time.Time {
	var first time.Time
	earlier := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	for n, at := range t.given[id] {
		if n >= attempt {
			earlier(at)
		}
	}
	for n, r := range t.requests[id] {
		if n > attempt {
			earlier(r.at)
		}
	}
	return first
}

// counted notes for whom a machine came.
func (t *truth) counted(l store.Launch) {
	for _, s := range l.Seats {
		if len(l.Seats) == 1 {
			in(t.came, s.RequestID)[s.Attempt]++
		} else {
			in(t.share, s.RequestID)[s.Attempt]++
		}
	}
}

// specs are what a launch for an attempt may ask the fleet for, one for each usage class; none if its class is not configured.
func (t *truth) specs(r store.RunRequest) []fleet.Spec {
	class, ok := t.w.supervisor.config().Classes[r.ResourceClass]
	if !ok {
		return nil
	}
	var out []fleet.Spec
	for _, usage := range r.UsageClasses {
		out = append(out, fleet.Spec{
			Token: "law", Count: 1, ResourceClass: r.ResourceClass, UsageClass: usage, CPU: class.CPU, Mem: class.Mem, AllowedTypes: r.AllowedInstanceTypes,
		})
	}
	return out
}

// satisfiable reports whether the fleet has any type that an attempt allows.
func (t *truth) satisfiable(r store.RunRequest) bool {
	return slices.ContainsFunc(t.specs(r), func(s fleet.Spec) bool {
		_, err := t.w.fleet.Plan(context.Background(), s)
		return !errors.Is(err, fleet.ErrUnsatisfiable)
	})
}

// roomy reports whether the fleet has had room for a request for so long that no refusal of before keeps it from asking.
func (t *truth) roomy(id store.RequestID, r store.RunRequest) bool {
	if !slices.ContainsFunc(t.specs(r), t.w.fleet.Unbounded) {
		t.cramped[id] = t.w.clock.Now()
	}
	return t.w.clock.Since(t.cramped[id]) > t.w.o.paced(settles)
}

// late reports whether something that was due since an instant, within a bound at pace 1, has not happened though nothing
// kept it: what was out of order may have hidden it until the next scan.
func (t *truth) late(since time.Time, within time.Duration) bool {
	return t.overdue(since, t.w.o.paced(within)+callsTake, t.w.disturbances.calmSince())
}

// overdue reports whether something is late that nothing keeps since an instant of the story.
func (t *truth) overdue(since time.Time, within, calm time.Duration) bool {
	from := since.Sub(t.w.begin)
	if calm+t.w.o.paced(settles) > from {
		from = max(from, calm) + t.w.o.paced(settles)
	}
	return t.w.since()-from > within
}

// calm reports whether nothing has been out of order for so long that nothing hides from the leader.
func (t *truth) calm() bool { return t.w.disturbances.calmSince() <= t.w.since()-t.w.o.paced(settles) }

const (
	settles   = 4 * time.Minute  // a scan, and what follows from what it finds
	callsTake = 10 * time.Second // what has no pace: GitHub and EC2 answer in up to 3 s
)

// once tells a violation that lasts a single time.
func (t *truth) once(law, what, format string, args ...any) {
	if mark := law + what; !t.reportedOnce[mark] {
		t.reportedOnce[mark] = true
		t.broke(law, format, args...)
	}
}

// waits reports whether a request has an attempt that is not answered, and which.
func (t *truth) waits(id store.RequestID) (asked, bool) {
	r := t.latest(id)
	st := t.status[id]
	open := st.Attempt < r.Attempt || st.Attempt == r.Attempt && st.Phase == statemachine.Pending
	return r, open && t.givenBack(id, r.Attempt).IsZero()
}

// latest returns the newest attempt of a request.
func (t *truth) latest(id store.RequestID) asked {
	var r asked
	for _, a := range t.requests[id] {
		if a.Attempt > r.Attempt {
			r = a
		}
	}
	return r
}
