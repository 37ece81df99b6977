package statemachine_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/statemachine"
)

// drawFacts draws any facts around start, also absurd ones.
func drawFacts(t *rapid.T) statemachine.Facts {
	instant := func(name string) time.Time {
		if rapid.Bool().Draw(t, name+" is zero") {
			return time.Time{}
		}
		return start.Add(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, name)))
	}
	return statemachine.Facts{
		State:     rapid.SampledFrom(append(statemachine.States(), statemachine.None, "stopped")).Draw(t, "state"),
		Threshold: instant("threshold"),
		Cloud:     rapid.SampledFrom([]statemachine.Cloud{statemachine.Unknown, statemachine.Present, statemachine.Gone}).Draw(t, "cloud"),
		LastBeat:  instant("last beat"),
		Reads:     rapid.IntRange(0, 3).Draw(t, "reads"),
		Outage:    rapid.Bool().Draw(t, "outage"),
		Report:    statemachine.Report(rapid.IntRange(int(statemachine.NoReport), int(statemachine.Dirty)).Draw(t, "report")),
		ReadAt:    instant("read at"),
		GateFrom:  instant("gate from"),
		Held:      rapid.Bool().Draw(t, "held"),
		Pooled:    rapid.Bool().Draw(t, "pooled"),

		Unconfirmed: rapid.Bool().Draw(t, "unconfirmed"),

		Dismiss: rapid.Bool().Draw(t, "dismiss"),
		Limits:  limits,
	}
}

// S02: whatever the facts, an event that is decided has a rule; a living instance is looked at
// again, in the future and no later than its threshold; a terminated one is left alone.
func TestDecide_S02_Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		d := statemachine.Decide(f, start)
		if f.State == statemachine.Terminated || !f.State.Valid() {
			if d != (statemachine.Decision{}) {
				t.Fatalf("Decide in state %q = %+v, want nothing", f.State, d)
			}
			return
		}
		if d.Event != "" {
			if _, err := statemachine.Next(f.State, d.Event); err != nil {
				t.Fatalf("Decide(%+v) = %+v: %v", f, d, err)
			}
			if d.Reason == "" {
				t.Fatalf("Decide(%+v) = %+v without a reason", f, d)
			}
			return
		}
		if !d.Wake.After(start) || d.Wake.After(f.Threshold) {
			t.Fatalf("Decide(%+v).Wake = %s, want after %s and not after %s", f, d.Wake, start, f.Threshold)
		}
	})
}

// S24: past its threshold an instance is never moved anywhere but to terminated.
func TestDecide_S24_PastThresholdOnlyTerminates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		f.State = rapid.SampledFrom(living).Draw(t, "living state")
		f.Threshold = start.Add(-time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "late by")))
		to, err := statemachine.Next(f.State, statemachine.Decide(f, start).Event)
		if err != nil || to != statemachine.Terminated {
			t.Fatalf("Decide(%+v) leads to %q, %v, want terminated", f, to, err)
		}
	})
}

// The same for every combination that a random draw may miss, such as a handshake that was completed too late. S24
func TestDecide_S24_NothingSavesTheExpired(t *testing.T) {
	yesNo := []bool{false, true}
	for _, s := range living {
		for r := statemachine.NoReport; r <= statemachine.Dirty; r++ {
			for _, pooled := range yesNo {
				for _, held := range yesNo {
					for _, dismiss := range yesNo {
						for _, late := range []time.Duration{0, 1, time.Hour} {
							f := with(quiet(s), func(f *statemachine.Facts) {
								f.Report, f.Pooled, f.Held, f.Dismiss, f.ReadAt = r, pooled, held, dismiss, f.Threshold.Add(late)
								f.Cloud, f.LastBeat, f.Reads = statemachine.Present, f.Threshold.Add(late), 2
							})
							if d := statemachine.Decide(f, f.ReadAt); d != expired {
								t.Errorf("Decide(%+v) %s past its threshold = %+v, want %+v", f, late, d, expired)
							}
						}
					}
				}
			}
		}
	}
}

// goodReports are those that reject no instance.
var goodReports = []statemachine.Report{
	statemachine.NoReport, statemachine.ScriptOK, statemachine.Online,
	statemachine.NextWanted, statemachine.Blocked, statemachine.Clean,
}

// H29, H27: a machine that lives, beats, reported no failure and was not ordered to go is never
// terminated before its threshold, unless a check of its own ended unfulfilled on a fresh reading.
func TestDecide_H27_HealthyIsNeverTerminated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		f.Threshold = start.Add(time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "left")))
		f.LastBeat = start.Add(-time.Duration(rapid.Int64Range(0, int64(limits.Silence)-1).Draw(t, "age")))
		f.Dismiss, f.Unconfirmed = false, false
		f.Cloud = rapid.SampledFrom([]statemachine.Cloud{statemachine.Unknown, statemachine.Present}).Draw(t, "living cloud")
		f.Report = rapid.SampledFrom(goodReports).Draw(t, "good report")
		d := statemachine.Decide(f, start)
		to, _ := statemachine.Next(f.State, d.Event)
		if to != statemachine.Terminated {
			return
		}
		gates := map[statemachine.State]time.Duration{
			statemachine.Created: limits.CreateGate, statemachine.Claimed: limits.ClaimGate, statemachine.Idle: limits.Handshake,
		}
		limit, gated := gates[f.State]
		if !gated || f.Held || f.Report == statemachine.Blocked || f.ReadAt.Before(f.GateFrom.Add(limit)) {
			t.Fatalf("Decide(%+v) = %+v, want the healthy machine to live", f, d)
		}
	})
}
