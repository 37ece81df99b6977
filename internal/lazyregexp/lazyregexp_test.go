package lazyregexp_test

import (
	"testing"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

func TestNew_CompilesOnce(t *testing.T) {
	form := lazyregexp.New(`^i-[0-9a-f]+$`)
	if !form().MatchString("i-0a") || form().MatchString("i-") {
		t.Error("it matches what the expression does not, or not what it does")
	}
	if first, second := form(), form(); first != second {
		t.Error("two calls gave two expressions")
	}
}

// What is no expression is found by the first test of its package.
func TestNew_InTestsAtOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	lazyregexp.New(`(`)
}
