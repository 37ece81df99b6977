package step

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/process"
)

// trackingEnv marks all processes of a job (Runner.Common/Constants.cs, ProcessTrackingId).
const trackingEnv = "RUNNER_TRACKING_ID"

// streamsFor is how long the output of a step that has ended may be held open by what it started
// (Runner.Sdk/ProcessInvoker.cs, ProcessExitedHandler).
const streamsFor = 5 * time.Second

// Result is how a step ended and what it left.
type Result struct {
	Conclusion  Conclusion
	ExitCode    int              // -1: ended by a signal
	Signals     []syscall.Signal // that a cancellation sent
	Took        time.Duration
	Log         []string  // as GitHub shows it, commands that only inform included
	Annotations []Command // error, warning, notice
	Outputs     map[string]string
	Env         map[string]string // for the steps that follow
	Paths       []string          // also, in front of PATH
	Summary     string            // Markdown
	Problems    []string          // what the runner complains of, or is to be written otherwise today
}

// Complaints are its annotations but for warnings that AWS or the controller has not answered yet: both share a busy
// machine with the tests, and the action asks again, waits, or does without.
func (r Result) Complaints() []Command {
	return slices.DeleteFunc(slices.Clone(r.Annotations), func(c Command) bool {
		return c.Name == "warning" && (strings.Contains(c.Data, ": no answer within ") || strings.HasPrefix(c.Data, "no controller answered yet, "))
	})
}

// Step is a step that runs.
type Step struct {
	job    *Job
	action *Action
	with   map[string]string
	state  map[string]string // shared by a step and its post
	files  map[string]string
	mark   string
	cmd    *exec.Cmd
	began  time.Time
	stop   chan struct{}
	ended  chan struct{}
	once   sync.Once

	mu     sync.Mutex
	result Result

	commands sync.Mutex // one line at a time, of both streams
	resume   string     // the token that ends stop-commands
}

// start starts a script of an action.
func (j *Job) start(a *Action, script string, with, state map[string]string) (*Step, error) {
	inputs, unexpected, err := a.inputs(with, j.Context)
	if err != nil {
		return nil, fmt.Errorf("start step: %w", err)
	}
	files, err := j.makeFiles()
	if err != nil {
		return nil, fmt.Errorf("start step: %w", err)
	}
	s := &Step{
		job: j, action: a, with: with, state: maps.Clone(state), files: files, mark: "github_" + rand.Text(),
		began: time.Now(), stop: make(chan struct{}), ended: make(chan struct{}),
		result: Result{Outputs: map[string]string{}, Env: map[string]string{}},
	}
	if s.state == nil {
		s.state = map[string]string{}
	}
	if len(unexpected) > 0 {
		s.problem("unexpected inputs %q", unexpected)
	}
	s.cmd = exec.Command(cmp.Or(j.Node, "node"), filepath.Join(a.dir, script))
	s.cmd.Dir, s.cmd.Env, s.cmd.WaitDelay = j.Dir, j.environ(inputs, s.state, files, s.mark), streamsFor
	out, errs := &lines{each: s.line}, &lines{each: s.line}
	s.cmd.Stdout, s.cmd.Stderr = out, errs
	if signal.Ignored(os.Interrupt) {
		// As in the background of a script. A step would inherit that, and miss a cancellation until node sets its own
		// handlers; what this process catches is the default in what it starts.
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the tests is not the step's
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start step: %w", err)
	}
	exited := make(chan error, 1)
	go func() {
		err := s.cmd.Wait()
		out.end()
		errs.end()
		exited <- err
	}()
	go func() {
		defer close(s.ended)
		s.finish(s.watch(exited))
	}()
	return s, nil
}

// watch waits for the end of the process, and hastens it when the job is cancelled.
func (s *Step) watch(exited <-chan error) (cancelled bool, err error) {
	select {
	case err := <-exited:
		return false, err
	case <-s.stop:
	}
	grace := s.job.Grace
	if grace == (Grace{}) {
		grace = graceOfRunner
	}
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, grace.Interrupt}, {syscall.SIGTERM, grace.Terminate}} {
		s.signal(step.signal)
		select {
		case err := <-exited:
			return true, err
		case <-time.After(step.wait):
		}
	}
	s.signal(syscall.SIGKILL)
	return true, <-exited
}

// signal sends to the process alone, not to what it started.
func (s *Step) signal(sig syscall.Signal) {
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.problem("signal %s: %v", sig, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result.Signals = append(s.result.Signals, sig)
}

// finish reads what the step left, also if it was cancelled. The runner ends what a step started at the
// end of the job, by its mark (Runner.Worker/JobExtension.cs, FinalizeJob); here it goes with the step.
func (s *Step) finish(cancelled bool, err error) {
	if left := s.sweep(); left != nil {
		s.problem("end what the step started: %v", left)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		s.problem("wait for the step: %v", err)
	}
	s.readFiles()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result.Took, s.result.ExitCode = time.Since(s.began), s.cmd.ProcessState.ExitCode()
	switch {
	case cancelled: // whatever its exit code says (Runner.Sdk/ProcessInvoker.cs, ExecuteAsync)
		s.result.Conclusion = Cancelled
	case s.result.ExitCode != 0 || s.result.Conclusion == Failure:
		s.result.Conclusion = Failure
	default:
		s.result.Conclusion = Success
	}
	s.job.worse(s.result.Conclusion)
	s.job.export(s.result)
}

// sweepLimit bounds the looks for what a step started: a killed process lives until its turn comes.
const sweepLimit = time.Minute

// sweep kills every process that carries the step's mark.
func (s *Step) sweep() error {
	return program.KillLeft(sweepLimit, func() ([]process.Ref, error) { return process.Find(trackingEnv, s.mark) })
}

// readFiles takes over what the step wrote into its files. A file that cannot be parsed fails the step.
func (s *Step) readFiles() {
	for _, name := range fileCommands {
		raw, err := os.ReadFile(s.files[name])
		if err == nil {
			err = s.take(name, string(raw))
		}
		if err != nil {
			s.problem("file command %s: %v", name, err)
			s.fail()
		}
	}
}

// summaryLimit is Runner.Worker/FileCommandManager.cs, AttachmentSizeLimit, in bytes.
const summaryLimit = 1 << 20

func (s *Step) take(name, text string) error {
	switch name {
	case "STEP_SUMMARY":
		if len(text) > summaryLimit {
			return fmt.Errorf("%d bytes, %d are allowed", len(text), summaryLimit)
		}
		s.set(func(r *Result) { r.Summary = s.job.masked(text) })
		return nil
	case "PATH":
		s.set(func(r *Result) {
			r.Paths = slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return line == "" })
		})
		return nil
	}
	all, err := parsePairs(text)
	if err != nil {
		return err
	}
	for _, p := range all {
		s.set(func(r *Result) {
			map[string]map[string]string{"OUTPUT": r.Outputs, "STATE": s.state, "ENV": r.Env}[name][p.name] = p.value
		})
		if name == "OUTPUT" && !slices.Contains(s.action.Outputs, p.name) {
			s.problem("output %s is not declared", p.name)
		}
	}
	return nil
}

// cancel begins the end of the step.
func (s *Step) cancel() { s.once.Do(func() { close(s.stop) }) }

// Wait returns the result once the step has ended.
func (s *Step) Wait() Result {
	<-s.ended
	return s.Result()
}

// Ended is closed when the step has ended.
func (s *Step) Ended() <-chan struct{} { return s.ended }

// Result returns what is known so far.
func (s *Step) Result() Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.result
	r.Log, r.Annotations, r.Problems = slices.Clone(r.Log), slices.Clone(r.Annotations), slices.Clone(r.Problems)
	return r
}

// Pid is the process of the step's script.
func (s *Step) Pid() int { return s.cmd.Process.Pid }

func (s *Step) set(change func(*Result)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.result)
}

func (s *Step) fail() { s.set(func(r *Result) { r.Conclusion = Failure }) }

func (s *Step) problem(format string, args ...any) {
	s.set(func(r *Result) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) })
}
