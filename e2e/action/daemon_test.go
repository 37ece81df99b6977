package action

import (
	"bytes"
	"errors"
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
	d.cmd.Dir, d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = w.dir, append([]string{}, env...), log, log
	w.check(d.cmd.Start())
	go func() {
		_ = d.cmd.Wait() // ProcessState tells
		close(d.done)
	}()
	w.daemons = append(w.daemons, d)
	return d
}

// end ends it in order and returns its exit code.
func (d *daemon) end() int {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.w.Errorf("end %s: %v", d.name, err)
	}
	select {
	case <-d.done:
	case <-time.After(patience):
		d.w.Errorf("%s does not end within %s", d.name, patience)
		d.w.check(d.cmd.Process.Kill())
		<-d.done
	}
	return d.cmd.ProcessState.ExitCode()
}

// value waits until the daemon says export NAME=value.
func (d *daemon) value(name string) string {
	d.w.Helper()
	form := regexp.MustCompile(`export ` + name + `=(\S+)\n`)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		out, err := os.ReadFile(d.log)
		d.w.check(err)
		if m := form.FindSubmatch(out); m != nil {
			return string(m[1])
		}
	}
	d.w.Fatalf("%s does not say %s within %s", d.name, name, patience)
	return ""
}

// tailLines is how much of each log a failure shows.
const tailLines = 60

// cleanUp ends what is left, and shows the end of every log if the test failed.
func (w *world) cleanUp() {
	for _, d := range slices.Backward(w.daemons) {
		d.end()
	}
	w.killMachines()
	if !w.Failed() {
		return
	}
	logs, err := filepath.Glob(filepath.Join(w.dir, "*.log"))
	w.check(err)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		w.check(err)
		lines := bytes.SplitAfter(text, []byte("\n"))
		w.Logf("--- %s\n%s", filepath.Base(log), bytes.Join(lines[max(0, len(lines)-tailLines):], nil))
	}
}
