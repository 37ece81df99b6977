package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/internal/process"
)

// Command is a Script that runs a program in a process group of its own.
type Command struct {
	Path  string
	Args  []string
	Dir   string              // the working folder; "": the agent's folder
	Env   []string            // complete environment, EnvMarker included
	Log   string              // receives the output; truncated first
	View  []func() error      // the file system view, for process.Start
	Limit time.Duration       // the command is killed after this time; 0: only ctx limits it
	Mask  machinelog.Patterns // the operator's patterns of text that errors must not show
}

// ErrScriptLimit says that a script was killed because it took too long.
var ErrScriptLimit = errors.New("agent: script time limit")

// scriptTail is how many bytes of output an error holds. Together with the status they must fit store.MaxDetail.
const (
	scriptTail = 1500
	maskedTail = 32 << 10 // bytes that are read and masked to get them
)

// Run runs the program and returns an error with its status and last lines, without secrets, unless its
// status is 0 (H46). Its process group is gone when Run returns with an error; what a successful script left
// running stays. Output goes to a file, not a pipe: a background process that keeps it open holds
// up no one.
func (c Command) Run(ctx context.Context) error {
	out, err := os.OpenFile(c.Log, os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err == nil {
		err = out.Chmod(0o600) // one of an earlier version: jobs are not to read what the operator's script says
	}
	if err != nil {
		return fmt.Errorf("run script %s: %w", c.Path, err)
	}
	defer out.Close()
	if c.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Limit, fmt.Errorf("%w of %s", ErrScriptLimit, c.Limit))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err = process.Start(cmd, c.View...); err == nil { // a service that the script starts runs like any process
		err = process.Wait(cmd)
	}
	if err == nil {
		return nil
	}
	if cmd.Process != nil { // ctx ended the leader only, or it left others behind
		err = errors.Join(err, process.KillGroup(cmd.Process.Pid))
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if last := c.last(out); last != "" { // many people read this
		return fmt.Errorf("run script %s: %w: %s", c.Path, err, last)
	}
	return fmt.Errorf("run script %s: %w", c.Path, err)
}

// last returns the end of the output without secrets. The masks need more text than the error holds, because a partial secret has no known
// form.
func (c Command) last(out *os.File) string {
	text := strings.TrimSpace(c.Mask.Mask(tailOf(out, maskedTail)))
	if len(text) <= scriptTail {
		return text
	}
	text = text[len(text)-scriptTail:]
	if _, rest, ok := strings.Cut(text, "\n"); ok && rest != "" {
		text = rest
	}
	return strings.ToValidUTF8(text, "")
}

// tailOf returns the end of a file, from the start of a line if there is one.
func tailOf(f *os.File, n int64) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(0, info.Size()-n)
	b := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	text := strings.ToValidUTF8(string(b), "?")
	if _, rest, ok := strings.Cut(text, "\n"); from > 0 && ok && rest != "" {
		text = rest
	}
	return strings.TrimSpace(text)
}
