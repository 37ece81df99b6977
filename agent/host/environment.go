package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
)

// envJobsHome names to the operator's scripts the home of jobs.
const envJobsHome = "REMUDA_JOBS_HOME"

// Files of the runner's folder that hold variables of jobs: lines, and the PATH. prepared begins the names of those that the
// operator's script left in the runner's folder, in the instance's.
const (
	envFile  = ".env"
	pathFile = ".path"
	prepared = "runner"
)

// variables returns the variables that the operator gives to jobs. A later source wins: the agent's own environment, of which jobs get
// the way to the network, /etc/environment, the files of the runner's folder, agent.env.
func (m *machine) variables() (map[string]string, error) {
	all := map[string]string{"PATH": m.Env["PATH"], "LANG": "C.UTF-8"}
	add := func(more map[string]string) {
		maps.Copy(all, more)
		maps.Copy(all, config.Network(more))
	}
	add(config.Network(m.Env))
	add(m.systemVariables())
	errs := []error{m.keepPrepared()}
	for _, begin := range []string{cmp.Or(m.Config.Agent.RunnerDir, m.image) + "/", filepath.Join(m.Dir, prepared)} {
		text, err := m.readOwn(begin + envFile)
		add(parseLines(text))
		path, perr := m.readOwn(begin + pathFile)
		if path = strings.TrimSpace(path); path != "" {
			all["PATH"] = path
		}
		errs = append(errs, err, perr)
	}
	add(m.Config.Agent.Env)
	return all, errors.Join(errs...)
}

// systemVariables returns those of /etc/environment.
func (p Place) systemVariables() map[string]string {
	text, err := os.ReadFile(filepath.Join("/", p.Env[RootEnv], "etc/environment"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Log.Warn("variables of the system could not be read", logkey.Error, err)
	}
	return parseEnvironment(string(text))
}

// parseEnvironment reads lines of /etc/environment as pam_env(8) does: a comment ends a line, export may stand before a name, and
// quotation marks around a value are not part of it. A line that is none of that has no effect.
func parseEnvironment(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if !ok || !config.IsVariable(name) {
			continue
		}
		if value != "" && strings.ContainsRune(`"'`, rune(value[0])) {
			value = strings.TrimRight(value[1:], " \t")
			if n := len(value); n > 0 && strings.ContainsRune(`"'`, rune(value[n-1])) {
				value = value[:n-1]
			}
		}
		out[name] = value
	}
	return out
}

// parseLines reads lines of a runner's .env as the runner does: what follows = is the value, with all marks and blanks
// (actions/runner, src/Runner.Listener/Program.cs, LoadAndSetEnv).
func parseLines(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok && config.IsVariable(name) {
			out[name] = value
		}
	}
	return out
}

// readOwn reads a file that jobs can have had no part in; "" if it is not there.
func (m *machine) readOwn(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && !m.trusts(info) {
		err = fmt.Errorf("%s: must belong to root, and nobody else may write it: run chown root %[1]s && chmod 644 %[1]s", path)
	}
	if err != nil {
		return "", fmt.Errorf("variables of jobs: %w", err)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// trusts reports whether a file is root's or the agent's own, and jobs of another user cannot write it.
func (m *machine) trusts(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && (st.Uid == 0 || int(st.Uid) == os.Geteuid()) && (m.account().Credential == nil || info.Mode().Perm()&0o022 == 0)
}

// keepPrepared moves the files that the operator's script, which is root, left in the runner's folder out of it: what is there when a
// runner registers could be a job's, and is removed. Where jobs run as the agent's user, nobody can tell whose it is.
func (m *machine) keepPrepared() error {
	if m.account().Credential == nil {
		return nil
	}
	for _, name := range []string{envFile, pathFile} {
		path := filepath.Join(m.Dir, runnerFolder, name)
		if info, err := os.Lstat(path); err != nil || !m.trusts(info) {
			continue
		}
		if err := os.Rename(path, filepath.Join(m.Dir, prepared+name)); err != nil {
			return err
		}
	}
	return nil
}

// dropVariables removes from a copy of a runner's folder the files that are read where they come from.
func dropVariables(dir string) error {
	var errs []error
	for _, name := range []string{envFile, pathFile} {
		if err := os.Remove(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// environment is the variables of jobs and of the operator's scripts, with those of this program, and own, in their place. The
// operator's hook is not among them: ours calls it.
func (m *machine) environment(own map[string]string) (env []string, hook string, err error) {
	all, err := m.variables()
	hook = all[agent.HookEnv]
	delete(all, agent.HookEnv)
	maps.Copy(all, map[string]string{agent.EnvMarker: m.id, "HOME": m.jobsHome().path, "TMPDIR": filepath.Join(m.Dir, tempFolder)})
	if name := m.account().Name; name != "" && own == nil {
		all["USER"], all["LOGNAME"] = name, name
	}
	maps.Copy(all, own)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env, hook, err
}

// metadataHosts are the addresses of the instance metadata service, which no proxy reaches.
const metadataHosts = "169.254.169.254,fd00:ec2::254"

// reachNetwork gives this process the operator's proxies and certificates. It comes before the first use of the network, since Go
// reads the variables once.
func (p Place) reachNetwork() error {
	network := config.Network(p.systemVariables())
	maps.Copy(network, config.Network(p.Env))
	maps.Copy(network, config.Network(p.Config.Agent.Env))
	for _, name := range []string{"no_proxy", "NO_PROXY"} {
		if len(network) > 0 {
			network[name] = strings.TrimPrefix(network[name]+","+metadataHosts, ",")
		}
	}
	var errs []error
	for name, value := range network {
		errs = append(errs, os.Setenv(name, value))
	}
	return errors.Join(errs...)
}
