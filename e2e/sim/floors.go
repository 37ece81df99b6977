package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Filled is the law that floors have what they want.
const Filled = "what floors want is idle"

// floorLaws are the laws on what is kept while nobody asks.
type floorLaws struct {
	w       *World
	records *records
	facts   *facts

	hindered map[string]time.Time // when something last kept the floor of a class from being filled
}

func newFloorLaws(w *World, r *records, f *facts) *floorLaws {
	return &floorLaws{w: w, records: r, facts: f, hindered: map[string]time.Time{}}
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

// launched: a machine comes for a floor only while the machines that were idle when its launch was written, and those that come
// for it, do not suffice. others is how many of those are there that are not idle yet.
func (f *floorLaws) launched(id, class string, l store.Launch, others int) {
	now, idle := f.w.clock.Now(), 0
	known := l.CreatedAt.Add(-f.w.o.paced(lainFor) - 2*f.w.clocks.skew())
	for _, in := range f.records.instances {
		if in.State == statemachine.Idle && in.ResourceClass == class && known.After(in.Since.Time) && f.w.machines.lives(string(in.ID)) &&
			!f.w.machines.isDisturbed(string(in.ID)) && !f.facts.dismissed(in) && now.Sub(in.CreatedAt.Time) < f.of(class).MaxAge*8/10 {
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
	lately := f.w.clock.Now().Add(-callsTake - 2*f.w.clocks.skew())
	idle, living := 0, 0
	for _, other := range f.records.instances {
		if other.State != statemachine.Terminated && other.State != statemachine.None {
			living++
		}
		if other.ResourceClass == in.ResourceClass && other.ID != in.ID && (other.State == statemachine.Idle || other.Since.After(lately)) {
			idle++ // or was, when that was decided
		}
	}
	if most := f.of(in.ResourceClass).Max; most > 0 && idle >= most {
		return true
	}
	wanted, useless := living, false
	for _, l := range f.records.launches {
		if !l.Done {
			wanted += l.Count // some of them may have a record already
		}
	}
	for id := range f.records.requests {
		r, st := f.records.latest(id), f.records.status[id]
		if st.Phase == statemachine.Pending || st.Attempt < r.Attempt { // its run may be over, and the controller not know yet
			wanted += r.Count
			useless = useless || !f.facts.query(r.RunRequest).Matches(ticketOf(in))
		}
	}
	return useless && (wanted >= cfg.MaxInstances || cfg.Classes[in.ResourceClass].Cap > 0)
}

// yields reports whether an instance makes room for a request that waits: it comes for a floor, or is idle in a class that has one.
func (f *floorLaws) yields(in store.Instance) bool {
	_, comes := in.RunID.Floor()
	of := f.of(in.ResourceClass)
	return comes || in.State == statemachine.Idle && (of.Max > 0 || of.Schedule.Most() > 0)
}

// capped: nothing is launched for a floor above a cap.
func (f *floorLaws) capped(id string, l store.Launch) {
	is := slices.ContainsFunc(l.Seats, func(s store.LaunchSeat) bool { _, is := s.RequestID.Floor(); return is })
	if !is || f.w.supervisor.reconfigured(settles) {
		return
	}
	cfg := f.w.supervisor.config()
	all, ofClass := f.living(l.ResourceClass)
	if most := cfg.Classes[l.ResourceClass].Cap; all > cfg.MaxInstances || most > 0 && ofClass > most {
		f.w.verdicts.broke(Needed, "%s is launched for the floor of %s above a cap: %d live, %d of the class", id, l.ResourceClass, all, ofClass)
	}
}

// living counts the instances that take room below the caps, and those of a class: what has a record that is not terminated, and
// machines of launches that have none yet.
func (f *floorLaws) living(class string) (all, ofClass int) {
	count := func(of string) {
		if all++; of == class {
			ofClass++
		}
	}
	for _, in := range f.records.instances {
		if in.State != statemachine.Terminated {
			count(in.ResourceClass)
		}
	}
	for _, id := range f.w.fleet.Alive() {
		m, _ := f.w.fleet.Machine(id)
		_, recorded := f.records.instances[store.InstanceID(id)]
		if _, written := f.records.launches[m.LaunchToken]; written && !recorded {
			count(m.ResourceClass)
		}
	}
	return all, ofClass
}

// idle counts the idle machines of a class.
func (f *floorLaws) idle(class string) int {
	n := 0
	for _, in := range f.records.instances {
		if in.State == statemachine.Idle && in.ResourceClass == class {
			n++
		}
	}
	return n
}

// filledWithin is how soon a floor is filled once nothing keeps it from that, at pace 1, besides what a scan may take to find that
// out: ten minutes together, and two boots.
const filledWithin = restWithin - settles

// filled: what a floor wants is idle soon after whatever last kept it from that.
func (f *floorLaws) filled() {
	f.records.mu.Lock()
	defer f.records.mu.Unlock()
	now := f.w.clock.Now()
	for class, of := range f.w.supervisor.config().Classes {
		want := of.Floor.Schedule.Min(now)
		idle := f.idle(class)
		if idle >= want || f.hinder(class, want-idle) {
			f.hindered[class] = now
			continue
		}
		if since := later(f.hindered[class], f.w.begin); f.w.disturbances.late(since.Add(2*f.w.o.Boot), filledWithin) {
			f.w.verdicts.once(Filled, class, "the floor of %s has %d idle of %d, and nothing has kept it from being filled for %s", class, idle, want, now.Sub(since))
		}
	}
}

// hinder reports whether something of the world may keep the floor of a class from so many machines more, besides what is out of
// order.
func (f *floorLaws) hinder(class string, short int) bool {
	if f.w.o.NeverBoots > 0 || f.w.truth.money.hinders() || f.w.refusals.suffers(store.FloorOwner(class)) || f.w.supervisor.reconfigured(settles) || !f.roomy(class, short) {
		return true
	}
	now, lately := f.w.clock.Now(), f.w.o.paced(settles)
	if of := f.of(class); of.Schedule.Min(now.Add(-lately)) != of.Schedule.Min(now) || !f.facts.templateAt.IsZero() && now.Sub(f.facts.templateAt) < lately {
		return true
	}
	for _, o := range f.facts.orders {
		if now.Sub(later(o.at, o.taken)) < lately {
			return true
		}
	}
	for id := range f.records.requests {
		if _, waits := f.facts.waits(id); waits {
			return true
		}
	}
	return false
}

// roomy reports whether the caps and the fleet have room for so many machines more of a class.
func (f *floorLaws) roomy(class string, n int) bool {
	cfg := f.w.supervisor.config()
	of := cfg.Classes[class]
	all, ofClass := f.living(class)
	return all+n <= cfg.MaxInstances && (of.Cap == 0 || ofClass+n <= of.Cap) && slices.ContainsFunc(of.Floor.UsageClasses, func(usage string) bool {
		return f.w.fleet.Unbounded(fleet.Spec{
			Token: "law", Count: 1, ResourceClass: class, UsageClass: usage, CPU: of.CPU, Mem: of.Mem, AllowedTypes: []string{"*"},
		})
	})
}

// inexact says which floor has more or less idle than it wants, though there is room; "" if none has.
func (f *floorLaws) inexact() string {
	f.records.mu.Lock()
	defer f.records.mu.Unlock()
	classes := f.w.supervisor.config().Classes
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		want, idle := classes[class].Floor.Schedule.Min(f.w.clock.Now()), f.idle(class)
		if idle > want || idle < want && f.w.o.NeverBoots == 0 && !f.w.truth.money.hinders() && f.roomy(class, want-idle) {
			return fmt.Sprintf("the floor of %s has %d idle and wants %d", class, idle, want)
		}
	}
	return ""
}
