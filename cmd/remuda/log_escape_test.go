package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

type told string

func (s told) String() string { return string(s) }

// What a job wrote does not reach a terminal as a command to it.
func TestLogger_OnATerminal_EscapesControlCharacters(t *testing.T) {
	for _, tty := range []bool{true, false} {
		var out strings.Builder
		log, err := newLogger(&out, tty, "1", LogConfig{Level: "info", Format: "text"})
		if err != nil {
			t.Fatal(err)
		}
		evil := "\x1b[2J\x1b]0;owned\x07 \u009b31m\r"
		log.Info("said", "text", evil, "error", errors.New(evil), "value", told(evil), "bytes", []byte{1}, slog.Group("g", "deep", evil))
		if line := out.String(); strings.TrimSuffix(line, "\n") != strings.TrimSuffix(printable(line), "\n") || !strings.Contains(line, `\x1b[2J`) {
			t.Errorf("tty %v: %q", tty, line)
		}
	}
}
