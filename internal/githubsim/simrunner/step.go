//go:build unix

package simrunner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/internal/process"
)

// sweeps is how often the processes of a job are looked for, sweepPause apart: one may fork meanwhile,
// and one that was killed lives until its turn comes. After 5 s they are given up.
const (
	sweeps     = 500
	sweepPause = 10 * time.Millisecond
)

// execute runs one program to its end. When ctx ends it gets SIGINT, then SIGTERM, then it is killed
// with all that carries the job's mark (src/Runner.Sdk/ProcessInvoker.cs, CancelAndKillProcessTree).
func (r *jobRun) execute(ctx context.Context, program string, args ...string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = r.workspace, r.env()
	cmd.Stdout, cmd.Stderr = r.log, r.log // a file: what outlives the step cannot hold it up
	step, err := r.program.start(cmd)
	if err != nil {
		return err
	}
	select {
	case err := <-step.ended:
		r.drain(step)
		return err
	case <-ctx.Done():
	}
	defer r.drain(step)
	for _, s := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{
		{syscall.SIGINT, r.program.Timing.Interrupt},
		{syscall.SIGTERM, r.program.Timing.Terminate},
	} {
		if err := step.signal(s.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			r.note(fmt.Sprintf("signal step: %v", err))
		}
		t := r.program.Clock.NewTimer(s.wait)
		select {
		case <-step.ended:
			t.Stop()
			return context.Cause(ctx)
		case <-t.C():
		}
	}
	r.sweep()
	if err := step.signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.note(fmt.Sprintf("kill step: %v", err))
	}
	<-step.ended
	return context.Cause(ctx)
}

// stepProcess is the process of a step.
type stepProcess struct {
	ended  <-chan error
	silent <-chan struct{} // closed once nothing holds its output; nil: it was a file
	signal func(os.Signal) error
}

func start(cmd *exec.Cmd) (*stepProcess, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return &stepProcess{ended: ended, signal: cmd.Process.Signal}, nil
}

// drain waits for the end of an ended step's output, which what it started may hold (ProcessInvoker.cs,
// ExecuteAsync).
func (r *jobRun) drain(s *stepProcess) {
	if s.silent == nil {
		return
	}
	t := r.program.Clock.NewTimer(outputDelay)
	defer t.Stop()
	select {
	case <-s.silent:
	case <-t.C():
	}
}

// sweep ends every process of the job that is left. Where processes cannot be found by their mark
// there is nothing to end them by.
func (r *jobRun) sweep() {
	for range sweeps {
		left, err := process.Find(trackingEnv, r.tracking)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			r.note(fmt.Sprintf("find orphan processes: %v", err))
		}
		if len(left) == 0 {
			return
		}
		if err := process.KillAll(left...); err != nil {
			r.note(fmt.Sprintf("end orphan processes: %v", err))
		}
		if err := r.program.sleep(context.Background(), sweepPause); err != nil {
			return
		}
	}
}
