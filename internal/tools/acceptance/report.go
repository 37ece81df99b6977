package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// proof is a test that names a line, and how it ended.
type proof struct {
	test
	end string // pass, fail, skip, or not run
}

// entry is the verdict on one line.
type entry struct {
	line
	verdict string // pass, fail, skip, not run or missing; or the mark of a line that cannot pass here, or not yet
	proofs  []proof
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
		e := entry{line: l}
		for _, t := range claims.tests(l.id) {
			e.proofs = append(e.proofs, proof{t, ends.of(t)})
		}
		e.verdict = verdict(e.proofs)
		if l.unmet() != "" || len(e.proofs) == 0 && l.applies != here {
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

// verdict is fail if one failed; else one that passed outweighs those that were skipped or not run.
func verdict(proofs []proof) string {
	for _, end := range []string{string(fail), string(pass), string(skip), notRun} {
		if slices.ContainsFunc(proofs, func(p proof) bool { return p.end == end }) {
			return end
		}
	}
	return "missing"
}

// ok reports whether every required line passes and nothing else failed.
func (r report) ok() bool {
	return r.failed == 0 && len(r.unknown) == 0 && !slices.ContainsFunc(r.entries, entry.open)
}

// open reports whether e is required and not proven.
func (e entry) open() bool { return e.required() && e.verdict != string(pass) }

// print writes for each entry a line and the tests that name it, and a summary.
func (r report) print(out io.Writer, module string) error {
	w := bufio.NewWriter(out)
	for _, e := range r.entries {
		fmt.Fprintf(w, "%-5s %s, %s: %s\n", strings.TrimSpace(e.id+" "+e.severity), e.verdict, count(len(e.proofs), "test", "tests"), e.statement)
		for _, p := range e.proofs {
			fmt.Fprintf(w, "        %-7s  %s  %s\n", p.end, strings.TrimPrefix(p.pkg, module+"/"), p.name)
		}
	}
	r.summary(w)
	return w.Flush()
}

// summary counts what passes, and names what does not.
func (r report) summary(w io.Writer) {
	var required, passed, unmet int
	var open, later []string
	for _, e := range r.entries {
		if what := e.unmet(); what != "" {
			unmet++
			later = append(later, fmt.Sprintf("%s (%s)", e.id, what))
		}
		if e.required() {
			required++
		}
		switch {
		case e.open():
			open = append(open, e.id+" "+e.verdict)
		case e.required():
			passed++
		}
	}
	fmt.Fprintf(w, "\n%d of %d required lines pass, %d not met yet, %d more are listed only.\n",
		passed, required, unmet, len(r.entries)-required-unmet)
	if unmet > 0 {
		fmt.Fprintf(w, "Not met: %s.\n", strings.Join(later, ", "))
	}
	if len(open) > 0 {
		fmt.Fprintf(w, "Open: %s.\n", strings.Join(open, ", "))
	}
	if len(r.unknown) > 0 {
		fmt.Fprintf(w, "Tests name lines that do not exist: %s.\n", strings.Join(r.unknown, ", "))
	}
	if r.failed > 0 {
		fmt.Fprintf(w, "%s failed.\n", count(r.failed, "test or package", "tests or packages"))
	}
}

// count returns n and the word for one or for several.
func count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// compareTests orders tests with the plainest proof first: an ID in the name, then by package.
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
