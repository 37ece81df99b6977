package page

import (
	"cmp"
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// model is what the pages show of one reading of the records. It is complete once built, and never changes.
type model struct {
	Records
	Now     time.Time
	readAt  time.Time // when the records were read; zero: never
	Problem string    // why they could not be read now; "": they could
	limits  statemachine.Limits
	stale   time.Duration

	vacancy string // since when no controller leads; "": one does
	Verdict verdict
	Waiting list[request] // the oldest first
	Working list[request] // the newest first, as the next two
	Over    list[request] // failed, or given back
	Ended   list[machine]
	Classes []class
	Living  int
	Pool    []savings

	instances map[store.InstanceID]*store.Instance
	held      map[store.RequestID][]*store.Instance // those that a request owns, ordered by id
}

// Known reports whether the records were ever read: if not, nothing is said of what there is.
func (m *model) Known() bool { return !m.readAt.IsZero() }

// list is the beginning of a list, and how long the rest is.
type list[T any] struct {
	Rows []T
	More int
}

// first keeps the first n.
func first[T any](all []T, n int) list[T] {
	n = min(n, len(all))
	return list[T]{all[:n], len(all) - n}
}

// trueFirst orders what is so before what is not.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// Len is the length of the whole list.
func (l list[T]) Len() int { return len(l.Rows) + l.More }

// How much of each list a page shows: what one scrolls through at all. `remuda status` lists everything.
const (
	maxWaiting = 50
	maxWorking = 30
	maxOver    = 15
	maxEnded   = 10
)

func (m *model) build(o Options) {
	m.instances = make(map[store.InstanceID]*store.Instance, len(m.Instances))
	m.held = map[store.RequestID][]*store.Instance{}
	for i := range m.Instances {
		in := &m.Instances[i]
		m.instances[in.ID] = in
		if in.State.Owned() {
			m.held[in.RunID] = append(m.held[in.RunID], in)
		}
	}
	for _, held := range m.held {
		slices.SortFunc(held, func(a, b *store.Instance) int { return cmp.Compare(a.ID, b.ID) })
	}
	var waiting, working, over []request
	for id, records := range m.Runs {
		if records.Request == nil && records.Status == nil {
			continue
		}
		switch r := newRequest(id, records); r.State {
		case waits:
			waiting = append(waiting, r)
		case works, leaves:
			working = append(working, r)
		case failed, gone:
			over = append(over, r)
		}
	}
	slices.SortFunc(waiting, func(a, b request) int { return cmp.Or(a.Begun.Time.Compare(b.Begun.Time), cmp.Compare(a.ID, b.ID)) })
	newest := func(a, b request) int { return cmp.Or(b.Changed.Time.Compare(a.Changed.Time), cmp.Compare(a.ID, b.ID)) }
	slices.SortFunc(working, newest)
	slices.SortFunc(over, newest)
	m.Waiting, m.Working, m.Over = first(waiting, maxWaiting), first(working, maxWorking), first(over, maxOver)
	for _, rows := range [][]request{m.Waiting.Rows, m.Working.Rows} {
		for i := range rows {
			rows[i].Waterfall = m.waterfall(rows[i])
		}
	}
	m.buildFleet()
	m.Pool = m.save()
	m.vacancy = o.Vacancy(m.Lease, m.readAt)
	m.Verdict = m.judge(o, over)
}

// The states in which a page shows a request.
type requestState string

const (
	waits  requestState = "waits"
	works  requestState = "ready"
	leaves requestState = "is given back"
	failed requestState = "failed"
	gone   requestState = "over"
)

// request is one request as lists show it.
type request struct {
	store.RunRecords
	ID      store.RequestID
	Attempt int
	State   requestState
	Class   string
	Wanted  int
	Counts  store.Counts
	Begun   store.Time // when it was taken up; before that, when it was written
	Changed store.Time // when it came into its state
	Reason  string     // for programs
	Why     string     // for people
	Since   store.Time // since when that is so; zero: not known

	Waterfall *waterfall // of the seat that decides when it is ready; nil: not known
}

// Look is the state for the style sheet.
func (r request) Look() string {
	switch r.State {
	case works:
		return "ready"
	case failed:
		return "failed"
	case waits, leaves, gone:
	}
	return "plain"
}

func newRequest(id store.RequestID, records store.RunRecords) request {
	r := request{RunRecords: records, ID: id, State: waits}
	if q := records.Request; q != nil {
		r.Attempt, r.Class, r.Wanted, r.Begun, r.Changed = q.Attempt, q.ResourceClass, q.Count, q.CreatedAt, q.CreatedAt
	}
	st := records.Status
	if st == nil || records.Request != nil && st.Attempt < r.Attempt {
		r.Why = "no controller has taken it up yet"
		return r
	}
	r.Attempt, r.Counts, r.Begun, r.Changed = st.Attempt, st.Counts, st.PendingAt, st.ChangedAt
	r.Wanted = cmp.Or(r.Wanted, st.Counts.Wanted)
	r.Reason, r.Why, r.Since = st.Reason, st.Message, st.ReasonSince
	switch {
	case st.Phase == statemachine.PhaseReleased:
		r.State, r.Changed = gone, st.ReleasedAt
	case st.Phase == statemachine.Failed:
		r.State, r.Changed = failed, st.FailedAt
	case records.Request != nil && records.Request.Released():
		r.State = leaves
	case st.Phase == statemachine.Ready:
		r.State, r.Changed = works, st.ReadyAt
	}
	return r
}
