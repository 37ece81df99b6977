package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Violation is a law that did not hold.
type Violation struct {
	At   time.Duration
	Law  string
	Text string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s", v.At.Round(time.Millisecond), v.Law, v.Text)
}

// truth is the table below all gates. It sees each write as it takes effect, remembers who owned what when,
// and holds all of it to the laws. It takes its lock around the write below, which never waits.
type truth struct {
	store.Table

	w       *World
	records decoded // as somebody sees them whose clock is right

	mu         sync.Mutex
	violations []Violation
	written    map[store.Key][]*store.Item // the last writes of each item, the newest last
	instances  map[store.InstanceID]store.Instance
	status     map[store.RequestID]store.RunStatus
	requests   map[store.RequestID]map[int]asked // by attempt
	launches   map[string]store.Launch
	lease      store.Lease
	terms      terms
	signals    map[store.Principal]map[store.SignalValue]bool // ever reported, without serial and detail
	secrets    map[string]string                              // whose it is
	keyless    map[store.Principal]bool                       // machines whose agent was of a version without keys when they first registered
	history    map[store.InstanceID][]ownership
	last       map[store.Principal]store.SignalValue // reported, without serial and detail
	lastAt     map[store.Principal]time.Time
	tokens     map[string]string // launch of each machine
	template   string            // that machines are launched from; "": the first one
	templateAt time.Time
	halts      map[string]string // machines that halted themselves, and why
	audits     map[string]bool   // what the audit said before
	suspected  map[string]bool   // what the last audit said and one look does not prove
	trouble    time.Time         // when something was last out of order
	facts
	ready    int
	failed   int
	jobs     int
	coverage Coverage
}

// asked is one attempt of a request, and when it was asked for.
type asked struct {
	store.RunRequest

	at time.Time
}

// ownership is one assignment of an instance to a run.
type ownership struct {
	run      store.RequestID
	from, to time.Time // to zero: still
}

func newTruth(w *World, table store.Table) *truth {
	return &truth{
		Table: table, w: w, records: newDecoded(seen{table, w}), written: map[store.Key][]*store.Item{},
		instances: map[store.InstanceID]store.Instance{}, status: map[store.RequestID]store.RunStatus{},
		requests: map[store.RequestID]map[int]asked{}, launches: map[string]store.Launch{},
		signals: map[store.Principal]map[store.SignalValue]bool{}, secrets: map[string]string{}, keyless: map[store.Principal]bool{},
		last: map[store.Principal]store.SignalValue{}, lastAt: map[store.Principal]time.Time{}, tokens: map[string]string{},
		history: map[store.InstanceID][]ownership{}, halts: map[string]string{}, terms: newTerms(), audits: map[string]bool{}, facts: newFacts(),
	}
}

// violate notes a violation.
func (t *truth) violate(law, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.broke(law, format, args...)
}

// broke is violate for callers that hold mu.
func (t *truth) broke(law, format string, args ...any) {
	if t.w.waived[law] {
		return
	}
	v := Violation{t.w.since(), law, fmt.Sprintf(format, args...)}
	if t.w.o.Hasty && len(t.violations) == 0 {
		close(t.w.spoilt)
	}
	t.violations = append(t.violations, v)
	t.w.transcript.tellf("VIOLATED %s: %s", v.Law, v.Text)
}

// Put implements store.Table.
func (t *truth) Put(ctx context.Context, item store.Item, expect int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.Table.Put(ctx, item, expect)
	t.signed(ctx, item, err == nil)
	if err != nil {
		return err
	}
	t.written[item.Key] = append(t.written[item.Key], &item)
	if all := t.written[item.Key]; len(all) > oldest+1 {
		t.written[item.Key] = all[1:]
	}
	switch item.Key.Sort {
	case store.KindInstance:
		note(t, item, t.instance)
	case store.KindRunStatus:
		note(t, item, t.answer)
	case store.KindSignal:
		note(t, item, t.signal)
	case store.KindRunRequest:
		note(t, item, t.request)
	case store.KindLaunch:
		note(t, item, func(item store.Item, l store.Launch) {
			_, l.Token, _ = strings.Cut(item.Key.Partition, "#")
			_, known := t.launches[l.Token]
			t.w.transcript.launch(known, l)
			t.launches[l.Token] = l
			if !known {
				t.warmFirst(l)
			}
			t.launchedNeeded(l)
		})
	case store.KindRunClient:
		note(t, item, t.client)
	case store.KindDrain:
		note(t, item, t.drainOrdered)
	case store.KindLease:
		note(t, item, func(_ store.Item, l store.Lease) {
			t.w.transcript.lease(t.lease, l)
			t.lapsed(t.lease, l)
			t.leads(t.lease, l)
			t.lease = l
		})
	}
	return nil
}

// leader names the process that holds the lease.
func (t *truth) leader() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lease.Holder
}

// note decodes one applied write for its laws.
func note[R any](t *truth, item store.Item, law func(store.Item, R)) {
	var r R
	if err := json.Unmarshal(item.Attributes, &r); err != nil {
		t.broke("records", "%v: %v", item.Key, err)
		return
	}
	law(item, r)
}

func (t *truth) request(item store.Item, r store.RunRequest) {
	id, _ := item.Key.RequestID()
	if t.requests[id] == nil {
		t.requests[id] = map[int]asked{}
	}
	if t.w.o.Story != nil {
		t.w.transcript.request(id, t.requests[id][len(t.requests[id])].RunRequest, r)
	}
	at := t.w.clock.Now()
	if a, known := t.requests[id][r.Attempt]; known {
		at = a.at
	}
	t.requests[id][r.Attempt] = asked{r, at}
	if _, known := t.asked[id][r.Attempt]; r.Released() && !known {
		in(t.asked, id)[r.Attempt] = t.w.clock.Now()
	}
}

func (t *truth) signal(item store.Item, s store.Signal) {
	p, _ := item.Key.Principal()
	if t.signals[p] == nil {
		t.signals[p] = map[store.SignalValue]bool{}
	}
	if !t.signals[p][claim(s.Value)] {
		t.online(p, s.Value)
	}
	t.signals[p][claim(s.Value)] = true
	if t.last[p] != claim(s.Value) {
		t.last[p], t.lastAt[p] = claim(s.Value), t.w.clock.Now()
	}
}

// claim is a signal without what the laws do not ask for.
func claim(v store.SignalValue) store.SignalValue {
	return store.SignalValue{Signal: v.Signal, RunID: v.RunID, Assignment: v.Assignment}
}

// hasReported reports whether the machine of in ever reported name for its present assignment.
func (t *truth) hasReported(in store.Instance, name store.SignalName) bool {
	return t.signals[in.Principal][store.SignalValue{Signal: name, RunID: in.RunID, Assignment: in.Assignment}]
}

// instance holds one applied write of an instance to its laws.
func (t *truth) instance(item store.Item, in store.Instance) {
	in.Principal, _ = item.Key.Principal()
	in.Version, in.ExpiresAt = item.Version, item.ExpiresAt
	was := t.instances[in.ID]
	t.instances[in.ID] = in
	t.w.transcript.instance(was, in)
	t.claimed(was, in)
	t.covered(was, in)
	for _, law := range instanceLaws {
		law.check(t, was, in)
	}
}

// answer holds one applied write of a status to its laws.
func (t *truth) answer(item store.Item, st store.RunStatus) {
	st.ID, _ = item.Key.RequestID()
	st.Version, st.ExpiresAt = item.Version, item.ExpiresAt
	was := t.status[st.ID]
	t.status[st.ID] = st
	t.w.transcript.status(was, st)
	t.coveredAnswer(was, st)
	if st.Phase != was.Phase || st.Attempt != was.Attempt {
		switch st.Phase {
		case statemachine.Ready:
			t.ready++
			in(t.readyAt, st.ID)[st.Attempt] = t.w.clock.Now()
		case statemachine.Failed:
			t.failed++
		case statemachine.Pending, statemachine.PhaseReleased, statemachine.Unseen:
		}
	}
	for _, law := range statusLaws {
		law.check(t, was, st)
	}
}

// state returns the state of an instance.
func (t *truth) state(id store.InstanceID) statemachine.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.instances[id].State
}

// oldest is how many writes back a read may be that need not see the last.
const oldest = 4

// before turns items into what they were before their last write, or some writes earlier.
func (t *truth) before(items []store.Item, kind Kind, k key) []store.Item {
	back := 1
	switch kind {
	case Stale:
	case Older:
		back = 2 + k.next().below(oldest-1)
	default:
		return items
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []store.Item
	for _, item := range items {
		if all := t.written[item.Key]; len(all) > back {
			out = append(out, *all[len(all)-1-back])
		}
	}
	return out
}

// describe says what a write is about, for its site.
func (t *truth) describe(item store.Item) string {
	kind := strings.TrimPrefix(item.Key.Sort, "TYPE#")
	t.mu.Lock()
	defer t.mu.Unlock()
	switch item.Key.Sort {
	case store.KindInstance:
		var in store.Instance
		if json.Unmarshal(item.Attributes, &in) != nil {
			return kind
		}
		return kind + ":" + t.change(t.instances[in.ID], in, item.ExpiresAt)
	case store.KindRunStatus:
		var st store.RunStatus
		id, _ := item.Key.RequestID()
		if json.Unmarshal(item.Attributes, &st) != nil {
			return kind
		}
		return fmt.Sprintf("%s:%s>%s", kind, t.status[id].Phase, st.Phase)
	case store.KindSignal:
		var s store.Signal
		if json.Unmarshal(item.Attributes, &s) != nil {
			return kind
		}
		return kind + ":" + string(s.Value.Signal)
	case store.KindLease:
		var l store.Lease
		switch err := json.Unmarshal(item.Attributes, &l); {
		case err == nil && l.Holder == "":
			return kind + ":given-up"
		case err == nil && l.Term == t.lease.Term:
			return kind + ":renewed"
		}
	case store.KindLaunch:
		var l store.Launch
		if json.Unmarshal(item.Attributes, &l) == nil && l.Done {
			return kind + ":done"
		}
	}
	return kind
}

// change names what a write does to an instance.
func (t *truth) change(was, in store.Instance, expiresAt time.Time) string {
	switch {
	case was.State != in.State:
		return string(was.State) + ">" + string(in.State)
	case was.Registration.Serial != in.Registration.Serial:
		return string(in.State) + "+registration"
	case was.PooledAt.IsZero() && !in.PooledAt.IsZero():
		return string(in.State) + "+pooled"
	case was.ExpiresAt.IsZero() && !expiresAt.IsZero():
		return string(in.State) + "+retired"
	}
	return string(in.State)
}
