package sim

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// truth is the table below all gates. It sees each write as it takes effect, records it, and holds it to the laws. It takes the lock
// of the records around the write below, which never waits.
type truth struct {
	store.Table

	w       *World
	records *records
	facts   *facts
	written map[store.Key][]*store.Item // the last writes of each item, the newest last

	// The laws, by subject, and which of them each write of an instance or a status is held to.
	terms      *terms
	tables     *tables
	owners     *owners
	lifetimes  *lifetimes
	demand     *demand
	pooling    *pooling
	justice    *justice
	handover   *handover
	prompt     *promptness
	auditor    *auditor
	runs       *runLaws
	floors     *floorLaws
	money      *moneyLaws
	warm       *warmLaws
	acts       *actLaws
	ofInstance []func(was, in store.Instance)
	ofStatus   []func(was, st store.RunStatus)

	ready    int
	failed   int
	coverage Coverage
}

func newTruth(w *World, table store.Table) *truth {
	r := newRecords()
	f, terms, owners := newFacts(w, r), newTerms(w, r), newOwners(w, r)
	floors := newFloorLaws(w, r, f)
	t := &truth{
		Table: table, w: w, records: r, facts: f, written: map[store.Key][]*store.Item{},
		terms: terms, tables: &tables{w, r}, owners: owners, lifetimes: &lifetimes{w, r, f, terms}, demand: newDemand(w, r, f, floors),
		pooling: &pooling{w, r, f}, justice: &justice{w: w, records: r, facts: f, terms: terms, floors: floors}, handover: newHandover(w, r, f),
		prompt: newPromptness(w, r, f, terms, owners), auditor: newAuditor(w, r, table), runs: newRunLaws(w, r, f), floors: floors, money: newMoneyLaws(w, r),
		coverage: Coverage{Edges: map[Edge]int{}, Orders: map[Order]int{}, last: map[string]written{}},
	}
	t.warm, t.acts = newWarmLaws(w, r, floors, owners), newActLaws(w, t.runs)
	t.ofInstance, t.ofStatus = t.instanceLaws(), t.statusLaws()
	return t
}

// Put implements store.Table.
func (t *truth) Put(ctx context.Context, item store.Item, expect int64) error {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	err := t.Table.Put(ctx, item, expect)
	t.terms.signed(ctx, item, err == nil)
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
	case store.KindHeartbeat:
		if t.w.o.Ahead > 0 {
			note(t, item, func(item store.Item, h store.Heartbeat) {
				p, _ := item.Key.Principal()
				t.records.listening[p], t.records.beats[p] = h.Beat.Listening, h
			})
		}
	case store.KindRunRequest:
		note(t, item, t.request)
	case store.KindLaunch:
		note(t, item, func(item store.Item, l store.Launch) {
			_, l.Token, _ = strings.Cut(item.Key.Partition, "#")
			_, known := t.records.launches[l.Token]
			t.w.transcript.launch(known, l)
			t.records.launches[l.Token] = l
			if !known {
				t.pooling.warmFirst(l)
			}
			t.demand.launchedNeeded(l)
		})
	case store.KindRunClient:
		note(t, item, t.facts.client)
	case store.KindDrain:
		note(t, item, t.facts.drainOrdered)
	case store.KindLease:
		t.money.said(item)
		note(t, item, func(_ store.Item, l store.Lease) {
			t.w.transcript.lease(t.records.lease, l)
			t.terms.lapsed(t.records.lease, l)
			t.terms.leads(t.records.lease, l)
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
	r.ID, r.Version, r.ExpiresAt = id, item.Version, item.ExpiresAt
	was := t.records.latest(id)
	t.w.transcript.request(id, was.RunRequest, r)
	t.runs.asked(was, r)
	t.runs.givenBack(was, r)
	t.records.ask(id, r, t.w.clock.Now())
	t.w.history.asks(id, r) // a client said so before; the controller does not
	if _, known := t.facts.asked[id][r.Attempt]; r.Released() && !known {
		in(t.facts.asked, id)[r.Attempt] = t.w.clock.Now()
	}
}

func (t *truth) signal(item store.Item, s store.Signal) {
	p, _ := item.Key.Principal()
	said := claim(s.Value)
	if !t.records.signals[p][said] {
		t.handover.online(p, s.Value)
	}
	in(t.records.signals, p)[said] = true
	if t.records.last[p] != said {
		t.records.last[p], t.records.lastAt[p] = said, t.w.clock.Now()
	}
}

// instance holds one applied write of an instance to its laws.
func (t *truth) instance(item store.Item, in store.Instance) {
	in.Principal, _ = item.Key.Principal()
	in.Version, in.ExpiresAt = item.Version, item.ExpiresAt
	was := t.records.instances[in.ID]
	t.records.instances[in.ID] = in
	t.w.transcript.instance(was, in)
	t.terms.claimed(was, in)
	t.coverage.instance(was, in)
	for _, law := range t.ofInstance {
		law(was, in)
	}
}

// answer holds one applied write of a status to its laws.
func (t *truth) answer(item store.Item, st store.RunStatus) {
	st.ID, _ = item.Key.RequestID()
	st.Version, st.ExpiresAt = item.Version, item.ExpiresAt
	was := t.records.status[st.ID]
	t.records.status[st.ID] = st
	t.w.transcript.status(was, st)
	t.coverage.status(was, st)
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
	for _, law := range t.ofStatus {
		law(was, st)
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
