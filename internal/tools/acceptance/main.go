// Command acceptance says which tests prove which line of docs/acceptance.md.
//
// A test proves the lines that it names: an ID stands in the name of the test or of a subtest, or in a
// comment above or inside the test's own function. A script of testscript proves the lines whose IDs stand
// in its comments, and a check of a suite is a subtest: its name says what it proves. Nothing else counts,
// least of all what a test's helpers say. The results come from the events of go test -json that `make check` keeps.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "acceptance: %v\n", err)
	}
	os.Exit(code)
}

// run prints the list and returns 0 if every required line passes and no test failed, 1 if that is not so,
// or 2 with an error if it cannot be told.
func run(args []string, stdout io.Writer) (int, error) {
	flags := flag.NewFlagSet("acceptance", flag.ContinueOnError)
	root := flags.String("root", ".", "root `folder` of the module")
	results := flags.String("results", "dist/check.json", "`files` of events that make check and make test kept, separated by spaces, oldest first")
	passed := flags.Bool("passed", false, "print the tests that passed as a pattern for -skip of go test, and nothing else")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0, nil
		}
		return 2, nil // flag has printed it
	}
	outcomes, err := readResults(strings.Fields(*results)...)
	if err != nil {
		return 2, err
	}
	if *passed {
		_, err := fmt.Fprintln(stdout, outcomes.passed())
		return 0, err
	}
	lines, err := readTable(filepath.Join(*root, "docs", "acceptance.md"))
	if err != nil {
		return 2, err
	}
	module, err := modulePath(*root)
	if err != nil {
		return 2, err
	}
	claims, err := scan(*root, module)
	if err != nil {
		return 2, err
	}
	claims.addNames(outcomes)
	if err := claims.addScripts(*root, module, outcomes); err != nil {
		return 2, err
	}
	report := judge(lines, claims, outcomes)
	if err := report.print(stdout, module); err != nil {
		return 2, fmt.Errorf("print list: %w", err)
	}
	if report.ok() {
		return 0, nil
	}
	return 1, nil
}
