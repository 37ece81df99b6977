package scrub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// because sets the cause that a refused cleanup is counted under, unless the error has a cause.
func because(cause string, err error) error {
	switch {
	case err == nil || errors.As(err, new(*agent.CleanupError)):
		return err
	case errors.Is(err, syscall.EBUSY):
		cause = store.UncleanMount
	}
	return &agent.CleanupError{Cause: cause, Err: err}
}

// leftTries is how often Prepare lists the processes that the script left, because they may be about to end. Between two tries it waits for
// killPause.
const leftTries = 60

// Prepare runs the operator's script before the first run. It returns an error if the script leaves a process running that the first
// cleanup would kill, because the second run would lack the process.
func (s Scrubber) Prepare(ctx context.Context, script agent.Script) error {
	before, err := processes(s).running()
	if err == nil {
		err = script.Run(ctx)
	}
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		left, err := processes(s).running()
		if err != nil {
			return err
		}
		kept, err := s.keptProcesses()
		if err == nil {
			kept, err = family(kept)
		}
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(r process.Ref) bool { return slices.Contains(before, r) || slices.Contains(kept, r) })
		if len(left) == 0 {
			return nil
		}
		if try == leftTries {
			return fmt.Errorf("script left process %d (%s) running, and the first cleanup would end it: start it as a system service under another user than the user of jobs, "+
				"add it to agent.keep.processes if it runs as another user, or end it in the script", left[0].PID, namesOf(left[0])[0])
		}
		if err := processes(s).pause(ctx, killPause); err != nil {
			return err
		}
	}
}

// keptProcesses returns the processes that Keep names. Processes of the user of jobs are excluded, because the kernel kills all of them at
// once.
func (s Scrubber) keptProcesses() ([]process.Ref, error) {
	if len(s.Keep.Processes) == 0 {
		return nil, nil
	}
	all, err := processes(s).running()
	var jobs []process.Ref
	if s.User != nil && err == nil {
		jobs, err = process.User{UID: s.User.UID}.Processes()
	}
	return slices.DeleteFunc(all, func(r process.Ref) bool {
		return slices.Contains(jobs, r) || !slices.ContainsFunc(namesOf(r), func(name string) bool { return slices.Contains(s.Keep.Processes, name) })
	}), err
}

// family returns the given processes and all their descendants.
func family(of []process.Ref) ([]process.Ref, error) {
	all := slices.Clone(of)
	for i := 0; i < len(all); i++ {
		if !all[i].Alive() { // another process may have the same id now
			continue
		}
		below, err := process.Children(all[i].PID)
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return all, nil
}

// namesOf returns the names of a process's program and of its first argument. The argument is the program if the process is an interpreter.
func namesOf(r process.Ref) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.PID)) // on an error, the process has ended
	words := strings.Split(string(text), "\x00")
	for i, word := range words {
		words[i] = filepath.Base(word)
	}
	return words[:min(2, len(words))]
}
