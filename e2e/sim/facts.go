package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// facts is what the world knows for itself of what the laws judge: what clients, operators and GitHub did, when, and what came
// of it outside. Nothing in it is what a controller or an agent says of its reasons. The lock of the records guards it.
type facts struct {
	w       *World
	records *records
	runs    *runs

	seen       map[store.RequestID]time.Time         // the last sign of life of a request's client that the store took
	given      map[store.RequestID]map[int]time.Time // attempts that somebody gave back, as asked.said has them: first tried
	asked      map[store.RequestID]map[int]time.Time // attempts of which the store knows that they were given back, since when
	hurried    map[store.RequestID]map[int]time.Time // attempts, as asked.said has them, of which a client was told that they end now
	readyAt    map[store.RequestID]map[int]time.Time // attempts that were answered Ready, and when
	orders     map[string]order
	came       map[store.RequestID]map[int]int            // machines that live or lived, of launches for one attempt alone
	share      map[store.RequestID]map[int]int            // machines at most, of launches that several share
	spared     map[store.RequestID]map[int]map[int64]bool // terms in which a machine of an attempt went before it listened
	writable   time.Time                                  // since when nothing has kept clients from writing
	template   template                                   // that machines are launched from since templateAt
	templateAt time.Time                                  // zero: the first one
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

func newFacts(w *World, r *records) *facts {
	return &facts{
		w: w, records: r, runs: &runs{w}, seen: map[store.RequestID]time.Time{}, given: map[store.RequestID]map[int]time.Time{}, asked: map[store.RequestID]map[int]time.Time{},
		hurried: map[store.RequestID]map[int]time.Time{}, readyAt: map[store.RequestID]map[int]time.Time{}, orders: map[string]order{},
		came: map[store.RequestID]map[int]int{}, share: map[store.RequestID]map[int]int{}, spared: map[store.RequestID]map[int]map[int64]bool{},
	}
}

// in returns the map of a key, which it makes if there is none.
func in[K, N comparable, V any](m map[K]map[N]V, k K) map[N]V {
	if m[k] == nil {
		m[k] = map[N]V{}
	}
	return m[k]
}

// spare notes that a leader may have replaced a machine of an attempt whose listener did not come online: whether that was GitHub's
// fault cannot be told of one alone (ADR 0015).
func (f *facts) spare(run store.RequestID, attempt int, term int64) {
	in(in(f.spared, run), attempt)[term] = true
}

// client notes a sign of life that the store took.
func (f *facts) client(item store.Item, c store.RunClient) {
	id, _ := item.Key.RequestID()
	f.seen[id] = f.w.clock.Now()
}

// drainOrdered notes an operator's order, and that a controller took it up.
func (f *facts) drainOrdered(item store.Item, d store.DrainOrder) {
	d.ID, _ = item.Key.DrainID()
	d.ExpiresAt = item.ExpiresAt
	o, known := f.orders[d.ID]
	if !known {
		o.at = f.w.clock.Now()
	}
	if o.DrainOrder = d; o.taken.IsZero() && d.Taken() {
		o.taken = f.w.clock.Now()
	}
	f.orders[d.ID] = o
}

// gaveBack notes that somebody gives an attempt back.
func (f *facts) gaveBack(id store.RequestID, attempt int) {
	f.records.mu.Lock()
	defer f.records.mu.Unlock()
	if _, known := f.given[id][attempt]; !known {
		in(f.given, id)[attempt] = f.w.clock.Now()
	}
}

// hurry notes that the client of an attempt was told that it ends now.
func (f *facts) hurry(id store.RequestID, attempt int) {
	f.records.mu.Lock()
	defer f.records.mu.Unlock()
	in(f.hurried, id)[attempt] = f.w.clock.Now()
}

// givenBack returns when an attempt, or a later one, was given back or replaced by another, or its run at GitHub was over; zero:
// it was not.
func (f *facts) givenBack(id store.RequestID, attempt int) time.Time {
	var first time.Time
	earlier := func(at time.Time) {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	said := f.records.requests[id][attempt].said(attempt)
	for n, at := range f.given[id] {
		if n >= said {
			earlier(at)
		}
	}
	for n, r := range f.records.requests[id] {
		if n > attempt {
			earlier(r.first)
		}
		if n >= attempt {
			earlier(f.runs.over(r))
			earlier(f.runs.stuck(r))
		}
	}
	return first
}

// counted notes for whom a machine came.
func (f *facts) counted(l store.Launch) {
	for _, s := range l.Seats {
		if len(l.Seats) == 1 {
			in(f.came, s.RequestID)[s.Attempt]++
		} else {
			in(f.share, s.RequestID)[s.Attempt]++
		}
	}
}

// specs are what a launch for an attempt may ask the fleet for, one for each usage class; none if its class is not configured.
func (f *facts) specs(r store.RunRequest) []fleet.Spec {
	class, ok := f.w.supervisor.config().Classes[r.ResourceClass]
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

// query is what an attempt asks of a machine.
func (f *facts) query(r store.RunRequest) pool.Query {
	class := f.w.supervisor.config().Classes[r.ResourceClass]
	return pool.Query{ResourceClass: r.ResourceClass, UsageClasses: r.UsageClasses, AllowedTypes: r.AllowedInstanceTypes, CPU: class.CPU, Mem: class.Mem}
}

// satisfiable reports whether the fleet has any type that an attempt allows.
func (f *facts) satisfiable(r store.RunRequest) bool {
	return slices.ContainsFunc(f.specs(r), func(s fleet.Spec) bool {
		_, err := f.w.fleet.Plan(context.Background(), s)
		return !errors.Is(err, fleet.ErrUnsatisfiable)
	})
}

// waits reports whether a request has an attempt that is not answered, and which.
func (f *facts) waits(id store.RequestID) (asked, bool) {
	r := f.records.latest(id)
	st := f.records.status[id]
	open := st.Attempt < r.Attempt || st.Attempt == r.Attempt && st.Phase == statemachine.Pending
	return r, open && f.givenBack(id, r.Attempt).IsZero()
}

// changeTemplate notes that machines are launched from another template.
func (f *facts) changeTemplate(to template) {
	f.records.mu.Lock()
	defer f.records.mu.Unlock()
	f.template, f.templateAt = to, f.w.clock.Now()
}

// outdated reports whether a machine is of an older template than its class has.
func (f *facts) outdated(in store.Instance) bool {
	concerned := f.template.Class == "" || f.template.Class == in.ResourceClass
	return !f.templateAt.IsZero() && concerned && in.TemplateVersion != f.template.Version
}

// takenWithin is how late an order may be taken up, at pace 1, whatever is out of order.
const takenWithin = 10 * time.Minute

// dismissed reports whether a machine may go by order: one given since it was launched, or, while it is idle, for its template
// or its class.
func (f *facts) dismissed(in store.Instance) bool {
	m, known := f.w.fleet.Machine(string(in.ID))
	for _, o := range f.orders {
		taken := o.taken
		if taken.IsZero() || taken.Sub(o.at) > f.w.o.paced(takenWithin) {
			taken = o.at.Add(f.w.o.paced(takenWithin))
		}
		if o.names(in) && known && !m.LaunchedAt.After(taken.Add(2*f.w.clocks.skew()+callsTake)) {
			return true
		}
	}
	if in.State != statemachine.Idle {
		return false
	}
	_, configured := f.w.supervisor.config().Classes[in.ResourceClass]
	return !configured || f.outdated(in) || f.w.supervisor.reconfigured(settles)
}

// listens returns the instances of which a runner under a run's label is online at GitHub.
func (f *facts) listens(run store.RequestID) map[string]bool {
	out := map[string]bool{}
	for _, r := range f.w.hub.Registered() {
		if r.Online && slices.Contains(r.Labels, string(run)) {
			out[githubsim.InstanceOf(r.Name)] = true
		}
	}
	return out
}

// ranFor reports whether a job of a run came to a machine already: its runner has served then.
func (f *facts) ranFor(id store.InstanceID, run store.RequestID) bool {
	return slices.ContainsFunc(f.w.hub.Jobs(), func(j githubsim.JobRecord) bool {
		return j.InstanceID == string(id) && j.Label == string(run)
	})
}

// outlived reports whether a job went on until the time of an attempt was over that was Ready before it began.
func (f *facts) outlived(j githubsim.JobRecord) bool {
	id := store.RequestID(j.Label)
	for n, at := range f.readyAt[id] {
		end := at.Add(f.records.requests[id][n].MaxRuntime.Duration() - 2*f.w.clocks.skew() - f.w.o.paced(answeredAfter))
		if at.Before(j.FinishedAt) && end.After(j.StartedAt) && !end.After(j.FinishedAt) {
			return true
		}
	}
	return false
}

// lastJob returns when the last job under a label ended; now, if one runs.
func (f *facts) lastJob(run store.RequestID) time.Time {
	var last time.Time
	for _, j := range f.w.hub.Jobs() {
		switch {
		case j.Label != string(run), j.StartedAt.IsZero():
		case j.State != githubsim.Completed:
			return f.w.clock.Now()
		default:
			last = later(last, j.FinishedAt)
		}
	}
	return last
}
