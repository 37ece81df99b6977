package main

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(program.Tests{}.Run(m)) }
