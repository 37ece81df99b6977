package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// settings shorten the limits, so that what takes minutes in earnest takes seconds here. The code
// is the same.
//
//go:embed demo.yaml
var settings []byte

// grace is how long past its threshold an instance may live here: the agent's own grace, and the
// time a kill takes on a busy machine.
const grace = 15 * time.Second

// stage is a running `remuda dev` and what watches it.
type stage struct {
	program.Fleet
	dir, config string
	dev         *exec.Cmd
	devDone     chan error
	log         *os.File
	table       store.Table
	witness     *witness.Witness
	stopWatch   context.CancelFunc
	watched     chan error
}

// begin starts remuda dev in dir; what env sets differs from settings.
func begin(ctx context.Context, dir string, env ...string) (*stage, error) {
	s := &stage{Fleet: program.Fleet(filepath.Join(dir, "instances")), dir: dir, config: filepath.Join(dir, "remuda.yaml")}
	file := filepath.Join(dir, "demo.yaml")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		return nil, err
	}
	var err error
	if s.log, err = os.Create(filepath.Join(dir, "dev.log")); err != nil {
		return nil, err
	}
	s.dev = exec.Command(program.Binary, "--config", file, "dev", "--dir", dir, "--github-latency", "1s")
	s.dev.Env = append(os.Environ(), env...)
	s.dev.Stdout, s.dev.Stderr = s.log, s.log
	s.dev.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the demonstration, which ends it in order
	if err := s.dev.Start(); err != nil {
		return nil, fmt.Errorf("start remuda dev: %w", err)
	}
	s.devDone = make(chan error, 1)
	go func() { s.devDone <- s.dev.Wait() }()
	if err = s.await(ctx); err == nil {
		err = s.watch(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.stopDev())
	}
	return s, nil
}

// watch opens the store beside the controller, as any other process may.
func (s *stage) watch(ctx context.Context) error {
	u := &url.URL{Scheme: "sqlite", Path: filepath.Join(s.dir, "remuda.db")}
	table, err := sqlitestore.Open(ctx, u, clock.RealClock{})
	if err != nil {
		return err
	}
	s.table = table
	s.witness = witness.New(store.New(table), grace)
	ctx, s.stopWatch = context.WithCancel(ctx)
	s.watched = make(chan error, 1)
	go func() { s.watched <- s.witness.Watch(ctx, 25*time.Millisecond) }()
	return nil
}

// end stops everything and looks whether anything is left.
func (s *stage) end() error {
	s.stopWatch()
	errs := []error{<-s.watched, s.stopDev(), s.table.Close(), s.log.Close()}
	left, err := s.Left()
	errs = append(errs, err)
	for id, refs := range left {
		errs = append(errs, fmt.Errorf("%d processes of %s are left", len(refs), id))
	}
	return errors.Join(errs...)
}

// stopDev tells remuda dev to stop and waits for it.
func (s *stage) stopDev() error {
	if err := s.dev.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-s.devDone:
		if err != nil {
			return fmt.Errorf("remuda dev: %w", err)
		}
		return nil
	case <-time.After(40 * time.Second):
		return errors.Join(errors.New("remuda dev does not stop"), s.dev.Process.Kill())
	}
}

// Remuda runs one command line and returns what it printed, also if it fails.
func (s *stage) Remuda(ctx context.Context, args ...string) ([]byte, error) {
	return program.Run(ctx, s.dir, append(os.Environ(), "REMUDA_CONFIG="+s.config), args...)
}

// Crash kills the agent of an instance. A process fleet starts none anew.
func (s *stage) Crash(id store.InstanceID) error {
	agent, _, err := s.Leader(string(id))
	if err != nil {
		return err
	}
	return process.Signal(agent, syscall.SIGKILL)
}

// Ended returns why remuda dev ended; nil while it runs.
func (s *stage) Ended() error {
	select {
	case err := <-s.devDone:
		s.devDone <- err
		return errors.Join(errors.New("see dev.log"), err)
	default:
		return nil
	}
}

// await waits until remuda dev serves.
func (s *stage) await(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(s.config); err == nil {
			return nil
		}
		if err := s.Ended(); err != nil {
			return fmt.Errorf("remuda dev ended: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remuda dev does not serve: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// github returns the root of the simulated GitHub's API.
func (s *stage) github() (string, error) { return s.setting("apiUrl") }

// setting returns a setting that remuda dev made up itself, by its name within its group.
func (s *stage) setting(name string) (string, error) {
	settings, err := os.ReadFile(s.config)
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(name + `: "?([^\s"]+)`).FindSubmatch(settings)
	if found == nil {
		return "", fmt.Errorf("%s names no %s", s.config, name)
	}
	return string(found[1]), nil
}
