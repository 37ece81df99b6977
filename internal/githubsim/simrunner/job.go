//go:build unix

package simrunner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
)

// Variables that name the operator's hooks (src/Runner.Worker/JobExtension.cs).
const (
	hookStarted   = "ACTIONS_RUNNER_HOOK_JOB_STARTED"
	hookCompleted = "ACTIONS_RUNNER_HOOK_JOB_COMPLETED"
)

// trackingEnv marks all processes of a job, so that those it leaves behind can be ended
// (src/Runner.Common/Constants.cs, ProcessTrackingId; JobExtension.cs, FinalizeJob).
const trackingEnv = "RUNNER_TRACKING_ID"

// sweeps is how often the processes of a job are looked for, sweepPause apart: one may fork meanwhile,
// and one that was killed lives until its turn comes. After 5 s they are given up.
const (
	sweeps     = 500
	sweepPause = 10 * time.Millisecond
)

// worker runs jobs. The real one is a process of its own (bin/Runner.Worker), a child of the listener
// in the same process group; so are the steps here.
type worker struct {
	program *Program
	cred    githubsim.Credentials
	work    string
}

// run implements githubsim.RunFunc (src/Runner.Listener/JobDispatcher.cs, RunAsync).
func (w *worker) run(ctx context.Context, j githubsim.Job) githubsim.Conclusion {
	p := w.program
	p.say(fmt.Sprintf("%s: Running job: %s", p.stamp(), j.Name))
	c := w.job(ctx, j)
	result := map[githubsim.Conclusion]string{
		githubsim.Success: "Succeeded", githubsim.Failure: "Failed", githubsim.Cancelled: "Canceled",
	}[c]
	p.say(fmt.Sprintf("%s: Job %s completed with result: %s", p.stamp(), j.Name, result))
	return c
}

// job prepares the folders, runs hook, steps, hook, and ends what is left of them.
func (w *worker) job(ctx context.Context, j githubsim.Job) githubsim.Conclusion {
	repo := filepath.Base("/" + j.Repository)
	if repo == "/" {
		repo = "repo"
	}
	r := &jobRun{worker: w, job: j, tracking: "github_" + rand.Text()}
	r.workspace = filepath.Join(w.work, repo, repo) // src/Runner.Worker/PipelineDirectoryManager.cs
	r.temp = filepath.Join(w.work, "_temp")
	log, err := r.prepare()
	if err != nil {
		w.program.fail(fmt.Sprintf("prepare job %s: %v", j.ID, err))
		return githubsim.Failure
	}
	r.log = log
	c := r.steps(ctx)
	r.sweep()
	if err := log.Close(); err != nil {
		w.program.fail(fmt.Sprintf("close log of job %s: %v", j.ID, err))
	}
	return c
}

type jobRun struct {
	*worker
	job                       githubsim.Job
	tracking, workspace, temp string
	log                       *os.File
}

func (r *jobRun) prepare() (*os.File, error) {
	diag := filepath.Join(r.program.Dir, "_diag")
	for _, d := range []string{r.workspace, r.temp, diag} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	return os.CreateTemp(diag, "Worker_*.log")
}

// steps runs the started hook, the job itself if that succeeded, and the completed hook in any case.
// A failed hook fails the job (JobExtension.cs; GitHub Docs, "Running scripts before or after a job").
func (r *jobRun) steps(ctx context.Context) githubsim.Conclusion {
	err := r.hook(ctx, hookStarted)
	if err == nil {
		err = r.body(ctx)
	}
	// Post steps run although the job was cancelled.
	post, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.program.Timing.Post)
	defer cancel()
	err = errors.Join(err, r.hook(post, hookCompleted))
	switch {
	case ctx.Err() != nil:
		r.note("The runner has received a shutdown signal, or the job was cancelled.")
		return githubsim.Cancelled
	case err != nil:
		r.note(err.Error())
		return githubsim.Failure
	}
	return githubsim.Success
}

func (r *jobRun) body(ctx context.Context) error {
	if r.job.Script == "" {
		return r.program.sleep(ctx, time.Duration(r.job.Seconds*float64(time.Second)))
	}
	file := filepath.Join(r.temp, rand.Text()+".sh")
	if err := os.WriteFile(file, []byte(r.job.Script), 0o644); err != nil {
		return fmt.Errorf("write script: %w", err)
	}
	if err := r.execute(ctx, "/bin/sh", "-e", file); err != nil {
		return fmt.Errorf("run script: %w", err)
	}
	return nil
}

// hook runs the operator's hook, if there is one (src/Runner.Worker/JobHookProvider.cs;
// src/Runner.Common/HostContext.cs, GetDefaultShellForScript).
func (r *jobRun) hook(ctx context.Context, name string) error {
	path := lookup(r.program.Env, name)
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if filepath.Ext(path) != ".sh" {
		return fmt.Errorf("%s: %s is not a valid path to a script. Make sure it ends in '.sh'", name, path)
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		shell = "/bin/sh"
	}
	if err := r.execute(ctx, shell, "-e", path); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// execute runs one program to its end. When ctx ends it gets SIGINT, then SIGTERM, then it is killed
// with all that carries the job's mark (src/Runner.Sdk/ProcessInvoker.cs, CancelAndKillProcessTree).
func (r *jobRun) execute(ctx context.Context, program string, args ...string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = r.workspace, r.env()
	cmd.Stdout, cmd.Stderr = r.log, r.log // a file: what outlives the step cannot hold it up
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	for _, s := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{
		{syscall.SIGINT, r.program.Timing.Interrupt},
		{syscall.SIGTERM, r.program.Timing.Terminate},
	} {
		if err := cmd.Process.Signal(s.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			r.note(fmt.Sprintf("signal step: %v", err))
		}
		t := r.program.Clock.NewTimer(s.wait)
		select {
		case <-ended:
			t.Stop()
			return context.Cause(ctx)
		case <-t.C():
		}
	}
	r.sweep()
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.note(fmt.Sprintf("kill step: %v", err))
	}
	<-ended
	return context.Cause(ctx)
}

// env is what a step sees (src/Runner.Worker/GitHubContext.cs, RunnerContext.cs): the program's own
// environment and the job's.
func (r *jobRun) env() []string {
	owner, _, _ := strings.Cut(r.job.Repository, "/")
	return append(append([]string(nil), r.program.Env...),
		"CI=true",
		"GITHUB_ACTIONS=true",
		"GITHUB_RUN_ID="+r.job.RunID,
		"GITHUB_REPOSITORY="+r.job.Repository,
		"GITHUB_REPOSITORY_OWNER="+owner,
		"GITHUB_JOB="+r.job.ID,
		"GITHUB_WORKSPACE="+r.workspace,
		"RUNNER_NAME="+r.cred.Name,
		"RUNNER_OS=Linux",
		"RUNNER_ARCH="+architecture(),
		"RUNNER_TEMP="+r.temp,
		trackingEnv+"="+r.tracking,
	)
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

// note adds a line to the job's log.
func (r *jobRun) note(line string) {
	if _, err := io.WriteString(r.log, line+"\n"); err != nil {
		r.program.fail(fmt.Sprintf("write log of job %s: %v", r.job.ID, err))
	}
}
