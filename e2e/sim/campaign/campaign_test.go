package main

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestTally_AddsWhatTestsTell(t *testing.T) {
	r := tally("x\n    a_test.go:1: tally: stories=3 faults=4 hours=1.500 violations=0\n tally: stories=1 faults=0 hours=2e+1 violations=2\n")
	if r.runs != 4 || r.faults != 4 || r.hours != 21.5 || r.violations != 2 || !r.failed() {
		t.Errorf("tally = %+v", r)
	}
	if r := tally("PASS\n"); !r.failed() {
		t.Error("a test that told of no story passes")
	}
}

func TestBroken_ReadsTheFirstLaw(t *testing.T) {
	m := broken.FindStringSubmatch(`    plant_test.go:35: in "x": broken: invariant 1, one owner: after 1m2.5s: i-1: run "100" (0 more)`)
	if m == nil || m[1] != "invariant 1, one owner" || m[2] != "1m2.5s" {
		t.Errorf("broken = %q", m)
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ seed, hours, only, wantOnly, state, err string }{
		{"", "", "", "", "", ""},
		{"7", "", "", "random", "dist/random.json", ""},
		{"", "1e6", "", "random", "dist/random.json", ""},
		{"", "", "random", "random", "", ""},
		{"", "1e6", "bugs", "bugs", "", ""},
		{"", "", "killrate", "killrate", "dist/killrate.json", ""},
		{"x", "", "", "", "", "seed: must be"},
		{"", "-1", "", "", "", "hours: must be"},
		{"", "", "nothing", "", "", "only: must be"},
	} {
		o := options{procs: 2, only: tt.only, out: io.Discard}
		err := o.numbers(tt.seed, tt.hours, "")
		if tt.err == "" && (err != nil || o.only != tt.wantOnly || o.state != tt.state) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("numbers(%q, %q) of %q = %q, %v; want %q, error %q", tt.seed, tt.hours, tt.only, o.only, err, tt.wantOnly, tt.err)
		}
	}
}

func TestSpend(t *testing.T) {
	for budget, want := range map[string]time.Duration{"": 30 * time.Minute, "60s": time.Minute, "0s": 0, "x": 0, "-1m": 0} {
		var o options
		if err := o.spend(budget); (err == nil) != (want > 0) || err == nil && o.budget != want || err != nil && !strings.Contains(err.Error(), "budget: must be") {
			t.Errorf("spend(%q) = %v, %s, want %s", budget, err, o.budget, want)
		}
	}
}

// make sim runs all but what takes hours.
func TestCampaigns_KillrateIsAlone(t *testing.T) {
	for _, c := range campaigns {
		if c.alone != (c.name == "killrate") {
			t.Errorf("%s: alone %v", c.name, c.alone)
		}
	}
}

func TestTable_OneRowEach(t *testing.T) {
	got := table([]result{{name: "bugs", runs: 2, violations: 1, took: time.Minute}}, time.Minute)
	if !strings.Contains(got, "bugs") || strings.Count(got, "\n") != 3 || !strings.Contains(got, "60 s in all") {
		t.Errorf("table =\n%s", got)
	}
}

func TestPart_IsAShare(t *testing.T) {
	for text, want := range map[string]int{"": 1, "1": 1, "0.4": 2, "0.25": 4} {
		var o options
		if err := o.part(text); err != nil || o.oneIn() != want {
			t.Errorf("part(%q) = %v, one in %d, want %d", text, err, o.oneIn(), want)
		}
	}
	for _, text := range []string{"0", "1.5", "-1", "x", "NaN"} {
		if err := new(options).part(text); err == nil || !strings.Contains(err.Error(), "share: must be a number above 0") {
			t.Errorf("part(%q) = %v, want an error", text, err)
		}
	}
}

// check ends the test on an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
