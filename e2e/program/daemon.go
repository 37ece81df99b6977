package program

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// Command is how to start a program. All is required but what says otherwise.
type Command struct {
	Name     string // also of its log, in Dir
	Program  string // "": the program under test
	Args     []string
	Dir      string
	Env      []string
	Patience time.Duration // for one thing to come true, its end included
}

// Process is a program that runs in the background.
type Process struct {
	Name string
	Log  string // file with all it says; those of one name share it

	from     int // where in the log this one begins
	cmd      *exec.Cmd
	ended    chan struct{}
	patience time.Duration
}

// Launch starts a program.
func Launch(c Command) (*Process, error) {
	p := &Process{Name: c.Name, Log: filepath.Join(c.Dir, c.Name+".log"), ended: make(chan struct{}), patience: c.Patience}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		p.from = int(info.Size())
	}
	p.cmd = exec.Command(cmp.Or(c.Program, Binary), c.Args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = c.Dir, append([]string{}, c.Env...), log, log
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	go func() {
		_ = p.cmd.Wait() // ProcessState tells
		close(p.ended)
	}()
	return p, nil
}

// Ended is closed when it has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Pid is its process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal if it still runs.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// State is how it ended; nil while it runs.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.ended:
		return p.cmd.ProcessState
	default:
		return nil
	}
}

// Stop sends a signal if it still runs, waits for its end and returns its exit code, -1 if it was killed.
func (p *Process) Stop(sig os.Signal) (int, error) {
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, fmt.Errorf("signal %s: %w", p.Name, err)
	}
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(p.patience):
		return 0, fmt.Errorf("%s does not end within %s of %s", p.Name, p.patience, sig)
	}
}

// Output is all that it said so far.
func (p *Process) Output() []byte {
	out, err := os.ReadFile(p.Log)
	if err != nil {
		return []byte(err.Error())
	}
	return out[min(p.from, len(out)):]
}

// Tail is the end of what it said, for people.
func (p *Process) Tail() string { return Tail(filepath.Base(p.Log), p.Output()) }

// Tail is the end of the text of a log, for people.
func Tail(name string, text []byte) string {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return fmt.Sprintf("--- %s\n%s", name, bytes.Join(lines[max(0, len(lines)-80):], nil))
}

// Await waits until it has said something that matches, and returns the last group of that.
func (p *Process) Await(pattern string) (string, error) {
	want := regexp.MustCompile(pattern)
	var found [][]byte
	err := Until(p.patience, p.Name+" says "+pattern, func() bool {
		ended := p.State() != nil // it may have come true last
		found = want.FindSubmatch(p.Output())
		return found != nil || ended
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%s ended before it said %s", p.Name, pattern)
	}
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, p.Tail())
	}
	return string(found[len(found)-1]), nil
}

// Daemon is a program that runs in the background until it is ended, or the test is.
type Daemon struct {
	T
	*Process
}

// Start starts a daemon. At the end of the test it is ended if it still runs, those that were started later
// first; if the test has failed it shows the end of its log.
func Start(t testing.TB, c Command) *Daemon {
	t.Helper()
	d := &Daemon{T: T{t}}
	var err error
	d.Process, err = Launch(c)
	d.Check(err)
	t.Cleanup(func() {
		d.End(syscall.SIGTERM)
		if d.Failed() {
			d.T.Log(d.Tail())
		}
	})
	return d
}

// End sends a signal if it still runs, and returns its exit code.
func (d *Daemon) End(sig os.Signal) int {
	d.Helper()
	code, err := d.Stop(sig)
	if err != nil {
		d.Error(err)
		_ = d.cmd.Process.Kill() // whatever it says, it must not outlive the test
		<-d.ended
	}
	return code
}

// Exit waits for its end and returns its exit code.
func (d *Daemon) Exit() int {
	d.Helper()
	return d.End(syscall.Signal(0)) // which only looks
}

// Says is Await for what it must say.
func (d *Daemon) Says(pattern string) string {
	d.Helper()
	found, err := d.Await(pattern)
	d.Check(err)
	return found
}

// GitHub is Process.GitHub for one that must serve.
func (d *Daemon) GitHub() GitHub {
	d.Helper()
	g, err := d.Process.GitHub()
	d.Check(err)
	return g
}
