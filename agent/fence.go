package agent

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/process"
)

// VerdictFile is the name of the file in Options.Dir to which the job-started hook adds a line for each job.
// Who starts a listener makes it anew, for the runner's user to append to.
const VerdictFile = "verdicts"

// The lines of VerdictFile.
const (
	VerdictAdmitted = "admitted"
	VerdictRefused  = "refused"
)

// WorkerName is the program that a listener starts for each job, of which the job-started hook is a step
// (actions/runner, src/Runner.Listener/JobDispatcher.cs).
const WorkerName = "Runner.Worker"

// readFor is how long a worker lives on after the sentence that says why it ends: its listener takes what it
// has read of its output as the failure's annotation.
const readFor = 200 * time.Millisecond

// workerPause is between two looks for a worker that does not end.
const workerPause = 20 * time.Millisecond

// GuardJob is the job-started hook. It returns nil if the job may run, which the agent can read then. To the
// runner the hook is a step like others: after one that failed, steps with always() and those that actions
// run before and after their own still run (actions/runner, src/Runner.Worker/StepsRunner.cs). So a hook
// that refuses ends the worker, which cannot run anything then, and does not return before: the error is for
// a test alone. The listener reports the job as failed, and goes on.
//
// Its parent, the shell of WriteHook, does not return while there is a worker either, whatever becomes of this
// process. Both ignore the signals that end a step. The runner sends none to a hook after which a step could
// follow: the hook's condition is always(), so that it goes on when its job is cancelled, and once the runner
// stops, no step runs (StepsRunner.cs). A job that is cancelled before its hook runs nothing (JobRunner.cs).
func GuardJob(dir string, env []string, clk clock.Clock) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	awaitAgent(dir, clk, os.Stdout)
	err := JobStarted(dir, env)
	if err == nil {
		err = note(dir, VerdictAdmitted)
	}
	if err == nil {
		return nil
	}
	why := oneLine("remuda refused this job: " + err.Error())
	for notified := false; ; clk.Sleep(workerPause) {
		worker, ferr := findWorker(os.Getpid())
		if ferr != nil {
			continue // no step may follow while there is a worker: one that cannot be ended is outwaited
		}
		if !notified {
			notified = true
			lastWords(dir, worker, why, clk)
		}
		for process.Signal(worker, syscall.SIGKILL) == nil {
			clk.Sleep(workerPause)
		}
		if !worker.Alive() {
			return err
		}
	}
}

// findWorker returns the worker above a process.
func findWorker(pid int) (process.Ref, error) {
	above, err := process.Ancestors(pid)
	for _, a := range above { // what is above the worker may be hidden
		if a.Name == WorkerName {
			return a.Ref, nil
		}
	}
	return process.Ref{}, errors.Join(fmt.Errorf("%s: %w", WorkerName, process.ErrNotFound), err)
}

// lastWords says why to people, through the pipe to the listener that is the worker's output. The verdict is
// written last: a hook that dies before has not kept the job from going on, and no one may think so.
func lastWords(dir string, worker process.Ref, why string, clk clock.Clock) {
	if writeLine(worker.PID, why) == nil { // people miss a sentence otherwise, and nothing else
		clk.Sleep(readFor)
	}
	_ = note(dir, VerdictRefused) // without it the agent takes the job for one that no one judged
}

// writeLine writes a line to a process's standard output. It does not wait for a reader.
func writeLine(pid int, line string) error {
	f, err := os.OpenFile(filepath.Join("/proc", strconv.Itoa(pid), "fd", "1"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// note adds a verdict.
func note(dir, verdict string) error {
	f, err := os.OpenFile(filepath.Join(dir, VerdictFile), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(verdict + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("note verdict: %w", err)
	}
	return nil
}
