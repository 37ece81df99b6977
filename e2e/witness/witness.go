// Package witness watches a running installation from outside, through its store, and holds what it
// sees against the lines of "what must never happen". It only reads.
package witness

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Witness remembers every version of every instance record it saw.
type Witness struct {
	store *store.Store
	grace time.Duration // an instance may outlive its threshold by so much

	looking sync.Mutex // held during a look: of two at once, the older would look like a step back

	mu         sync.Mutex
	last       map[store.InstanceID]store.Instance
	owned      map[store.InstanceID][]Ownership
	requests   map[store.RequestID]store.RunRequest
	statuses   map[store.RequestID]store.RunStatus
	violations []string
	said       map[string]bool
}

// Ownership is a time in which an instance belonged to a run.
type Ownership struct {
	Run      store.RequestID // "": it changed hands between two looks, so nobody may be accused
	From, To time.Time       // To zero: still
}

// New returns a witness of the installation that keeps its records in st. grace is how long past
// its threshold an instance may live.
func New(st *store.Store, grace time.Duration) *Witness {
	return &Witness{
		store: st, grace: grace, last: map[store.InstanceID]store.Instance{}, owned: map[store.InstanceID][]Ownership{},
		requests: map[store.RequestID]store.RunRequest{}, statuses: map[store.RequestID]store.RunStatus{}, said: map[string]bool{},
	}
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
	now := time.Now() // before the reading, which may take long: what is read is younger
	var instances []store.Instance
	err := w.store.Scan(ctx, store.Visitor{
		Instance: func(in store.Instance) { instances = append(instances, in) },
		Request: func(r store.RunRequest) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.requests[r.ID] = r
		},
		Status: func(s store.RunStatus) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.statuses[s.ID] = s
		},
		Bad: func(k store.Key, err error) { w.say("9: record %v cannot be read: %v", k, err) },
	})
	if err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	for _, in := range instances {
		w.see(in, now)
	}
	w.answers(now)
	return nil
}

// see judges one record against what was known of it.
func (w *Witness) see(in store.Instance, now time.Time) {
	w.mu.Lock()
	was, known := w.last[in.ID]
	w.last[in.ID] = in
	w.mu.Unlock()
	if in.State != statemachine.Terminated && now.After(in.Threshold.Add(w.grace)) {
		w.say("3: %s is %s %s past its threshold", in.ID, in.State, now.Sub(in.Threshold.Time).Round(time.Second))
	}
	if known && in.Version == was.Version {
		return
	}
	if known && (in.Version < was.Version || in.Assignment < was.Assignment) {
		w.say("9: %s went back from v%d to v%d", in.ID, was.Version, in.Version)
	}
	if known && !reachable(was, in) {
		w.say("9: %s went from %s to %s in %d writes", in.ID, was.State, in.State, in.Version-was.Version)
	}
	w.own(was, in)
}

// reachable reports whether the table leads from one record to a later one in as many steps as
// there were writes, or fewer: not every write is a transition.
func reachable(was, in store.Instance) bool {
	states := map[statemachine.State]bool{was.State: true}
	for range min(in.Version-was.Version, 10) {
		for s := range states {
			for _, r := range statemachine.Rules() {
				if r.From == s {
					states[r.To] = true
				}
			}
		}
	}
	return states[in.State]
}

// own keeps the history of owners, by the records' own times. Every change of hands counts the
// assignment up, so those that a slow witness missed show.
func (w *Witness) own(was, in store.Instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if was.Assignment == in.Assignment && was.RunID == in.RunID {
		return
	}
	h := w.owned[in.ID]
	if n := len(h); n > 0 && h[n-1].To.IsZero() {
		h[n-1].To = in.Since.Time
	}
	if in.Assignment > was.Assignment+1 {
		from := was.Since.Time
		if from.IsZero() {
			from = in.CreatedAt.Time
		}
		h = append(h, Ownership{From: from, To: in.Since.Time})
	}
	if in.RunID != "" {
		h = append(h, Ownership{Run: in.RunID, From: in.Since.Time})
	}
	w.owned[in.ID] = h
}

// answers holds every request to its deadline (line 7).
func (w *Witness) answers(now time.Time) {
	w.mu.Lock()
	statuses := make([]store.RunStatus, 0, len(w.statuses))
	for _, s := range w.statuses {
		statuses = append(statuses, s)
	}
	w.mu.Unlock()
	for _, s := range statuses {
		if s.Phase == statemachine.Pending && now.After(s.Deadline.Add(w.grace)) {
			w.say("7: request %s is Pending past its deadline", s.ID)
		}
	}
}

// Jobs holds every completed job to its run: on an instance of that run from beginning to end, and
// not cut short (lines 2 and 6), except for the runs of cut. GitHub learns late that a machine has died
// under a job, so such a job is only held to its beginning.
func (w *Witness) Jobs(jobs []githubsim.JobRecord, cut ...string) {
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
// before the record says running, and after it says claimed.
func (w *Witness) ownedBy(id store.InstanceID, j githubsim.JobRecord) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.owned[id], func(o Ownership) bool {
		inTime := o.To.IsZero() || !j.FinishedAt.After(o.To.Add(time.Millisecond)) ||
			j.Conclusion != githubsim.Success && !j.StartedAt.After(o.To)
		return (string(o.Run) == j.Label || o.Run == "") && !j.StartedAt.Before(o.From) && inTime
	})
}

// Known holds every living machine to a record (line 4).
func (w *Witness) Known(living []string) {
	w.mu.Lock()
	known := make(map[store.InstanceID]bool, len(w.last))
	for id := range w.last {
		known[id] = true
	}
	w.mu.Unlock()
	for _, id := range living {
		if !known[store.InstanceID(id)] {
			w.say("4: machine %s has no record", id)
		}
	}
}

// Instances returns the last record of each instance seen.
func (w *Witness) Instances() []store.Instance {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]store.Instance, 0, len(w.last))
	for _, in := range w.last {
		out = append(out, in)
	}
	slices.SortFunc(out, func(a, b store.Instance) int { return a.CreatedAt.Compare(b.CreatedAt.Time) })
	return out
}

// Say adds a violation found by somebody else.
func (w *Witness) Say(format string, args ...any) { w.say(format, args...) }

func (w *Witness) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.said[text] {
		w.said[text] = true
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
