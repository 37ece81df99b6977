package awserrors

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// daemon is a remuda that runs in the background until the test ends.
type daemon struct {
	*site
	log  string
	cmd  *exec.Cmd
	done chan struct{}
}

func (s *site) start(args ...string) *daemon {
	s.Helper()
	d := &daemon{site: s, log: filepath.Join(s.dir, args[0]+".log"), cmd: exec.Command(binary, args...), done: make(chan struct{})}
	log, err := os.Create(d.log)
	s.check(err)
	d.cmd.Dir, d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = s.dir, s.env, log, log
	s.check(d.cmd.Start())
	s.check(log.Close())
	go func() {
		_ = d.cmd.Wait() // ProcessState tells
		close(d.done)
	}()
	s.Cleanup(func() {
		select {
		case <-d.done: // the test has judged it
		default:
			d.signal(syscall.SIGTERM)
			d.ended(exitDone)
		}
		if s.Failed() {
			s.Logf("--- %s\n%.8000s", d.log, d.output())
		}
	})
	return d
}

func (d *daemon) signal(sig os.Signal) {
	d.Helper()
	if err := d.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.Error(err)
	}
}

// ended waits until the daemon has ended with code.
func (d *daemon) ended(code int) {
	d.Helper()
	select {
	case <-d.done:
	case <-time.After(patience):
		d.Errorf("%s does not end within %s", d.log, patience)
		_ = d.cmd.Process.Kill() // whatever it says, it must not outlive the test
		<-d.done
	}
	if got := d.cmd.ProcessState.ExitCode(); got != code {
		d.Errorf("%s: exit code %d, want %d", d.log, got, code)
	}
}

// interrupt ends a waiting client.
func (d *daemon) interrupt() {
	d.Helper()
	d.signal(os.Interrupt)
	d.ended(exitInterrupted)
}

func (d *daemon) output() string {
	out, err := os.ReadFile(d.log)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// says waits until something that the daemon says matches.
func (d *daemon) says(pattern string) {
	d.Helper()
	want := regexp.MustCompile(pattern)
	d.until(pattern, func() bool { return want.MatchString(d.output()) })
}

// until waits until something holds of what the daemon does.
func (d *daemon) until(what string, holds func() bool) {
	d.Helper()
	deadline := time.After(patience)
	for ended := false; !holds(); {
		if ended {
			d.Fatalf("%s ended before: %s", d.log, what)
		}
		select {
		case <-d.done:
			ended = true // it may have said it last
		case <-deadline:
			d.Fatalf("%s: not within %s: %s", d.log, patience, what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
