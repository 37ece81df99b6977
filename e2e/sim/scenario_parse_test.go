package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/e2e/sim"
)

const example = `# Why.
# More of it.
with seed=7 controllers=2 mode=token boot=10s skew=1m
chance crash-after=0.002 lost-reply=0.01
at 0s run 100 count=2 types=c6i.*,m5.large jobs=2 job=1m30s forgets
# It is never there when one needs it.
at 1.5s kill controller
at 1h github-out hangs 10m api
fault controller/store.Put/Instance:idle>claimed/INSTANCE#i-00000000000000001 #1 lost-reply
----
0.0s something
`

// Errors name the line, the field, the value and what is allowed.
func TestParseScenario_Refuses(t *testing.T) {
	tests := []struct {
		name, old, by string
		want          []string
	}{
		{"NoDashes", "----\n", "", []string{`"----"`}},
		{"NoStep", example[strings.Index(example, "at 0s"):strings.Index(example, "fault")], "", []string{"no step"}},
		{"Verb", "with", "having", []string{"line 3", `"having"`, "with, chance, at, fault"}},
		{"Order", "chance crash-after=0.002 lost-reply=0.01\nat 0s run 100 count=2", "at 0s run 100 count=2 jobs=1\nchance late=0.1\nat 0s run 200 count=2", []string{"line 5", "chance", "order"}},
		{"Option", "seed=7", "sead=7", []string{"line 3", `"sead=7"`, "seed=number"}},
		{"OptionTwice", "seed=7", "seed=7 seed=8", []string{"line 3", "seed", "once"}},
		{"OptionValue", "seed=7", "seed=x", []string{"line 3", "seed", `"x"`, "whole number"}},
		{"Mode", "mode=token", "mode=jot", []string{"line 3", "mode", `"jot"`, "jit, token"}},
		{"Duration", "boot=10s", "boot=10", []string{"line 3", "boot", `"10"`, "duration"}},
		{"Chance", "lost-reply=0.01", "lost-reply=2", []string{"line 4", "lost-reply", `"2"`, "at most 1"}},
		{"ChanceKind", "lost-reply=0.01", "lost=0.01", []string{"line 4", `"lost=0.01"`, "crash-before, crash-after, lost-reply"}},
		{"Time", "at 0s run", "at soon run", []string{"line 5", "time", `"soon"`, "duration"}},
		{"StepVerb", "kill controller", "hug controller", []string{"line 7", `"hug"`, "run, reclaim"}},
		{"StepArgument", "jobs=2", "jops=2", []string{"line 5", "run", `"jops=2"`, "jobs=number"}},
		{"StepCount", " count=2 types", " types", []string{"line 5", "count", "at least 1"}},
		{"StepMissing", "kill controller", "kill", []string{"line 7", "process"}},
		{"StepProcess", "kill controller", "kill everybody", []string{"line 7", `"everybody"`, "agent-<n>"}},
		{"StepMode", "github-out hangs", "github-out sulks", []string{"line 8", "mode", `"sulks"`, "hangs"}},
		{"StepsBack", "at 1.5s", "at 2h", []string{"line 8", "1h0m0s", "2h0m0s"}},
		{"Flag", "forgets", "forgets=yes", []string{"line 5", "forgets"}},
		{"FaultForm", " #1 lost-reply", "", []string{"line 9", "fault", "#<n> <kind>"}},
		{"FaultCall", "controller/store.Put", "controller:store.Put", []string{"line 9", "role/contract.Method"}},
		{"FaultRole", "fault controller", "fault janitor", []string{"line 9", `"janitor"`, "controller, agent, client"}},
		{"FaultNumber", "#1", "#0", []string{"line 9", `"#0"`, "at least 1"}},
		{"FaultKind", "#1 lost-reply", "#1 stale", []string{"line 9", `"stale"`, "lost-reply"}},
		{"CommentNowhere", "fault", "# Why?\nfault", []string{"line 10", "comment", "above a step"}},
		{"AnotherWay", "1m30s", "90s", []string{"line 5", "1m30s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(example, tt.old) {
				t.Fatalf("the example has no %q", tt.old)
			}
			_, err := sim.ParseScenario(strings.Replace(example, tt.old, tt.by, 1))
			if err == nil {
				t.Fatalf("ParseScenario(%q in place of %q) = nil, want an error", tt.by, tt.old)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q, want %q in it", err, part)
				}
			}
		})
	}
}

// Every story that is told anywhere can be written as a script that tells the same one.
func TestScenario_SaysEveryStory(t *testing.T) {
	scripts := map[string]sim.Script{"pair": sim.PairStory()}
	for _, s := range sim.Stories() {
		scripts[s.Name] = s.Script
	}
	for seed := range uint64(200) {
		scripts[fmt.Sprint("seed ", seed)] = sim.Random(seed)
	}
	for name, s := range scripts {
		text := sim.Scenario{Script: s}.String()
		got, err := sim.ParseScenario(text)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if !reflect.DeepEqual(s, got.Script) {
			t.Errorf("%s: written and read, it is another one: %+v\nwant %+v", name, got.Script, s)
		}
	}
}

// FuzzScenario: there is one way to write a script, and reading never panics.
func FuzzScenario(f *testing.F) {
	f.Add(example)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("testdata has %d scripts, error %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := sim.ParseScenario(text)
		if err != nil {
			return
		}
		if got := s.String(); got != text {
			t.Errorf("read and written, it is another one (-want +got):\n%s", cmp.Diff(text, got))
		}
	})
}
