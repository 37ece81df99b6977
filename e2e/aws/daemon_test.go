package aws

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"
)

// daemon is a remuda that runs in the background.
type daemon struct {
	w    *world
	name string
	log  string // file
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start runs remuda in the background.
func (w *world) start(name string, env []string, args ...string) *daemon {
	w.Helper()
	d := &daemon{w: w, name: name, log: filepath.Join(w.dir, name+".log"), cmd: exec.Command(binary, args...), done: make(chan struct{})}
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	w.check(err)
	defer log.Close()
	d.cmd.Dir, d.cmd.Env = w.dir, append([]string{}, env...)
	d.cmd.Stdout, d.cmd.Stderr = log, log
	w.check(d.cmd.Start())
	go func() {
		_ = d.cmd.Wait() // ProcessState tells
		close(d.done)
	}()
	w.daemons = append(w.daemons, d)
	return d
}

// end sends a signal and waits for the end.
func (d *daemon) end(sig os.Signal) error {
	if err := d.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", d.name, err)
	}
	select {
	case <-d.done:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s does not end within %s of %s", d.name, patience, sig)
	}
}

func (d *daemon) output() []byte {
	out, err := os.ReadFile(d.log)
	if err != nil {
		return []byte(err.Error())
	}
	return out
}

// says waits until the daemon said something that matches.
func (d *daemon) says(pattern string) {
	d.w.Helper()
	want := regexp.MustCompile(pattern)
	deadline := time.After(patience)
	for !want.Match(d.output()) {
		select {
		case <-d.done:
			d.w.Fatalf("%s ended without saying %s", d.name, pattern)
		case <-deadline:
			d.w.Fatalf("%s: not within %s: %s", d.name, patience, pattern)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// cleanUp ends what is left, and shows the end of every log if the test failed.
func (w *world) cleanUp() {
	for _, d := range slices.Backward(w.daemons) {
		if err := d.end(syscall.SIGTERM); err != nil {
			w.Error(errors.Join(err, d.end(syscall.SIGKILL)))
		}
	}
	if w.Failed() {
		w.tails()
	}
}

// tailLines is how much of each log a failure shows.
const tailLines = 60

func (w *world) tails() {
	logs, err := filepath.Glob(filepath.Join(w.dir, "*.log"))
	w.check(err)
	of, err := filepath.Glob(filepath.Join(w.dir, "machines", "*", "root", "*.log"))
	w.check(err)
	for _, log := range append(logs, of...) {
		text, err := os.ReadFile(log)
		if err != nil {
			text = []byte(err.Error())
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		rel, err := filepath.Rel(w.dir, log)
		w.check(err)
		w.Logf("--- %s\n%s", rel, bytes.Join(lines[max(0, len(lines)-tailLines):], nil))
	}
	if keep := os.Getenv("REMUDA_E2E_KEEP"); keep != "" {
		w.check(os.CopyFS(filepath.Join(keep, w.name), os.DirFS(w.dir)))
	}
}
