package repocheck_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// madeQueue is where a queue is made: newQueue[K]("name", …).
var madeQueue = regexp.MustCompile(`\bnewQueue\[[^\]]+\]\("([a-z]+)"`)

// The table of queues in docs/architecture.md has the queues that the controller works on.
func TestArchitecture_NamesEveryQueue(t *testing.T) {
	var made, named []string
	for _, file := range files(t, ".go") {
		if strings.HasPrefix(file, "reconciler/") && !strings.HasSuffix(file, "_test.go") {
			for _, m := range madeQueue.FindAllStringSubmatch(read(t, file), -1) {
				made = append(made, m[1])
			}
		}
	}
	for _, row := range table(t, section(t, read(t, "docs/architecture.md"), "## Reconcilers")) {
		named = append(named, row[0])
	}
	slices.Sort(made)
	slices.Sort(named)
	if len(made) == 0 || !slices.Equal(made, named) {
		t.Errorf("docs/architecture.md has the queues\n%v, package reconciler makes\n%v", named, made)
	}
}
