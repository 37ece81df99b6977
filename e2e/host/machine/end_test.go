//go:build linux

package machine

import (
	"strings"
	"testing"
)

// A machine whose program cannot be fetched says why on its console and powers itself off, by its own systemd: where the bucket
// has none, and where S3 refuses the signature (S20 H01 H50).
func TestProgram_CannotBeFetched_S20_H01_H50(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"no object": "S3 answers NoSuchKey", "refused": "S3 answers SignatureDoesNotMatch"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			if name == "refused" {
				w.computers.forges.Store(true)
			}
			w.remuda("request", "--id", "run-1", "--count", "1", "--resource-class", "small", "--no-wait")
			id, m := w.booted()
			w.gone(id, m)
			for _, want := range []string{"cannot fetch the program from " + bucket + ": " + want, "powering off"} {
				if !strings.Contains(m.Console(), want) {
					t.Errorf("the console does not say %q:\n%s", want, m.Console())
				}
			}
		})
	}
}

// A program that ends soon is started ten times by systemd, and then the machine is powered off by it (H49).
func TestProgram_EndsSoon_H49(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []byte("#!/bin/sh\necho the program ends\nsleep 1\nexit 1\n"))
	w.remuda("request", "--id", "run-1", "--count", "1", "--resource-class", "small", "--no-wait")
	id, m := w.booted()
	w.gone(id, m)
	if journal := m.Journal("remuda-agent.service"); strings.Count(journal, "the program ends") != 10 || !strings.Contains(journal, "Start request repeated too quickly") {
		t.Errorf("journal of the agent:\n%s", journal)
	}
}
