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

// envJobsHome is the variable that gives the operator's scripts the home of jobs.
const envJobsHome = "REMUDA_JOBS_HOME"

// The runner's folder can hold two files with variables of jobs: .env and .path. Copies that the operator's script left start with
// prepared, in the instance's folder.
const (
	envFile  = ".env"
	pathFile = ".path"
	prepared = "runner"
)

// variables returns the operator's variables for jobs. Later sources win: proxies and certificates of the agent's environment,
// /etc/environment, the files of the runner's folder, agent.env.
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

// systemVariables returns the variables of /etc/environment.
func (p Place) systemVariables() map[string]string {
	text, err := os.ReadFile(filepath.Join("/", p.Env[RootEnv], "etc/environment"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Log.Warn("/etc/environment could not be read", logkey.Error, err)
	}
	return parseEnvironment(string(text))
}

// parseEnvironment parses /etc/environment as pam_env(8) does: it ignores comments, a leading export, and quotation marks around a value.
// It skips all other lines.
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

// parseLines parses a runner's .env as the runner does: the value is all text after =, with quotation marks and blanks (actions/runner,
// src/Runner.Listener/Program.cs, LoadAndSetEnv).
func parseLines(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok && config.IsVariable(name) {
			out[name] = value
		}
	}
	return out
}

// readOwn reads a file that jobs cannot have written. It returns "" if the file does not exist.
func (m *machine) readOwn(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && !m.trusts(info) {
		err = fmt.Errorf("%s: must be owned by root and writable only by root: run chown root %[1]s && chmod 644 %[1]s", path)
	}
	if err != nil {
		return "", fmt.Errorf("variables of jobs: %w", err)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// trusts reports whether root or the agent owns a file, and jobs of another user cannot write it.
func (m *machine) trusts(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && (st.Uid == 0 || int(st.Uid) == os.Geteuid()) && (m.account().Credential == nil || info.Mode().Perm()&0o022 == 0)
}

// keepPrepared moves the files that the operator's script left in the runner's folder to the instance's folder. Files that are in the
// runner's folder later may come from a job, and are removed. If jobs run as the agent's user, keepPrepared cannot tell the files apart.
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

// dropVariables removes .env and .path from a copy of a runner's folder. The agent reads them from the original folder.
func dropVariables(dir string) error {
	var errs []error
	for _, name := range []string{envFile, pathFile} {
		if err := os.Remove(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// environment returns the variables of jobs and of the operator's scripts. Variables of the agent, and own, take precedence. The operator's
// hook is returned separately, because the agent's hook calls it.
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

// metadataHosts are the addresses of the instance metadata service, which must bypass proxies.
const metadataHosts = "169.254.169.254,fd00:ec2::254"

// reachNetwork sets the operator's proxies and certificates for this process. Call it before the first network access, because Go reads the
// variables once.
func (p Place) reachNetwork() error {
	network := config.Network(p.Env)
	maps.Copy(network, config.Network(p.systemVariables()))
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
