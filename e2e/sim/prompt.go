package sim

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Laws on what must happen soon where nothing is out of order (disturbances.late).
const (
	Soon   = "what is due happens soon"
	Served = "a request that can be served is"
)

// Bounds at pace 1, from what docs/architecture.md says of each way, with room for a second try.
const (
	answerAfter    = 2 * time.Minute  // invariant 7, past its time-out: clocks are off by up to a minute
	acceptedWithin = 5 * time.Second  // a request that was notified
	releasedWithin = 20 * time.Second // from the release, or the end of its last job, to Released
	cleanWithin    = 45 * time.Second // from there to the pool: listener stopped, scrubbed, said, read
	goneWithin     = 75 * time.Second // from a machine's end to its record's: two looks at the fleet
	endedWithin    = 40 * time.Second // from a record's end to the machine's: a repeated call
	retiredWithin  = 3 * time.Minute  // from the end of both to the record's being given up
	labelledWithin = 5 * time.Second  // from a claim, or the beginning of a term, to the claim's registration
	dismissWithin  = 75 * time.Second // from an order, or another template, to the end of who is idle
	serveWithin    = 2 * time.Minute  // from asking for what the fleet has to Ready, and two boots
)

// promptness are the laws on what must happen within a time.
type promptness struct {
	w       *World
	records *records
	facts   *facts
	terms   *terms
	owners  *owners

	leadable time.Time                     // since when the store has let somebody lead
	hindered map[store.RequestID]time.Time // when something last kept a pending request from being served
	cramped  map[store.RequestID]time.Time // when the fleet last had bounds wherever a request may be served
}

func newPromptness(w *World, r *records, f *facts, t *terms, o *owners) *promptness {
	return &promptness{w: w, records: r, facts: f, terms: t, owners: o, hindered: map[store.RequestID]time.Time{}, cramped: map[store.RequestID]time.Time{}}
}

// soon holds what has not happened to its bound.
func (p *promptness) soon() {
	p.records.mu.Lock()
	defer p.records.mu.Unlock()
	if p.w.outages.storeIsDown() {
		p.facts.writable = p.w.clock.Now()
	}
	for id := range p.records.requests {
		p.soonAnswered(id)
		p.soonReleased(id)
		p.w.truth.runs.followed(id)
	}
	for _, in := range p.records.instances {
		p.soonOf(in)
	}
}

// soonAnswered: a request is taken up at once, and served as soon as a machine boots, if the fleet has one.
func (p *promptness) soonAnswered(id store.RequestID) {
	r, waits := p.facts.waits(id)
	if !waits || p.w.refusals.suffers(id) {
		return
	}
	if p.records.status[id].Attempt < r.Attempt && p.w.disturbances.late(r.at, acceptedWithin) {
		p.w.verdicts.once(Soon, string(id), "request %s/%d is not taken up %s after it was written", id, r.Attempt, p.w.clock.Since(r.at))
	}
	if p.hinder(id, r) {
		p.hindered[id] = p.w.clock.Now()
	}
	if since := later(r.grown, p.hindered[id]); p.w.disturbances.late(since.Add(2*p.w.o.Boot), serveWithin) {
		p.w.verdicts.once(Served, string(id), "request %s/%d waits for %s, and nothing has kept it from being served for %s",
			id, r.Attempt, p.w.clock.Since(r.at), p.w.clock.Since(since))
	}
}

// hinder reports whether something of the world may keep a request from being served, besides what is out of order.
func (p *promptness) hinder(id store.RequestID, r asked) bool {
	if p.w.truth.money.hinders() || p.w.refusals.suffers(id) || p.w.o.NeverBoots > 0 || p.w.o.JITLapse > 0 || p.w.o.ItemLimit > 0 || !p.roomy(id, r.RunRequest) || !r.NoWait && !p.w.workflows.waitsFor(id, r.Attempt) {
		return true
	}
	for _, in := range p.records.instances {
		if in.RunID == id && in.Attempt < r.Attempt {
			return true // what an older attempt holds goes back first
		}
		if in.RunID == id && p.w.machines.isDisturbed(string(in.ID)) {
			return true
		}
	}
	return p.taken(id, r)+r.Count > p.w.supervisor.config().MaxInstances
}

// roomy reports whether the fleet has had room for a request for so long that no refusal of before keeps it from asking.
func (p *promptness) roomy(id store.RequestID, r store.RunRequest) bool {
	if !slices.ContainsFunc(p.facts.specs(r), p.w.fleet.Unbounded) {
		p.cramped[id] = p.w.clock.Now()
	}
	return p.w.clock.Since(p.cramped[id]) > p.w.o.paced(settles)
}

// taken counts what takes room below the cap from a request: older ones that wait, whole, and machines but its own, those that
// it may have, and those that a younger one that waits must give back to it.
func (p *promptness) taken(id store.RequestID, r asked) int {
	n, mine := 0, p.facts.query(r.RunRequest)
	for other := range p.records.requests {
		if o, waits := p.facts.waits(other); waits && other != id && !o.at.After(r.at) {
			n += o.Count
		}
	}
	for _, m := range p.w.fleet.Alive() {
		in := p.records.instances[store.InstanceID(m)]
		o, waits := p.facts.waits(in.RunID)
		younger := waits && in.Attempt == o.Attempt && o.at.After(r.at) && in.State != statemachine.Running
		if in.RunID != id && !p.w.truth.floors.yields(in) && !(mine.Matches(ticketOf(in)) && (younger || in.State == statemachine.Idle)) {
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
func (p *promptness) soonReleased(id store.RequestID) {
	r, st := p.records.latest(id), p.records.status[id]
	at := p.facts.givenBack(id, r.Attempt)
	if _, named := r.Workflow(); named {
		at = p.facts.asked[id][r.Attempt] // its run may have been over long before
	}
	if at.IsZero() || p.w.refusals.suffers(id) || !r.Released() || st.Phase == statemachine.PhaseReleased || !st.ExpiresAt.IsZero() {
		return
	}
	for _, in := range p.records.instances {
		if in.RunID == id && p.w.machines.isDisturbed(string(in.ID)) {
			return // its silence decides
		}
	}
	due := later(at, p.facts.lastJob(id))
	if hurried := p.facts.hurried[id][r.said(r.Attempt)]; !hurried.IsZero() && hurried.Before(due) {
		due = hurried
	}
	if p.w.disturbances.late(due, releasedWithin) {
		p.w.verdicts.once(Soon, "release "+string(id), "request %s/%d was given back %s ago, no job is waited for, and it is %s",
			id, r.Attempt, p.w.clock.Since(at), st.Phase)
	}
}

// soonOf: an instance goes on to where it must be.
func (p *promptness) soonOf(in store.Instance) {
	m, known := p.w.fleet.Machine(string(in.ID))
	if !known || p.w.refusals.isIll(in.ID) {
		return
	}
	lives := p.w.machines.lives(string(in.ID))
	switch {
	case in.State == statemachine.Terminated && lives:
		if p.w.disturbances.late(in.Since.Add(2*p.w.clocks.skew()), endedWithin) && p.w.since() > p.w.outages.refusals()+p.w.o.paced(endedWithin) {
			p.w.verdicts.once(Soon, "end "+m.ID, "%s is terminated and its machine lives %s later", in.ID, p.w.clock.Since(in.Since.Time))
		}
	case !lives && in.State == statemachine.Terminated:
		if over := later(p.w.machines.diedAt(m.ID), in.Since.Time); in.ExpiresAt.IsZero() && p.w.disturbances.late(over, retiredWithin) {
			p.w.verdicts.once(Soon, "retire "+m.ID, "the record of %s is kept %s after its machine ended", in.ID, p.w.clock.Since(over))
		}
	case !lives:
		if died := p.w.machines.diedAt(m.ID); p.w.disturbances.late(died, goneWithin) {
			p.w.verdicts.once(Soon, "gone "+m.ID, "%s (%s) has no machine since %s", in.ID, in.State, p.w.clock.Since(died))
		}
	case in.State == statemachine.Claimed && in.Registration.Assignment != in.Assignment && !p.w.machines.isDisturbed(m.ID):
		claimed := p.owners.history[in.ID][len(p.owners.history[in.ID])-1].from
		led := p.w.clock.Since(p.terms.renewed) < p.w.supervisor.config().LeaseTTL/2
		if led && p.w.disturbances.overdue(later(claimed, p.terms.ledSince), p.w.o.paced(labelledWithin), p.w.disturbances.succeedsSince()) {
			p.w.verdicts.once(Soon, "registration "+m.ID, "%s is claimed for %s/%d and waits for its registration %s later",
				in.ID, in.RunID, in.Attempt, p.w.clock.Since(claimed))
		}
	case in.State != statemachine.Idle || p.w.machines.isDisturbed(m.ID):
	case in.PooledAt.IsZero():
		if p.w.disturbances.late(in.Since.Add(2*p.w.clocks.skew()), cleanWithin) && !p.draining(in) {
			p.w.verdicts.once(Soon, "clean "+m.ID, "%s is idle and not pooled %s later", in.ID, p.w.clock.Since(in.Since.Time))
		}
	default:
		for _, o := range p.facts.orders {
			if o.names(in) && m.LaunchedAt.Before(o.at) && p.w.disturbances.late(later(o.at, in.Since.Add(2*p.w.clocks.skew())), dismissWithin) {
				p.w.verdicts.once(Soon, "order "+m.ID, "%s is idle %s after order %s", in.ID, p.w.clock.Since(o.at), o.ID)
			}
		}
		at := p.facts.templateAt
		if p.facts.outdated(in) && p.w.disturbances.late(later(at, in.Since.Add(2*p.w.clocks.skew())), dismissWithin) {
			p.w.verdicts.once(Soon, "template "+m.ID, "%s is idle %s after template %q took the place of its own", in.ID, p.w.clock.Since(at), p.facts.template.Version)
		}
	}
}

// draining reports whether a job runs on a machine that is idle already: it was cancelled, or its run was given back under it.
func (p *promptness) draining(in store.Instance) bool {
	return slices.ContainsFunc(p.w.hub.Jobs(), func(j githubsim.JobRecord) bool {
		return j.InstanceID == string(in.ID) && (j.State != githubsim.Completed || p.w.clock.Since(j.FinishedAt) < p.w.o.paced(cleanWithin))
	})
}

// answered: every request is answered by its deadline.
func (p *promptness) answered() {
	now, late := p.w.clock.Now(), p.w.o.paced(answerAfter)
	p.records.mu.Lock()
	defer p.records.mu.Unlock()
	if p.w.outages.nobodyLeads() {
		p.leadable = now
	}
	for id, attempts := range p.records.requests {
		for n, r := range attempts {
			st := p.records.status[id]
			open := st.Attempt < n || st.Attempt == n && st.Phase == statemachine.Pending
			if n < p.records.latest(id).Attempt || p.w.refusals.suffers(id) || r.Released() || !open {
				continue // a newer attempt has taken its place, or it was given back
			}
			due := later(later(r.at.Add(r.Timeout.Duration()), p.leadable), p.w.begin.Add(p.w.outages.throttledUntil()))
			if over := now.Sub(due.Add(late)); over > 0 && over <= p.w.o.paced(patrolEvery) {
				p.w.verdicts.broke(Answered, "request %s/%d is without an answer %s past its time-out", id, n, over+late)
			}
		}
	}
}
