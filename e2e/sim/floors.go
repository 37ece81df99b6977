package sim

import (
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// floorLaws are the laws on what is kept while nobody asks.
type floorLaws struct {
	w       *World
	records *records
	facts   *facts
}

// of returns the floor of a class.
func (f *floorLaws) of(class string) reconciler.Floor {
	return f.w.supervisor.config().Classes[class].Floor
}

// wanted is the most that the floor of a class has wanted lately: a launch may have been decided before that became less.
func (f *floorLaws) wanted(class string) int {
	now, most := f.w.clock.Now(), 0
	for _, ago := range []time.Duration{0, f.w.o.paced(settles), -f.w.o.paced(settles)} {
		most = max(most, f.of(class).Schedule.Min(now.Add(-ago)))
	}
	return most
}

// kept: an idle machine's time is put off only while its floor wants it, never past the greatest age, and not where its template
// is old.
func (f *floorLaws) kept(was, in store.Instance) {
	if was.State != statemachine.Idle || in.State != statemachine.Idle || !in.Threshold.After(was.Threshold.Time) || was.PooledAt.IsZero() {
		return
	}
	of := f.of(in.ResourceClass)
	switch age := in.Threshold.Sub(in.CreatedAt.Time); {
	case f.wanted(in.ResourceClass) == 0 && !f.w.supervisor.reconfigured(replacedWithin):
		f.w.verdicts.broke(Kept, "%s is kept, and no floor of %s wants any", in.ID, in.ResourceClass)
	case age > of.MaxAge && !f.w.supervisor.reconfigured(replacedWithin):
		f.w.verdicts.broke(Kept, "%s is kept to an age of %s, and %s is the most", in.ID, age, of.MaxAge)
	case f.facts.outdated(in) && f.w.clock.Now().Sub(f.facts.templateAt) > f.w.o.paced(replacedWithin):
		f.w.verdicts.broke(Kept, "%s of template %s is kept, and %s is the present one", in.ID, in.TemplateVersion, f.facts.template.Version)
	}
}

// replacedWithin is how long after a change of the template machines of the older one may be kept, at pace 1: until the next look.
const replacedWithin = 2 * time.Minute

// launched: a machine comes for a floor only while its idle machines, and those that come for it, do not suffice. others is how
// many of those are there that are not idle yet.
func (f *floorLaws) launched(id, class string, others int) {
	now, idle := f.w.clock.Now(), 0
	for _, in := range f.records.instances {
		if in.State == statemachine.Idle && in.ResourceClass == class && f.w.machines.lives(string(in.ID)) && !f.w.machines.isDisturbed(string(in.ID)) &&
			!f.facts.dismissed(in) && now.Sub(in.CreatedAt.Time) < f.of(class).MaxAge*8/10 {
			idle++
		}
	}
	if want := f.wanted(class); idle+others >= want {
		f.w.verdicts.broke(Needed, "%s is launched for the floor of %s, which wants %d: %d are idle and %d come", id, class, want, idle, others)
	}
}

// dismissed reports whether the floor of its class may end an idle machine: it is one too many, or a request waits for room below
// the caps that cannot use it.
func (f *floorLaws) dismissed(in store.Instance) bool {
	if in.State != statemachine.Idle || in.PooledAt.IsZero() {
		return false
	}
	cfg := f.w.supervisor.config()
	idle, living := 0, 0
	for _, other := range f.records.instances {
		if other.State != statemachine.Terminated && other.State != statemachine.None {
			living++
		}
		if other.State == statemachine.Idle && other.ResourceClass == in.ResourceClass {
			idle++
		}
	}
	if most := f.of(in.ResourceClass).Max; most > 0 && idle >= most {
		return true
	}
	for id := range f.records.requests {
		r, waits := f.facts.waits(id)
		class := cfg.Classes[r.ResourceClass]
		if waits && !f.facts.query(r.RunRequest).Matches(ticketOf(in)) && (living+r.Count >= cfg.MaxInstances || class.Cap > 0) {
			return true
		}
	}
	return false
}
