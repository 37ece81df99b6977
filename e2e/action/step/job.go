package step

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Grace is how long a cancelled step has after each signal.
type Grace struct{ Interrupt, Terminate time.Duration }

// graceOfRunner is Runner.Sdk/ProcessInvoker.cs, _sigintTimeout and _sigtermTimeout.
var graceOfRunner = Grace{Interrupt: 7500 * time.Millisecond, Terminate: 2500 * time.Millisecond}

// Job is one job of a workflow. Its steps run one after the other.
type Job struct {
	Dir   string            // an existing folder for the job's files, its own
	Env   map[string]string // of the machine, and env of the workflow
	Node  string            // runs JavaScript; "": node of Env's PATH, or ours
	Grace Grace             // zero: the runner's

	// Context is the github context without what the job sets itself: run_id, run_attempt, repository …
	Context map[string]string

	mu     sync.Mutex
	status Conclusion
	masks  []string
	posts  []*Step // in the order of their registration
	steps  int
	env    map[string]string // that steps exported
	paths  []string          // also, the latest last
}

// Status is how the job ended so far.
func (j *Job) Status() Conclusion {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.status == "" {
		return Success
	}
	return j.status
}

// worse makes the job fail or be cancelled; cancelled stays.
func (j *Job) worse(c Conclusion) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.status != Cancelled && c != Success {
		j.status = c
	}
}

// export hands what a step exported to those that follow.
func (j *Job) export(r Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.env == nil {
		j.env = map[string]string{}
	}
	maps.Copy(j.env, r.Env)
	j.paths = append(j.paths, r.Paths...)
}

// mask hides a value from now on, and each of its lines (Runner.Worker/ActionCommandManager.cs, AddMask).
func (j *Job) mask(value string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\r' || r == '\n' })
	for _, v := range append(lines, value) {
		if v = strings.TrimSpace(v); v != "" {
			j.masks = append(j.masks, v)
		}
	}
	slices.SortFunc(j.masks, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
}

// masked hides what must not be seen.
func (j *Job) masked(text string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, v := range j.masks {
		text = strings.ReplaceAll(text, v, "***")
	}
	return text
}

// Cancel cancels the job: the step that runs gets its signals, and those that follow run only if their
// condition wants it. It returns at once.
func (j *Job) Cancel(running *Step) {
	j.worse(Cancelled)
	running.cancel()
}

// Run runs one step to its end.
func (j *Job) Run(a *Action, with map[string]string) (Result, error) {
	s, err := j.Start(a, with)
	if err != nil {
		return Result{}, err
	}
	return s.Wait(), nil
}

// Post runs what the steps registered for the end of the job, the last one's first (Runner.Worker/
// StepsRunner.cs). A cancelled job's post steps are not cancelled themselves.
func (j *Job) Post() ([]Result, error) {
	var results []Result
	for _, s := range slices.Backward(j.posts) {
		run, err := holds(s.action.PostIf, j.Status())
		if err != nil {
			return results, err
		}
		if !run {
			results = append(results, Result{Conclusion: Skipped})
			continue
		}
		post, err := j.start(s.action, s.action.Post, s.with, s.state)
		if err != nil {
			return results, err
		}
		results = append(results, post.Wait())
	}
	j.posts = nil
	return results, nil
}

// Start starts a step. If the action has a post script, it is registered whatever becomes of the step
// (Runner.Worker/ActionRunner.cs, RunAsync).
func (j *Job) Start(a *Action, with map[string]string) (*Step, error) {
	s, err := j.start(a, a.Main, with, nil)
	if err == nil && a.Post != "" {
		j.posts = append(j.posts, s)
	}
	return s, err
}

// environ is what a step sees.
func (j *Job) environ(inputs, state, files map[string]string, mark string) []string {
	env := map[string]string{"PATH": os.Getenv("PATH"), "CI": "true"}
	maps.Copy(env, j.Env)
	j.mu.Lock()
	maps.Copy(env, j.env)
	for _, p := range j.paths {
		env["PATH"] = p + string(os.PathListSeparator) + env["PATH"]
	}
	j.mu.Unlock()
	for name, value := range state {
		env["STATE_"+name] = value
	}
	for name, value := range inputs {
		env[variable(name)] = value
	}
	for name, value := range j.Context {
		env["GITHUB_"+strings.ToUpper(name)] = value
	}
	for name, path := range files {
		env["GITHUB_"+name] = path
	}
	env["GITHUB_ACTIONS"], env["GITHUB_WORKSPACE"], env["RUNNER_TEMP"] = "true", j.Dir, j.Dir
	env["RUNNER_OS"], env["RUNNER_ENVIRONMENT"], env[trackingEnv] = "Linux", "self-hosted", mark
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	return list
}

// fileCommands are the variables that name files for a step to write (Runner.Worker/FileCommandManager.cs).
var fileCommands = []string{"OUTPUT", "STATE", "ENV", "PATH", "STEP_SUMMARY"}

// makeFiles makes an empty one of each, new for every step.
func (j *Job) makeFiles() (map[string]string, error) {
	j.mu.Lock()
	j.steps++
	n := j.steps
	j.mu.Unlock()
	files := map[string]string{}
	for _, name := range fileCommands {
		files[name] = filepath.Join(j.Dir, fmt.Sprintf("_%s_%d", strings.ToLower(name), n))
		if err := os.WriteFile(files[name], nil, 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}
