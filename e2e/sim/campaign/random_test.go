package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim/lived"
)

// fake makes a program that stands in for the simulation, in a repository of its own.
func fake(t *testing.T, script string) (root, program string) {
	t.Helper()
	root = t.TempDir()
	check(t, os.MkdirAll(filepath.Join(root, "e2e", "sim"), 0o755))
	program = filepath.Join(root, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	return root, program
}

// says is what the simulation says of a story.
func says(t *testing.T, next uint64, hours float64, broken ...string) string {
	t.Helper()
	line, err := lived.Progress{
		Next: next, Sum: &lived.Sum{Stories: 1, Hours: hours, First: next - 1, Last: next - 1, Violations: len(broken)},
		Part: lived.Part{Sites: map[string]int{"client/store.Scan/": 1}}, Broken: broken,
	}.Line()
	check(t, err)
	return "cat <<'end'\n" + line + "end\n"
}

// onWrite calls do when its text is written.
type onWrite struct {
	bytes.Buffer

	text string
	do   func()
}

func (w *onWrite) Write(text []byte) (int, error) {
	n, err := w.Buffer.Write(text)
	if w.text != "" && strings.Contains(string(text), w.text) {
		w.do()
	}
	return n, err
}

// A run that is interrupted says what came of it and goes on where it was; a complete one is not told again; another
// build, seed or number of processes begins anew, and what was there before is kept.
func TestRandom_GoesOnAfterAnInterruption(t *testing.T) {
	root, program := fake(t, "")
	args := filepath.Join(root, "args")
	state := filepath.Join(root, "dist", "random.json")
	runs := []struct {
		what, script string
		change       func(*options)
		interrupt    string
		want         []string // of the output
		args         string   // of the last process; "": none began
		runs, broken int
		hours        float64
	}{
		{"interrupted", says(t, 8, 40, "seed 7: no good") + "exec sleep 1000", nil, "seed 7: no good",
			[]string{"from the beginning", "1 stories, seeds 7 to 7"}, "-sim.seed=7 -sim.hours=100", 1, 1, 40},
		{"goes on", says(t, 9, 60), nil, "",
			[]string{"goes on from", "40 instance-hours of 100", "seed 7: no good"}, "-sim.seed=8 -sim.hours=60", 2, 1, 100},
		{"complete", "", nil, "", []string{"complete already", "100 instance-hours of 100"}, "", 2, 1, 100},
		{"longer", says(t, 10, 900), func(o *options) { o.hours = 1000 }, "", []string{"goes on"}, "-sim.seed=9 -sim.hours=900", 3, 1, 1000},
		{"again", says(t, 8, 100), func(o *options) { o.again = true }, "", []string{"anew, as asked", ".old"}, "-sim.seed=7 -sim.hours=100", 1, 0, 100},
		{"another seed", says(t, 4, 100), func(o *options) { o.seed = 3 }, "", []string{"is of seed 7 in 1 processes, this is seed 3 in 1"}, "-sim.seed=3 -sim.hours=100", 1, 0, 100},
		{"another build", says(t, 8, 100) + "# changed\n", func(o *options) { o.seed = 3 }, "", []string{"is of another build"}, "-sim.seed=3 -sim.hours=100", 1, 0, 100},
		{"more processes", says(t, 8, 50), func(o *options) { o.procs = 2 }, "", []string{"in 2"}, "-sim.seed=7 -sim.hours=100", 2, 0, 100},
	}
	// All are one program, but where that is what changes: what it does is in a file beside it.
	body := filepath.Join(root, "body")
	for _, run := range runs {
		text := "#!/bin/sh\necho \"$4 $5\" > " + args + "\n. " + body + "\n"
		if strings.Contains(run.script, "# changed") || run.what == "more processes" {
			text += "# another build\n"
		}
		for file, text := range map[string]string{program: text, body: run.script} {
			if err := os.WriteFile(file, []byte(text), 0o755); err != nil { //nolint:gosec // it is a program
				t.Fatal(err)
			}
		}
		_ = os.Remove(args) // there may be none
		ctx, cancel := context.WithCancel(t.Context())
		out := &onWrite{text: run.interrupt, do: cancel}
		o := options{root: root, procs: 1, seed: 7, hours: 100, state: state, out: out}
		if run.change != nil {
			run.change(&o)
		}
		r := random(ctx, o, "", program)
		cancel()
		if r.runs != run.runs || r.violations != run.broken || r.hours != run.hours || r.problems != 0 || len(r.covered.Sites) != 1 {
			t.Errorf("%s: %+v, want %d stories, %d violations, %g hours\n%s", run.what, r, run.runs, run.broken, run.hours, out)
		}
		for _, want := range run.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", run.what, want, out)
			}
		}
		got, _ := os.ReadFile(args) // none: no process began
		if strings.TrimSpace(string(got)) != run.args {
			t.Errorf("%s: the process got %q, want %q", run.what, got, run.args)
		}
	}
}

// A process that dies without a violation is a problem, and what it had lived through before is kept.
func TestRandom_AProcessThatDies(t *testing.T) {
	root, program := fake(t, says(t, 8, 40)+"echo panic: shown\nexit 2\n")
	var out bytes.Buffer
	r := random(t.Context(), options{root: root, procs: 1, seed: 7, hours: 100, out: &out, state: filepath.Join(root, "s.json")}, "", program)
	if r.problems != 1 || r.hours != 40 || !strings.Contains(out.String(), "panic: shown") {
		t.Errorf("%+v, want one problem, 40 hours\n%s", r, &out)
	}
	var p progress
	if found, err := load(filepath.Join(root, "s.json"), &p); !found || err != nil || p.Shards[0].Next != 8 {
		t.Errorf("state %v, %v, %+v, want the next seed 8", found, err, p.Shards)
	}
	r = random(t.Context(), options{root: root, procs: 1, seed: 7, hours: 40, out: &out, state: root}, "", program)
	if r.problems != 1 {
		t.Errorf("with a folder for a state file: %+v", fmt.Sprint(r))
	}
}
