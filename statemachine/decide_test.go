package statemachine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
)

var (
	start  = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	limits = statemachine.DefaultLimits()
)

type decideTest struct {
	name   string
	reason string
	facts  statemachine.Facts
	now    time.Time
	want   statemachine.Decision
}

func runDecide(t *testing.T, tests []decideTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := statemachine.Decide(tt.facts, tt.now)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: Decide(%+v) (-want +got):\n%s", tt.reason, tt.facts, diff)
			}
		})
	}
}

// quiet is an instance in s, entered at start, about which nothing is due before its threshold.
func quiet(s statemachine.State) statemachine.Facts {
	return statemachine.Facts{
		State: s, Threshold: start.Add(limits.For(s)), GateFrom: start, Limits: limits,
		Report: statemachine.Online, Pooled: s == statemachine.Idle,
	}
}

func with(f statemachine.Facts, change func(*statemachine.Facts)) statemachine.Facts {
	change(&f)
	return f
}

func wake(at time.Time) statemachine.Decision { return statemachine.Decision{Wake: at} }

func rejected(reason string) statemachine.Decision {
	return statemachine.Decision{Event: statemachine.Rejected, Reason: reason}
}

var (
	expired = statemachine.Decision{Event: statemachine.Expired, Reason: statemachine.ReasonThreshold}
	gone    = statemachine.Decision{Event: statemachine.Lost, Reason: statemachine.ReasonGone}
	silent  = statemachine.Decision{Event: statemachine.Lost, Reason: statemachine.ReasonSilent}
)

// S19, S20, S21, S22, S23, S26, S31, H03: each living state ends exactly at its threshold.
func TestDecide_S20_S22_S23_ThresholdOfEveryState(t *testing.T) {
	var tests []decideTest
	for _, s := range statemachine.States() {
		if s == statemachine.Terminated {
			continue
		}
		f := quiet(s)
		tests = append(tests,
			decideTest{string(s) + "/OneTickBefore", "strictly before the threshold nothing is due", f, f.Threshold.Add(-1), wake(f.Threshold)},
			decideTest{string(s) + "/Exactly", "the threshold itself is already late", f, f.Threshold, expired},
			decideTest{string(s) + "/LongAfter", "a controller that slept still expires it", f, f.Threshold.Add(24 * time.Hour), expired},
		)
	}
	runDecide(t, tests)
}

func TestDecide_EmptyThreshold_H51_ExpiresAtOnce(t *testing.T) {
	runDecide(t, []decideTest{{
		"Zero", "a living record without a threshold must not keep a machine for ever",
		with(quiet(statemachine.Idle), func(f *statemachine.Facts) { f.Threshold = time.Time{} }), start, expired,
	}})
}

// S12: there is nothing left to decide about a terminated instance, whatever the facts say.
func TestDecide_S12_TerminatedAndUnknownStatesDoNothing(t *testing.T) {
	for _, s := range []statemachine.State{statemachine.Terminated, statemachine.None, "stopped"} {
		f := with(quiet(statemachine.Idle), func(f *statemachine.Facts) {
			f.State, f.Cloud, f.Dismiss, f.Report = s, statemachine.Gone, true, statemachine.Dirty
		})
		if diff := cmp.Diff(statemachine.Decision{}, statemachine.Decide(f, f.Threshold)); diff != "" {
			t.Errorf("Decide in state %q (-want +got):\n%s", s, diff)
		}
	}
}

// S11, S12, H07: the fleet's word counts in every state; no word is not a word.
func TestDecide_S11_H07_Cloud(t *testing.T) {
	var tests []decideTest
	for _, s := range []statemachine.State{statemachine.Created, statemachine.Claimed, statemachine.Running, statemachine.Idle} {
		f := quiet(s)
		cloud := func(c statemachine.Cloud) statemachine.Facts {
			return with(f, func(f *statemachine.Facts) { f.Cloud = c })
		}
		tests = append(tests,
			decideTest{string(s) + "/Gone", "the fleet says so", cloud(statemachine.Gone), start, gone},
			decideTest{string(s) + "/GoneAndLate", "the nearer truth is recorded", cloud(statemachine.Gone), f.Threshold, gone},
			decideTest{string(s) + "/Unknown", "EC2 may not show it yet", cloud(statemachine.Unknown), start, wake(f.Threshold)},
			decideTest{string(s) + "/Present", "it lives", cloud(statemachine.Present), start, wake(f.Threshold)},
		)
	}
	runDecide(t, tests)
}

// H07, H52: silence is judged by observed change, to the nanosecond, with two reads and no open circuit breaker.
func TestDecide_H07_H52_Silence(t *testing.T) {
	beaten := func(s statemachine.State, reads int, outage bool) statemachine.Facts {
		return with(quiet(s), func(f *statemachine.Facts) { f.LastBeat, f.Reads, f.Outage = start, reads, outage })
	}
	at, later := start.Add(limits.Silence), start.Add(limits.RunningSilence)
	again := func(now time.Time) statemachine.Decision { return wake(now.Add(limits.Window())) }
	runDecide(t, []decideTest{
		{"NeverBeaten", "an agent that never spoke fails its gate, not this", quiet(statemachine.Idle), at, wake(start.Add(limits.Idle))},
		{"OneTickBefore", "wake exactly when it will have been silent", beaten(statemachine.Idle, 9, false), at.Add(-1), wake(at)},
		{"Exactly", "two reads without a change", beaten(statemachine.Idle, 2, false), at, silent},
		{"OneRead", "one read may have been stale: ask again soon", beaten(statemachine.Idle, 1, false), at, again(at)},
		{"NoRead", "the store was away, not the agent", beaten(statemachine.Idle, 0, false), at, again(at)},
		{"Breaker", "too many at once: our outage, nothing is lost", beaten(statemachine.Idle, 9, true), at, again(at)},
		{"BreakerBefore", "the circuit breaker changes nothing before the limit", beaten(statemachine.Idle, 9, true), at.Add(-1), wake(at)},
		{"RunningIsPatient", "a job may run: five minutes instead of one", beaten(statemachine.Running, 9, false), at, wake(later)},
		{"RunningOneTickBefore", "its own limit", beaten(statemachine.Running, 9, false), later.Add(-1), wake(later)},
		{"RunningExactly", "its own limit", beaten(statemachine.Running, 2, false), later, silent},
		{"Claimed", "every state is watched", beaten(statemachine.Claimed, 2, false), at, silent},
		{"Created", "every state is watched", beaten(statemachine.Created, 2, false), at, silent},
	})
}

// The circuit breaker holds back losses by silence only: thresholds still bound what a machine costs.
func TestDecide_BreakerDoesNotHoldThresholds(t *testing.T) {
	f := with(quiet(statemachine.Idle), func(f *statemachine.Facts) { f.LastBeat, f.Outage = start, true })
	late := with(f, func(f *statemachine.Facts) { f.Threshold = start.Add(limits.Silence + time.Second) })
	runDecide(t, []decideTest{
		{"Exactly", "the threshold is the machine's own business", f, f.Threshold, expired},
		{"WakeIsNeverLate", "asking again later must not pass the threshold", late, start.Add(limits.Silence), wake(late.Threshold)},
	})
}

// S39, S41, S66, S84: a failure that was reported needs no clock.
func TestDecide_S39_S66_S84_ReportedFailure(t *testing.T) {
	report := func(s statemachine.State, r statemachine.Report, held bool) statemachine.Facts {
		return with(quiet(s), func(f *statemachine.Facts) { f.Report, f.Held, f.Pooled = r, held, false })
	}
	runDecide(t, []decideTest{
		{"Script", "the machine is useless", report(statemachine.Created, statemachine.ScriptFailed, false), start, rejected(statemachine.ReasonScript)},
		{"Registration", "its own fault", report(statemachine.Claimed, statemachine.RegFailed, false), start, rejected(statemachine.ReasonRegistration)},
		{"Listener", "H71: a listener that died takes no jobs", report(statemachine.Running, statemachine.RegFailed, false), start, rejected(statemachine.ReasonRegistration)},
		{"Dirty", "never pooled, terminated", report(statemachine.Idle, statemachine.Dirty, false), start, rejected(statemachine.ReasonDirty)},
		{"HeldTimesOnly", "a held check waits for time, not for a verdict", report(statemachine.Created, statemachine.ScriptFailed, true), start, rejected(statemachine.ReasonScript)},
	})
}

func TestDecide_Dismiss(t *testing.T) {
	want := statemachine.Decision{Event: statemachine.Dismissed, Reason: statemachine.ReasonDismissed}
	var tests []decideTest
	for _, s := range []statemachine.State{statemachine.Created, statemachine.Claimed, statemachine.Running, statemachine.Idle} {
		f := with(quiet(s), func(f *statemachine.Facts) { f.Dismiss = true })
		tests = append(tests,
			decideTest{string(s), "an order that may be carried out now", f, start, want},
			decideTest{string(s) + "/Late", "an expired one expires", f, f.Threshold, expired})
	}
	runDecide(t, tests)
}
