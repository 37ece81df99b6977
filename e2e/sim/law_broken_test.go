package sim

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sabotage is one way to break one law from outside, in a story that the unmodified product lives through.
type sabotage struct {
	law, name string
	story     string        // of quietStories
	says      string        // part of what the violation says
	at        time.Duration // of the story, when the hands begin
	do        func(h hands) // what the world does that it must not, unknown to the laws but for its effect
	change    func(*Script) // of the story
	also      []string      // laws that the same deed breaks
	patient   bool          // the story goes on after the first violation
}

// quietStories are stories in which nothing goes wrong. Each is its own control.
func quietStories() map[string]Script {
	told := func(runs ...Step) Script {
		return Script{Seed: 1, Controllers: 2, Boot: 10 * time.Second, Idle: 10 * time.Minute, Steps: runs}
	}
	long := func(runs ...Step) Script {
		s := told(runs...)
		s.Idle = 30 * time.Minute
		return s
	}
	one := Workflow{ID: "100", Count: 1, Hold: 20 * time.Second}
	held := Workflow{ID: "100", Count: 1, Hold: 20 * time.Minute, Max: 30 * time.Minute}
	two := Workflow{ID: "100", Count: 2, Hold: 20 * time.Second}
	again := Workflow{ID: "200", Count: 1, Hold: 20 * time.Second}
	return map[string]Script{
		"one run":                 told(Begin(0, one)),
		"one run, held":           told(Begin(0, held)),
		"two machines":            told(Begin(0, two)),
		"two runs, one by one":    told(Begin(0, one), Begin(5*time.Minute, again)),
		"two runs at once":        told(Begin(0, held), Begin(20*time.Second, Workflow{ID: "200", Count: 1, Hold: 20 * time.Minute, Max: 30 * time.Minute})),
		"a run with a job":        told(Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: time.Minute})),
		"a run that nothing fits": told(Begin(0, Workflow{ID: "100", Count: 1, Types: []string{"z9.*"}})),
		"a run that waits": told(Begin(0, Workflow{ID: "50", Count: 1, Hold: 10 * time.Second}), Begin(2*time.Minute, Workflow{ID: "60", Count: 1, Hold: 5 * time.Minute}),
			Begin(150*time.Second, again), Begin(160*time.Second, Workflow{ID: "300", Count: 1, Hold: 20 * time.Second})),
		"two runs far apart":                 long(Begin(0, one), Begin(13*time.Minute, again)),
		"a run after five minutes":           told(Begin(5*time.Minute, one)),
		"a run that ends after five minutes": told(Begin(0, Workflow{ID: "100", Count: 1, Hold: 5 * time.Minute})),
	}
}

// sabotages returns all rows.
func sabotages() []sabotage {
	return slices.Concat(unjust(), uncaused(), recordsBroken(), machinesBroken(), timesBroken(), endsBroken())
}

// Each law is broken once on purpose, by somebody who writes or does what no part of the product does, and nothing else but that
// law says so. Without that somebody the same story breaks none.
func TestLaws_BrokenOnPurpose(t *testing.T) {
	controls := quietStories()
	sound := map[string]bool{}
	for _, s := range sabotages() {
		t.Run(s.law+"/"+s.name, func(t *testing.T) {
			script, ok := controls[s.story]
			if !ok {
				t.Fatalf("story %q: there is none", s.story)
			}
			control := s.story
			if s.change != nil {
				s.change(&script)
				control += "/" + s.law + s.name
			}
			if !sound[control] {
				if r := Run(t, script); len(r.Violations) > 0 || r.Requests == 0 {
					t.Fatalf("control: %d requests, violations %v, want some and none", r.Requests, r.Violations)
				}
				sound[control] = true
			}
			done := false
			deed := Step{What: "sabotage", Act: saboteur{s.at, s.do, &done}}
			script.Steps, script.Hasty = append([]Step{deed}, script.Steps...), !s.patient
			r := Run(t, script)
			if !done {
				t.Fatalf("the hands did not come to their end; violations: %v", r.Violations)
			}
			s.judge(t, r.Violations)
		})
	}
}

// judge expects the law of the row, and no other one but those that the row names.
func (s sabotage) judge(t *testing.T, violations []Violation) {
	t.Helper()
	said := false
	got := map[string]bool{}
	for _, v := range violations {
		got[v.Law] = true
		said = said || v.Law == s.law && strings.Contains(v.Text, s.says)
	}
	if !said {
		t.Errorf("violations %v, want one of %q that says %q", violations, s.law, s.says)
	}
	want := slices.Sorted(slices.Values(append([]string{s.law}, s.also...)))
	if laws := slices.Sorted(maps.Keys(got)); !slices.Equal(laws, want) {
		t.Errorf("broken laws %q, want %q: %v", laws, want, violations)
	}
}

// brokenElsewhere are laws without a row here, and the test that breaks them.
var brokenElsewhere = map[string]string{
	OneHistory: "TestHistory_FindsABrokenTable",
}

// Whoever writes a law gives it a row.
func TestLaws_EachIsBroken(t *testing.T) {
	broken := map[string]bool{}
	for _, s := range sabotages() {
		broken[s.law] = true
	}
	laws := lawsOfTheSource(t)
	if len(laws) < 25 {
		t.Fatalf("%d laws in the source, want 25 at least: %q", len(laws), laws)
	}
	for name, law := range laws {
		if elsewhere := brokenElsewhere[law]; !broken[law] && elsewhere == "" {
			t.Errorf("law %s (%q) has no row: nothing shows that it can be broken", name, law)
		}
	}
	for law, test := range brokenElsewhere {
		if broken[law] {
			t.Errorf("law %q has a row, and is broken by %s besides", law, test)
		}
	}
}

// lawsOfTheSource returns the constants that name what is told as a violation anywhere in the package.
func lawsOfTheSource(t *testing.T) map[string]string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	constants, named := map[string]string{}, map[string]bool{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := goparser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, v := range n.Values {
					if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING && i < len(n.Names) {
						constants[n.Names[i].Name], _ = strconv.Unquote(lit.Value)
					}
				}
			case *ast.CallExpr:
				if law, ok := lawTold(n); ok {
					named[law] = true
				}
			}
			return true
		})
	}
	laws := map[string]string{}
	for name := range named {
		if law, ok := constants[name]; ok && name != "disks" { // that the simulation itself works
			laws[name] = law
		}
	}
	return laws
}

// lawTold returns the name of the law that a call tells as broken, if it is one.
func lawTold(call *ast.CallExpr) (string, bool) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if !slices.Contains([]string{"broke", "violate", "once"}, name) || len(call.Args) == 0 {
		return "", false
	}
	law, ok := call.Args[0].(*ast.Ident)
	if !ok {
		return "", false
	}
	return law.Name, true
}
