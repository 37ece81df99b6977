package main

import (
	"bytes"
	"strings"
	"testing"
)

// All processes' counts and coverage add up, and what broke is told; a test that tells of no coverage has none.
func TestStanding_AddsUpItsProcesses(t *testing.T) {
	for _, tt := range []struct {
		name, script                   string
		runs, sites, problems, violate int
	}{
		{"Fine", says(t, 0, 1) + "echo ' tally: stories=3 faults=4 hours=1.5 violations=0'", 6, 1, 0, 0},
		{"NoCoverage", "echo ' tally: stories=3 faults=4 hours=1.5 violations=0'", 6, 0, 0, 0},
		{"Broken", "echo 'seed 1: broken'; echo ' tally: stories=1 faults=0 hours=0 violations=1'; echo '--- FAIL: TestX'; exit 1", 2, 0, 0, 2},
		{"Dies", "echo 'panic: shown'; exit 2", 0, 0, 2, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, program := fake(t, tt.script)
			var out bytes.Buffer
			r := standing("TestX")(t.Context(), options{root: root, procs: 2, out: &out}, "", program)
			sites := 0
			if r.covered != nil {
				sites = len(r.covered.Sites)
			}
			if r.runs != tt.runs || sites != tt.sites || r.problems != tt.problems || r.violations != tt.violate {
				t.Errorf("%+v with %d sites, want %+v\n%s", r, sites, tt, &out)
			}
			if strings.Contains(out.String(), "progress") || tt.name == "Broken" && !strings.Contains(out.String(), "seed 1: broken") {
				t.Errorf("said:\n%s", &out)
			}
		})
	}
}
