//go:build unix

package procfleet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/internal/process"
)

// gate keeps a new process from becoming the agent before it is on record. If its parent dies before
// it writes the line, the read ends with the pipe, and so does the process. The agent's command line
// comes as arguments: nothing of it is read as shell. The mark distinguishes a process that was let go from
// one that never was.
const gate = `read -r _ <&3 && exec 3<&- && : >` + startedFile + ` && exec "$@"`

// spawn starts a machine's process, records it, and only then lets it become the agent.
func (r *runner) spawn(m record) (_ record, err error) {
	pid, gate, err := r.fork(m.ID)
	if pid != 0 {
		r.children[pid] = m.ID
		defer func() { err = errors.Join(err, gate.Close()) }()
	}
	if err != nil {
		return m, err
	}
	r.failpoint("spawned")
	if m.Leader, err = process.Lookup(pid); err != nil {
		return m, err
	}
	m.Boot, m.TemplateVersion = r.boot, *r.template.Load()
	if err := r.disk.save(m); err != nil {
		return m, err
	}
	r.failpoint("recorded")
	if _, err := gate.WriteString("\n"); err != nil {
		return m, fmt.Errorf("release process %d: %w", pid, err)
	}
	r.failpoint("let go")
	r.logState(m)
	return m, nil
}

// fork starts the waiting process, in a session of its own, with the machine's folder as its working
// folder and nothing of ours but the gate. A line lets it go; once that is closed without one, it ends. A process may come with
// an error; pid 0 is none.
func (r *runner) fork(id string) (pid int, letGo *os.File, err error) {
	folder := r.disk.folder(id)
	argv, env := r.opts.Command(id, folder)
	if len(argv) == 0 {
		return 0, nil, errors.New("fleet command names no program")
	}
	output, err := os.OpenFile(filepath.Join(folder, machinelog.AgentFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return 0, nil, err
	}
	defer output.Close()
	wait, letGo, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer wait.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", gate, "sh"}, argv...)...)
	cmd.Dir, cmd.Env = folder, environment(env, id, filepath.Join(folder, interruptionFile))
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = output, output, []*os.File{wait}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, nil, errors.Join(err, letGo.Close())
	}
	pid = cmd.Process.Pid                    // before Release, which forgets it
	return pid, letGo, cmd.Process.Release() // reaped by pid, without a goroutine that waits
}

// environment is what Command gave, in which ours wins.
func environment(env []string, id, interruption string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, EnvInstance+"=") && !strings.HasPrefix(e, EnvInterruption+"=") {
			out = append(out, e)
		}
	}
	return append(out, EnvInstance+"="+id, EnvInterruption+"="+interruption)
}

// notify writes the interruption notice, at once and in full.
func (d *disk) notify(id string, n Notice) error {
	return writeJSON(filepath.Join(d.folder(id), interruptionFile), n)
}
