package sim

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Current is the name of a law after H56 in docs/acceptance.md.
const Current = "H56 no outdated machine is handed out"

// Bounds of the laws below, at pace 1.
const (
	poolWithin  = 4 * time.Minute  // invariant 5: from clean to pooled: a fail-over, and a store that is down for a while
	outdatedFor = 10 * time.Minute // H56: a new template is noticed within it, whatever fails
	olderBy     = 5 * time.Second  // two requests of the same seconds are served in any order
)

// launched: a machine comes of a launch that was written down before (H01, H32), and only while those that came before
// it do not suffice (H02, H33). Launches that several requests share are not counted: nobody knows yet whose it is.
func (t *truth) launched(fm fleet.Machine) {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	l, known := t.records.launches[fm.LaunchToken]
	if !known {
		t.w.verdicts.broke(Known, "machine %s was launched as %s, of which there is no record", fm.ID, fm.LaunchToken)
		return
	}
	t.tokens[fm.ID] = fm.LaunchToken
	t.facts.counted(l)
	if len(l.Seats) != 1 {
		return
	}
	seat, good := l.Seats[0], 0
	for id, token := range t.tokens {
		other := t.records.launches[token]
		in, recorded := t.records.instances[store.InstanceID(id)]
		switch {
		case recorded && in.State.Owned() && in.RunID == seat.RequestID && in.Attempt == seat.Attempt:
			good++
		case !recorded && len(other.Seats) == 1 && other.Seats[0].RequestID == seat.RequestID && other.Seats[0].Attempt == seat.Attempt && t.w.machines.lives(id):
			good++
		}
	}
	if want := t.records.requests[seat.RequestID][seat.Attempt].Count; good > want {
		t.w.verdicts.broke(Needed, "%s is the %dth machine at once for %d seats of %s/%d", fm.ID, good, want, seat.RequestID, seat.Attempt)
	}
}

// patient: a machine that is online for a request is renewed while the others are awaited (H28), and goes back
// when the request is over (H25): its time does not pass. Where much goes wrong it may.
func (t *truth) patient(was, in store.Instance) {
	if in.Reason != statemachine.ReasonThreshold || was.State != statemachine.Claimed && was.State != statemachine.Created {
		return
	}
	online := store.SignalValue{Signal: store.RegOK, RunID: was.RunID, Assignment: was.Assignment}
	if t.records.last[was.Principal] == online && len(t.w.o.Rates) == 0 && !t.w.machines.isDisturbed(string(in.ID)) && !t.w.outages.wasDown() {
		t.w.verdicts.broke(HealthyLives, "%s was online for %s/%d and %s until its time was over", in.ID, was.RunID, was.Attempt, was.State)
	}
}

// retired: a record is given up once its machine is gone (H06).
func (t *truth) retired(was, in store.Instance) {
	_, known := t.w.fleet.Machine(string(in.ID))
	if was.ExpiresAt.IsZero() && !in.ExpiresAt.IsZero() && known && t.w.machines.lives(string(in.ID)) && !t.w.listings.missing(string(in.ID)) {
		t.w.verdicts.broke(Known, "the record of %s is given up, and its machine lives", in.ID)
	}
}

// current: no machine of an older template is claimed once that must be known (H56).
func (t *truth) current(was, in store.Instance) {
	if was.State != statemachine.Idle || in.State != statemachine.Claimed || t.facts.templateAt.IsZero() {
		return
	}
	if since := t.w.clock.Since(t.facts.templateAt); in.TemplateVersion != t.facts.template && since > t.w.o.paced(outdatedFor) {
		t.w.verdicts.broke(Current, "%s is of template %q and was claimed %s after %q took its place", in.ID, in.TemplateVersion, since, t.facts.template)
	}
}

// attempts: what a request is given is of its present attempt (H41).
func (t *truth) attempts(was, st store.RunStatus) {
	if st.Phase != statemachine.Ready || was.Phase == statemachine.Ready {
		return
	}
	for _, seat := range st.Instances {
		if in := t.records.instances[seat.InstanceID]; in.RunID == st.ID && in.Attempt != st.Attempt {
			t.w.verdicts.broke(OneOwner, "request %s/%d lists %s, which is of attempt %d", st.ID, st.Attempt, seat.InstanceID, in.Attempt)
		}
	}
}

// inLine: warm machines go to the oldest request that waits for such. Only clear cases count: an older request
// that asks for the same, for no more, and has not even a launch.
func (t *truth) inLine(was, st store.RunStatus) {
	if st.Phase != statemachine.Ready || was.Phase == statemachine.Ready || st.Attempt != 1 {
		return
	}
	mine := t.records.requests[st.ID][1]
	for _, seat := range st.Instances {
		if t.records.instances[seat.InstanceID].Assignment <= 1 {
			return // launched for it
		}
	}
	for id, older := range t.records.status {
		theirs := t.records.requests[id][1]
		if older.Phase != statemachine.Pending || older.Attempt != 1 || len(t.records.requests[id]) > 1 || theirs.Released() ||
			st.PendingAt.Sub(older.PendingAt.Time) < t.w.o.paced(olderBy) ||
			theirs.Count > mine.Count || theirs.ResourceClass != mine.ResourceClass ||
			!slices.Equal(theirs.UsageClasses, mine.UsageClasses) || !slices.Equal(theirs.AllowedInstanceTypes, mine.AllowedInstanceTypes) {
			continue
		}
		if !t.records.served(id) {
			t.w.verdicts.broke(Answered, "request %s got warm machines %s after %s, which waits for the same and has nothing", st.ID, st.PendingAt.Sub(older.PendingAt.Time), id)
		}
	}
}

// reachable: what is clean is pooled soon (H16, H17).
func (t *truth) reachable() {
	now := t.w.clock.Now()
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	for id, in := range t.records.instances {
		clean := store.SignalValue{Signal: store.RemoveOK, RunID: in.RunID, Assignment: in.Assignment}
		if in.State != statemachine.Idle || !in.PooledAt.IsZero() || t.records.last[in.Principal] != clean {
			continue
		}
		if over := now.Sub(t.records.lastAt[in.Principal].Add(t.w.o.paced(poolWithin))); over > 0 && over <= t.w.o.paced(patrolEvery) {
			t.w.verdicts.broke(Reachable, "%s is clean for %s and not pooled", id, over+t.w.o.paced(poolWithin))
		}
	}
}
