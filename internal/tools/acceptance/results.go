package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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

// readResults reads a file of go test -json. Lines that are no events are skipped, as go mixes plain
// text in.
func readResults(name string) (outcomes, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open results (run `make check` first): %w", err)
	}
	defer f.Close()
	out := outcomes{}
	for r := bufio.NewReader(f); ; {
		text, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read results: %w", err)
		}
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(text, &e) == nil && e.Package != "" {
			out.add(e.Action, test{e.Package, e.Test})
		}
		if err != nil {
			break
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read results: %s holds no test", name)
	}
	return out, nil
}

// add takes one event. A test that only started has the outcome "".
func (o outcomes) add(action string, t test) {
	switch {
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
