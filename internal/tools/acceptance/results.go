package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// test names a test or subtest by the import path of its package and its full name.
type test struct{ pkg, name string }

// outcome is how a test ended: pass, fail or skip, or "" if it never did.
type outcome string

const (
	pass outcome = "pass"
	fail outcome = "fail"
	skip outcome = "skip"
)

// outcomes holds how every test of a run ended. A package that failed as a whole has the name "".
type outcomes map[test]outcome

// readResults reads files of go test -json, oldest first. A test that was skipped in one of them counts as in the next.
func readResults(names ...string) (outcomes, error) {
	out := outcomes{}
	for _, name := range names {
		if err := out.read(name); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read results: %s holds no test", strings.Join(names, " "))
	}
	return out, nil
}

// read reads one file. Lines that are no events are skipped, as go mixes plain text in.
func (o outcomes) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open results (run `make check` first): %w", err)
	}
	defer f.Close()
	for r := bufio.NewReader(f); ; {
		text, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read results: %w", err)
		}
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(text, &e) == nil && e.Package != "" {
			o.add(e.Action, test{e.Package, e.Test})
		}
		if err != nil {
			return nil
		}
	}
}

// add stores one event. A started test has the outcome "". A failure stays, even if a later file reports a pass.
func (o outcomes) add(action string, t test) {
	switch {
	case o[t] == fail:
	case action == "run":
		o[t] = ""
	case t.name == "" && action != "fail":
	case action == "pass" || action == "fail" || action == "skip":
		o[t] = outcome(action)
	}
}

// notRun is how a test ended that the results do not have.
const notRun = "not run"

// of says how t ended; one that only started has failed.
func (o outcomes) of(t test) string {
	end, run := o[t]
	switch {
	case !run:
		return notRun
	case end == "":
		return string(fail)
	}
	return string(end)
}

// failed counts the tests and packages that did not end well.
func (o outcomes) failed() int {
	n := 0
	for _, end := range o {
		if end == fail || end == "" {
			n++
		}
	}
	return n
}

// passed returns a pattern for -skip of go test: the tests that passed with all their subtests, in every package that has one of that
// name. It does not name subtests, because a test may need its subtests together.
func (o outcomes) passed() string {
	whole := map[string]bool{}
	for t, end := range o {
		name, _, _ := strings.Cut(t.name, "/")
		before, known := whole[name]
		whole[name] = end == pass && (before || !known)
	}
	maps.DeleteFunc(whole, func(name string, passed bool) bool { return !passed })
	return "^(" + strings.Join(slices.Sorted(maps.Keys(whole)), "|") + ")$"
}
