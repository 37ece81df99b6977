package reconciler_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// instances returns every instance record as it was last written.
func (a *auditor) instances() map[store.InstanceID]store.Instance {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make(map[store.InstanceID]store.Instance, len(a.last))
	for _, in := range a.last {
		out[in.ID] = in
	}
	return out
}

// owned reports whether run owned the instance through the whole time.
func (a *auditor) owned(id store.InstanceID, run string, from, to time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.history[id], func(o ownership) bool {
		return string(o.run) == run && !from.Before(o.from) && (o.to.IsZero() || !to.After(o.to))
	})
}

// owners returns how many runs owned the instance, one after the other.
func (a *auditor) owners(id store.InstanceID) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.history[id])
}

// launchedFor returns how many machines came for one attempt.
func (a *auditor) launchedFor(id store.RequestID, attempt int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, l := range a.launches {
		for _, s := range l.Seats {
			if s.RequestID == id && s.Attempt == attempt {
				n += len(s.Instances)
			}
		}
	}
	return n
}

// checkAudit holds the end of a story to the laws that single writes do not show.
func (w *world) checkAudit() {
	stored := map[store.InstanceID]statemachine.State{}
	err := w.store.Scan(context.Background(), store.Visitor{
		Instance: func(in store.Instance) { stored[in.ID] = in.State },
		Bad: func(k store.Key, err error) {
			if !errors.Is(err, store.ErrExpiry) { // which a test wrote
				w.t.Errorf("bad record %v: %v", k, err)
			}
		},
	})
	if err != nil {
		w.t.Errorf("read back: %v", err)
	}
	noted := map[store.InstanceID]statemachine.State{}
	for id, in := range w.instances() {
		if w.erased[id] {
			continue
		}
		if in.ExpiresAt.IsZero() || w.clock.Now().Before(in.ExpiresAt) {
			noted[id] = in.State
		}
	}
	if !maps.Equal(stored, noted) {
		w.t.Errorf("the store has %v, written were %v", stored, noted)
	}
	w.audit.mu.Lock()
	requests := maps.Clone(w.audit.requests)
	w.audit.mu.Unlock()
	for id, attempts := range requests {
		for n, r := range attempts {
			if got := w.audit.launchedFor(id, n); got > reconciler.LaunchBudget(r.Count) { // invariant 8
				w.t.Errorf("%d machines were launched for %d seats of %s/%d", got, r.Count, id, n)
			}
		}
	}
	if twice := w.hub.NamesUsedTwice(); len(twice) > 0 { // H37
		w.t.Errorf("runner names used twice: %v", twice)
	}
}

// How long a machine may live past its time (invariant 3), and how long without a record (invariant 4).
const (
	lateAfter   = 2 * time.Minute
	strangerFor = 4 * time.Minute // Orphan, a few sweeps, and a slow launch
)

// patrol looks at all machines every few seconds as long as the world exists.
func (w *world) patrol() {
	w.running.Add(1)
	go func() {
		defer w.running.Done()
		for {
			select {
			case <-w.ended:
				return
			case <-w.clock.After(5 * time.Second):
				w.checkMachines()
			}
		}
	}()
}

// checkMachines holds every living machine to its time.
func (w *world) checkMachines() {
	now := w.clock.Now()
	records := w.instances()
	for _, id := range w.fleet.Alive() {
		w.mu.Lock()
		exempt := w.exempt[id]
		w.mu.Unlock()
		if exempt {
			continue
		}
		m, _ := w.fleet.Machine(id)
		in, known := records[store.InstanceID(id)]
		var end time.Time
		switch {
		case !known:
			end = m.LaunchedAt.Add(strangerFor)
		case in.State == statemachine.Terminated:
			end = in.Since.Add(lateAfter)
		default:
			end = in.Threshold.Add(lateAfter)
		}
		if now.After(end) {
			w.t.Errorf("machine %s (%s) outlived its time by %s", id, in.State, now.Sub(end))
		}
	}
}

// checkJobs holds every job that ran to the rules: on an instance of its own run, from beginning to
// end, and not killed unless the test did it (S15, H31, H38).
func (w *world) checkJobs(killed ...string) {
	w.t.Helper()
	for _, j := range w.hub.Jobs() {
		if j.State != githubsim.Completed || slices.Contains(killed, j.ID) {
			continue
		}
		if j.Conclusion != githubsim.Success {
			w.t.Errorf("job %s on %s: %s: %s", j.ID, j.InstanceID, j.Conclusion, j.Detail)
		}
		if !w.audit.owned(store.InstanceID(j.InstanceID), j.Label, j.StartedAt, j.FinishedAt) {
			w.t.Errorf("job %s of run %s ran on %s, which was not that run's all the time", j.ID, j.Label, j.InstanceID)
		}
	}
}

// checkDrained waits until nothing is left: no machine, no open record, no runner at GitHub.
func (w *world) checkDrained(limit time.Duration) {
	w.t.Helper()
	w.await(limit, "everything gone", func() bool {
		if len(w.fleet.Alive()) > 0 {
			return false
		}
		for _, in := range w.instances() {
			if in.State != statemachine.Terminated || in.ExpiresAt.IsZero() {
				return false
			}
		}
		runners, err := w.hub.Runners(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		return len(runners) == 0
	})
}
