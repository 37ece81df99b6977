package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/process"
)

// Fleet is the folder of a fleet of processes.
type Fleet string

// Machine is the folder of a machine.
func (f Fleet) Machine(id string) string { return filepath.Join(string(f), "instances", id) }

// Machines returns the ids of every machine that was ever launched.
func (f Fleet) Machines() ([]string, error) {
	folders, err := filepath.Glob(f.Machine("i-*"))
	ids := make([]string, len(folders))
	for i, folder := range folders {
		ids[i] = filepath.Base(folder)
	}
	return ids, err
}

// Left returns the processes of machines that live, by machine.
func (f Fleet) Left() (map[string][]process.Ref, error) {
	ids, err := f.Machines()
	if err != nil {
		return nil, err
	}
	marked, err := process.Marked(procfleet.EnvInstance)
	if err != nil {
		return nil, err
	}
	left := map[string][]process.Ref{}
	for _, id := range ids {
		if len(marked[id]) > 0 {
			left[id] = marked[id]
		}
	}
	return left, nil
}

// Leader returns the process that is the agent of a machine, or becomes it while the machine starts.
func (f Fleet) Leader(id string) (process.Ref, fleet.State, error) {
	var machine struct {
		Leader process.Ref `json:"leader"`
		State  fleet.State `json:"state"`
	}
	raw, err := os.ReadFile(filepath.Join(f.Machine(id), "instance.json"))
	if err == nil {
		err = json.Unmarshal(raw, &machine)
	}
	if err != nil {
		return process.Ref{}, "", fmt.Errorf("instance %s: %w", id, err)
	}
	return machine.Leader, machine.State, nil
}

// KillLeft kills processes until none is left, for so long.
func KillLeft(limit time.Duration, find func() ([]process.Ref, error)) (err error) {
	var left []process.Ref
	late := Until(limit, "every process is gone", func() bool {
		left, err = find()
		err = errors.Join(err, process.KillAll(left...))
		return err != nil || len(left) == 0
	})
	if late != nil {
		err = fmt.Errorf("%w: %v", late, left)
	}
	return err
}
