package awstest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is a process that does not outlive this one.
type child struct {
	done   chan struct{} // closed when it has ended
	err    error         // how, once done is closed
	pid    int
	output *os.File // what it wrote; already unlinked
}

// maxOutput is how much of its output an error shows, in bytes: enough for a JVM's stack trace.
const maxOutput = 8 << 10

// spawn starts a program in a process group of its own.
func spawn(program string, args []string, dir string) (*child, error) {
	output, err := os.CreateTemp("", "remuda-awstest-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(output.Name()); err != nil {
		return nil, errors.Join(err, output.Close())
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	c := &child{done: make(chan struct{}), output: output}
	started := make(chan error)
	go func() {
		// Linux ends the child when the thread that started it ends, so this one must last.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			if c.err == nil {
				c.err = errors.New("exit status 0")
			}
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(err, output.Close())
	}
	c.pid = cmd.Process.Pid
	return c, nil
}

// stop ends the process group and waits for the child. It may be called again.
func (c *child) stop() {
	select {
	case <-c.done:
	default:
		// The services keep everything in memory: there is nothing to end in order.
		_ = unix.Kill(-c.pid, unix.SIGKILL) // it may end by itself meanwhile
		<-c.done
	}
}

// tail returns the end of what the child wrote so far.
func (c *child) tail() string {
	stat, err := c.output.Stat()
	if err != nil {
		return fmt.Sprintf("(no output: %v)", err)
	}
	text := make([]byte, min(stat.Size(), maxOutput))
	n, err := c.output.ReadAt(text, stat.Size()-int64(len(text)))
	if err != nil {
		return fmt.Sprintf("(no output: %v)", err)
	}
	return string(text[:n])
}
