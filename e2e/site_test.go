package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/process"
)

// site is where one test runs remuda: a folder, an environment, and what was started there.
type site struct {
	dir     string // working folder and logs of everything started here
	state   string // the store's file, the configuration and the fleet's folder
	environ func() []string

	mu      sync.Mutex
	daemons []*daemon // in the order of their start
}

// daemon is a remuda that runs in the background.
type daemon struct {
	name string
	log  string // file; those started under one name share it
	from int    // where in it this one begins
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// stopLimit is how long a daemon may take to stop on a busy machine: `remuda dev` gives its machines 30 s.
const stopLimit = 2 * time.Minute

// start runs remuda in the background.
func (s *site) start(name string, args ...string) (*daemon, error) {
	d := &daemon{name: name, log: filepath.Join(s.dir, name+".log"), cmd: exec.Command(binary, args...), done: make(chan struct{})}
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		d.from = int(info.Size())
	}
	d.cmd.Dir, d.cmd.Env = s.dir, s.environ()
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = d.cmd.Wait() // ProcessState tells
		close(d.done)
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.daemons = append(s.daemons, d)
	return d, nil
}

// started returns every daemon in the order of their start.
func (s *site) started() []*daemon {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.daemons)
}

// find returns the daemon that was started last under a name.
func (s *site) find(name string) (*daemon, error) {
	for _, d := range slices.Backward(s.started()) {
		if d.name == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("%s was not started", name)
}

// end sends a signal, waits and returns the exit code, -1 if it was killed.
func (d *daemon) end(sig os.Signal, limit time.Duration) (int, error) {
	if err := d.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, fmt.Errorf("signal %s: %w", d.name, err)
	}
	select {
	case <-d.done:
		return d.cmd.ProcessState.ExitCode(), nil
	case <-time.After(limit):
		return 0, fmt.Errorf("%s does not end within %s of %s", d.name, limit, sig)
	}
}

// stop ends everything that was started here and is left, the last first, and every process of the
// site's machines.
func (s *site) stop() error {
	var errs []error
	for _, d := range slices.Backward(s.started()) {
		if _, err := d.end(syscall.SIGTERM, stopLimit); err != nil {
			_, killed := d.end(syscall.SIGKILL, stopLimit)
			errs = append(errs, err, killed)
		}
	}
	left, err := s.left()
	errs = append(errs, err)
	for _, refs := range left {
		errs = append(errs, process.KillAll(refs...))
	}
	return errors.Join(errs...)
}

// output returns what a daemon said.
func (d *daemon) output() []byte {
	out, err := os.ReadFile(d.log)
	if err != nil {
		return []byte(err.Error())
	}
	return out[min(d.from, len(out)):]
}

// tail returns the end of what a daemon said, for people.
func (d *daemon) tail() string {
	lines := bytes.SplitAfter(d.output(), []byte("\n"))
	return fmt.Sprintf("--- %s.log\n%s", d.name, bytes.Join(lines[max(0, len(lines)-80):], nil))
}

// tails returns the end of every log, for people.
func (s *site) tails() []string {
	var texts []string
	var shown []string
	for _, d := range s.started() {
		if !slices.Contains(shown, d.log) { // the first under a name shows those that came after it too
			shown = append(shown, d.log)
			texts = append(texts, d.tail())
		}
	}
	return texts
}

// says waits until a daemon said something that matches.
func (d *daemon) says(pattern string) error {
	want := regexp.MustCompile(pattern)
	ended := false
	err := until(patience, d.name+" says "+pattern, func() bool {
		select {
		case <-d.done:
			ended = true
		default:
		}
		return want.Match(d.output()) || ended
	})
	if err == nil && !want.Match(d.output()) {
		err = errors.New("it ended")
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, d.tail())
	}
	return nil
}

// simulated is a simulated GitHub for controllers that come and go.
type simulated struct {
	root   string // of its URLs
	token  string // REMUDA_SIMULATED_TOKEN
	config string // the file that makes a controller use it, and keep everything in site.state
}

// github starts a simulated GitHub. The settings become part of its configuration file.
func (s *site) github(settings []byte, args ...string) (simulated, error) {
	d, err := s.start("github", append([]string{"dev", "github"}, args...)...)
	if err != nil {
		return simulated{}, err
	}
	if err := d.says(`REMUDA_SIMULATED_TOKEN=\S+\n`); err != nil {
		return simulated{}, err
	}
	value := func(name string) string {
		m := regexp.MustCompile(`export ` + name + `=(\S+)`).FindSubmatch(d.output())
		if m == nil {
			return ""
		}
		return string(m[1])
	}
	g := simulated{value("REMUDA_GITHUB_API_URL"), value("REMUDA_SIMULATED_TOKEN"), filepath.Join(s.state, "remuda.yaml")}
	settings = fmt.Appendf(slices.Clone(settings), "github: {url: %s, apiUrl: %s, tokenEnv: %s}\nstore: sqlite://%s/remuda.db\nfleet: process://%s/instances\n",
		value("REMUDA_GITHUB_URL"), g.root, value("REMUDA_GITHUB_TOKEN_ENV"), s.state, s.state)
	return g, os.WriteFile(g.config, settings, 0o600)
}

// machines returns the ids of every machine that the site's fleet ever launched.
func (s *site) machines() ([]string, error) {
	folders, err := filepath.Glob(filepath.Join(s.state, "instances", "instances", "i-*"))
	ids := make([]string, len(folders))
	for i, f := range folders {
		ids[i] = filepath.Base(f)
	}
	return ids, err
}

// left returns the processes of the site's machines that live, by machine.
func (s *site) left() (map[string][]process.Ref, error) {
	ids, err := s.machines()
	if err != nil {
		return nil, err
	}
	marked, err := process.Marked("REMUDA_INSTANCE_ID")
	if err != nil {
		return nil, err
	}
	left := map[string][]process.Ref{}
	for _, id := range ids {
		if len(marked[id]) > 0 {
			left[id] = marked[id]
		}
	}
	return left, nil
}

// leader returns the process that is the agent of a machine, or becomes it while the machine starts.
func (s *site) leader(id string) (process.Ref, fleet.State, error) {
	raw, err := os.ReadFile(filepath.Join(s.state, "instances", "instances", id, "instance.json"))
	if err != nil {
		return process.Ref{}, "", err
	}
	var machine struct {
		Leader process.Ref `json:"leader"`
		State  fleet.State `json:"state"`
	}
	if err := json.Unmarshal(raw, &machine); err != nil {
		return process.Ref{}, "", fmt.Errorf("instance %s: %w", id, err)
	}
	return machine.Leader, machine.State, nil
}

// killAgent kills the agent of a machine as a crash would.
func (s *site) killAgent(id string) error {
	ref, _, err := s.leader(id)
	if err != nil {
		return err
	}
	return process.Signal(ref, syscall.SIGKILL)
}

// until waits for a condition that another process brings about.
func until(limit time.Duration, what string, cond func() bool) error {
	deadline := time.Now().Add(limit)
	for !cond() {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within %s", what, limit)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}
