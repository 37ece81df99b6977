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

// because gives an error the cause by which refused cleanups are counted, unless it has one.
func because(cause string, err error) error {
	switch {
	case err == nil || errors.As(err, new(*agent.CleanupError)):
		return err
	case errors.Is(err, syscall.EBUSY):
		cause = store.UncleanMount
	}
	return &agent.CleanupError{Cause: cause, Err: err}
}

// leftTries is how many times the processes are listed that the operator's script has left, which may be about to end. Between two
// times passes killPause.
const leftTries = 60

// Prepare runs the operator's script before the first run. It returns an error that names a process which the script leaves running
// and the first cleanup would end: the second run would not find it.
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
			return fmt.Errorf("script left process %d (%s) running, which ends with the first run: start it as a service of the system that runs as another user than that of jobs, "+
				"name it in agent.keep.processes unless it runs as that user, or end it in the script", left[0].PID, namesOf(left[0])[0])
		}
		if err := processes(s).pause(ctx, killPause); err != nil {
			return err
		}
	}
}

// keptProcesses returns the processes that Keep names. None is one of the user of jobs: the kernel kills all of these at once.
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

// family returns processes with all that they have started.
func family(of []process.Ref) ([]process.Ref, error) {
	all := slices.Clone(of)
	for i := 0; i < len(all); i++ {
		if !all[i].Alive() { // another process may have the id
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

// namesOf returns the names of a process's program, and of its first argument, which is the program where the process interprets one.
func namesOf(r process.Ref) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.PID)) // an error: it has ended
	words := strings.Split(string(text), "\x00")
	for i, word := range words {
		words[i] = filepath.Base(word)
	}
	return words[:min(2, len(words))]
}
