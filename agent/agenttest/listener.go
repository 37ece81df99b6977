package agenttest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// Killed is the exit status of a listener that was killed: 128 + SIGKILL.
const Killed = 137

// Listener is one listener of a Runner.
type Listener struct {
	runner  *Runner
	reg     store.Registration
	label   string
	ref     process.Ref
	changed chan struct{}
	gone    chan struct{} // closed at its end

	mu       sync.Mutex
	status   agent.Status
	stopping bool
}

// Name returns the name of the runner.
func (l *Listener) Name() string { return l.reg.Name }

// Label returns the only label of the runner.
func (l *Listener) Label() string { return l.label }

// Registration returns what it was started with.
func (l *Listener) Registration() store.Registration { return l.reg }

// Ref names the process.
func (l *Listener) Ref() process.Ref { return l.ref }

// Boundary names none.
func (l *Listener) Boundary() string { return "" }

// Changed tells of changes of the status.
func (l *Listener) Changed() <-chan struct{} { return l.changed }

// Status returns the status.
func (l *Listener) Status() agent.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Stop ends the listener after Runner.StopFor, during which it takes no job; it ends then even if
// ctx does first, as a process that got a signal does.
func (l *Listener) Stop(ctx context.Context, mode store.ReleaseMode) error {
	if l.runner.OnStop != nil {
		l.runner.OnStop(l)
	}
	l.mu.Lock()
	if l.status.State == agent.Exited {
		l.mu.Unlock()
		return nil
	}
	if mode == store.ReleaseDrain && l.status.State == agent.Busy {
		l.mu.Unlock()
		return agent.ErrBusy
	}
	l.stopping = true
	l.mu.Unlock()
	if l.runner.StopFor == 0 {
		l.Exit(agent.ExitOK, "")
		return nil
	}
	time.AfterFunc(l.runner.StopFor, func() { l.Exit(agent.ExitOK, "") })
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.gone:
		return nil
	}
}

// Kill ends the listener.
func (l *Listener) Kill() { l.Exit(Killed, "") }

// Detach does nothing: the test observes on.
func (l *Listener) Detach() {}

// online makes a starting listener take jobs.
func (l *Listener) online() {
	if l.to(agent.Listening, "", agent.Starting) && l.runner.OnOnline != nil {
		l.runner.OnOnline(l.reg.Name, l.label)
	}
}

// Block makes a listener that runs no job lose its connection.
func (l *Listener) Block(cause string) bool {
	return l.to(agent.Blocked, cause, agent.Starting, agent.Listening)
}

// Unblock gives the connection back.
func (l *Listener) Unblock() bool { return l.to(agent.Listening, "", agent.Blocked) }

// StartJob gives the listener a job. It returns false if it takes none now.
func (l *Listener) StartJob() bool { return l.to(agent.Busy, "", agent.Listening) }

// FinishJob ends the job. A listener for one job exits. It returns false if there is no job.
func (l *Listener) FinishJob() bool {
	if !l.to(agent.Listening, "", agent.Busy) {
		return false
	}
	if l.reg.Mode == store.JIT {
		l.Exit(agent.ExitOK, "")
	}
	return true
}

// FinishUnjudged ends a job of which the job-started hook said nothing.
func (l *Listener) FinishUnjudged() bool { return l.finish(func(st *agent.Status) { st.Unjudged++ }) }

// FinishRefused ends a job that the job-started hook refused.
func (l *Listener) FinishRefused() bool { return l.finish(func(st *agent.Status) { st.Refused++ }) }

func (l *Listener) finish(note func(*agent.Status)) bool {
	l.mu.Lock()
	note(&l.status)
	l.mu.Unlock()
	return l.FinishJob()
}

// Exit ends the listener with a status. It returns false if it has ended before.
func (l *Listener) Exit(status int, cause string) bool {
	l.mu.Lock()
	if l.status.State == agent.Exited {
		l.mu.Unlock()
		return false
	}
	l.status.State, l.status.Exit, l.status.Cause = agent.Exited, status, cause
	close(l.gone)
	l.mu.Unlock()
	l.tell()
	if l.runner.OnOffline != nil {
		l.runner.OnOffline(l.reg.Name)
	}
	return true
}

// to changes the state if it is one of from.
func (l *Listener) to(state agent.ListenerState, cause string, from ...agent.ListenerState) bool {
	l.mu.Lock()
	ok := slices.Contains(from, l.status.State) && !(l.stopping && state == agent.Busy)
	if ok {
		l.status.State, l.status.Cause = state, cause
		l.status.Online = l.status.Online || state == agent.Listening
		if state == agent.Busy {
			l.status.Jobs++
		}
	}
	l.mu.Unlock()
	if ok {
		l.tell()
	}
	return ok
}

func (l *Listener) tell() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *Listener) ended() bool { return l.Status().State == agent.Exited }
