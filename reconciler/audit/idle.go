package audit

import (
	"fmt"

	"github.com/remuda-run/remuda/statemachine"
)

// unreachableIdle finds idle instances that no request can ever get: money is spent on them for nothing. What the
// pool's messages say is no evidence, since the controller offers what the records say.
func unreachableIdle(s *Snapshot, o Options, report reporter) {
	outage := s.outage(o)
	for in := range each(s.Instances) {
		if in.State != statemachine.Idle || !in.Threshold.After(s.At) {
			continue // its threshold ends it: outlivedThreshold
		}
		v := Violation{Resource: "instance " + string(in.ID), Advice: "look in the controller's log; " + fmt.Sprintf(adviceDrain, in.ID)}
		switch {
		case in.silent(s.At, o):
			if !outage { // none is given up for what all share
				v.Mark = fmt.Sprint("silent ", in.Assignment, in.Heartbeat.UpdatedAt.Time.UnixMilli())
				v.Problem = fmt.Sprintf("is idle, and its agent has been silent for %s", long(s.At.Sub(in.lastSeen())))
			}
		case !in.pooled():
			v.Mark = fmt.Sprint("handshake ", in.Assignment)
			v.Problem = handshake(s, in, o)
		case o.Config.Classes != nil && !configured(o, in.ResourceClass) && s.At.After(in.PooledAt.Add(o.sweep())):
			v.Mark = fmt.Sprint("class ", in.Assignment)
			v.Problem = fmt.Sprintf("is offered in class %q, which is not configured", in.ResourceClass)
			v.Advice = "the controller dismisses it if its configuration is this one: compare them; " + fmt.Sprintf(adviceDrain, in.ID)
		case s.Candidates != nil && !s.Candidates[in.ID] && s.fresh(in, o) && s.At.After(in.PooledAt.Add(o.react())):
			v.Mark = fmt.Sprint("candidate ", in.Assignment)
			v.Problem = "is idle, pooled, healthy and unexpired, and is no candidate of the pickup manager"
		}
		if v.Problem != "" {
			report(v)
		}
	}
}

// handshake says that the release handshake takes too long, if so. It counts from the end of the last job.
func handshake(s *Snapshot, in *Instance, o Options) string {
	from := in.Since.Time
	if last := s.LastOtherJob[in.ID]; last.After(from) {
		from = last
	}
	took := s.At.Sub(from)
	limit := in.Limits.Over(o.Config.Limits).Handshake
	if in.draining() || took <= limit+2*o.Config.HotPoll+o.react() {
		return ""
	}
	return fmt.Sprintf("is idle and not offered %s after its run; the release handshake may take %s", long(took), limit)
}

func configured(o Options, class string) bool {
	_, ok := o.Config.Classes[class]
	return ok
}

// fresh reports whether an instance's heartbeat is young beyond doubt, so that its gate is open.
func (s *Snapshot) fresh(in *Instance, o Options) bool {
	age := s.At.Sub(in.Heartbeat.UpdatedAt.Time)
	return age <= in.Heartbeat.Beat.Window(in.Limits.Over(o.Config.Limits))-o.Skew && age >= 0
}
