// Package lazyregexp compiles regular expressions when they are first used. Compiled at the start of each program, all of them would
// take some 3 MB and 8 ms, also of agents, of which each machine has one, and of verbs that need none.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New returns a function that gives the compiled expression, which is the same each time. An expression that is none panics in the
// first call, and in tests at once.
func New(expr string) func() *regexp.Regexp {
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	if strings.HasSuffix(os.Args[0], ".test") {
		compile()
	}
	return compile
}
