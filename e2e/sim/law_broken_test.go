package sim

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
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
	quiet := func(runs ...Step) Script {
		return Script{Seed: 1, Controllers: 2, Boot: 10 * time.Second, Idle: 10 * time.Minute, Steps: runs}
	}
	one := Workflow{ID: "100", Count: 1, Hold: 20 * time.Second}
	held := Workflow{ID: "100", Count: 1, Hold: 20 * time.Minute, Max: 30 * time.Minute}
	two := Workflow{ID: "100", Count: 2, Hold: 20 * time.Second}
	again := Workflow{ID: "200", Count: 1, Hold: 20 * time.Second}
	far := quiet(Begin(0, one), Begin(13*time.Minute, again))
	far.Idle = 30 * time.Minute
	out := map[string]Script{
		"one run":                 quiet(Begin(0, one)),
		"one run, held":           quiet(Begin(0, held)),
		"two machines":            quiet(Begin(0, two)),
		"two runs, one by one":    quiet(Begin(0, one), Begin(5*time.Minute, again)),
		"two runs at once":        quiet(Begin(0, held), Begin(20*time.Second, Workflow{ID: "200", Count: 1, Hold: 20 * time.Minute, Max: 30 * time.Minute})),
		"a run with a job":        quiet(Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: time.Minute})),
		"a run that nothing fits": quiet(Begin(0, Workflow{ID: "100", Count: 1, Types: []string{"z9.*"}})),
		"a run that waits": quiet(Begin(0, Workflow{ID: "50", Count: 1, Hold: 10 * time.Second}), Begin(2*time.Minute, Workflow{ID: "60", Count: 1, Hold: 5 * time.Minute}),
			Begin(150*time.Second, again), Begin(160*time.Second, Workflow{ID: "300", Count: 1, Hold: 20 * time.Second})),
		"two runs far apart":                 far,
		"a run after five minutes":           quiet(Begin(5*time.Minute, one)),
		"a run that ends after five minutes": quiet(Begin(0, Workflow{ID: "100", Count: 1, Hold: 5 * time.Minute})),
	}
	maps.Copy(out, storiesAtGitHub(quiet))
	maps.Copy(out, storiesOfFloors(quiet))
	maps.Copy(out, storiesOfMoney(quiet))
	return out
}

// sabotages returns all rows.
func sabotages() []sabotage {
	return slices.Concat(unjust(), uncaused(), recordsBroken(), machinesBroken(), timesBroken(), endsBroken(), runsBroken(), floorsBroken(), moneyBroken())
}

// Each law is broken once on purpose, by somebody who writes or does what no part of the product does, and nothing else but that
// law says so. Without that somebody the same story breaks none.
func TestLaws_BrokenOnPurpose(t *testing.T) {
	controls := quietStories()
	sound := map[string]bool{}
	ran, seen := 0, map[string][]string{}
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
			ran++
			for _, v := range r.Violations {
				seen[v.Law] = append(seen[v.Law], v.Text)
			}
		})
	}
	if ran < len(sabotages()) {
		t.Logf("%d of %d rows came to their end: whether each law is broken is not judged", ran, len(sabotages()))
		return
	}
	allBroken(t, seen)
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

// elsewhere says of ways to break a law which have no row why, or which test breaks them.
var elsewhere = map[way]string{
	{OneHistory, "no order of the %d accesses to %s explains what they told:\n%s"}: "TestHistory_FindsABrokenTable",
	{Audit, "look: %v"}:           "the audit reads the table below all gates, which never fails",
	{Answered, "drain order: %v"}: "the order is written below all gates, where no write fails",
}

// allBroken expects that each way in which the source tells of a broken law was seen: each new law gets a row.
func allBroken(t *testing.T, seen map[string][]string) {
	t.Helper()
	ways := lawsOfTheSource(t)
	if len(ways) < 40 {
		t.Errorf("%d ways to break a law in the source, want 40 at least: %q", len(ways), ways)
	}
	for _, w := range ways {
		broken := slices.ContainsFunc(seen[w.law], w.says)
		switch why := elsewhere[w]; {
		case !broken && why == "":
			t.Errorf("no row breaks law %q so that it says %q", w.law, w.format)
		case broken && why != "":
			t.Errorf("a row breaks law %q so that it says %q, and there is a reason why none does: %s", w.law, w.format, why)
		}
	}
	for w := range elsewhere {
		if !slices.Contains(ways, w) {
			t.Errorf("nothing tells law %q so that it says %q", w.law, w.format)
		}
	}
}

// way is a place in the source at which a law is told as broken.
type way struct{ law, format string }

var verb = regexp.MustCompile(`%[+#]?[a-z]`)

// says reports whether a text was told there.
func (w way) says(text string) bool {
	parts := verb.Split(w.format, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(text)
}

// lawsOfTheSource returns where the package tells a violation of a law that has a name.
func lawsOfTheSource(t *testing.T) []way {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{}
	var ways []way
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
					constants[n.Names[i].Name] = text(v)
				}
			case *ast.CallExpr:
				if w, ok := wayOf(n); ok {
					ways = append(ways, w)
				}
			}
			return true
		})
	}
	for i, w := range ways {
		ways[i].law = constants[w.law]
	}
	return slices.DeleteFunc(ways, func(w way) bool { return w.law == "" || w.law == disks || w.law == inherits })
}

// wayOf returns what a call tells as broken, if it does: the name of the law, and the text.
func wayOf(call *ast.CallExpr) (way, bool) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	at := slices.Index([]string{"", "broke", "once"}, name)
	if at < 1 {
		return way{}, false
	}
	law, ok := call.Args[0].(*ast.Ident)
	if !ok {
		return way{}, false
	}
	return way{law.Name, text(call.Args[at])}, true
}

// text returns what a literal of the source says; "": it is none.
func text(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		out, _ := strconv.Unquote(lit.Value)
		return out
	}
	return ""
}
