package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

const lease = "lease"

// noLeader finds work that no controller does.
func noLeader(s *Snapshot, o Options, report reporter) {
	if !s.work() || s.led(o) {
		return
	}
	v := Violation{
		Resource: lease, Mark: fmt.Sprint("term ", s.Lease.Term, s.Lease.Version),
		Advice: "start a controller on this store; without one no request is answered, and machines end by their thresholds alone",
	}
	v.Problem = o.Vacancy(s.Lease, s.At) + ", and there are requests or instances"
	report(v)
}

// Vacancy says since when no controller leads, as far as the lease shows; "" if one does.
func (o Options) Vacancy(l store.Lease, now time.Time) string {
	switch ago := long(now.Sub(l.Renewed.Time)); {
	case o.Led(l, now):
		return ""
	case l.Version == 0:
		return "no controller ever led"
	case l.Holder == "":
		return fmt.Sprintf("the lease was given up %s ago and no controller took it", ago)
	default:
		return fmt.Sprintf("%s has not renewed the lease for %s", l.Holder, ago)
	}
}

// led reports whether a controller leads, as far as the lease shows.
func (s *Snapshot) led(o Options) bool { return o.Led(s.Lease, s.At) }

// work reports whether a controller would have anything to do.
func (s *Snapshot) work() bool {
	for in := range each(s.Instances) {
		if !in.Gone() {
			return true
		}
	}
	return slices.ContainsFunc(s.Runs, func(r Run) bool { return !r.Settled() })
}

// noLeaderStep finds writes of a controller that were made while none held the lease.
func noLeaderStep(was, is *Snapshot, o Options, report reporter) {
	if is.Lease.Term < was.Lease.Term || is.Lease.Version < was.Lease.Version {
		report(Violation{
			Resource: lease, Mark: "back", Advice: adviceReport,
			Problem: fmt.Sprintf("went back from term %d, version %d to term %d, version %d", was.Lease.Term, was.Lease.Version, is.Lease.Term, is.Lease.Version),
		})
		return
	}
	ended := was.Lease.Renewed.Add(o.Config.LeaseTTL + o.Config.LeaseRequest + o.Skew + o.Slack)
	if is.Lease.Version != was.Lease.Version || !was.At.After(ended) {
		return
	}
	for in := range each(is.Instances) {
		if before := was.instance(in.ID); before != nil && before.Version != in.Version {
			report(Violation{
				Resource: "instance " + string(in.ID), Mark: fmt.Sprint("lease ", in.Version),
				Problem: fmt.Sprintf("was written while no controller held the lease, which was last renewed %s ago", long(is.At.Sub(is.Lease.Renewed.Time))),
				Advice:  "look for a second controller, and for anything else that may write to the store",
			})
			return
		}
	}
}

// unreadableRecord passes on what the store could not read.
func unreadableRecord(s *Snapshot, _ Options, report reporter) {
	for _, b := range s.Bad {
		name := b.Key.String()
		report(Violation{
			Resource: "record " + name, Definite: true, Mark: b.Cause, Problem: strings.TrimPrefix(b.Cause, name+": "),
			Advice: "it is skipped by every reader: find out who wrote it, and delete it once its machine is gone",
		})
	}
}

// missingResource passes on what the back ends miss.
func missingResource(s *Snapshot, _ Options, report reporter) {
	for _, m := range s.Missing {
		report(Violation{
			Resource: m.Name, Mark: m.Detail, Problem: m.Detail,
			Advice: "run `remuda init`; a leading controller repairs it within intervals.housekeeping",
		})
	}
}
