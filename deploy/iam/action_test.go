package iam_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
)

var (
	commandImport = regexp.MustCompile(`(?m)^import \{([^}]*)\} from "@aws-sdk/client-([a-z0-9]+)";`)
	commandName   = regexp.MustCompile(`\b([A-Z]\w+)Command\b`)
)

// calledByAction returns the calls in the sources of the GitHub Action: what calls a service imports the
// class of the command, such as GetItemCommand.
func calledByAction(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "action/src/*.ts"))
	if err != nil || len(files) == 0 {
		t.Fatalf("action/src: %d files, %v", len(files), err)
	}
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range commandImport.FindAllStringSubmatch(string(text), -1) {
			for _, name := range commandName.FindAllStringSubmatch(m[1], -1) {
				out = append(out, m[2]+":"+name[1])
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The action makes only calls that the table of calls_test.go has as the workflow's, so each has an evaluated
// scenario.
func TestCalls_OfTheActionAreTheWorkflows(t *testing.T) {
	got := calledByAction(t)
	if want := []string{"dynamodb:GetItem", "dynamodb:PutItem", "sqs:GetQueueUrl", "sqs:SendMessage"}; !slices.Equal(got, want) {
		t.Errorf("the action calls %q, want %q", got, want)
	}
	for _, call := range got {
		if !slices.Contains(calls[call], iam.Workflow) {
			t.Errorf("the action calls %s, which is no call of the workflow in deploy/iam/calls_test.go", call)
		}
	}
}
