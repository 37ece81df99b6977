package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim/lived"
	"github.com/remuda-run/remuda/e2e/sim/plant"
)

// What a process that hunts says is a verdict, or it is not one.
func TestHunt_ReadsWhatCameOfIt(t *testing.T) {
	find := func(f lived.Find) string {
		line, err := f.Line()
		check(t, err)
		return "cat <<'end'\n" + line + "end\necho '--- FAIL: TestHunt'\nexit 1\n"
	}
	begin := "echo 'hunt: in kills: 3'\n"
	for _, tt := range []struct {
		name, script string
		patience     time.Duration
		by, law      string // by "": no verdict
	}{
		{"Law", begin + find(lived.Find{StoryRef: lived.StoryRef{Mode: "pairs", Story: "x"}, Law: "invariant 1"}), time.Hour, "pairs", "invariant 1"},
		{"Expectation", find(lived.Find{StoryRef: lived.StoryRef{Mode: "kills", Story: "1"}, Law: "soon", Expect: true}), time.Hour, "kills", "expected: soon"},
		{"Nothing", begin + "echo PASS", time.Hour, plant.Nothing, ""},
		{"Panic", begin + "echo 'panic: nil map' >&2; exit 2", time.Hour, "a crash in kills", "a crash: panic: nil map"},
		{"NoMemory", begin + "echo 'fatal error: out of memory' >&2; exit 2", time.Hour, "a crash in kills", "a crash: fatal error: out of memory"},
		{"Hangs", begin + "exec sleep 1000", time.Millisecond, "a crash in kills", "a crash: it hangs"},
		{"Killed", begin + "kill -9 $$", time.Hour, "", ""},
		{"AnotherFailure", begin + "echo '--- FAIL: TestHunt'; exit 1", time.Hour, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, program := fake(t, tt.script)
			r := &rater{o: options{root: root, out: io.Discard}, patience: tt.patience}
			h := r.hunt(t.Context(), program)
			v, ok := h.verdict()
			if tt.name == "Hangs" && h.last.Mode == "" {
				v.By += "kills" // it had no time for a word
			}
			if ok != (tt.by != "") || v.By != tt.by || v.Law != tt.law {
				t.Errorf("verdict %+v, %v, %v, want by %q, %q", v, ok, h.err, tt.by, tt.law)
			}
		})
	}
}

// A verdict is of one patch, one revision and one budget.
func TestVerdict_Holds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.patch")
	check(t, os.WriteFile(path, []byte("x"), 0o600))
	patch, err := hashFile(path)
	check(t, err)
	found := verdict{Patch: patch, Revision: "r", Budget: time.Minute, By: "kills"}
	missed := found
	missed.By = plant.Nothing
	for _, tt := range []struct {
		name   string
		v      verdict
		change func(*verdict, *options)
		want   bool
	}{
		{"found", found, nil, true},
		{"missed", missed, nil, true},
		{"found, more time", found, func(_ *verdict, o *options) { o.budget = time.Hour }, true},
		{"missed, more time", missed, func(_ *verdict, o *options) { o.budget = time.Hour }, false},
		{"missed, less time", missed, func(_ *verdict, o *options) { o.budget = time.Second }, true},
		{"another patch", found, func(v *verdict, _ *options) { v.Patch = "y" }, false},
		{"another revision", found, func(_ *verdict, o *options) { o.revision = "s" }, false},
		{"none", verdict{}, nil, false},
	} {
		o := options{revision: "r", budget: time.Minute}
		if tt.change != nil {
			tt.change(&tt.v, &o)
		}
		if got, err := tt.v.holds(plant.Bug{Path: path}, o); got != tt.want || err != nil {
			t.Errorf("%s: holds = %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	if _, err := found.holds(plant.Bug{Path: path + "x"}, options{}); err == nil {
		t.Error("a patch that is not there: no error")
	}
}

// The rate is over what the file knows of the bugs there are; it fails only if all were judged; it is published.
func TestSummary_TellsTheRate(t *testing.T) {
	root := t.TempDir()
	doc := filepath.Join(root, "docs", "reliability.md")
	text := "<!-- planted bugs: go test ./e2e/sim/plant -update -->\n<!-- end of planted bugs -->\n"
	check(t, errors.Join(os.MkdirAll(filepath.Dir(doc), 0o755), os.WriteFile(doc, []byte(text), 0o600)))
	var bugs []plant.Bug
	for _, name := range []string{"one", "two", "serial_saved_late"} {
		path := filepath.Join(root, name+".patch")
		check(t, os.WriteFile(path, []byte(name), 0o600))
		bugs = append(bugs, plant.Bug{Path: path, ID: "H01", Title: name})
	}
	hash := func(i int) string {
		h, err := hashFile(bugs[i].Path)
		check(t, err)
		return h
	}
	var out strings.Builder
	r := &rater{o: options{root: root, revision: "r", out: &out, publish: true}, all: bugs, known: verdicts{
		"one": {Patch: hash(0), Revision: "r", By: "kills", Law: "G13", CPU: 90 * time.Second},
		"two": {Patch: "older", Revision: "r", By: "kills"},
	}}
	if err := r.summary(t.Context()); err != nil || !strings.Contains(out.String(), "1 of 1 bugs were found, 100.0 %; not hunted yet: `two`; exempt: `serial_saved_late`") {
		t.Errorf("summary: %v\n%s", err, &out)
	}
	r.known["two"] = verdict{Patch: hash(1), Revision: "r", By: plant.Nothing, CPU: time.Minute}
	if err := r.summary(t.Context()); err == nil || !strings.Contains(err.Error(), "50.0 % found, must be at least 85 %") {
		t.Errorf("with one of two found: %v", err)
	}
	got, err := os.ReadFile(doc)
	check(t, err)
	for _, want := range []string{"| `one` | H01 | one | kills | G13 | 90 |", "| `two` | H01 | two | nothing | – | 60 |", "1 of 2 bugs were found, 50.0 %"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
