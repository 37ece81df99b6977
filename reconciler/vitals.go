package reconciler

import (
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// vitals is what is known of an instance's agent, with the instants on the controller's clock at
// which it was learned: clocks of two machines differ, so silence is judged by observed change.
type vitals struct {
	reportChanged bool // a notification or a scan says that they changed
	beat          store.Heartbeat
	signal        store.Signal
	readAt        time.Time          // last successful read
	changed       time.Time          // when a changed heartbeat was last read; zero: none ever
	reportedAt    time.Time          // when a changed signal was last read
	reads         int                // successful reads since
	failed        *store.SignalValue // why the listener is not online, or why another registration is asked for; nil: no agent said
	fresh         bool               // the heartbeat was young enough when it was read
	otherJobAt    time.Time          // when a job of an earlier assignment was last seen running
	staleAt       time.Time          // when it went from fresh to stale; zero while fresh
	ahead         *time.Duration     // how far its clock is ahead of ours, at most; nil: not known yet
}

// observe takes a successful read at now and reports whether it changed anything worth a look.
func (v *vitals) observe(got store.Vitals, now time.Time, limits statemachine.Limits, in *store.Instance) bool {
	if now.Before(v.readAt) {
		return false // a scan that began before a read which is known already
	}
	gap := now.Sub(v.readAt)
	first := v.readAt.IsZero()
	beatChanged := !got.Heartbeat.UpdatedAt.Equal(v.beat.UpdatedAt)
	signalChanged := got.Signal.Value != v.signal.Value
	wasFresh, was := v.fresh, v.beat.Beat
	window := got.Heartbeat.Beat.Window(limits)
	if beatChanged && !first {
		v.ahead = aheadAtMost(v.ahead, got.Heartbeat.UpdatedAt.Time, v.readAt, now)
	}
	v.beat, v.signal, v.readAt = got.Heartbeat, got.Signal, now
	v.reads++
	if signalChanged {
		v.reportedAt = now
		v.failed = lastFailed(v.failed, got.Signal.Value)
	}
	if beatChanged {
		v.changed, v.reads = now, 0
	}
	v.fresh = healthy(v.beat, now, window) || beatChanged && !first && gap <= 2*window ||
		v.ahead != nil && now.Sub(v.beat.UpdatedAt.Time)+*v.ahead <= window
	switch {
	case v.fresh:
		v.staleAt = time.Time{}
	case wasFresh, first && !v.beat.UpdatedAt.IsZero():
		v.staleAt = now
	}
	if v.beat.Beat.Busy && !v.beat.Beat.Of(in) {
		v.otherJobAt = now
	}
	return signalChanged || v.fresh != wasFresh || v.beat.Beat != was
}

// lastFailed keeps what an agent said of a registration that failed, other than by its machine's own fault, while it
// asks for another one: it does not say then why.
func lastFailed(was *store.SignalValue, said store.SignalValue) *store.SignalValue {
	switch {
	case said.Signal == store.RegNext:
		return was
	case said.Signal == store.RegFailed && said.Cause != store.CauseMachine:
		return &said
	}
	return nil
}

// aheadAtMost bounds how far an agent's clock is ahead of ours: a heartbeat that was written at beat on
// its clock was not there at before and was at now on ours. The least bound counts, until one shows
// that the clock was set since (H52).
func aheadAtMost(known *time.Duration, beat, before, now time.Time) *time.Duration {
	most, least := beat.Sub(before), beat.Sub(now)
	if known != nil && least <= *known && *known < most {
		return known
	}
	return &most
}

// healthy reports whether a heartbeat is at most window old (S35). One from the future is as
// suspicious as an old one.
func healthy(b store.Heartbeat, now time.Time, window time.Duration) bool {
	if b.UpdatedAt.IsZero() {
		return false
	}
	age := now.Sub(b.UpdatedAt.Time)
	return age <= window && age >= -window
}

// report is the agent's signal, if it is about the present run and assignment (S37, S38).
func (s snapshot) report() statemachine.Report {
	v := s.vitals.signal.Value
	if v.RunID != s.RunID || v.Assignment != s.Assignment {
		return statemachine.NoReport
	}
	switch v.Signal {
	case store.ScriptOK:
		return statemachine.ScriptOK
	case store.ScriptFailed:
		return statemachine.ScriptFailed
	case store.RegOK:
		if v.Serial != s.Registration.Serial {
			return statemachine.ScriptOK // an earlier registration of this assignment
		}
		return statemachine.Online
	case store.RegNext:
		return statemachine.NextWanted
	case store.RegFailed:
		return s.failure(v)
	case store.RemoveOK:
		return statemachine.Clean
	case store.RemoveFailed:
		return statemachine.Dirty
	}
	return statemachine.NoReport
}

// wantsNext reports whether the agent asked for the registration after the present one: it is we whom it
// waits for, perhaps after GitHub kept it from the last one for longer than a gate. A serial that we never
// made is no agent's of ours.
func (s snapshot) wantsNext() bool {
	return s.report() == statemachine.NextWanted && s.vitals.signal.Value.Serial == s.Registration.Serial
}

// unregisteredYet reports whether a claimed instance waits for its registration: for us, however long a leader's first look at
// it takes. Its threshold limits that.
func unregisteredYet(s snapshot) bool {
	return s.State == statemachine.Claimed && s.Registration.Assignment != s.Assignment
}

// registering reports whether the agent of an owned instance may be registering its runner, with the token that it was given, at this
// moment. It is not before its script has passed, nor once it has said what came of it; of one that runs that was said, though the
// report may have expired since.
func (s snapshot) registering() bool {
	switch s.report() {
	case statemachine.NoReport:
		return s.byToken() && s.State == statemachine.Claimed
	case statemachine.ScriptOK, statemachine.NextWanted:
		return s.byToken() && !s.wantsNext()
	case statemachine.Online, statemachine.Blocked, statemachine.RegFailed, statemachine.ScriptFailed, statemachine.Clean, statemachine.Dirty:
	}
	return false
}

// retrying reports whether it has said that GitHub keeps it from registering, or its listener from coming online: it tries again.
func (s snapshot) retrying() bool {
	return s.byToken() && s.report() == statemachine.Blocked && s.refusal() == ""
}

// byToken reports whether the agent registers its runner for the present assignment by itself.
func (s snapshot) byToken() bool {
	return s.Registration.Mode == store.Token && s.Registration.Assignment == s.Assignment && s.State.Owned()
}

// draining reports whether a job of an earlier assignment still runs.
func (s snapshot) draining() bool {
	return s.vitals.beat.Beat.Busy && !s.vitals.beat.Beat.Of(&s.Instance)
}

// serving reports whether a job of the present assignment runs, under whichever of its registrations.
func (s snapshot) serving() bool {
	return s.vitals.beat.Beat.Busy && s.vitals.beat.Beat.Of(&s.Instance)
}

// busy reports whether any job runs, as far as the agent said.
func (s snapshot) busy() bool { return s.vitals.beat.Beat.Busy }

// scriptPassed reports whether the machine has proven that it boots.
func (s snapshot) scriptPassed() bool {
	switch s.report() {
	case statemachine.ScriptOK, statemachine.Online, statemachine.NextWanted, statemachine.Blocked:
		return true
	case statemachine.NoReport, statemachine.ScriptFailed, statemachine.RegFailed, statemachine.Clean, statemachine.Dirty:
	}
	return false
}

// ready reports whether the instance may be handed over: online for this run and assignment, and
// healthy (S65).
func (s snapshot) ready(now time.Time) bool {
	return s.Threshold.After(now) && (s.State == statemachine.Created || s.State == statemachine.Claimed) &&
		(s.report() == statemachine.Online && !lacksLabel(s) || onlineAhead(s)) && s.vitals.fresh && !s.unreachable() && (!s.distrustOnline || s.onlineFor(steady))
}

// unregistered reports whether the runner of the last registration was deleted at GitHub.
func (s snapshot) unregistered() bool {
	return s.Registration.Serial > 0 && s.reg.runnerDeleted >= s.Registration.Serial
}

// unreachable reports whether that registration is the present assignment's: no job reaches it any more, whatever its listener
// said last.
func (s snapshot) unreachable() bool {
	return s.unregistered() && s.Registration.Assignment == s.Assignment
}

// renewable reports whether the instance has done its part: it is ready, or it only lacks what GitHub does
// not give at present. A machine that never proved itself keeps its first threshold.
func (s snapshot) renewable(now time.Time) bool {
	waiting := s.Threshold.After(now) && (s.reg.githubDown || githubWasDown(s) || s.isOffline() || s.report() == statemachine.Blocked) && s.bootProven()
	return waiting || s.ready(now)
}

// bootProven reports whether a machine that reports has done its part before its listener is online: it was idle
// before, or its script has passed.
func (s snapshot) bootProven() bool {
	return s.vitals.fresh && (s.State == statemachine.Claimed || s.State == statemachine.Created && s.scriptPassed())
}

// gateFrom is the start of the running check: the latest of entering the state, receiving the
// material, the end of the last run's job, and GitHub not answering when the check was over.
func (s snapshot) gateFrom() time.Time {
	from := s.Since.Time
	if r := s.Registration; r.Assignment == s.Assignment && r.MintedAt.After(from) {
		from = r.MintedAt.Time
	}
	if s.vitals.otherJobAt.After(from) {
		from = s.vitals.otherJobAt
	}
	if s.listener.githubDownAt.After(from) {
		from = s.listener.githubDownAt
	}
	return from
}

// factsOf collects the facts that Decide needs. writable is the time since when agents can report. leaving means that the runner is or will
// be deleted, because the instance goes back to the pool. A missing or failed registration is then expected.
func factsOf(s snapshot, limits statemachine.Limits, writable time.Time, outage, dismiss, leaving bool) statemachine.Facts {
	report := s.report()
	if leaving && report == statemachine.RegFailed {
		report = statemachine.Blocked
	}
	lastBeat, gateFrom := s.vitals.changed, s.gateFrom()
	if !lastBeat.IsZero() && lastBeat.Before(writable) {
		lastBeat = writable
	}
	if gateFrom.Before(writable) {
		gateFrom = writable
	}
	return statemachine.Facts{
		State: s.State, Threshold: s.Threshold.Time, Cloud: s.machine.cloud,
		LastBeat: lastBeat, Reads: s.vitals.reads, Outage: outage,
		Report: report, ReadAt: s.vitals.readAt, GateFrom: gateFrom,
		Held:   s.reg.githubDown || s.reg.requesting || unregisteredYet(s) || s.refusedByGitHub() || s.draining() || s.wantsNext() || leaving && s.vitals.fresh,
		Pooled: !s.PooledAt.IsZero(), Unconfirmed: unconfirmed(s), Dismiss: dismiss, Limits: s.Limits.Over(limits),
	}
}
