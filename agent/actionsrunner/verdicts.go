//go:build unix

package actionsrunner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/process"
)

// maxVerdicts bounds what is read of the verdicts, in bytes: thousands of jobs of one listener. Anything else
// in the file was written by a job, which may do so.
const maxVerdicts = 1 << 20

// openVerdicts makes the file for the verdicts of the job-started hook anew. Jobs may append to it, since the
// hook runs as their user, and cannot replace it.
func (r *Runner) openVerdicts(user *syscall.Credential) error {
	if r.o.Verdicts == "" {
		return nil
	}
	if err := atomicfile.Remove(filepath.Dir(r.o.Verdicts), filepath.Base(r.o.Verdicts)); err != nil {
		return err
	}
	f, err := os.OpenFile(r.o.Verdicts, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if user != nil {
		err = f.Chown(int(user.Uid), int(user.Gid))
	}
	return errors.Join(err, f.Close())
}

// readVerdicts counts the jobs that the hook let in, and those that it refused. What cannot be read says nothing.
func (r *Runner) readVerdicts() (admitted, refused int) {
	f, err := os.Open(r.o.Verdicts)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxVerdicts))
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(b) {
		switch string(line) {
		case agent.VerdictAdmitted + "\n":
			admitted++
		case agent.VerdictRefused + "\n":
			refused++
		}
	}
	return admitted, refused
}

// over notes the end of a job that had a worker. The caller holds the lock.
func (l *listener) over() {
	l.ended++
	l.judge(&l.status)
}

// judge compares the jobs that are over with the hook's verdicts. One that was cancelled before it had a worker
// ran nowhere; of a listener that ended badly no one knows whether its last one did.
func (l *listener) judge(st *agent.Status) {
	if l.r.o.Verdicts == "" {
		return
	}
	over := min(l.ended, st.Jobs)
	if st.State == agent.Exited && st.Exit != agent.ExitOK {
		over = st.Jobs
	}
	admitted, refused := l.r.readVerdicts()
	st.Refused, st.Unjudged = refused, max(st.Unjudged, over-admitted-refused)
}

// reviewVerdict returns a listener that ended while there was no agent if a job ran on it that no one judged, else nil.
func (r *Runner) reviewVerdict(ref process.Ref) (agent.Listener, error) {
	if r.o.Verdicts == "" {
		return nil, nil
	}
	l, err := r.follow(ref, false, agent.Status{})
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("review listener %d: %w", ref.PID, err)
	}
	<-l.done
	if l.Status().Unjudged == 0 {
		return nil, nil
	}
	return l, nil
}
