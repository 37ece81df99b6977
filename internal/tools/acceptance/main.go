// Command acceptance says which test proves which line of docs/acceptance.md.
//
// A test proves a line if the line's ID stands in the name of the test or of a subtest, or in a comment
// above or inside the test, or of a function of a test file or conformance suite that the test reaches
// and that can fail it. A script of testscript proves the lines whose IDs stand in its comments. The
// results come from the events that command gotest kept.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "acceptance: %v\n", err)
	}
	os.Exit(code)
}

// run prints the list and returns 0 if every required line passes, 1 if one does not, or 2 with an
// error if that cannot be told.
func run(args []string, stdout io.Writer) (int, error) {
	flags := flag.NewFlagSet("acceptance", flag.ContinueOnError)
	root := flags.String("root", ".", "root `folder` of the module")
	results := flags.String("results", "dist/test.json", "`file` of events kept by gotest")
	all := flags.Bool("v", false, "print all tests of a line, not only the first")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0, nil
		}
		return 2, nil // flag has printed it
	}
	lines, err := readTable(filepath.Join(*root, "docs", "acceptance.md"))
	if err != nil {
		return 2, err
	}
	outcomes, err := readResults(*results)
	if err != nil {
		return 2, err
	}
	claims, err := scan(*root)
	if err != nil {
		return 2, err
	}
	claims.addNames(outcomes)
	if err := claims.addScripts(*root, outcomes); err != nil {
		return 2, err
	}
	report := judge(lines, claims, outcomes)
	if err := report.print(stdout, *all); err != nil {
		return 2, fmt.Errorf("print list: %w", err)
	}
	if report.ok() {
		return 0, nil
	}
	return 1, nil
}
