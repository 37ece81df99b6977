package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// outlivedThreshold finds machines that are up although their record's time is over.
func outlivedThreshold(s *Snapshot, o Options, report reporter) {
	if !s.FleetRead {
		return
	}
	for m := range each(s.Machines) {
		in := s.instance(store.InstanceID(m.ID))
		if !runs(m) || in == nil {
			continue // without a record: unknownMachine
		}
		end, what := in.Threshold.Time, "its threshold"
		if in.State == statemachine.Terminated {
			end, what = in.Since.Time, "it was terminated"
		}
		if !s.At.After(end.Add(o.overstay())) {
			continue
		}
		report(Violation{
			Resource: "machine " + m.ID, Mark: fmt.Sprint(in.State, end.UnixMilli()),
			Problem: fmt.Sprintf("is %s %s after %s", m.State, long(s.At.Sub(end)), what),
			Advice:  "terminate it by hand; find out from agent.log or the console, and from the controller's log, why neither ended it",
		})
	}
}

// unknownMachine finds machines that no record names, or names where their agent cannot read it, and
// launches that no controller follows up.
func unknownMachine(s *Snapshot, o Options, report reporter) {
	for m := range each(s.Machines) {
		if !s.FleetRead || !runs(m) {
			continue
		}
		v := Violation{Resource: "machine " + m.ID, Mark: "record"}
		switch in := s.instance(store.InstanceID(m.ID)); {
		case in == nil:
			l := find(s.Launches, m.LaunchToken, func(l store.Launch) string { return l.Token })
			age := s.At.Sub(m.LaunchedAt)
			if l != nil && !l.Done || age <= o.Config.Orphan+o.sweep() || s.unreadable(store.Principal(m.Principal)) {
				continue
			}
			v.Problem = fmt.Sprintf("has been %s for %s and has no record (launch %q)", m.State, long(age), m.LaunchToken)
			v.Advice = "terminate it by hand if no controller leads; a controller that leads ends it after intervals.orphan, see its log"
		case m.Principal != "" && store.Principal(m.Principal) != in.Instance.Principal:
			v.Problem = fmt.Sprintf("reads its record in the partition of %s, and it is in that of %s", m.Principal, in.Instance.Principal)
			v.Advice = "compare ec2.roleId with the role of the instance profile; " + fmt.Sprintf(adviceDrain, m.ID)
		default:
			continue
		}
		report(v)
	}
	for l := range each(s.Launches) {
		age := s.At.Sub(l.CreatedAt.Time)
		if l.Done || age <= o.Config.Limits.Visibility+o.scan() || wanted(s, l) {
			continue
		}
		report(Violation{
			Resource: "launch " + l.Token, Mark: "open",
			Problem: fmt.Sprintf("has no outcome after %s, and no request waits for its %d machines any more", long(age), l.Count),
			Advice:  "look in the controller's log for why the fleet gives no answer about it",
		})
	}
}

// unreadable reports whether an instance has a record that cannot be read: unreadableRecord reports it.
func (s *Snapshot) unreadable(p store.Principal) bool {
	return slices.ContainsFunc(s.Bad, func(b BadRecord) bool { return b.Key == store.InstanceKey(p, store.KindInstance) })
}

// wanted reports whether a request still waits for what a launch brings.
func wanted(s *Snapshot, l *store.Launch) bool {
	return slices.ContainsFunc(l.Seats, func(seat store.LaunchSeat) bool {
		_, floor := seat.RequestID.Floor() // whose machines, if it wants them no longer, expire
		return floor || s.run(seat.RequestID).alive(seat.Attempt)
	})
}

// vanishedMachine finds records that count as alive while their machine is gone, or silent for longer
// than the controller waits. Where too many are at once the controller gives up none of them before its
// threshold: that is an outage of ours.
func vanishedMachine(s *Snapshot, o Options, report reporter) {
	var ended, absent, silent []Violation
	missing, live, outage := 0, 0, s.outage(o)
	for in := range each(s.Instances) {
		if in.State == statemachine.Terminated || !in.State.Valid() {
			continue
		}
		live++
		v := Violation{Resource: "instance " + string(in.ID), Advice: "look in the controller's log why it does not give it up; " + fmt.Sprintf(adviceDrain, in.ID)}
		silence := s.At.Sub(in.lastSeen())
		if m := find(s.Machines, string(in.ID), func(m fleet.Machine) string { return m.ID }); s.FleetRead && !runs(m) {
			visible := in.CreatedAt.Add(o.Config.Limits.Visibility)
			if m == nil && s.At.After(visible) {
				missing++
			}
			if silence <= in.Heartbeat.Beat.Window(in.Limits.Over(o.Config.Limits))+o.sweep() {
				continue
			}
			v.Mark = fmt.Sprint("gone ", in.Assignment, in.Heartbeat.UpdatedAt.Time.UnixMilli())
			v.Problem = fmt.Sprintf("is %s, and its machine is gone; its agent last reported %s ago", owned(in), long(silence))
			switch {
			case m != nil:
				ended = append(ended, v)
			case s.At.After(visible.Add(o.sweep())):
				absent = append(absent, v)
			}
			continue
		}
		if in.State != statemachine.Idle && !outage && in.silent(s.At, o) { // idle: unreachableIdle
			v.Mark = fmt.Sprint("silent ", in.Assignment, in.Heartbeat.UpdatedAt.Time.UnixMilli())
			v.Problem = fmt.Sprintf("is %s, and its agent has been silent for %s", owned(in), long(silence))
			silent = append(silent, v)
		}
	}
	if reconciler.TooMany(missing, live) {
		absent = nil
	}
	for _, v := range slices.Concat(ended, absent, silent) {
		report(v)
	}
}

// silent reports whether the agent of an instance, once it has reported, is silent for longer than any may be.
func (in *Instance) silent(at time.Time, o Options) bool {
	return !in.Heartbeat.UpdatedAt.IsZero() && at.Sub(in.lastSeen()) > o.silence(in)
}

// outage reports whether silence cannot be an agent's own fault: too many are silent, or the lease is not
// renewed either, so that perhaps no part can write. A controller counts no silence from before its
// own writes were taken again.
func (s *Snapshot) outage(o Options) bool {
	if !s.led(o) {
		return true
	}
	live, stale := 0, 0
	for in := range each(s.Instances) {
		if in.State == statemachine.Terminated {
			continue
		}
		live++
		if u := in.Heartbeat.UpdatedAt; !u.IsZero() && s.At.Sub(u.Time) > in.Heartbeat.Beat.Window(in.Limits.Over(o.Config.Limits))+o.Skew {
			stale++
		}
	}
	return reconciler.TooMany(stale, live)
}

// lastSeen is when an instance last gave a sign of life, or entered its state.
func (in *Instance) lastSeen() time.Time {
	if in.Heartbeat.UpdatedAt.After(in.Since.Time) {
		return in.Heartbeat.UpdatedAt.Time
	}
	return in.Since.Time
}

// long writes a duration for people.
func long(d time.Duration) string { return d.Round(time.Second).String() }
