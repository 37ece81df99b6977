package main

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

// entry is the verdict on one line.
type entry struct {
	line
	verdict string // pass, fail, skip, not run or missing; or what a line takes that cannot be shown here
	tests   []test
}

// report is the verdict on all of them.
type report struct {
	entries []entry
	failed  int      // tests and packages of the run that failed, whether they prove a line or not
	unknown []string // IDs in tests that no line has
}

// judge compares what the tests claim with how they ended.
func judge(lines []line, claims claims, ends outcomes) report {
	r := report{failed: ends.failed()}
	known := map[string]bool{}
	for _, l := range lines {
		known[l.id] = true
		e := entry{line: l, tests: claims.tests(l.id)}
		e.verdict = verdict(e.tests, ends)
		if len(e.tests) == 0 && l.applies != here {
			e.verdict = l.applies
		}
		r.entries = append(r.entries, e)
	}
	for id := range claims {
		if !known[id] {
			r.unknown = append(r.unknown, id)
		}
	}
	slices.Sort(r.unknown)
	return r
}

// verdict is the worst of how tests ended; one that passed outweighs those that were skipped or not run.
func verdict(tests []test, ends outcomes) string {
	if len(tests) == 0 {
		return "missing"
	}
	found := "not run"
	for _, t := range tests {
		end, run := ends[t]
		switch {
		case run && (end == fail || end == ""):
			return string(fail)
		case end == pass:
			found = string(pass)
		case end == skip && found != string(pass):
			found = string(skip)
		}
	}
	return found
}

// ok reports whether every required line passes and nothing else failed.
func (r report) ok() bool {
	return r.failed == 0 && len(r.unknown) == 0 && !slices.ContainsFunc(r.entries, entry.open)
}

// open reports whether e is required and not proven.
func (e entry) open() bool { return e.required() && e.verdict != string(pass) }

// print writes one line per entry and a summary.
func (r report) print(out io.Writer, all bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range r.entries {
		id, verdict := strings.TrimSpace(e.id+" "+e.severity), e.verdict
		for i, t := range e.tests {
			if i == 1 && !all {
				break
			}
			more := ""
			if n := len(e.tests) - 1; n > 0 && !all {
				more = fmt.Sprintf(" (+%d)", n)
			}
			fmt.Fprintf(w, "%s\t%s\t%s %s%s\n", id, verdict, path.Base(t.pkg), t.name, more)
			id, verdict = "", ""
		}
		if len(e.tests) == 0 {
			fmt.Fprintf(w, "%s\t%s\t%s\n", id, verdict, e.statement)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return r.summary(out)
}

func (r report) summary(out io.Writer) error {
	var required, passed int
	var open []string
	for _, e := range r.entries {
		switch {
		case e.open():
			open = append(open, e.id+" "+e.verdict)
			required++
		case e.required():
			required++
			passed++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d of %d required lines pass; %d more are listed only.\n", passed, required, len(r.entries)-required)
	if len(open) > 0 {
		fmt.Fprintf(&b, "Open: %s.\n", strings.Join(open, ", "))
	}
	if len(r.unknown) > 0 {
		fmt.Fprintf(&b, "Tests name lines that do not exist: %s.\n", strings.Join(r.unknown, ", "))
	}
	if r.failed > 0 {
		fmt.Fprintf(&b, "%d tests or packages failed.\n", r.failed)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// compareTests orders tests with the plainest proof first: an ID in the name, then the package.
func compareTests(id string) func(a, b test) int {
	return func(a, b test) int {
		inName := func(t test) int {
			if slices.Contains(idsIn(t.name), id) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(inName(a), inName(b)), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name))
	}
}
