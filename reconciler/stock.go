package reconciler

import (
	"cmp"
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// stock counts what floors have, and what they may launch.
type stock struct {
	*tenure
	cache   *cache
	batch   *batch
	waiting *waiting
}

// idleMachine is an idle machine of a class.
type idleMachine struct {
	store.Instance
	vitals vitals
}

// busy reports whether the agent last reported a running job.
func (s idleMachine) busy() bool { return s.vitals.beat.Beat.Busy }

// idle returns the matching idle machines of a class, the youngest first. It skips machines whose records cannot be read.
func (k *stock) idle(class string, match func(idleMachine) bool) []idleMachine {
	var all []idleMachine
	k.cache.instances.eachIdleOf(class, func(in *instance) {
		if !in.stored.undecodable && in.stored.missingSince.IsZero() {
			all = append(all, idleMachine{in.record, in.vitals})
		}
	})
	all = slices.DeleteFunc(all, func(s idleMachine) bool { return !match(s) })
	slices.SortFunc(all, func(a, b idleMachine) int {
		return cmp.Or(b.CreatedAt.Time.Compare(a.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// keepable returns the idle machines that count toward the floor of a class. A request could use them now or after their cleanup, and their
// age is below the limit.
func (k *stock) keepable(class string, now time.Time) []idleMachine {
	return k.idle(class, func(s idleMachine) bool { return k.usable(s, now) && !k.old(s, now) })
}

// retired returns the pooled machines that a request could use and that exceed the age limit.
func (k *stock) retired(class string, now time.Time) []idleMachine {
	return k.idle(class, func(s idleMachine) bool { return k.usable(s, now) && k.old(s, now) && !s.PooledAt.IsZero() })
}

// pooled returns the machines in the pool, including machines that will be replaced.
func (k *stock) pooled(class string, now time.Time) []idleMachine {
	return k.idle(class, func(s idleMachine) bool { return !s.PooledAt.IsZero() && s.Threshold.After(now) })
}

// old reports whether a machine exceeds the age limit.
func (k *stock) old(s idleMachine, now time.Time) bool {
	of := k.cfg.Classes[s.ResourceClass].Floor
	return !now.Before(k.cfg.Retired(of, s.CreatedAt.Time))
}

// usable reports whether a request could use an idle machine, now or after its cleanup.
func (k *stock) usable(s idleMachine, now time.Time) bool {
	return k.cfg.FloorQuery(s.ResourceClass).Matches(ticketOf(s.Instance)) && s.Threshold.After(now) && !k.cache.index.unwanted(s.Instance, s.vitals, now)
}

// coming counts the machines that are launched for the floor of a class, or boot.
func (k *stock) coming(class string, now time.Time) (launching, booting int) {
	id := store.FloorOwner(class)
	launching = k.batch.writing(id, 0)
	for _, l := range k.cache.launches.openLaunches() {
		if slices.ContainsFunc(l.Seats, func(s store.LaunchSeat) bool { return s.RequestID == id }) { // a floor shares no launch
			launching += k.cache.unrecorded(l)
		}
	}
	f := k.cfg.Classes[class].Floor
	for _, s := range k.cache.instances.heldBy(id) {
		ordered, _ := k.cache.orders.dismissed(s.Instance, now)
		if !ordered && s.State == statemachine.Created && now.Before(k.cfg.Retired(f, s.CreatedAt.Time)) {
			booting++
		}
	}
	return launching, booting
}

// launchable is how many machines may be launched for the floor of a class at this moment: what it is short of, as far as the caps
// have room beside all that requests want. None while a request of its class waits, or after failures.
func (k *stock) launchable(class string) int {
	now := k.clock.Now()
	launching, booting := k.coming(class, now)
	short := k.cache.floorWants(class, now) - len(k.keepable(class, now)) - launching - booting
	f := k.cache.floors.get(class)
	if now.Before(f.retry) {
		return 0
	}
	if f.failures >= failOne {
		short = min(short, 1-launching-booting)
	}
	return max(0, min(short, k.room(class)))
}

// room is how much the caps leave to the floor of a class.
func (k *stock) room(class string) int {
	all, ofClass := k.waiting.shortOf(class)
	if ofClass > 0 {
		return 0
	}
	return max(0, k.cache.capacity.allowedBeside(class, all, 0))
}

// unusable returns those of the idle machines of a class, the oldest first, that stand in the way of requests which wait for room
// below the caps and cannot use them: no more than these are short of.
func (k *stock) unusable(class string, idle []idleMachine) []idleMachine {
	capped := k.waiting.capped()
	most := k.inTheWay(class, capped)
	var out []idleMachine
	for _, s := range slices.Backward(idle) {
		usable := slices.ContainsFunc(capped, func(w waiter) bool { return w.query.Matches(ticketOf(s.Instance)) })
		if len(out) < most && !usable && !s.PooledAt.IsZero() && !s.busy() {
			out = append(out, s)
		}
	}
	return out
}

// inTheWay is how many machines of a class are to end for requests that wait for room.
func (k *stock) inTheWay(class string, capped []waiter) int {
	total, same := 0, 0
	for _, w := range capped {
		own := w.short
		if w.query.ResourceClass == class {
			same += w.short
		} else if left, bounded := k.cache.capacity.own(w.query.ResourceClass); bounded {
			own = max(0, min(own, left)) // more room in all would not help it
		}
		total += own
	}
	most := total - max(0, k.cache.capacity.inAll()) // less than none while the machines of a launch are being recorded
	if left, bounded := k.cache.capacity.own(class); bounded {
		most = max(most, same-max(0, left))
	}
	return max(0, most)
}
