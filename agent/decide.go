package agent

import (
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// facts is everything decide looks at.
type facts struct {
	record      store.Instance
	script      ScriptState
	work        Work
	foul        string
	refusal     string    // why the machine must not register a runner for the record's class; "": it may
	serial      int64     // last registration used, of any assignment
	listener    *Status   // nil: none
	since       time.Time // start of the listener, or its adoption
	retry       retry
	onlineLimit time.Duration // a listener not online for this long after since is given up
}

// retry says how to go on after a listener failed.
type retry struct {
	failures int                 // in a row, GitHub's not counted
	at       time.Time           // nothing is started before; zero: no wait
	material *store.Registration // of the registration in use; nil: known to an earlier agent only
	restart  bool                // start a listener with material again
}

// action is what the worker has to do.
type action int

const (
	wait   action = iota
	clean         // end the last assignment, and answer the new one
	assume        // the listener is the new assignment's
	start         // start a listener with decision.material
	retire        // the listener is of no use: end what is left of it
)

// decision is the action that is due, what is to be reported meanwhile, and when to look again.
type decision struct {
	do       action
	material store.Registration
	restart  bool              // retire: try the same registration again
	failed   bool              // retire: only new material, which the controller gives at its pace, or another assignment helps
	counts   bool              // retire: one more failure in a row, and a pause
	pause    bool              // retire: a pause before the next start
	mode     store.ReleaseMode // retire: whether a job is waited for
	report   store.SignalValue
	wake     time.Time // zero: only a change wakes
}

// maxFailures is how many listeners in a row may fail for reasons that are not certainly GitHub's before the
// agent leaves it to the controller. With the pauses between them that takes some 15 s.
const maxFailures = 5

// silentLimits is after how many onlineLimits a listener that says nothing is started again. A call of the real
// program that is not answered ends after 100 s, and then it says so.
const silentLimits = 3

// decide says what is due at now. It reads no clock and does no I/O.
func decide(f facts, now time.Time) decision {
	in := f.record
	switch {
	case f.script.Failed != "":
		return decision{report: f.say(store.ScriptFailed, "", f.script.Failed)}
	case f.foul != "":
		return f.condemn()
	case f.work.assumes(in):
		return decision{do: assume}
	case in.Assignment != f.work.Assignment:
		if f.listener != nil && f.listener.State == Busy && in.Release != store.ReleaseNow {
			return decision{} // the job's end wakes
		}
		return decision{do: clean}
	case f.work.Dirty:
		return decision{} // answered
	case in.RunID == "":
		return f.ahead(now)
	}
	return f.listen(now)
}

// listen decides for a machine that should have a listener.
func (f facts) listen(now time.Time) decision {
	if f.listener != nil {
		return f.supervise(now)
	}
	return f.register(now)
}

// ahead decides for an idle machine, which may listen before it has a run. That is for speed alone: whatever becomes of the
// listener says nothing of the machine, and is followed by another registration.
func (f facts) ahead(now time.Time) decision {
	d := f.listen(now)
	switch {
	case d.failed:
		return f.next(true, now)
	case d.report.Signal != store.RegNext:
		d.report = store.SignalValue{}
	}
	return d
}

// condemn gives the machine up, whatever it is to do: its listener ends, and takes no further job. One that it
// took meanwhile, which only a registration for several jobs can, may end.
func (f facts) condemn() decision {
	d := decision{report: f.say(store.RemoveFailed, "", f.foul)}
	switch {
	case f.listener == nil:
	case f.listener.State == Busy && f.record.Release != store.ReleaseNow:
		return decision{} // the job's end wakes
	default:
		d.do, d.failed, d.mode = retire, true, f.record.Release
	}
	return d
}

// fresh reports whether the record carries material that was not used yet.
func (f facts) fresh() bool {
	r := f.record.Registration
	return r.Assignment == f.record.Assignment && r.Secret != "" && r.Serial > f.serial
}

// pace says how soon the record is read again.
func (f facts) pace() pace {
	switch {
	case f.script.Failed != "", f.work.Dirty, f.listener != nil && f.listener.State != Exited:
		return unhurried
	case f.record.RunID == "", f.record.Assignment != f.work.Assignment, f.fresh(), f.work.Failed:
		return assignment
	}
	return registration
}

// register decides while there is no listener for a run that should have one.
func (f facts) register(now time.Time) decision {
	d := decision{}
	switch {
	case f.refusal != "":
		return decision{report: f.say(store.RegFailed, store.CauseHost, f.refusal)}
	case f.fresh() && (f.record.RunID != "" || !now.Before(f.retry.at)):
		d.do, d.material = start, f.record.Registration
	case now.Before(f.retry.at):
		return decision{wake: f.retry.at}
	case f.work.Failed:
		return decision{}
	case f.retry.restart:
		d.do, d.material = start, *f.retry.material
	case f.work.Serial > 0:
		d.report = f.say(store.RegNext, "", "")
	}
	if f.work.Serial == 0 && f.record.State == statemachine.Created {
		d.report = f.say(store.ScriptOK, "", "")
	}
	return d
}

// supervise decides while there is a listener for the run, alive or just ended.
func (f facts) supervise(now time.Time) decision {
	l := f.listener
	switch {
	case l.State == Busy:
		return decision{report: f.say(store.RegOK, "", "")}
	case l.State == Exited:
		return f.ended(now)
	case f.fresh(): // the controller gave the one in use up
		return decision{do: retire}
	case l.State == Listening:
		return decision{report: f.say(store.RegOK, "", "")}
	case l.State == Blocked && l.Cause == CauseConflict:
		return f.next(true, now)
	case l.State == Blocked:
		return decision{report: f.say(store.RegFailed, l.Cause, l.Detail)}
	}
	late, end := f.since.Add(f.onlineLimit), f.since.Add(silentLimits*f.onlineLimit)
	silent := f.say(store.RegFailed, store.CauseSilent, "the listener says nothing and is not online after "+f.onlineLimit.String())
	switch {
	case now.Before(late):
		return decision{wake: late}
	case now.Before(end): // it waits for an answer of GitHub's, as long as that takes
		return decision{report: silent, wake: end}
	}
	return f.restart(decision{pause: true, report: silent}, now)
}

// ended decides what follows the end of a listener that no one asked for (H71).
func (f facts) ended(now time.Time) decision {
	l := f.listener
	switch l.ending(f.work.Mode, f.work.Online) {
	case Deprecated:
		return f.fail(store.CauseDeprecated)
	case Refused:
		if r := f.record.Registration; r.Serial == f.work.Serial && aged(r, now) {
			return f.next(true, now)
		}
		return f.fail(store.CauseRefused)
	case Completed:
		return f.next(false, now)
	case Lapsed, Conflict, Unseen:
		return f.next(true, now)
	case CutOff: // GitHub's absence, however long, is no fault of this machine
		return f.restart(decision{pause: true, report: f.say(store.RegFailed, l.Cause, l.Detail)}, now)
	case Updating, Crashed: // the runner puts its own program back (agent/actionsrunner)
	}
	return f.again(now)
}

// freshFor is how long a registration is certainly good for: a token has 5 minutes left when it is handed out
// (internal/githubapi), and GitHub removes a runner made just in time that does not come for minutes
// (docs/goals.md#github).
const freshFor = 4 * time.Minute

// aged reports whether a registration may have ended while GitHub was away: that it is refused then says
// nothing of the next one.
func aged(r store.Registration, now time.Time) bool {
	return !r.MintedAt.IsZero() && now.Sub(r.MintedAt.Time) >= freshFor
}

// next requests another registration. If listeners fail in quick succession, the agent pauses before the request. The readiness check of a
// registration starts at its creation, and a later pause could exceed the check's deadline.
func (f facts) next(failed bool, now time.Time) decision {
	d := decision{do: retire, counts: failed, report: f.say(store.RegNext, "", "")}
	if failed && f.record.RunID != "" && now.Before(f.retry.at) {
		d.report = f.say(store.RegFailed, store.CauseUnavailable, f.listener.Detail)
	}
	return d
}

// again tries the same registration once more, unless that was done too often.
func (f facts) again(now time.Time) decision {
	if f.retry.failures+1 >= maxFailures {
		return f.fail(store.CauseRefused)
	}
	return f.restart(decision{counts: true, report: f.say(store.RegFailed, store.CauseUnavailable, f.listener.Detail)}, now)
}

// restart makes d try the same registration once more, or asks for another where this process does not know it.
func (f facts) restart(d decision, now time.Time) decision {
	if f.retry.material == nil {
		return f.next(true, now)
	}
	d.do, d.restart = retire, true
	return d
}

// fail gives the registration up for good. Whether that is the machine's fault, and when it tries again, the
// controller says, which sees other machines (ADR 0015).
func (f facts) fail(cause string) decision {
	return decision{do: retire, failed: true, report: f.say(store.RegFailed, cause, f.listener.Detail)}
}

// say makes a report for the record's assignment.
func (f facts) say(name store.SignalName, cause, detail string) store.SignalValue {
	v := store.SignalValue{
		Signal: name, RunID: f.record.RunID, Assignment: f.record.Assignment, Serial: f.work.Serial,
		Cause: cause, Detail: store.Tail(detail),
	}
	if v.Assignment == 1 && f.script.Failed == "" { // for which it was launched
		v.ScriptSeconds = f.script.Seconds
	}
	return v
}
