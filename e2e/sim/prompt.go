package sim

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Laws on what must happen soon where nothing is out of order (truth.late), and on warm machines.
const (
	Soon   = "what is due happens soon"
	Served = "a request that can be served is"
	Warm   = "a warm machine that fits is claimed before any is launched"
)

// Bounds at pace 1, from what docs/architecture.md says of each way, with room for a second try.
const (
	acceptedWithin = 5 * time.Second  // a request that was notified
	releasedWithin = 20 * time.Second // from the release, or the end of its last job, to Released
	cleanWithin    = 45 * time.Second // from there to the pool: listener stopped, scrubbed, said, read
	goneWithin     = 75 * time.Second // from a machine's end to its record's: two looks at the fleet
	endedWithin    = 40 * time.Second // from a record's end to the machine's: a repeated call
	labelledWithin = 5 * time.Second  // from a claim, or the beginning of a term, to the claim's registration
	dismissWithin  = 75 * time.Second // from an order, or another template, to the end of who is idle
	serveWithin    = 2 * time.Minute  // from asking for what the fleet has to Ready, and two boots
	lainFor        = 5 * time.Second  // a machine that lies in the pool for so long, or that much longer, may be claimed
)

// soon holds what has not happened to its bound.
func (t *truth) soon() {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	if t.w.outages.storeIsDown() {
		t.facts.writable = t.w.clock.Now()
	}
	for id := range t.records.requests {
		t.soonAnswered(id)
		t.soonReleased(id)
	}
	for _, in := range t.records.instances {
		t.soonOf(in)
	}
}

// soonAnswered: a request is taken up at once, and served as soon as a machine boots, if the fleet has one.
func (t *truth) soonAnswered(id store.RequestID) {
	r, waits := t.facts.waits(id)
	if !waits {
		return
	}
	if t.records.status[id].Attempt < r.Attempt && t.w.disturbances.late(r.at, acceptedWithin) {
		t.w.verdicts.once(Soon, string(id), "request %s/%d is not taken up %s after it was written", id, r.Attempt, t.w.clock.Since(r.at))
	}
	if t.hinder(id, r) {
		t.hindered[id] = t.w.clock.Now()
	}
	if since := later(r.at, t.hindered[id]); t.w.disturbances.late(since.Add(2*t.w.o.Boot), serveWithin) {
		t.w.verdicts.once(Served, string(id), "request %s/%d waits for %s, and nothing has kept it from being served for %s",
			id, r.Attempt, t.w.clock.Since(r.at), t.w.clock.Since(since))
	}
}

// hinder reports whether something of the world may keep a request from being served, besides what is out of order.
func (t *truth) hinder(id store.RequestID, r asked) bool {
	if t.w.o.NeverBoots > 0 || t.w.o.JITLapse > 0 || t.w.o.ItemLimit > 0 || !t.roomy(id, r.RunRequest) || !t.w.workflows.waitsFor(id, r.Attempt) {
		return true
	}
	for _, in := range t.records.instances {
		if in.RunID == id && in.Attempt < r.Attempt {
			return true // what an older attempt holds goes back first
		}
		if in.RunID == id && t.w.machines.isDisturbed(string(in.ID)) {
			return true
		}
	}
	return t.taken(id, r)+r.Count > t.w.supervisor.config().MaxInstances
}

// taken counts what takes room below the cap from a request: older ones that wait, whole, and machines but its own, those that
// it may have, and those that a younger one that waits must give back to it.
func (t *truth) taken(id store.RequestID, r asked) int {
	n, mine := 0, t.facts.query(r.RunRequest)
	for other := range t.records.requests {
		if o, waits := t.facts.waits(other); waits && other != id && !o.at.After(r.at) {
			n += o.Count
		}
	}
	for _, m := range t.w.fleet.Alive() {
		in := t.records.instances[store.InstanceID(m)]
		o, waits := t.facts.waits(in.RunID)
		younger := waits && in.Attempt == o.Attempt && o.at.After(r.at) && in.State != statemachine.Running
		if in.RunID != id && !(mine.Matches(ticketOf(in)) && (younger || in.State == statemachine.Idle)) {
			n++
		}
	}
	return n
}

func ticketOf(in store.Instance) pool.Ticket {
	return pool.Ticket{
		InstanceID: string(in.ID), UsageClass: in.UsageClass, InstanceType: in.InstanceType, CPU: in.CPU,
		Mem: in.Mem, ResourceClass: in.ResourceClass, Threshold: in.Threshold.Time,
	}
}

// soonReleased: what was given back is Released as soon as no job of it runs.
func (t *truth) soonReleased(id store.RequestID) {
	r, st := t.records.latest(id), t.records.status[id]
	at := t.facts.givenBack(id, r.Attempt)
	if at.IsZero() || !r.Released() || st.Phase == statemachine.PhaseReleased || !st.ExpiresAt.IsZero() {
		return
	}
	for _, in := range t.records.instances {
		if in.RunID == id && t.w.machines.isDisturbed(string(in.ID)) {
			return // its silence decides
		}
	}
	due := later(at, t.facts.lastJob(id))
	if hurried := t.facts.hurried[id][r.Attempt]; !hurried.IsZero() && hurried.Before(due) {
		due = hurried
	}
	if t.w.disturbances.late(due, releasedWithin) {
		t.w.verdicts.once(Soon, "release "+string(id), "request %s/%d was given back %s ago, no job is waited for, and it is %s", id, r.Attempt, t.w.clock.Since(at), st.Phase)
	}
}

// soonOf: an instance goes on to where it must be.
func (t *truth) soonOf(in store.Instance) {
	m, known := t.w.fleet.Machine(string(in.ID))
	if !known {
		return
	}
	lives := t.w.machines.lives(string(in.ID))
	switch {
	case in.State == statemachine.Terminated:
		if lives && t.w.disturbances.late(in.Since.Add(2*t.w.clocks.skew()), endedWithin) && t.w.since() > t.w.outages.refusals()+t.w.o.paced(endedWithin) {
			t.w.verdicts.once(Soon, "end "+m.ID, "%s is terminated and its machine lives %s later", in.ID, t.w.clock.Since(in.Since.Time))
		}
	case !lives:
		if died := t.w.machines.diedAt(m.ID); t.w.disturbances.late(died, goneWithin) {
			t.w.verdicts.once(Soon, "gone "+m.ID, "%s (%s) has no machine since %s", in.ID, in.State, t.w.clock.Since(died))
		}
	case in.State == statemachine.Claimed && in.Registration.Assignment != in.Assignment && !t.w.machines.isDisturbed(m.ID):
		claimed := t.history[in.ID][len(t.history[in.ID])-1].from
		led := t.w.clock.Since(t.renewed) < t.w.supervisor.config().LeaseTTL/2
		if led && t.w.disturbances.overdue(later(claimed, t.ledSince), t.w.o.paced(labelledWithin), t.w.disturbances.succeedsSince()) {
			t.w.verdicts.once(Soon, "registration "+m.ID, "%s is claimed for %s/%d and waits for its registration %s later", in.ID, in.RunID, in.Attempt, t.w.clock.Since(claimed))
		}
	case in.State != statemachine.Idle || t.w.machines.isDisturbed(m.ID):
	case in.PooledAt.IsZero():
		if t.w.disturbances.late(in.Since.Add(2*t.w.clocks.skew()), cleanWithin) && !t.draining(in) {
			t.w.verdicts.once(Soon, "clean "+m.ID, "%s is idle and not pooled %s later", in.ID, t.w.clock.Since(in.Since.Time))
		}
	default:
		for _, o := range t.facts.orders {
			if o.names(in) && m.LaunchedAt.Before(o.at) && t.w.disturbances.late(later(o.at, in.Since.Add(2*t.w.clocks.skew())), dismissWithin) {
				t.w.verdicts.once(Soon, "order "+m.ID, "%s is idle %s after order %s", in.ID, t.w.clock.Since(o.at), o.ID)
			}
		}
		if !t.facts.templateAt.IsZero() && in.TemplateVersion != t.facts.template && t.w.disturbances.late(later(t.facts.templateAt, in.Since.Add(2*t.w.clocks.skew())), dismissWithin) {
			t.w.verdicts.once(Soon, "template "+m.ID, "%s is idle %s after template %q took the place of its own", in.ID, t.w.clock.Since(t.facts.templateAt), t.facts.template)
		}
	}
}

// draining reports whether a job runs on a machine that is idle already: it was cancelled, or its run was given back under it.
func (t *truth) draining(in store.Instance) bool {
	return slices.ContainsFunc(t.w.hub.Jobs(), func(j githubsim.JobRecord) bool {
		return j.InstanceID == string(in.ID) && (j.State != githubsim.Completed || t.w.clock.Since(j.FinishedAt) < t.w.o.paced(cleanWithin))
	})
}

// warmFirst: nothing is launched for a request while a machine that it may have lies in the pool, which nobody else waits for.
func (t *truth) warmFirst(l store.Launch) {
	now := t.w.clock.Now()
	if !t.w.disturbances.calm() {
		return // the leader may not have looked yet
	}
	for id := range t.records.requests {
		_, waits := t.facts.waits(id)
		if waits && !slices.ContainsFunc(l.Seats, func(s store.LaunchSeat) bool { return s.RequestID == id }) {
			return // it may be kept for that one
		}
	}
	for _, s := range l.Seats {
		r := t.records.requests[s.RequestID][s.Attempt]
		q := t.facts.query(r.RunRequest)
		for _, in := range t.records.instances {
			if t.lies(in, now) && q.Matches(ticketOf(in)) {
				t.w.verdicts.broke(Warm, "%d machines are launched for %s/%d while %s, which fits, lies in the pool for %s", l.Count, s.RequestID, s.Attempt, in.ID, now.Sub(in.PooledAt.Time))
			}
		}
	}
}

// lies reports whether an instance lies in the pool, and can be had.
func (t *truth) lies(in store.Instance, now time.Time) bool {
	if in.State != statemachine.Idle || in.PooledAt.IsZero() || t.w.machines.isDisturbed(string(in.ID)) || !t.w.machines.lives(string(in.ID)) || t.facts.dismissed(in) {
		return false
	}
	return now.Sub(in.PooledAt.Time) > t.w.o.paced(lainFor)+2*t.w.clocks.skew() && in.Threshold.Sub(now) > t.w.o.paced(lainFor)+2*t.w.clocks.skew()
}

// roomy reports whether the fleet has had room for a request for so long that no refusal of before keeps it from asking.
func (t *truth) roomy(id store.RequestID, r store.RunRequest) bool {
	if !slices.ContainsFunc(t.facts.specs(r), t.w.fleet.Unbounded) {
		t.cramped[id] = t.w.clock.Now()
	}
	return t.w.clock.Since(t.cramped[id]) > t.w.o.paced(settles)
}
