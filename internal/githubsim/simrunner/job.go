//go:build unix

package simrunner

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// Variables that name the operator's hooks (src/Runner.Worker/JobExtension.cs).
const (
	hookStarted   = "ACTIONS_RUNNER_HOOK_JOB_STARTED"
	hookCompleted = "ACTIONS_RUNNER_HOOK_JOB_COMPLETED"
)

// trackingEnv marks all processes of a job, so that those it leaves behind can be ended
// (src/Runner.Common/Constants.cs, ProcessTrackingId; JobExtension.cs, FinalizeJob).
const trackingEnv = "RUNNER_TRACKING_ID"

// uploadPause is between two tries to send a log, as seen with version 2.336.0.
const uploadPause = 400 * time.Millisecond

// jobRun is one job in its worker.
type jobRun struct {
	*assignment
	program                   *Program
	tracking, workspace, temp string
	log                       *os.File
	cancelled, stopped        context.Context //nolint:containedctx // end with the orders to cancel the job, and to stop the runner
}

// serve is the worker: it carries out the one job that it is ordered to (src/Runner.Worker/Worker.cs, RunAsync)
// and returns the exit code. Only orders, and the end of the process, end a job early.
func (p *Program) serve(orders io.Reader) int {
	in := json.NewDecoder(orders)
	var first order
	if err := in.Decode(&first); err != nil || first.Job == nil {
		p.fail(fmt.Sprintf("read the job: %v", err))
		return exitTerminated
	}
	p.Timing = first.Job.Timing
	r := &jobRun{assignment: first.Job, program: p, tracking: "github_" + rand.Text()}
	var stop, cancel context.CancelFunc
	r.stopped, stop = context.WithCancel(context.Background())
	defer stop()
	r.cancelled, cancel = context.WithCancel(r.stopped)
	defer cancel()
	go func() {
		for {
			var o order
			if err := in.Decode(&o); err != nil {
				return // the listener is gone, or this worker ends
			}
			if o.Shutdown {
				stop()
			}
			cancel()
		}
	}()
	p.pass(p.Timing.Start)
	c, err := r.job()
	if err != nil {
		p.fail(err.Error())
		return exitTerminated
	}
	r.upload()
	p.pass(p.Timing.Finish)
	if p.orphaned(r.Listener) {
		r.report(c)
	}
	return map[githubsim.Conclusion]int{
		githubsim.Success: workerSucceeded, githubsim.Failure: workerFailed, githubsim.Cancelled: workerCanceled,
	}[c]
}

// pass lets d pass.
func (p *Program) pass(d time.Duration) {
	if d > 0 {
		_ = p.sleep(context.Background(), d) // nothing ends it early
	}
}

// upload sends the log to the results service, and once more if that fails. The job's result does not depend on
// it (src/Runner.Common/JobServerQueue.cs).
func (r *jobRun) upload() {
	remote, err := githubsim.NewRemote(r.URL, r.program.Client)
	if err != nil {
		return // the listener could not have started either
	}
	for n := range 2 {
		r.program.pass(uploadPause * time.Duration(n))
		if remote.Session(r.Session).Upload(context.Background(), r.Job.ID) == nil {
			return
		}
	}
}

// report tells the service the job's result in the listener's place.
func (r *jobRun) report(c githubsim.Conclusion) {
	remote, err := githubsim.NewRemote(r.URL, r.program.Client)
	if err == nil {
		err = remote.Session(r.Session).Complete(context.Background(), r.Job.ID, c)
	}
	if err != nil {
		r.program.fail(fmt.Sprintf("report job %s: %v", r.Job.ID, err))
	}
}

// job prepares the folders, runs the steps, and ends what is left of them.
func (r *jobRun) job() (githubsim.Conclusion, error) {
	repo := filepath.Base("/" + r.Job.Repository)
	if repo == "/" {
		repo = "repo"
	}
	r.workspace = filepath.Join(r.Work, repo, repo) // src/Runner.Worker/PipelineDirectoryManager.cs
	r.temp = filepath.Join(r.Work, "_temp")
	if err := r.prepare(); err != nil {
		return "", fmt.Errorf("prepare job %s: %w", r.Job.ID, err)
	}
	c := r.steps()
	r.sweep()
	if err := r.log.Close(); err != nil {
		return "", fmt.Errorf("close log of job %s: %w", r.Job.ID, err)
	}
	return c, nil
}

func (r *jobRun) prepare() (err error) {
	diag := filepath.Join(r.program.Dir, "_diag")
	for _, d := range []string{r.workspace, r.temp, diag} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	r.log, err = os.CreateTemp(diag, "Worker_*.log")
	return err
}

// step is one step of a job, in the order of src/Runner.Worker/JobExtension.cs, InitializeJob.
type step struct {
	always bool // its condition is always(), else success()
	run    func(context.Context) error
}

// steps runs them as src/Runner.Worker/StepsRunner.cs does: a failed step, and the job-started hook is one,
// keeps those with success() from running and no other; so does the end of the job by an order, which
// does not even interrupt the others. Once the runner stops no step runs, and the job has failed.
func (r *jobRun) steps() githubsim.Conclusion {
	if r.cancelled.Err() != nil { // while the job was set up (src/Runner.Worker/JobRunner.cs, RunAsync)
		r.note("The operation was canceled.")
		return githubsim.Cancelled
	}
	failed := false
	for _, s := range []step{
		{true, r.hook(hookStarted)},
		{true, r.script(r.Job.Pre)},
		{false, r.body},
		{true, r.script(r.Job.Always)},
		{true, r.script(r.Job.Post)},
		{true, r.hook(hookCompleted)},
	} {
		ctx := r.cancelled
		if s.always {
			ctx = r.stopped
		}
		if ctx.Err() != nil || failed && !s.always {
			continue
		}
		if err := s.run(ctx); err != nil {
			failed = true
			r.note(err.Error())
		}
	}
	switch {
	case r.stopped.Err() != nil:
		r.note("The runner has received a shutdown signal. This can happen when the runner service is stopped, or a manually started runner is canceled.")
		return githubsim.Failure
	case r.cancelled.Err() != nil:
		r.note("The operation was canceled.")
		return githubsim.Cancelled
	case failed:
		return githubsim.Failure
	}
	return githubsim.Success
}

// body is the job's own step.
func (r *jobRun) body(ctx context.Context) error {
	if r.Job.Script == "" {
		return r.program.sleep(ctx, time.Duration(r.Job.Seconds*float64(time.Second)))
	}
	return r.script(r.Job.Script)(ctx)
}

// script runs a step's script, if there is one.
func (r *jobRun) script(text string) func(context.Context) error {
	return func(ctx context.Context) error {
		if text == "" {
			return nil
		}
		file := filepath.Join(r.temp, rand.Text()+".sh")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write script: %w", err)
		}
		if err := r.execute(ctx, "/bin/sh", "-e", file); err != nil {
			return fmt.Errorf("run script: %w", err)
		}
		return nil
	}
}

// hook runs the operator's hook, if there is one (src/Runner.Worker/JobHookProvider.cs;
// src/Runner.Common/HostContext.cs, GetDefaultShellForScript).
func (r *jobRun) hook(name string) func(context.Context) error {
	return func(ctx context.Context) error {
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
}

// env is what a step sees (src/Runner.Worker/GitHubContext.cs, RunnerContext.cs): the program's own
// environment and the job's.
func (r *jobRun) env() []string {
	owner, _, _ := strings.Cut(r.Job.Repository, "/")
	return append(append([]string(nil), r.program.Env...),
		"CI=true",
		"GITHUB_ACTIONS=true",
		"GITHUB_RUN_ID="+r.Job.RunID,
		"GITHUB_RUN_ATTEMPT="+strconv.Itoa(max(r.Job.RunAttempt, 1)),
		"GITHUB_REPOSITORY="+r.Job.Repository,
		"GITHUB_REPOSITORY_OWNER="+owner,
		"GITHUB_JOB="+r.Job.ID,
		"GITHUB_WORKSPACE="+r.workspace,
		"RUNNER_NAME="+r.Runner,
		"RUNNER_OS=Linux",
		"RUNNER_ARCH="+architecture(),
		"RUNNER_TEMP="+r.temp,
		trackingEnv+"="+r.tracking,
	)
}

// note adds a line to the job's log.
func (r *jobRun) note(line string) {
	if _, err := io.WriteString(r.log, line+"\n"); err != nil {
		r.program.fail(fmt.Sprintf("write log of job %s: %v", r.Job.ID, err))
	}
}
