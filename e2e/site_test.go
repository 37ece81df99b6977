package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/process"
)

// site is where one test runs remuda: a folder, an environment, and what was started there.
type site struct {
	program.Fleet
	dir     string // working folder and logs of everything started here
	state   string // the store's file, the configuration and the fleet's folder
	environ func() []string

	mu      sync.Mutex
	daemons []*program.Process // in the order of their start
}

// at settles where a site is.
func (s *site) at(dir string) {
	s.dir, s.state = dir, filepath.Join(dir, "state")
	s.Fleet = program.Fleet(filepath.Join(s.state, "instances"))
}

// start runs remuda in the background.
func (s *site) start(name string, args ...string) (*program.Process, error) {
	d, err := program.Launch(program.Command{Name: name, Args: args, Dir: s.dir, Env: s.environ(), Patience: patience})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.daemons = append(s.daemons, d)
	return d, nil
}

// started returns every daemon in the order of their start.
func (s *site) started() []*program.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.daemons)
}

// find returns the daemon that was started last under a name.
func (s *site) find(name string) (*program.Process, error) {
	for _, d := range slices.Backward(s.started()) {
		if d.Name == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("%s was not started", name)
}

// stop ends everything that was started here and is left, the last first, and every process of the
// site's machines.
func (s *site) stop() error {
	var errs []error
	for _, d := range slices.Backward(s.started()) {
		if _, err := d.Stop(syscall.SIGTERM); err != nil {
			_, killed := d.Stop(syscall.SIGKILL)
			errs = append(errs, err, killed)
		}
	}
	left, err := s.Left()
	errs = append(errs, err)
	for _, refs := range left {
		errs = append(errs, process.KillAll(refs...))
	}
	return errors.Join(errs...)
}

// tails returns the end of every log, for people.
func (s *site) tails() []string {
	var texts []string
	var shown []string
	for _, d := range s.started() {
		if !slices.Contains(shown, d.Log) { // the first under a name shows those that came after it too
			shown = append(shown, d.Log)
			texts = append(texts, d.Tail())
		}
	}
	return texts
}

// github starts a simulated GitHub, and returns the configuration file that makes a controller use it, and keep everything
// in site.state. The settings become part of that.
func (s *site) github(settings []byte, args ...string) (g program.GitHub, config string, err error) {
	d, err := s.start("github", append([]string{"dev", "github"}, args...)...)
	if err != nil {
		return g, "", err
	}
	if g, err = d.GitHub(); err != nil {
		return g, "", err
	}
	config = filepath.Join(s.state, "remuda.yaml")
	settings = fmt.Appendf(slices.Clone(settings), "%sstore: sqlite://%s/remuda.db\nfleet: process://%s\n", g.Settings, s.state, s.Fleet)
	return g, config, os.WriteFile(config, settings, 0o600)
}

// killAgent kills the agent of a machine as a crash would.
func (s *site) killAgent(id string) error {
	ref, _, err := s.Leader(id)
	if err != nil {
		return err
	}
	return process.Signal(ref, syscall.SIGKILL)
}

// crash kills every process of a machine, as the end of its host would.
func (s *site) crash(id string) error {
	left, err := s.Left()
	if err == nil && len(left[id]) == 0 {
		err = fmt.Errorf("instance %s: has no process", id)
	}
	if err != nil {
		return err
	}
	return program.KillLeft(patience, func() ([]process.Ref, error) {
		left, err := s.Left()
		return left[id], err
	})
}
