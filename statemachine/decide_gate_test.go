package statemachine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
)

// waiting is an instance in s that has not reported what its check waits for.
func waiting(s statemachine.State, r statemachine.Report) statemachine.Facts {
	return with(quiet(s), func(f *statemachine.Facts) { f.Report, f.Pooled = r, false })
}

func readAt(f statemachine.Facts, at time.Time) statemachine.Facts {
	f.ReadAt = at
	return f
}

// S42, S64, S67, S76, S84, H17: each check ends exactly at its limit, and only on a reading made
// at or after the limit (H27, H31: a late success must not be overlooked).
func TestDecide_S64_S84_H27_H31_Gates(t *testing.T) {
	gates := []struct {
		name   string
		state  statemachine.State
		limit  time.Duration
		reason string
	}{
		{"Created", statemachine.Created, limits.CreateGate, statemachine.ReasonGate},
		{"Claimed", statemachine.Claimed, limits.ClaimGate, statemachine.ReasonGate},
		{"Handshake", statemachine.Idle, limits.Handshake, statemachine.ReasonHandshake},
	}
	var tests []decideTest
	for _, g := range gates {
		f, at := waiting(g.state, statemachine.NoReport), start.Add(g.limit)
		again := statemachine.Decision{Read: true, Wake: f.Threshold}
		tests = append(tests,
			decideTest{g.name + "/OneTickBefore", "the gate is the next thing to look at", readAt(f, at.Add(-1)), at.Add(-1), wake(at)},
			decideTest{g.name + "/ExactlyReadNow", "read at the limit and still nothing", readAt(f, at), at, rejected(g.reason)},
			decideTest{g.name + "/ReadOneTickEarly", "the report may have come since", readAt(f, at.Add(-1)), at, again},
			decideTest{g.name + "/NeverRead", "no successful read, no verdict", f, at, again},
			decideTest{g.name + "/StoreAwayForLong", "still no verdict without a reading", readAt(f, at.Add(-1)), at.Add(30 * time.Second), again},
			decideTest{g.name + "/Late", "read after the limit", readAt(f, at.Add(time.Second)), at.Add(2 * time.Second), rejected(g.reason)},
		)
	}
	runDecide(t, tests)
}

// The gate counts from GateFrom: material delivered late or a job that ended late moves it.
func TestDecide_GateCountsFromItsOwnStart(t *testing.T) {
	f := with(waiting(statemachine.Idle, statemachine.NoReport), func(f *statemachine.Facts) {
		f.GateFrom = start.Add(time.Minute)
	})
	at := f.GateFrom.Add(limits.Handshake)
	runDecide(t, []decideTest{
		{"OldStart", "two minutes after the state began, one after the job ended", readAt(f, at), start.Add(limits.Handshake), wake(at)},
		{"NewStart", "two minutes after the job ended", readAt(f, at), at, rejected(statemachine.ReasonHandshake)},
	})
}

// A held check, and GitHub's own failures, reject no instance; the threshold stays.
func TestDecide_HeldAndBlockedRejectNobody(t *testing.T) {
	var tests []decideTest
	for _, s := range []statemachine.State{statemachine.Created, statemachine.Claimed, statemachine.Idle} {
		held := with(waiting(s, statemachine.NoReport), func(f *statemachine.Facts) { f.Held = true })
		blocked := waiting(s, statemachine.Blocked)
		for name, f := range map[string]statemachine.Facts{"Held": held, "Blocked": blocked} {
			late := readAt(f, f.Threshold)
			tests = append(tests,
				decideTest{string(s) + "/" + name, "all its gates have passed", late, f.Threshold.Add(-1), wake(f.Threshold)},
				decideTest{string(s) + "/" + name + "/Threshold", "but not its threshold", late, f.Threshold, expired})
		}
	}
	runDecide(t, tests)
}

// notClean is what is due for an instance that was given back and has not said that it is clean: nothing before its
// handshake is over, or its threshold where it says that it waits for GitHub.
func notClean(r statemachine.Report) statemachine.Decision {
	if r == statemachine.Blocked {
		return wake(start.Add(limits.Idle))
	}
	return wake(start.Add(limits.Handshake))
}

// S04, S07, S40, S41, S82, S83: what a check waits for ends it.
func TestDecide_ReportsThatPass(t *testing.T) {
	at := func(s statemachine.State) time.Time { return start.Add(limits.For(s) - 1) }
	var tests []decideTest
	for _, s := range []statemachine.State{statemachine.Created, statemachine.Claimed} {
		online := readAt(waiting(s, statemachine.Online), at(s))
		tests = append(tests, decideTest{string(s) + "/Online", "ready: only the threshold is left", online, at(s), wake(online.Threshold)})
		for _, r := range []statemachine.Report{statemachine.NoReport, statemachine.ScriptOK, statemachine.NextWanted} {
			f := readAt(waiting(s, r), at(s))
			tests = append(tests, decideTest{fmt.Sprintf("%s/report %d", s, r), "not online: the gate stands", f, at(s), rejected(statemachine.ReasonGate)})
		}
	}
	pooled := statemachine.Decision{Event: statemachine.Pooled, Reason: statemachine.ReasonClean}
	clean := waiting(statemachine.Idle, statemachine.Clean)
	for _, r := range []statemachine.Report{statemachine.NoReport, statemachine.ScriptOK, statemachine.Online, statemachine.NextWanted, statemachine.Blocked} {
		tests = append(tests, decideTest{fmt.Sprintf("idle/report %d", r), "not reported clean", waiting(statemachine.Idle, r), start, notClean(r)})
	}
	again := with(clean, func(f *statemachine.Facts) { f.Pooled = true })
	tests = append(tests,
		decideTest{"idle/Clean", "the handshake is complete", clean, start, pooled},
		decideTest{"idle/CleanLate", "it is clean: late is better than a new machine", readAt(clean, at(statemachine.Idle)), at(statemachine.Idle), pooled},
		decideTest{"idle/CleanWhileHeld", "the report says that no job runs", with(clean, func(f *statemachine.Facts) { f.Held = true }), start, pooled},
		decideTest{"idle/PooledAlready", "once", again, start, wake(again.Threshold)},
		decideTest{"running/NextWanted", "a running instance waits for its next registration", waiting(statemachine.Running, statemachine.NextWanted), start, wake(start.Add(limits.Running))},
	)
	runDecide(t, tests)
}

// A seat that serves its run before its agent knows of that is given up unless the agent says in time that it does; no other
// instance is, and none while too many are silent at once.
func TestDecide_Unconfirmed(t *testing.T) {
	unconfirmed := func(s statemachine.State) statemachine.Facts {
		return with(quiet(s), func(f *statemachine.Facts) { f.Unconfirmed = true })
	}
	at := start.Add(limits.ClaimGate)
	var tests []decideTest
	for _, s := range []statemachine.State{statemachine.Claimed, statemachine.Running} {
		f := unconfirmed(s)
		outage := with(readAt(f, at), func(f *statemachine.Facts) { f.Outage = true })
		tests = append(tests,
			decideTest{string(s) + "/OneTickBefore", "its agent may still say so", readAt(f, at.Add(-1)), at.Add(-1), wake(at)},
			decideTest{string(s) + "/NotRead", "it may have said so since", readAt(f, at.Add(-1)), at, statemachine.Decision{Read: true, Wake: f.Threshold}},
			decideTest{string(s) + "/Exactly", "it has not", readAt(f, at), at, rejected(statemachine.ReasonUnconfirmed)},
			decideTest{string(s) + "/Outage", "nobody can say anything", outage, at, wake(f.Threshold)},
		)
	}
	confirmed := readAt(quiet(statemachine.Running), at)
	tests = append(tests, decideTest{"running/Confirmed", "only its threshold is left", confirmed, at, wake(confirmed.Threshold)})
	runDecide(t, tests)
}
