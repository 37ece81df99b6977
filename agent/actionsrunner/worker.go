//go:build unix

package actionsrunner

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
)

// workerLimit is how long a listener that took a job may take to start its worker. It does so at once; what takes
// longer is no job but a line that looks like one.
const workerLimit = time.Minute

// workers returns the workers that a listener has, the oldest first: what one starts has its name until it has become
// another program. Those of a listener that has ended are no longer its children, but still this instance's, which has one
// listener at a time.
func (r *Runner) workers(listener process.Ref) ([]process.Ref, error) {
	all, err := process.Children(listener.PID)
	if !listener.Alive() { // asked last: what is found of one that lives by now are its children
		all, err = r.others()
	}
	if err != nil {
		return nil, err
	}
	var found []process.Ref
	for _, ref := range all {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", ref.PID))
		if err != nil {
			continue // ended
		}
		if program, _, _ := bytes.Cut(line, []byte{0}); path.Base(string(program)) == agent.WorkerName {
			found = append(found, ref)
		}
	}
	slices.SortFunc(found, func(a, b process.Ref) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID)) })
	return found, nil
}

// job is what is known of the running job beside the listener's words.
type job struct {
	worker process.Ref
	since  time.Time
	blind  bool // workers cannot be seen here: the words must do
}

// working reports whether the worker of the running job lives, as far as that can be seen.
func (l *listener) working() bool {
	if l.job.worker == (process.Ref{}) {
		found, err := l.workers(l.ref)
		l.job.blind = err != nil
		if len(found) == 0 {
			return false
		}
		l.job.worker = found[0]
	}
	return l.job.worker.Alive()
}

// followJob brings the status in step with the worker: a job is over at the end of its worker at the latest, and
// one whose worker never came was none. It reports whether the status changed. The caller holds the lock.
func (l *listener) followJob() bool {
	if l.status.State != agent.Busy {
		l.job = job{}
		return false
	}
	now := l.r.o.Clock.Now()
	if l.job.since.IsZero() {
		l.job.since = now
	}
	unseen := l.job.worker == (process.Ref{})
	switch {
	case l.working(), l.job.blind, unseen && now.Sub(l.job.since) < workerLimit:
		return false
	}
	l.status.State, l.status.Cause = agent.Listening, ""
	if l.job.worker != (process.Ref{}) {
		l.over()
	}
	return true
}

// goesOn reports whether the job outlives its listener: the worker ends it, and reports to GitHub itself
// (src/Runner.Worker/JobRunner.cs, CompleteJobAsync). It does not once the agent stops the listener.
func (l *listener) goesOn() bool {
	select {
	case <-l.stopped:
		return false
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.killed && l.status.State == agent.Busy && l.working()
}
