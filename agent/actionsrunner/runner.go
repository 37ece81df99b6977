//go:build unix

// Package actionsrunner runs GitHub's runner program (github.com/actions/runner) for the agent.
//
// It supervises bin/Runner.Listener itself, because run.sh hides its exit codes, in a process group
// of its own, and follows its output in a file: an agent that is started anew goes on reading where
// the last one left off. Registration material reaches the program by environment variables, never
// by its command line, which every process of the machine may read.
package actionsrunner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/boundary"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// World is the environment of a listener and its jobs.
type World struct {
	Env        []string            // variables of the program and its jobs; variables that this package sets take precedence
	Credential *syscall.Credential // unprivileged user of the jobs; nil: the agent's user
	View       []func() error      // the file system view, for process.Start
}

// Options configure a Runner. All but Verdicts, Group, Boundary, Prepare and Guard are required.
type Options struct {
	Dir        string // folder of the unpacked runner; must be writable
	Log        string // receives the listener's output
	InstanceID string // value of agent.EnvMarker
	Hook       string // program run before the first step of each job
	Verdicts   string // the hook adds a line for each job to this file; "": jobs are not checked
	Group      string // name of the runner group to register with by a token; "": the default group
	Clock      clock.WithTicker
	Boundary   boundary.Boundary // holds the program and all its child processes; nil: no boundary
	// World is called at each start of a listener, because accounts and variables may have changed.
	World func(ctx context.Context) (World, error)
	// Prepare makes the machine ready for its first registration, and puts bin/Runner.Listener there if it is
	// missing, with all that belongs to it. Start calls it until it succeeded once, and registers nothing
	// before; and again after the program began to replace itself.
	Prepare func(ctx context.Context) error
	// Guard is called before each registration is used, or used again; none is after an error.
	Guard func(ctx context.Context) error
}

// Runner implements agent.Runner.
type Runner struct {
	o        Options
	prepared atomic.Bool
}

// New returns a Runner. It starts nothing.
func New(o Options) (*Runner, error) {
	switch {
	case !filepath.IsAbs(o.Dir) || !filepath.IsAbs(o.Log) || !filepath.IsAbs(o.Hook):
		return nil, fmt.Errorf("actions runner: folder, log and hook must be absolute paths, got %q, %q, %q", o.Dir, o.Log, o.Hook)
	case o.InstanceID == "" || o.Clock == nil || o.World == nil:
		return nil, errors.New("actions runner: instance id, clock and world must be set")
	}
	if o.Boundary == nil {
		o.Boundary = boundary.None()
	}
	return &Runner{o: o}, nil
}

// Variables that the runner program reads.
const (
	inputJIT   = "ACTIONS_RUNNER_INPUT_JITCONFIG" // src/Runner.Listener/CommandSettings.cs: any argument, upper case
	inputToken = "ACTIONS_RUNNER_INPUT_TOKEN"     // same
	asRoot     = "RUNNER_ALLOW_RUNASROOT=1"       // src/Misc/layoutroot/config.sh; the agent decides who runs it
	exit7      = "ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE=1"
)

// Start implements agent.Runner.
func (r *Runner) Start(ctx context.Context, reg store.Registration, label string) (agent.Listener, error) {
	if r.o.Prepare != nil && !r.prepared.Load() {
		if err := r.o.Prepare(ctx); err != nil {
			return nil, fmt.Errorf("prepare the first runner: %w", err)
		}
		r.prepared.Store(true)
	}
	l, err := r.register(ctx, reg, label)
	if err != nil {
		return nil, fmt.Errorf("start runner %s: %w", reg.Name, err)
	}
	return l, nil
}

// spoil makes the next Start put the program back: one that replaced itself, or was at it when it was
// ended, is not the one that was verified (H50).
func (r *Runner) spoil() error {
	if r.o.Prepare == nil {
		return nil
	}
	r.prepared.Store(false)
	if err := atomicfile.Remove(filepath.Dir(r.listener()), filepath.Base(r.listener())); err != nil {
		return fmt.Errorf("the program replaced itself: %w", err)
	}
	return nil
}

// listener is the program.
func (r *Runner) listener() string { return filepath.Join(r.o.Dir, "bin", "Runner.Listener") }

func (r *Runner) register(ctx context.Context, reg store.Registration, label string) (agent.Listener, error) {
	if r.o.Guard != nil {
		if err := r.o.Guard(ctx); err != nil {
			return nil, err
		}
	}
	world, err := r.o.World(ctx)
	if err != nil {
		return nil, err
	}
	world.Env = append(slices.Clone(world.Env), asRoot, exit7, agent.HookEnv+"="+r.o.Hook, agent.EnvMarker+"="+r.o.InstanceID)
	switch reg.Mode {
	case store.JIT:
		if err := r.unconfigure(); err != nil {
			return nil, err
		}
		world.Env = append(world.Env, inputJIT+"="+pinned(reg.Secret))
	case store.Token:
		have, err := r.configured()
		if err != nil {
			return nil, err
		}
		if have.AgentName == reg.Name { // its listener is started again
			err = atomicfile.Remove(r.o.Dir, unasked...)
		} else {
			have, err = r.configure(ctx, reg, label, world)
		}
		if err != nil {
			return nil, err
		}
		reg.RunnerID = have.AgentID
	default:
		return nil, fmt.Errorf("registration mode %q: must be %s or %s", reg.Mode, store.JIT, store.Token)
	}
	return r.start(ctx, world, reg)
}

// openLog opens the file for the program's output, empty.
func (r *Runner) openLog() (*os.File, error) {
	return os.OpenFile(r.o.Log, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
}

// start starts the listener.
func (r *Runner) start(ctx context.Context, world World, reg store.Registration) (agent.Listener, error) {
	out, err := r.openLog()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if err := r.openVerdicts(world.Credential); err != nil {
		return nil, fmt.Errorf("make verdicts: %w", err)
	}
	cmd := exec.Command(r.listener(), "run")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.o.Dir, world.Env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: world.Credential}
	ref, err := r.o.Boundary.Start(ctx, cmd, world.View...)
	if err != nil {
		return nil, err
	}
	l, err := r.follow(ref, true, agent.Status{State: agent.Starting, RunnerID: reg.RunnerID})
	if err != nil {
		err = errors.Join(err, r.o.Boundary.Kill(), process.KillGroup(ref.PID))
		_, _ = r.o.Boundary.Wait(ref) // it was killed
		return nil, errors.Join(err, r.o.Boundary.End(ctx))
	}
	return l, nil
}

// Adopt implements agent.Runner.
func (r *Runner) Adopt(ctx context.Context, ref process.Ref, boundary string) (agent.Listener, error) {
	r.o.Boundary.Resume(boundary)
	if ref.PID == 0 || !ref.Alive() {
		if err := r.sweep(ctx); err != nil || ref.PID == 0 {
			return nil, err
		}
		return r.reviewVerdict(ref)
	}
	l, err := r.follow(ref, false, agent.Status{State: agent.Starting})
	if err != nil {
		return nil, fmt.Errorf("adopt listener %d: %w", ref.PID, err)
	}
	return l, nil
}
