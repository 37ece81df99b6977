//go:build unix

package actionsrunner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// settings is the file that a configured runner has. leftovers are the other files in its folder that
// an earlier registration, or a job, may have left; the program reads its environment from two of
// them, and prints one into the log of the next job (src/Runner.Common/HostContext.cs, GetConfigFile;
// src/Runner.Listener/Program.cs; src/Runner.Worker/JobExtension.cs, InitializeJob).
const settings = ".runner"

var leftovers = append([]string{".credentials", ".credentials_rsaparams"}, unasked...)

// unasked are those that a registration works without. A job could have left them, with a hook of its own, to
// the next listener of its registration.
var unasked = []string{".runner_migrated", ".credentials_migrated", ".env", ".path", ".setup_info", ".service"}

// identity is what we read of the settings file.
type identity struct {
	AgentID   int64  `json:"agentId"`
	AgentName string `json:"agentName"`
}

// configured returns who the runner is configured as; zero if it is not.
func (r *Runner) configured() (identity, error) {
	var id identity
	b, err := os.ReadFile(filepath.Join(r.o.Dir, settings))
	if errors.Is(err, fs.ErrNotExist) {
		return id, nil
	}
	if err != nil {
		return id, err
	}
	b = bytes.TrimPrefix(b, []byte(mark))
	if err := json.Unmarshal(b, &id); err != nil {
		return identity{}, nil //nolint:nilerr // cut off by a crash: configured anew
	}
	return id, nil
}

// unconfigure removes what an earlier registration left: its runner is deleted at GitHub by id.
func (r *Runner) unconfigure() error {
	return atomicfile.Remove(r.o.Dir, append([]string{settings}, leftovers...)...)
}

// configure registers with a token under exactly one label and a new name, never replacing a runner.
func (r *Runner) configure(ctx context.Context, reg store.Registration, label string, world World) (identity, error) {
	if err := r.unconfigure(); err != nil {
		return identity{}, err
	}
	out, err := r.openLog()
	if err != nil {
		return identity{}, err
	}
	defer out.Close()
	args := []string{"--unattended", "--url", reg.URL, "--name", reg.Name, "--labels", label, "--no-default-labels", "--disableupdate"}
	if r.o.Group != "" { // takes a name only (src/Runner.Listener/Configuration/ConfigurationManager.cs)
		args = append(args, "--runnergroup", r.o.Group)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(r.o.Dir, "config.sh"), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.o.Dir, slices.Concat(world.Env, []string{inputToken + "=" + reg.Secret}), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: world.Credential}
	cmd.Cancel = func() error { return process.KillGroup(cmd.Process.Pid) }
	err = process.Start(cmd, world.View...)
	if err == nil {
		err = process.Wait(cmd)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return identity{}, r.explain(err, reg.Secret)
	}
	id, err := r.configured()
	if err == nil && id.AgentName != reg.Name {
		err = fmt.Errorf("config.sh: runner is configured as %q", id.AgentName)
	}
	return id, err
}

// explain adds the output of a failed configuration to its error, and sorts it.
func (r *Runner) explain(err error, secret string) error {
	var kind error
	out, terr := openTail(r.o.Log)
	if terr != nil {
		return errors.Join(err, terr)
	}
	defer out.close()
	terr = out.finish(func(line string) {
		_, cause := parse(line)
		if strings.Contains(line, taken) {
			kind = githubapi.ErrNameTaken
		} else if kinds[cause] != nil {
			kind = kinds[cause]
		}
	})
	return errors.Join(kind, fmt.Errorf("config.sh: %w: %s", err, out.last(secret)), terr)
}

// taken is what the program says of a name that another runner has, which it was not told to replace
// (src/Runner.Listener/Configuration/ConfigurationManager.cs).
const taken = "A runner exists with the same name"

// kinds are the errors of a configuration for which GitHub was the cause, by what the program said of it.
var kinds = map[string]error{
	store.CauseThrottled:   githubapi.ErrThrottled,
	store.CauseUnavailable: githubapi.ErrUnavailable,
	store.CauseRefused:     githubapi.ErrRefused,
	store.CauseDeprecated:  agent.ErrDeprecated,
}
