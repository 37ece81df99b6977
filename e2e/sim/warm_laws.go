package sim

import (
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Bounded is the law that what idles for a class stays within what its minimum idle means.
const Bounded = "minimum idle is kept"

// Bounds at pace 1.
const (
	surplusFor  = 2 * time.Minute  // more are idle than the most
	pastAge     = 7 * time.Minute  // an instance that was never claimed is idle past the greatest age: a step of its renewal, and a scan
	startsAfter = 45 * time.Second // a minimum idle that is short launches nothing
)

// warmLaws are what the minimum idle of a class bounds.
type warmLaws struct {
	w       *World
	records *records
	floors  *floorLaws
	owners  *owners

	surplus map[string]time.Time // since when a class has more idle than the most; zero: it has not
	unmoved map[string]time.Time // when the minimum idle of a class was last not short, or hindered
}

func newWarmLaws(w *World, r *records, f *floorLaws, o *owners) *warmLaws {
	return &warmLaws{w: w, records: r, floors: f, owners: o, surplus: map[string]time.Time{}, unmoved: map[string]time.Time{}}
}

// bounded looks at each class that has a minimum idle, or a most.
func (l *warmLaws) bounded() {
	l.records.mu.Lock()
	defer l.records.mu.Unlock()
	for name, class := range l.w.supervisor.config().Classes {
		if class.Floor.Max > 0 || class.Floor.Schedule.Most() > 0 {
			l.boundedIn(name, class.Floor)
			l.starts(name, class.Floor)
		}
	}
}

// boundedIn: no more instances are idle than the most, and none that was launched for this is idle for long past the greatest age.
func (l *warmLaws) boundedIn(class string, of reconciler.Floor) {
	now, idle := l.w.clock.Now(), 0
	for id, in := range l.records.instances {
		if in.ResourceClass != class || in.State != statemachine.Idle || in.PooledAt.IsZero() || l.w.machines.isDisturbed(string(id)) || !l.w.machines.lives(string(id)) {
			continue
		}
		idle++
		due := later(in.CreatedAt.Add(of.MaxAge), in.Since.Time)
		if of.MaxAge > 0 && !l.wasClaimed(id) && !l.w.supervisor.reconfigured(pastAge) && l.w.disturbances.late(due, pastAge) {
			l.w.verdicts.once(Bounded, "age "+string(id), "%s is idle at an age of %s, and %s is the most", id, now.Sub(in.CreatedAt.Time), of.MaxAge)
		}
	}
	if of.Max == 0 || idle <= of.Max {
		l.surplus[class] = time.Time{}
		return
	}
	if l.surplus[class].IsZero() {
		l.surplus[class] = now
	}
	if !l.w.supervisor.reconfigured(settles) && l.w.disturbances.late(l.surplus[class], surplusFor) {
		l.w.verdicts.once(Bounded, "most "+class, "%d instances of %s are idle for %s, and %d is the most", idle, class, now.Sub(l.surplus[class]), of.Max)
	}
}

// wasClaimed reports whether an instance was ever a request's.
func (l *warmLaws) wasClaimed(id store.InstanceID) bool {
	for _, o := range l.owners.history[id] {
		if _, floor := o.run.Floor(); !floor {
			return true
		}
	}
	return false
}

// starts: a minimum idle that is short launches instances soon after whatever last kept it from that.
func (l *warmLaws) starts(class string, of reconciler.Floor) {
	now := l.w.clock.Now()
	have, owner := l.floors.idle(class), store.FloorOwner(class)
	for _, in := range l.records.instances {
		if in.RunID == owner && in.State == statemachine.Created {
			have++
		}
		_, floor := in.RunID.Floor()
		if floor && in.State == statemachine.Terminated && now.Sub(in.Since.Time) < l.w.o.paced(settles) {
			have += of.Schedule.Most() // it failed, and there is a pause before the next
		}
	}
	for _, launch := range l.records.launches {
		for _, seat := range launch.Seats {
			if seat.RequestID == owner && !launch.Done {
				have += seat.Count
			}
		}
	}
	want := of.Schedule.Min(now)
	if have >= want || l.floors.hinder(class, want-have) {
		l.unmoved[class] = now
		return
	}
	if since := later(l.unmoved[class], l.w.begin); l.w.disturbances.late(since, startsAfter) {
		l.w.verdicts.once(Bounded, "start "+class, "%s has %d idle or on their way of %d, and nothing has kept it from launching for %s", class, have, want, now.Sub(since))
	}
}

// ended: limits that changed do not judge an instance that lives by older ones. An instance whose agent reports a job of its present
// registration is not ended because that agent cannot read its record: the job waits for that.
func (l *warmLaws) ended(was, in store.Instance) {
	if was.State == statemachine.Terminated || in.State != statemachine.Terminated {
		return
	}
	judged := in.Reason == statemachine.ReasonSilent || in.Reason == statemachine.ReasonGate
	if judged && l.w.supervisor.reconfigured(settles) && !l.w.machines.isDisturbed(string(in.ID)) {
		l.w.verdicts.broke(Bounded, "%s is ended (%s) by limits that are younger than it", in.ID, in.Reason)
	}
	beat, known := l.records.beats[in.Principal]
	if in.Reason != statemachine.ReasonUnconfirmed || !known {
		return
	}
	if now := l.w.clock.Now(); beat.Beat.Busy && beat.Beat.Of(&was) && now.Sub(beat.UpdatedAt.Time) < l.w.supervisor.config().Limits.Beat+l.w.clocks.skew() {
		l.w.verdicts.broke(Bounded, "%s is ended as unconfirmed, and its agent reports a job of %s", in.ID, was.RunID)
	}
}
