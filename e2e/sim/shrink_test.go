package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

// Faults drawn by chance and the same faults named one by one make the same story, to the last call.
func TestExact_TellsTheSameStory(t *testing.T) {
	for seed := range uint64(10) {
		s := story()
		s.Seed = seed
		s.Rates = sim.Rates{sim.CrashAfter: 0.002, sim.LostReply: 0.01, sim.Throttled: 0.01, sim.Twice: 0.01, sim.Late: 0.01, sim.Stale: 0.05}
		var drawn, exact sim.Report
		for range tries {
			drawn = sim.Run(t, s)
			exact = sim.Run(t, sim.Exact(s, drawn))
			if drawn.Trace == exact.Trace && slices.Equal(met(drawn), met(exact)) {
				break
			}
		}
		if len(drawn.Fired) == 0 {
			t.Errorf("seed %d: no fault fired, want some", seed)
		}
		if drawn.Trace != exact.Trace || !slices.Equal(met(drawn), met(exact)) {
			t.Errorf("seed %d: %d calls and %d faults with trace %x, by number %d calls and %d faults with trace %x",
				seed, drawn.Calls, len(drawn.Fired), drawn.Trace, exact.Calls, len(exact.Fired), exact.Trace)
		}
	}
}

// met returns the faults of a story by their time; those of one instant have no order.
func met(r sim.Report) []string {
	var out []string
	for _, f := range r.Fired {
		out = append(out, fmt.Sprintf("%012d %s %s", f.At, f.Process, f.Fault))
	}
	slices.Sort(out)
	return out
}

// A law that two faults and a step break together is shrunk to those.
func TestShrink_LeavesWhatItTakes(t *testing.T) {
	s := story()
	s.Skew, s.Largest = 3*time.Second, 7
	s.Steps = slices.Insert(s.Steps, 1, sim.Kill(30*time.Second+123*time.Millisecond, "controller"))
	s.Rates = sim.Rates{sim.LostReply: 0.05, sim.Throttled: 0.03, sim.Twice: 0.03}
	const law = "never a lost write, a throttled controller and a restart in one story"
	run := func(c sim.Script) sim.Report {
		r := sim.Run(t, c)
		lost := slices.ContainsFunc(r.Fired, func(f sim.Fired) bool { return f.Kind == sim.LostReply && f.Method == "store.Put" })
		throttled := slices.ContainsFunc(r.Fired, func(f sim.Fired) bool { return f.Kind == sim.Throttled && f.Role == sim.Controller })
		if lost && throttled && r.Restarts > 0 {
			r.Violations = append(r.Violations, sim.Violation{Law: law})
		}
		return r
	}
	sh := sim.Shrinker{Law: law, Run: run, Most: 500, Log: t.Logf}
	got, err := sh.Shrink(s)
	check(t, err)
	text := sim.Scenario{Script: got}.String()
	if len(got.Faults) != 2 || len(got.Steps) > 2 || got.Skew != 0 || got.Largest != 0 || got.Boot != 0 {
		t.Errorf("shrunk to\n%swant two faults, two steps at most, and no option that it can do without", text)
	}
	for i, f := range got.Faults {
		less := got
		less.Faults = slices.Delete(slices.Clone(got.Faults), i, i+1)
		if len(run(less).Violations) > 0 {
			t.Errorf("fault %s is still there, and the law is broken without it:\n%s", f, text)
		}
	}
	for i, st := range got.Steps {
		less := got
		less.Steps = slices.Delete(slices.Clone(got.Steps), i, i+1)
		if st.At%time.Second != 0 || len(less.Steps) > 0 && len(run(less).Violations) > 0 {
			t.Errorf("step %s: want it at a whole second, and the law kept without it:\n%s", st, text)
		}
	}
	again, err := sim.ParseScenario(text)
	if err != nil {
		t.Fatalf("no script can say it: %v\n%s", err, text)
	}
	if len(run(again.Script).Violations) == 0 {
		t.Errorf("as a script it breaks no law:\n%s", text)
	}
}

// What breaks no law, and what breaks it no more without chance, cannot be shrunk.
func TestShrink_RefusesWhatBreaksNothing(t *testing.T) {
	s := story()
	s.Rates = sim.Rates{sim.LostReply: 0.05}
	sh := sim.Shrinker{Law: "a", Most: 9, Log: t.Logf, Run: func(sim.Script) sim.Report { return sim.Report{} }}
	if _, err := sh.Shrink(s); err == nil {
		t.Error("Shrink(a story that breaks nothing) = nil, want an error")
	}
	sh.Run = func(c sim.Script) sim.Report {
		if c.Rates == nil {
			return sim.Report{}
		}
		return sim.Report{Violations: []sim.Violation{{Law: "a"}}}
	}
	if _, err := sh.Shrink(s); err == nil {
		t.Error("Shrink(a story that chance alone breaks) = nil, want an error")
	}
}
