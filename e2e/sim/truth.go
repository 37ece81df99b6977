package sim

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// truth is the table below all gates. It sees each write as it takes effect, records it, and holds it to the laws. It takes the lock
// of the records around the write below, which never waits.
type truth struct {
	store.Table

	w       *World
	decoded decoded // as somebody sees them whose clock is right
	records *records
	facts   *facts

	written   map[store.Key][]*store.Item // the last writes of each item, the newest last
	terms     terms
	secrets   map[string]string        // whose it is
	keyless   map[store.Principal]bool // machines whose agent was of a version without keys when they first registered
	history   map[store.InstanceID][]ownership
	tokens    map[string]string             // launch of each machine
	audits    map[string]bool               // what the audit said before
	suspected map[string]bool               // what the last audit said and one look does not prove
	trouble   time.Time                     // when something was last out of order
	over      map[store.RequestID]time.Time // requests that are Released
	leadable  time.Time                     // since when the store has let somebody lead
	hindered  map[store.RequestID]time.Time // when something last kept a pending request from being served
	cramped   map[store.RequestID]time.Time // when the fleet last had bounds wherever a request may be served
	replaced  int64                         // the term that last replaced a machine because GitHub could not be reached
	ledSince  time.Time                     // when the present term began
	renewed   time.Time                     // when the lease was last written
	ready     int
	failed    int
	jobs      int
	coverage  Coverage
}

// ownership is one assignment of an instance to a run.
type ownership struct {
	run      store.RequestID
	from, to time.Time // to zero: still
}

func newTruth(w *World, table store.Table) *truth {
	r := newRecords()
	return &truth{
		Table: table, w: w, decoded: newDecoded(seen{table, w}), records: r, facts: newFacts(w, r), written: map[store.Key][]*store.Item{},
		secrets: map[string]string{}, keyless: map[store.Principal]bool{}, tokens: map[string]string{},
		history: map[store.InstanceID][]ownership{}, terms: newTerms(), audits: map[string]bool{}, over: map[store.RequestID]time.Time{},
		hindered: map[store.RequestID]time.Time{}, cramped: map[store.RequestID]time.Time{},
	}
}

// Put implements store.Table.
func (t *truth) Put(ctx context.Context, item store.Item, expect int64) error {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
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
			_, known := t.records.launches[l.Token]
			t.w.transcript.launch(known, l)
			t.records.launches[l.Token] = l
			if !known {
				t.warmFirst(l)
			}
			t.launchedNeeded(l)
		})
	case store.KindRunClient:
		note(t, item, t.facts.client)
	case store.KindDrain:
		note(t, item, t.facts.drainOrdered)
	case store.KindLease:
		note(t, item, func(_ store.Item, l store.Lease) {
			t.w.transcript.lease(t.records.lease, l)
			t.lapsed(t.records.lease, l)
			t.leads(t.records.lease, l)
			t.records.lease = l
		})
	}
	return nil
}

// note decodes one applied write for its laws.
func note[R any](t *truth, item store.Item, law func(store.Item, R)) {
	var r R
	if err := json.Unmarshal(item.Attributes, &r); err != nil {
		t.w.verdicts.broke("records", "%v: %v", item.Key, err)
		return
	}
	law(item, r)
}

func (t *truth) request(item store.Item, r store.RunRequest) {
	id, _ := item.Key.RequestID()
	if t.records.requests[id] == nil {
		t.records.requests[id] = map[int]asked{}
	}
	if t.w.o.Story != nil {
		t.w.transcript.request(id, t.records.requests[id][len(t.records.requests[id])].RunRequest, r)
	}
	at := t.w.clock.Now()
	if a, known := t.records.requests[id][r.Attempt]; known {
		at = a.at
	}
	t.records.requests[id][r.Attempt] = asked{r, at}
	if _, known := t.facts.asked[id][r.Attempt]; r.Released() && !known {
		in(t.facts.asked, id)[r.Attempt] = t.w.clock.Now()
	}
}

func (t *truth) signal(item store.Item, s store.Signal) {
	p, _ := item.Key.Principal()
	if t.records.signals[p] == nil {
		t.records.signals[p] = map[store.SignalValue]bool{}
	}
	if !t.records.signals[p][claim(s.Value)] {
		t.online(p, s.Value)
	}
	t.records.signals[p][claim(s.Value)] = true
	if t.records.last[p] != claim(s.Value) {
		t.records.last[p], t.records.lastAt[p] = claim(s.Value), t.w.clock.Now()
	}
}

// instance holds one applied write of an instance to its laws.
func (t *truth) instance(item store.Item, in store.Instance) {
	in.Principal, _ = item.Key.Principal()
	in.Version, in.ExpiresAt = item.Version, item.ExpiresAt
	was := t.records.instances[in.ID]
	t.records.instances[in.ID] = in
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
	was := t.records.status[st.ID]
	t.records.status[st.ID] = st
	t.w.transcript.status(was, st)
	t.coveredAnswer(was, st)
	if st.Phase != was.Phase || st.Attempt != was.Attempt {
		switch st.Phase {
		case statemachine.Ready:
			t.ready++
			in(t.facts.readyAt, st.ID)[st.Attempt] = t.w.clock.Now()
		case statemachine.Failed:
			t.failed++
		case statemachine.Pending, statemachine.PhaseReleased, statemachine.Unseen:
		}
	}
	for _, law := range statusLaws {
		law.check(t, was, st)
	}
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
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	var out []store.Item
	for _, item := range items {
		if all := t.written[item.Key]; len(all) > back {
			out = append(out, *all[len(all)-1-back])
		}
	}
	return out
}
