package boundary

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/process"
)

// InitCommand is the command of the program that runs Init: "agent-init", what Init takes, "--", and a command line.
const InitCommand = "agent-init"

// namespace is a PID namespace. Its first process is Init, which outlives the agent; with it the kernel ends all others
// (pid_namespaces(7)).
type namespace struct {
	exe string

	mu   sync.Mutex
	init process.Ref    // zero: there is none
	says *bufio.Scanner // what Init says; nil: an earlier agent's Init
	pipe *os.File       // below says
}

// openNamespace returns a PID namespace, if this process can make one.
func openNamespace(exe string) (*namespace, error) {
	var out bytes.Buffer
	cmd := exec.Command(exe, InitCommand) // without a command line it only mounts its /proc
	cmd.Stderr = &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	err := process.Start(cmd)
	if err == nil {
		err = process.Wait(cmd)
	}
	if err != nil {
		return nil, fmt.Errorf("%w %s", err, bytes.TrimSpace(out.Bytes()))
	}
	return &namespace{exe: exe}, nil
}

// Start implements Boundary.
func (n *namespace) Start(ctx context.Context, cmd *exec.Cmd, view ...func() error) (process.Ref, error) {
	if err := n.End(ctx); err != nil {
		return process.Ref{}, err
	}
	says, tells, err := os.Pipe()
	if err != nil {
		return process.Ref{}, err
	}
	first := exec.Command(n.exe, InitCommand)
	if attr := cmd.SysProcAttr; attr != nil && attr.Credential != nil {
		user, err := json.Marshal(attr.Credential)
		if err != nil {
			return process.Ref{}, err
		}
		first.Args = append(first.Args, "--user", string(user))
	}
	first.Args = append(append(first.Args, "--", cmd.Path), cmd.Args[1:]...)
	first.Env, first.Dir, first.Stdout, first.Stderr, first.ExtraFiles = cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, []*os.File{tells}
	first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, Setsid: true}
	if err := errors.Join(process.Start(first, view...), tells.Close()); err != nil { // Init's copy is the last one
		return process.Ref{}, errors.Join(err, says.Close())
	}
	lines := bufio.NewScanner(says)
	n.mu.Lock()
	n.init, n.says, n.pipe = refOf(first), lines, says
	n.mu.Unlock()
	lines.Scan()
	inside, ok := strings.CutPrefix(lines.Text(), started)
	if !ok {
		_, _ = first.Process.Wait()
		process.Collected(first.Process.Pid)
		return process.Ref{}, errors.Join(fmt.Errorf("start in a PID namespace: %s", lines.Text()), n.End(ctx))
	}
	all, err := process.Children(first.Process.Pid)
	if err != nil {
		return process.Ref{}, errors.Join(err, n.End(ctx))
	}
	for _, ref := range all {
		if idInside(ref.PID) == inside {
			return ref, nil
		}
	}
	return process.Ref{}, nil // it has ended already, and the others are its orphans
}

// idInside returns the id of a process in the innermost PID namespace, "" if the process has ended (proc_pid_status(5)).
func idInside(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	_, ids, _ := strings.Cut(string(text), "\nNSpid:")
	ids, _, _ = strings.Cut(ids, "\n")
	return ids[strings.LastIndexAny(ids, " \t")+1:]
}

// Wait implements Boundary. The process is Init's child, so Init says how it ended.
func (n *namespace) Wait(process.Ref) (int, bool) {
	n.mu.Lock()
	lines := n.says
	n.mu.Unlock()
	if lines == nil || !lines.Scan() {
		return 0, false
	}
	status, err := strconv.Atoi(lines.Text())
	return status, err == nil
}

// Services implements Boundary: a service is outside.
func (n *namespace) Services() bool { return false }

// Name implements Boundary.
func (n *namespace) Name() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fmt.Sprintf("%s%d:%d", namespaceKind, n.init.PID, n.init.Start)
}

// Resume implements Boundary. A control group of an agent that could make one is ended by the search for marked processes.
func (n *namespace) Resume(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ref, ok := kindOf(name, namespaceKind); ok {
		n.init = parseRef(ref)
	}
}

// parseRef reads pid:start, the end of a namespace's name. The zero Ref is none.
func parseRef(text string) (ref process.Ref) {
	if _, err := fmt.Sscanf(text, "%d:%d", &ref.PID, &ref.Start); err != nil {
		return process.Ref{}
	}
	return ref
}

// Kill implements Boundary.
func (n *namespace) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return process.KillAll(n.init)
}

// End implements Boundary. Init becomes a zombie only after the last process of its namespace has ended.
func (n *namespace) End(ctx context.Context) error {
	if err := n.Kill(); err != nil {
		return err
	}
	err := until(ctx, "processes of the PID namespace end", func() (bool, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		return !n.init.Alive(), nil
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pipe != nil {
		err = n.pipe.Close()
	}
	process.Collected(n.init.PID) // Reap reads its status
	n.init, n.says, n.pipe = process.Ref{}, nil, nil
	return errors.Join(err, process.Reap())
}

// started begins the first line that Init says, to its file descriptor 3. The id of its process in the namespace follows. The second line
// is the status of that process.
const started = "started "

// Init is the first process of a PID namespace. It mounts a /proc of the namespace, in which the job-started hook finds
// the worker, starts a command line as a user (a syscall.Credential in JSON; "": its own), says that it has started and later how it ended, and reads the
// status of all orphans until it is killed. Without a command line it returns once /proc is mounted.
func Init(user string, command []string) error {
	if os.Getpid() != 1 {
		return errors.New("must be the first process of a PID namespace")
	}
	var credential *syscall.Credential
	if user != "" {
		if err := json.Unmarshal([]byte(user), &credential); err != nil {
			return fmt.Errorf("--user: must be a credential in JSON, got %.100q", user)
		}
	}
	// The mounts of this namespace are its own; those that the machine makes later still appear in it.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("separate mounts: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if len(command) == 0 {
		return nil
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM) // the agent ends it by SIGKILL
	syscall.CloseOnExec(3)
	agent := os.NewFile(3, "agent")
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: credential}
	if err := process.Start(cmd); err != nil {
		_, _ = io.WriteString(agent, err.Error()) // an agent that has gone starts another listener
		return err
	}
	_, _ = fmt.Fprintf(agent, "%s%d\n", started, cmd.Process.Pid) // as above
	for {
		var ws unix.WaitStatus
		switch pid, err := unix.Wait4(-1, &ws, 0, nil); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			_ = unix.Pause() // until the agent ends it
		case err != nil:
			return fmt.Errorf("wait for processes: %w", err)
		case pid == cmd.Process.Pid:
			_, _ = fmt.Fprintln(agent, shown(ws)) // as above
		}
	}
}
