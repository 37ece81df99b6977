package sim

import (
	"errors"
	"os"
	"path/filepath"
)

// disk spoils the state file of an agent, of the machine at so much of 1 of those that live. Its machine may be given up for
// that, and its job lost; no runner name, secret or job may go astray.
type disk struct {
	How string `script:"how,first"` // torn: cut in its middle; lost; old: as it was some writes ago; full: written no more, for a while
	share
	span
}

func (a disk) check() error {
	return errors.Join(oneOf("how", a.How, "torn", "lost", "old", "full"), a.span.check())
}

// stateFile is where an agent keeps what it must remember (agent/state.go).
const stateFile = "agent-state.json"

func (a disk) do(w *World) {
	w.machines.ofAlive(a.Of, func(m *machine) {
		w.machines.disturb(m.id)
		path := filepath.Join(w.dir, m.id, stateFile)
		text, err := os.ReadFile(path)
		if err != nil {
			return // none yet
		}
		switch a.How {
		case "torn":
			w.machines.ofAgent(m, (*process).crash)
			err = os.WriteFile(path, text[:len(text)/2], 0o600)
		case "lost":
			w.machines.ofAgent(m, (*process).crash)
			err = os.Remove(path)
		case "old":
			a.until(w, func() {}, func() {
				if !w.machines.lives(m.id) {
					return
				}
				w.machines.ofAgent(m, (*process).crash)
				if err := os.WriteFile(path, text, 0o600); err != nil {
					w.verdicts.broke(disks, "%v", err)
				}
			})
		case "full": // what is to be written under a name that a folder has cannot be written
			a.until(w, func() { err = os.MkdirAll(path+".new/taken", 0o755) }, func() {
				if err := os.RemoveAll(path + ".new"); err != nil {
					w.verdicts.broke(disks, "%v", err)
				}
			})
		}
		if err != nil {
			w.verdicts.broke(disks, "%s %s: %v", a.How, m.id, err)
		}
	})
}

// disks is what the simulation itself promises.
const disks = "the simulated disks work"
