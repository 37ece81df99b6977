package reconciler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// auditor stands in front of the store, holds every write that was applied to the invariants of docs/architecture.md#invariants,
// and remembers who owned what when. It holds its lock over the write below, which therefore must not
// wait on the clock: what is slow goes in front of it.
type auditor struct {
	store.Table
	t      testing.TB
	now    func() time.Time
	limits *statemachine.Limits
	harmed func(store.InstanceID) bool // whether somebody hurt the machine

	down atomic.Bool // the store takes no writes, of nobody
	open atomic.Bool // there are agents without a key

	mu       sync.Mutex
	last     map[store.Key]store.Instance
	status   map[store.RequestID]store.RunStatus
	requests map[store.RequestID]map[int]store.RunRequest // by attempt
	launches map[string]store.Launch
	signals  map[store.Principal]map[store.SignalValue]bool // ever reported, without serial and detail
	secrets  map[string]string                              // whose it is
	history  map[store.InstanceID][]ownership
	excused  map[string]bool // reasons for which unharmed machines may end in this test
}

// ownership is one assignment of an instance to a run.
type ownership struct {
	run      store.RequestID
	from, to time.Time // to zero: still
}

func newAuditor(t testing.TB, table store.Table, now func() time.Time) *auditor {
	return &auditor{
		Table: table, t: t, now: now, last: map[store.Key]store.Instance{}, status: map[store.RequestID]store.RunStatus{},
		requests: map[store.RequestID]map[int]store.RunRequest{}, launches: map[string]store.Launch{},
		signals: map[store.Principal]map[store.SignalValue]bool{}, secrets: map[string]string{},
		history: map[store.InstanceID][]ownership{}, excused: map[string]bool{},
	}
}

// excuse lets unharmed machines end for these reasons: the test is about them.
func (a *auditor) excuse(reasons ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range reasons {
		a.excused[r] = true
	}
}

func (a *auditor) Put(ctx context.Context, item store.Item, expect int64) error {
	if a.down.Load() {
		return fmt.Errorf("put: %w", store.ErrUnavailable)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.Table.Put(ctx, item, expect)
	if err != nil {
		return err
	}
	switch item.Key.Sort {
	case store.KindInstance:
		note(a, item, a.instance)
	case store.KindRunStatus:
		note(a, item, a.answer)
	case store.KindSignal:
		note(a, item, a.signal)
	case store.KindRunRequest:
		note(a, item, a.request)
	case store.KindLaunch:
		note(a, item, func(item store.Item, l store.Launch) { a.launches[item.Key.Partition] = l })
	}
	return nil
}

// note decodes one applied write for its law.
func note[R any](a *auditor, item store.Item, law func(store.Item, R)) {
	var r R
	if err := json.Unmarshal(item.Attributes, &r); err != nil {
		a.t.Errorf("audit %v: %v", item.Key, err)
		return
	}
	law(item, r)
}

func (a *auditor) request(item store.Item, r store.RunRequest) {
	id, _ := item.Key.RequestID()
	if a.requests[id] == nil {
		a.requests[id] = map[int]store.RunRequest{}
	}
	a.requests[id][r.Attempt] = r
}

func (a *auditor) signal(item store.Item, s store.Signal) {
	p, _ := item.Key.Principal()
	if a.signals[p] == nil {
		a.signals[p] = map[store.SignalValue]bool{}
	}
	a.signals[p][store.SignalValue{Signal: s.Value.Signal, RunID: s.Value.RunID, Assignment: s.Value.Assignment}] = true
}

// answer holds a status to the table of phases (S80).
func (a *auditor) answer(item store.Item, st store.RunStatus) {
	id, _ := item.Key.RequestID()
	was := a.status[id]
	a.status[id] = st
	switch {
	case st.Attempt < was.Attempt:
		a.t.Errorf("request %s: attempt %d after %d", id, st.Attempt, was.Attempt)
	case st.Attempt > was.Attempt:
		if st.Phase != statemachine.Pending {
			a.t.Errorf("request %s: attempt %d begins as %s", id, st.Attempt, st.Phase)
		}
	case st.Phase != was.Phase && !slices.ContainsFunc(statemachine.RequestRules(), func(r statemachine.RequestRule) bool {
		return r.From == was.Phase && r.To == st.Phase
	}):
		a.t.Errorf("request %s: %s -> %s is no edge of the table", id, was.Phase, st.Phase)
	}
	if want := a.requests[id][st.Attempt].Count; st.Phase == statemachine.Ready && len(st.Instances) != want {
		a.t.Errorf("request %s is Ready with %d of %d instances", id, len(st.Instances), want)
	}
	if st.Phase == statemachine.Failed && (st.Reason == "" || st.Message == "") {
		a.t.Errorf("request %s failed without a reason: %+v", id, st)
	}
	if st.Phase == statemachine.ReleasedPhase {
		for _, in := range a.last {
			if in.RunID == id {
				a.t.Errorf("request %s is Released and holds %s", id, in.ID)
			}
		}
	}
}

// instance holds one applied write of an instance to the table and the laws of its fields.
func (a *auditor) instance(item store.Item, in store.Instance) {
	was := a.last[item.Key]
	p, _ := item.Key.Principal()
	in.Principal, in.Version, in.ExpiresAt = p, item.Version, item.ExpiresAt
	a.last[item.Key] = in
	if was.State != in.State && !edge(was.State, in.State) { // S02
		a.t.Errorf("%s: %s -> %s is no edge of the table", in.ID, was.State, in.State)
	}
	a.threshold(was, in)
	a.owner(was, in)
	a.secret(in)
	said := func(name store.SignalName) bool {
		return a.signals[p][store.SignalValue{Signal: name, RunID: in.RunID, Assignment: in.Assignment}]
	}
	switch {
	case was.State != statemachine.Running && in.State == statemachine.Running && !said(store.RegOK): // S04 S07 S40
		a.t.Errorf("%s: handed over to %s without a report of its listener", in.ID, in.RunID)
	case was.PooledAt.IsZero() && !in.PooledAt.IsZero() && !said(store.RemoveOK): // S09 S41 S82 H18
		a.t.Errorf("%s: pooled without a report of being clean", in.ID)
	case was.State != statemachine.Terminated && in.State == statemachine.Terminated:
		a.ending(in)
	}
}

// threshold: within its limit, and no transition after the old one but to the end (S19 S24).
func (a *auditor) threshold(was, in store.Instance) {
	if in.State == statemachine.Terminated || was.Threshold.Equal(in.Threshold) && was.State == in.State {
		return
	}
	if was.State != statemachine.None && !was.Threshold.After(in.ChangedAt.Time) {
		a.t.Errorf("%s: %s -> %s %s past its threshold", in.ID, was.State, in.State, in.ChangedAt.Sub(was.Threshold.Time))
	}
	limit := a.limits.For(in.State)
	if in.State == statemachine.Running {
		limit = a.requests[in.RunID][in.Attempt].MaxRuntime.Duration()
	}
	got := in.Threshold.Sub(in.ChangedAt.Time)
	exact := was.State != in.State && in.State != statemachine.Running // refilled seats run for the rest of the run's time
	if got > limit || got <= 0 || exact && got != limit {
		a.t.Errorf("%s: %s -> %s with a threshold in %s, want %s", in.ID, was.State, in.State, got, limit)
	}
	if st := a.status[in.RunID]; in.State == statemachine.Running && st.Attempt == in.Attempt && st.Phase == statemachine.Ready {
		if late := in.Threshold.Sub(st.ReadyAt.Add(limit)); late > 0 { // S31
			a.t.Errorf("%s: refills a seat of %s for %s longer than the run may take", in.ID, in.RunID, late)
		}
	}
}

// owner: from nobody to one run and back, with a new assignment each time (S05 S06 S68 H40).
func (a *auditor) owner(was, in store.Instance) {
	if was.RunID == in.RunID && was.Assignment == in.Assignment {
		return
	}
	if in.Assignment != was.Assignment+1 {
		a.t.Errorf("%s: run %q -> %q with assignment %d -> %d", in.ID, was.RunID, in.RunID, was.Assignment, in.Assignment)
	}
	if was.RunID != "" && in.RunID != "" {
		a.t.Errorf("%s: passed from run %s to run %s without being free", in.ID, was.RunID, in.RunID)
	}
	h := a.history[in.ID]
	if len(h) > 0 && h[len(h)-1].to.IsZero() {
		h[len(h)-1].to = a.now()
	}
	if in.RunID != "" {
		h = append(h, ownership{run: in.RunID, from: a.now()})
	}
	a.history[in.ID] = h
}

// secret: only for the present assignment of an owned instance, and of no other (invariant 10 H43).
func (a *auditor) secret(in store.Instance) {
	r := in.Registration
	if r.Secret == "" {
		return
	}
	if !r.Sealed() && !a.open.Load() {
		a.t.Errorf("%s: the secret of %s can be read by whoever reads its record", in.ID, r.Name)
	}
	if !in.State.Owned() || r.Assignment != in.Assignment {
		a.t.Errorf("%s is %s in assignment %d and keeps the secret of assignment %d", in.ID, in.State, in.Assignment, r.Assignment)
	}
	mine := fmt.Sprintf("%s/%d", in.ID, r.Serial)
	if other, known := a.secrets[r.Secret]; known && other != mine {
		a.t.Errorf("the secret of %s was given to %s too", other, mine)
	}
	a.secrets[r.Secret] = mine
}

// ending: nothing healthy dies because something else failed (invariant 6).
func (a *auditor) ending(in store.Instance) {
	switch in.Reason {
	case statemachine.ReasonThreshold, statemachine.ReasonDismissed, reconciler.ReasonOver:
		return
	case "":
		a.t.Errorf("%s was terminated without a reason", in.ID)
		return
	}
	if !a.excused[in.Reason] && !a.harmed(in.ID) {
		a.t.Errorf("%s was healthy and was terminated: %s", in.ID, in.Reason)
	}
}

func edge(from, to statemachine.State) bool {
	return slices.ContainsFunc(statemachine.Rules(), func(r statemachine.Rule) bool { return r.From == from && r.To == to })
}
