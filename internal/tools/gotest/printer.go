package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// printer turns events into what go test prints without -json: a line per package, and everything a
// failed test wrote.
type printer struct {
	out      io.Writer
	packages map[string]*packageRun
	leftOut  leftOut
}

// packageRun holds what a package wrote so far.
type packageRun struct {
	order []string // tests as they started
	tests map[string]*testRun
	own   []string // lines of no test: the result, and what TestMain wrote
}

type testRun struct {
	passed bool
	lines  []string // dropped once the test passed
}

// line takes one line of output. What is no event is printed as it is.
func (p *printer) line(line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		_, err := p.out.Write(line)
		return err
	}
	if e.Action == "build-output" {
		return p.print(e.Output)
	}
	if p.packages == nil {
		p.packages = map[string]*packageRun{}
	}
	run := p.packages[e.Package]
	if run == nil {
		run = &packageRun{tests: map[string]*testRun{}}
		p.packages[e.Package] = run
	}
	if e.Test != "" {
		p.leftOut.take(e)
		run.test(e)
		return nil
	}
	switch e.Action {
	case "output":
		run.own = append(run.own, e.Output)
	case "pass", "skip", "fail":
		delete(p.packages, e.Package)
		return p.print(run.text(e.Action == "fail"))
	}
	return nil
}

// test takes an event of a test.
func (r *packageRun) test(e event) {
	t := r.tests[e.Test]
	if t == nil {
		t = &testRun{}
		r.tests[e.Test] = t
		r.order = append(r.order, e.Test)
	}
	switch e.Action {
	case "output":
		switch {
		case strings.HasPrefix(e.Output, "=== "):
		case strings.HasPrefix(strings.TrimLeft(e.Output, " "), "--- "):
			t.lines = slices.Insert(t.lines, 0, e.Output) // the verdict stands above its reasons
		default:
			t.lines = append(t.lines, e.Output)
		}
	case "pass", "skip":
		t.passed, t.lines = true, nil
	}
}

// text is what to print at the end of the package. A test without an end was running when the
// package died, so it is shown like a failed one.
func (r *packageRun) text(failed bool) string {
	var b strings.Builder
	if failed {
		for _, name := range r.order {
			if t := r.tests[name]; !t.passed {
				b.WriteString(strings.Join(t.lines, ""))
			}
		}
	}
	for _, line := range r.own {
		if failed && line != "PASS\n" || isResult(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// isResult reports whether line is go test's own line about a package that did not fail.
func isResult(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") || strings.HasPrefix(line, "\t")
}

func (p *printer) print(text string) error {
	_, err := io.WriteString(p.out, text)
	return err
}
