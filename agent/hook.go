package agent

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/store"
)

// HookFile is the name of the job-started hook in Options.Dir. The runner is pointed to it by HookEnv.
const HookFile = "hook-job-started.sh"

// HookEnv names to the runner the program to run before the first step of a job
// (docs.github.com, "Running scripts before or after a job").
const HookEnv = "ACTIONS_RUNNER_HOOK_JOB_STARTED"

// HookCommand and HookStarted are the words of the command line that the hook executes.
const (
	HookCommand = "agent-hook"
	HookStarted = "job-started"
)

// ErrForeignJob says that a job does not belong to the run this machine works for.
var ErrForeignJob = errors.New("agent: job does not belong here")

// hookScript is the parent of GuardJob, and keeps a job waiting that no one could judge: the program is not
// there, or it was ended. It tries to end the worker, whose child it is, and leaves it to the agent to notice.
const hookScript = `#!/bin/sh
trap '' HUP INT QUIT TERM
if %s %s %s --dir %s; then
%s
fi
while kill -0 "$PPID" 2>/dev/null; do
	grep -aqs 'Runner\.Worker' "/proc/$PPID/cmdline" && kill -KILL "$PPID" || :
	sleep 1 || :
done
exit 1
`

// operatorHook runs the operator's hook as the runner would. If the hook fails, the job fails (actions/runner,
// src/Runner.Worker/Handlers/ScriptHandlerHelpers.cs).
const operatorHook = `	trap - HUP INT QUIT TERM
	case %[1]s in
	*.ps1) exec pwsh -File %[1]s ;;
	esac
	if command -v bash >/dev/null; then exec bash --noprofile --norc -e -o pipefail %[1]s; fi
	exec sh -e %[1]s`

// WriteHook writes the job-started hook into dir. The hook calls exe, and then the operator's hook, if there is any. If exe rejects a job
// of another run, the operator's hook does not run.
func WriteHook(dir, exe, operators string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	then := "	exit 0"
	if operators != "" {
		then = fmt.Sprintf(operatorHook, quote(operators))
	}
	script := fmt.Sprintf(hookScript, quote(exe), HookCommand, HookStarted, quote(dir), then)
	return atomicfile.Write(filepath.Join(dir, HookFile), []byte(script), 0o755)
}

// quote makes s one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// JobStarted decides whether the job that env describes may run on the machine whose agent keeps its
// state in dir. A label isolates nothing: any workflow may write any label. Without a readable state no job may
// run.
func JobStarted(dir string, env []string) error {
	s, err := readState(filepath.Join(dir, stateFile))
	if err != nil {
		return err
	}
	run, repository := lookup(env, "GITHUB_RUN_ID"), lookup(env, "GITHUB_REPOSITORY")
	switch {
	case !belongs(s.Work.RunID, run):
		return fmt.Errorf("run %q: %w: this machine works for request %q", run, ErrForeignJob, s.Work.RunID)
	case !covers(s.Repository, repository):
		return fmt.Errorf("repository %q: %w: this machine works for %q", repository, ErrForeignJob, s.Repository)
	}
	return nil
}

// belongs reports whether a request is the run's: its id is the run's, or that and a suffix.
func belongs(id store.RequestID, run string) bool {
	return run != "" && (string(id) == run || strings.HasPrefix(string(id), run+"-"))
}

// covers reports whether repository is own, or one of the owner own. "" covers all. GitHub's names
// ignore case.
func covers(own, repository string) bool {
	if own == "" {
		return true
	}
	if !strings.Contains(own, "/") {
		repository, _, _ = strings.Cut(repository, "/")
	}
	return strings.EqualFold(own, repository)
}

// lookup returns the last value of name, as programs see it.
func lookup(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}
