//go:build linux

// Package stock boots machines as Debian makes them, without anything that runners need, by the first script of an
// instance, and makes one of them an image by the script for images. Both install by the real apt-get.
package stock

import (
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
)

func TestMain(m *testing.M) { os.Exit(hosttest.Main(m, program.Tests{Parallel: "2"})) }
