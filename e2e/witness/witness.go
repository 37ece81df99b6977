// Package witness watches a running installation from outside, through its store, and holds what it
// sees against docs/architecture.md#invariants: each look against the one before by audit.Step, and what
// ran against the history of owners. It only reads.
package witness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Witness remembers the last version of every instance record it saw, and who owned the instance when.
type Witness struct {
	store *store.Store
	grace time.Duration // an instance may outlive its threshold by so much, and a request its deadline

	looking sync.Mutex // held during a look: of two at once, the older would look like a step back

	mu         sync.Mutex
	was        *audit.Snapshot
	last       map[store.InstanceID]store.Instance
	owned      map[store.InstanceID][]ownership
	violations []string
}

// ownership is a time in which an instance belonged to a run.
type ownership struct {
	run      store.RequestID // "": it changed hands between two looks, so nobody may be accused
	from, to time.Time       // to zero: still
	ended    bool            // at to, with its machine
}

// New returns a witness of the installation that keeps its records in st. grace is how long past
// its threshold an instance may live.
func New(st *store.Store, grace time.Duration) *Witness {
	return &Witness{
		store: st, grace: grace, was: &audit.Snapshot{}, last: map[store.InstanceID]store.Instance{}, owned: map[store.InstanceID][]ownership{},
	}
}

// Start watches the installation that keeps its records in a table every period, until the test ends, and closes that.
func Start(t testing.TB, table store.Table, grace, period time.Duration) *Witness {
	w := New(store.New(table), grace)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	watched := make(chan error, 1)
	go func() { watched <- w.Watch(ctx, period) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-watched, table.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// Watch looks every period until ctx ends.
func (w *Witness) Watch(ctx context.Context, period time.Duration) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		if err := w.Look(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Look reads everything once and judges it.
func (w *Witness) Look(ctx context.Context) error {
	w.looking.Lock()
	defer w.looking.Unlock()
	s, err := audit.Look(ctx, audit.Sources{Store: w.store}, time.Now()) // before the reading, which may take long: what is read is younger
	if err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	w.see(s)
	return nil
}

// see judges one look against the one before it.
func (w *Witness) see(s *audit.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range audit.Step(w.was, s, audit.Options{}) {
		if v.Invariant != "no-leader" { // a leader that comes between the reading of lease and records seems to write without one
			w.say("%d: %s %s", v.ID, v.Resource, v.Problem)
		}
	}
	w.was = s
	for _, b := range s.Bad {
		w.say("12: record %v cannot be read: %v", b.Key, b.Cause)
	}
	for _, r := range s.Instances {
		in := r.Instance
		if in.State != statemachine.Terminated && s.At.After(in.Threshold.Add(w.grace)) {
			w.say("3: %s is %s past its threshold", in.ID, in.State)
		}
		w.own(w.last[in.ID], in)
		w.last[in.ID] = in
	}
	for _, r := range s.Runs {
		if st := r.Status; st != nil && st.Phase == statemachine.Pending && s.At.After(st.Deadline.Add(w.grace)) {
			w.say("7: request %s is Pending past its deadline", r.ID)
		}
	}
}

// own keeps the history of owners, by the records' own times. Every change of hands counts the
// assignment up, so those that a slow witness missed show.
func (w *Witness) own(was, in store.Instance) {
	if was.Assignment == in.Assignment && was.RunID == in.RunID {
		return
	}
	h := w.owned[in.ID]
	if n := len(h); n > 0 && h[n-1].to.IsZero() {
		h[n-1].to, h[n-1].ended = in.Since.Time, in.State == statemachine.Terminated
	}
	if in.Assignment > was.Assignment+1 {
		from := was.Since.Time
		if from.IsZero() {
			from = in.CreatedAt.Time
		}
		h = append(h, ownership{from: from, to: in.Since.Time})
	}
	if in.RunID != "" {
		h = append(h, ownership{run: in.RunID, from: in.Since.Time})
	}
	w.owned[in.ID] = h
}

// Jobs holds every completed job to its run: on an instance of that run from beginning to end, and
// not cut short (lines 2 and 6), except for the runs of cut. GitHub learns late that a machine has died
// under a job, so such a job is only held to its beginning.
func (w *Witness) Jobs(jobs []githubsim.JobRecord, cut ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		if j.State != githubsim.Completed {
			continue
		}
		if j.InstanceID == "" && slices.Contains(cut, j.Label) {
			continue // cancelled while queued
		}
		if !w.ownedBy(store.InstanceID(j.InstanceID), j) {
			w.say("2: job %s of run %s ran on %q, which was not that run's all the time", j.Name, j.Label, j.InstanceID)
		}
		if j.Conclusion != githubsim.Success && !slices.Contains(cut, j.Label) {
			w.say("6: job %s on %s: %s %s", j.Name, j.InstanceID, j.Conclusion, j.Detail)
		}
	}
}

// ownedBy allows for the time between two looks: a job starts when the listener is online, which is
// before the record says running, and after it says claimed. A listener listens until its machine is down, which
// is after the record says so: a job that it takes then is cut short, and must be its own run's.
func (w *Witness) ownedBy(id store.InstanceID, j githubsim.JobRecord) bool {
	return slices.ContainsFunc(w.owned[id], func(o ownership) bool {
		inTime := o.to.IsZero() || !j.FinishedAt.After(o.to.Add(time.Millisecond)) ||
			j.Conclusion != githubsim.Success && (!j.StartedAt.After(o.to) || o.ended && j.StartedAt.Before(o.to.Add(w.grace)))
		return (string(o.run) == j.Label || o.run == "") && !j.StartedAt.Before(o.from) && inTime
	})
}

// Known holds every living machine to a record (line 4).
func (w *Witness) Known(living []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range living {
		if _, known := w.last[store.InstanceID(id)]; !known {
			w.say("4: machine %s has no record", id)
		}
	}
}

// Instances returns the last record of each instance seen, the oldest first.
func (w *Witness) Instances() []store.Instance {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.last), func(a, b store.Instance) int { return a.CreatedAt.Time.Compare(b.CreatedAt.Time) })
}

// Count counts the last records that want accepts.
func (w *Witness) Count(want func(store.Instance) bool) int {
	return len(slices.DeleteFunc(w.Instances(), func(in store.Instance) bool { return !want(in) }))
}

// Pooled accepts instances that a request can have.
func Pooled(in store.Instance) bool { return in.State == statemachine.Idle && !in.PooledAt.IsZero() }

// Gone accepts instances of which the fleet has confirmed the end.
func Gone(in store.Instance) bool {
	return in.State == statemachine.Terminated && !in.ExpiresAt.IsZero()
}

// Say adds a violation found by somebody else.
func (w *Witness) Say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.say(format, args...)
}

// say notes a violation once. The lock is held.
func (w *Witness) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.violations, text) {
		w.violations = append(w.violations, text)
	}
}

// Violations returns what was seen that must never happen, each once. The number is that of the
// line in docs/architecture.md#invariants.
func (w *Witness) Violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}
