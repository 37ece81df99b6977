package reconciler

import (
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Whether a listener that does not come online is its machine's fault or GitHub's, other machines show (ADR 0015).
const (
	// steady is how long a listener must be online to count as so. One that is refused with the first message
	// says that it listens 0.1 s before (actions/runner 2.336.0, played against a service that calls it deprecated).
	steady = 500 * time.Millisecond
	// settled is how long it must be online to prove that GitHub serves: an answer that takes longer is none.
	settled = githubapi.CallTimeout
	// alone is how long a machine waits that no other can be compared with.
	alone = time.Minute
	// While listeners are refused one machine tries again every probeSoon, from probeWhile on every probeLate, so
	// that all go on within seconds of the end of an outage, and an outage of hours makes few registrations.
	probeSoon  = 5 * time.Second
	probeLate  = 30 * time.Second
	probeWhile = 10 * time.Minute
)

// offline is what is known of an owned instance whose listener does not come online. The zero value is none.
type offline struct {
	assignment        int64
	first             time.Time // of the failures in a row
	serial            int64     // of the registration that failed last
	at                time.Time // when that was learned
	refused           bool      // its listener has ended, and waits for another registration
	retriedAt         time.Time // when it last got another one because others are online
	retriedAfterProof bool      // that was after another had proven that GitHub serves
	machineFault      bool      // it is the machine's fault
	until             time.Time // its end; zero: it lasts
}

// online is when a listener of an instance was online last, on our clock, as its agent says.
type online struct {
	serial     int64
	name       string     // of its runner
	shown      bool       // GitHub says so, too
	denied     bool       // GitHub does not: it proves nothing
	reportedAt store.Time // agent's clock
	began      time.Time  // when its registration was made
	from, to   time.Time  // first and last reading that showed it
	job        bool       // it took one
	answered   int        // to how many questions of others it was the answer
}

// onlineFor reports whether the present registration's listener is online for d, as far as was read, or took a job.
func (s snapshot) onlineFor(d time.Duration) bool {
	return s.listener.online.serial == s.Registration.Serial && s.listener.online.lasted(d)
}

// lasted reports whether it was online for d, or took a job.
func (o online) lasted(d time.Duration) bool {
	return o.serial > 0 && (o.job || o.to.Sub(o.from) >= d)
}

// observe takes a successful read of what the agent said.
func (in *instance) observe(got store.Vitals, now time.Time, limits statemachine.Limits) bool {
	was := in.vitals
	changed := in.vitals.observe(got, now, in.record.Limits.Over(limits), &in.record)
	if changed || was.readAt.IsZero() {
		in.noteReports(was, now)
	}
	if in.vitals.signal.Value.Signal != store.RegOK || !in.vitals.readAt.Equal(now) || in.snapshot().report() != statemachine.Online {
		return changed
	}
	r, said := in.record.Registration, in.vitals.signal.UpdatedAt
	if in.listener.online.serial != r.Serial || !in.listener.online.reportedAt.Equal(said) {
		was := in.listener.online
		in.listener.online = online{serial: r.Serial, name: r.Name, reportedAt: said, began: r.MintedAt.Time, from: now}
		if was.serial == r.Serial {
			in.listener.online.shown, in.listener.online.denied = was.shown, was.denied
		}
	}
	in.listener.online.to = now
	in.listener.online.job = in.listener.online.job || in.vitals.beat.Beat.Busy && in.vitals.beat.Beat.Of(&in.record)
	return changed
}

// isOffline reports whether the listener of an owned instance was not online for good since one of this assignment
// failed.
func (s snapshot) isOffline() bool { return s.listener.offline.of(s.Instance) }

// of reports whether it is the present assignment's of an instance, and lasts.
func (o offline) of(in store.Instance) bool {
	return !o.first.IsZero() && o.until.IsZero() && o.assignment == in.Assignment && in.State.Owned()
}

// refusedByGitHub reports whether the present registration of an instance has failed, and that is not known to be the
// machine's fault.
func (s snapshot) refusedByGitHub() bool {
	return s.isOffline() && s.listener.offline.serial == s.Registration.Serial && !s.listener.offline.machineFault && s.report() != statemachine.Online
}

// doubtful reports whether the cause of a failed registration may be the machine or GitHub.
func doubtful(cause string) bool {
	return cause == store.CauseRefused || cause == store.CauseDeprecated || cause == store.CauseSilent
}

// failure is what a failed registration says of its machine.
func (s snapshot) failure(v store.SignalValue) statemachine.Report {
	switch {
	case v.Cause == store.CauseThrottled, v.Cause == store.CauseUnavailable:
		return statemachine.Blocked
	case !doubtful(v.Cause), v.Serial == 0: // an agent of before says refused, and no serial, of a machine that is not clean
		return statemachine.RegFailed
	case v.Serial < s.Registration.Serial:
		return statemachine.ScriptOK // an earlier registration of this assignment
	case s.listener.offline.machineFault && s.listener.offline.serial == v.Serial && s.listener.offline.assignment == s.Assignment:
		return statemachine.RegFailed
	}
	return statemachine.Blocked
}

// refusal returns the cause of the present registration's failure if it is doubtful, else "".
func (s snapshot) refusal() string {
	v := s.vitals.signal.Value
	if s.report() == statemachine.Blocked && v.Serial == s.Registration.Serial && doubtful(v.Cause) {
		return v.Cause
	}
	return ""
}

// waitsForGitHub says what keeps the runner of an owned instance from GitHub; "" if nothing does.
func waitsForGitHub(s snapshot) string {
	failed := s.vitals.failed
	switch report := s.report(); {
	case report == statemachine.Online:
	case failed != nil && failed.RunID == s.RunID && failed.Assignment == s.Assignment &&
		(report == statemachine.Blocked || report == statemachine.NextWanted || s.isOffline()):
		return fmt.Sprintf("github %s: %s", failed.Cause, failed.Detail)
	case s.isOffline():
		return "its listener is not online, and no other machine shows that github serves"
	}
	return ""
}

// others is what the other machines say of GitHub.
type others struct {
	online    time.Time // when a listener came online that stayed so
	began     time.Time // when the newest registration was made whose listener proved that GitHub serves
	served    time.Time // the same, with this machine's
	offlineAt time.Time // when a listener was offline last; now if one is

	by      store.InstanceID // whose word that rests on, the newest; "": none
	byBegan time.Time
}

func (v *instanceRecords) others(id store.InstanceID, now time.Time) others {
	var o others
	v.each(func(in *instance) {
		proves := in.listener.online.lasted(settled) && !in.listener.online.denied
		if proves {
			o.served = later(o.served, in.listener.online.began)
		}
		if in.record.ID == id {
			return
		}
		if in.listener.online.lasted(steady) && !in.listener.online.denied {
			o.online = later(o.online, in.listener.online.from)
			if in.listener.online.began.After(o.byBegan) {
				o.by, o.byBegan = in.record.ID, in.listener.online.began
			}
		}
		if proves {
			o.began = later(o.began, in.listener.online.began)
		}
		if in.listener.offline.of(in.record) {
			o.offlineAt = now
		}
		o.offlineAt = later(o.offlineAt, in.listener.offline.until)
	})
	return o
}

// verdict is what follows from a failure to come online.
type verdict int

const (
	waits      verdict = iota // for GitHub, as far as is known
	another                   // it gets another registration
	lastChance                // another for the last time: GitHub serves
	guilty                    // it is the machine's fault
	replace                   // it may be, and no other can show whose
)

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// waitsForListener reports whether nothing but a listener that is not online yet is missing from an instance.
func waitsForListener(s snapshot) bool {
	return s.Registration.Assignment == s.Assignment && s.bootProven()
}

// githubWasDown reports whether GitHub did not answer when the gate of the present state closed.
func githubWasDown(s snapshot) bool {
	return s.listener.githubDown && s.listener.githubDownAt.After(s.Since.Time)
}
