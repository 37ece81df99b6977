package program

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// Daemon is a program that runs in the background until it is ended, or the test is.
type Daemon struct {
	testing.TB
	Name string
	Log  string // file with all it says

	cmd      *exec.Cmd
	ended    chan struct{}
	patience time.Duration
}

// Command is how to start a daemon. All is required.
type Command struct {
	Name     string // also of its log, in Dir
	Path     string
	Args     []string
	Dir      string
	Env      []string
	Patience time.Duration // for one thing to come true, its end included
}

// tailLines is how much of a log a failure shows.
const tailLines = 60

// Start starts a daemon. At the end of the test it is ended if it still runs, those that were started later
// first; if the test has failed it shows the end of its log.
func Start(t testing.TB, c Command) *Daemon {
	t.Helper()
	d := &Daemon{TB: t, Name: c.Name, Log: filepath.Join(c.Dir, c.Name+".log"), ended: make(chan struct{}), patience: c.Patience}
	log, err := os.OpenFile(d.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command(c.Path, c.Args...)
	d.cmd.Dir, d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = c.Dir, append([]string{}, c.Env...), log, log
	err = errors.Join(d.cmd.Start(), log.Close())
	if d.cmd.Process != nil {
		go func() {
			_ = d.cmd.Wait() // ProcessState tells
			close(d.ended)
		}()
		t.Cleanup(d.cleanUp)
	}
	if err != nil {
		t.Fatalf("start %s: %v", d.Name, err)
	}
	return d
}

func (d *Daemon) cleanUp() {
	d.End(syscall.SIGTERM)
	if d.Failed() {
		lines := bytes.SplitAfter(d.Output(), []byte("\n"))
		d.Logf("--- %s\n%s", filepath.Base(d.Log), bytes.Join(lines[max(0, len(lines)-tailLines):], nil))
	}
}

// Ended is closed when it has ended.
func (d *Daemon) Ended() <-chan struct{} { return d.ended }

// State is how it ended; nil while it runs.
func (d *Daemon) State() *os.ProcessState {
	select {
	case <-d.ended:
		return d.cmd.ProcessState
	default:
		return nil
	}
}

// End sends a signal if it still runs, and returns its exit code.
func (d *Daemon) End(sig os.Signal) int {
	d.Helper()
	if err := d.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.Errorf("end %s: %v", d.Name, err)
	}
	return d.Exit()
}

// Exit waits for its end and returns its exit code.
func (d *Daemon) Exit() int {
	d.Helper()
	select {
	case <-d.ended:
	case <-time.After(d.patience):
		d.Errorf("%s does not end within %s", d.Name, d.patience)
		_ = d.cmd.Process.Kill() // whatever it says, it must not outlive the test
		<-d.ended
	}
	return d.cmd.ProcessState.ExitCode()
}

// Output is all that it said so far.
func (d *Daemon) Output() []byte {
	out, err := os.ReadFile(d.Log)
	if err != nil {
		return []byte(err.Error())
	}
	return out
}

// Says waits until it has said something that matches, and returns the last group of that.
func (d *Daemon) Says(pattern string) string {
	d.Helper()
	want := regexp.MustCompile(pattern)
	var found [][]byte
	d.Until("says "+pattern, func() bool {
		found = want.FindSubmatch(d.Output())
		return found != nil
	})
	return string(found[len(found)-1])
}

// Value waits until it has said export NAME=value.
func (d *Daemon) Value(name string) string {
	d.Helper()
	return d.Says(`export ` + name + `=(\S+)\n`)
}

// Until waits until something holds of what it does.
func (d *Daemon) Until(what string, holds func() bool) {
	d.Helper()
	deadline := time.After(d.patience)
	for ended := false; !holds(); {
		if ended {
			d.Fatalf("%s ended before: %s", d.Name, what)
		}
		select {
		case <-d.ended:
			ended = true // it may have come true last
		case <-deadline:
			d.Fatalf("%s: not within %s: %s", d.Name, d.patience, what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
