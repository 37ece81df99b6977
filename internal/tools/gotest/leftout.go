package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// envRun names the environment variable that differs in each run. A test that left something out reads
// it, see package awstest, and so is not taken from go test's cache the next time.
const envRun = "REMUDA_TEST_RUN"

// leftOutLine is what a test logs that needs a program this machine does not have.
var leftOutLine = regexp.MustCompile(`^\s+\S+\.go:\d+: left out: (.+)\n$`)

// leftOut gathers what was left out, by reason and package.
type leftOut map[string]map[string]bool

// take looks at one event.
func (l leftOut) take(e event) {
	m := leftOutLine.FindStringSubmatch(e.Output)
	if e.Action != "output" || m == nil {
		return
	}
	if l[m[1]] == nil {
		l[m[1]] = map[string]bool{}
	}
	l[m[1]][strings.TrimPrefix(e.Package, "github.com/remuda-run/remuda/")] = true
}

// print writes one line, or none if nothing was left out.
func (l leftOut) print(out io.Writer) error {
	if len(l) == 0 {
		return nil
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(l)) {
		packages := slices.Sorted(maps.Keys(l[reason]))
		parts = append(parts, fmt.Sprintf("%s (%s)", reason, strings.Join(packages, ", ")))
	}
	_, err := fmt.Fprintf(out, "left out: %s\n", strings.Join(parts, "; "))
	return err
}
