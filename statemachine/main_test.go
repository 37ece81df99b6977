package statemachine_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
