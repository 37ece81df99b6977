package agenttest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// HubRunner is the runner program of one machine, attached to a simulated GitHub: its listeners take
// the jobs queued there. They live as long as the machine, whatever becomes of its agent.
type HubRunner struct {
	// Lag is how long a listener takes to notice what GitHub did. Machines that differ in it do not all
	// move in the same instant. It is set before use.
	Lag time.Duration
	// Begin is how long a listener takes from its start until it makes a session. It is set before use.
	Begin time.Duration
	// Linger is how long a job goes on once it was cancelled, unless its listener ends; nil: not at all. It is set before use.
	Linger func(job string) time.Duration
	// Fails reports whether a job fails once it has run; nil: none does. It is set before use.
	Fails func(githubsim.Job) bool
	// Admit is the job-started hook: it judges a job on the machine before that runs; nil: each may. It is set before use.
	Admit func(ctx context.Context, j githubsim.Job) bool
	// Unanswered: calls that hang are not answered when GitHub is back, but time out. It is set before use.
	Unanswered bool

	// Vanished reports whether the machine ends without a chance to say anything; nil: it does not. It is set before use.
	Vanished func() bool

	hub     *githubsim.Hub
	machine context.Context //nolint:containedctx // the machine's life
	running sync.WaitGroup

	mu        sync.Mutex
	next      int
	ill       string                // cause of its own that no listener comes online; "": none
	cred      githubsim.Credentials // the runner is configured with, by a token
	listeners []*hubListener
}

// NewHubRunner returns the runner of a machine that ends with ctx.
func NewHubRunner(ctx context.Context, hub *githubsim.Hub) *HubRunner {
	return &HubRunner{hub: hub, machine: ctx}
}

func (r *HubRunner) gone() bool { return r.Vanished != nil && r.Vanished() }

// Mute is a cause of listeners that say nothing and never come online.
const Mute = "mute"

// Fall makes the machine ill: its listeners end with a cause from now on, or are mute, whatever GitHub does.
func (r *HubRunner) Fall(cause string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ill = cause
}

// Alive reports whether a listener has not ended yet.
func (r *HubRunner) Alive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.listeners, func(l *hubListener) bool { return !l.ended() })
}

// Reboot ends every listener at once, as a computer that starts anew does.
func (r *HubRunner) Reboot() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.listeners {
		l.Kill()
	}
}

// Wait returns once every listener has ended.
func (r *HubRunner) Wait() { r.running.Wait() }

// Start implements agent.Runner.
func (r *HubRunner) Start(ctx context.Context, reg store.Registration, label string) (agent.Listener, error) {
	cred, err := r.credentials(ctx, reg, label)
	if err != nil {
		return nil, err
	}
	lctx, cancel := context.WithCancel(r.machine)
	r.mu.Lock()
	r.next++
	l := &hubListener{
		ref: process.Ref{PID: 1<<30 + r.next, Start: 1}, cancel: cancel,
		changed: make(chan struct{}, 1), done: make(chan struct{}),
		status: agent.Status{State: agent.Starting, RunnerID: cred.RunnerID},
	}
	r.listeners = append(r.listeners, l)
	ill := r.ill
	r.mu.Unlock()
	r.running.Go(func() {
		defer close(l.done)
		defer cancel()
		if ill != "" {
			time.Sleep(r.Lag)
			if ill == Mute {
				<-lctx.Done()
			}
			l.set(func(st *agent.Status) { st.State, st.Exit, st.Cause = agent.Exited, agent.ExitTerminated, ill })
			return
		}
		l.serve(lctx, r, cred)
	})
	return l, nil
}

// credentials configures the runner, unless it is; a listener is then only started again.
func (r *HubRunner) credentials(ctx context.Context, reg store.Registration, label string) (githubsim.Credentials, error) {
	if reg.Mode == store.JIT {
		return githubsim.DecodeJIT(reg.Secret)
	}
	r.mu.Lock()
	cred := r.cred
	r.mu.Unlock()
	if cred.Name == reg.Name {
		return cred, nil
	}
	cred, err := r.hub.Register(ctx, reg.Secret, githubsim.RegisterRequest{Name: reg.Name, Labels: []string{label}})
	if err == nil {
		r.mu.Lock()
		r.cred = cred
		r.mu.Unlock()
	}
	return cred, err
}

// Adopt implements agent.Runner: it returns the live listener ref and ends all others.
func (r *HubRunner) Adopt(ctx context.Context, ref process.Ref, _ string) (agent.Listener, error) {
	r.mu.Lock()
	all := r.listeners
	r.mu.Unlock()
	var found agent.Listener
	for _, l := range all {
		switch {
		case l.ended():
		case l.ref == ref:
			found = l
		default:
			if err := l.Stop(ctx, store.ReleaseNow); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// hubListener is one attached runner.
type hubListener struct {
	ref     process.Ref
	cancel  context.CancelFunc
	changed chan struct{}
	done    chan struct{}
	mu      sync.Mutex
	status  agent.Status
}

func (l *hubListener) serve(ctx context.Context, r *HubRunner, cred githubsim.Credentials) {
	lag := r.Lag
	s, err := l.connect(ctx, r, cred)
	time.Sleep(lag)
	if err != nil {
		l.set(func(st *agent.Status) {
			st.State, st.Exit = agent.Exited, agent.ExitRetryable
			switch {
			case errors.Is(err, githubapi.ErrUnavailable):
				st.Cause = store.CauseUnavailable
			case errors.Is(err, githubsim.ErrRunnerGone):
				st.Cause = store.CauseRefused
			case errors.Is(err, githubsim.ErrForbidden):
				st.Exit, st.Cause, st.Detail = agent.ExitTerminated, store.CauseRefused, "Failed to create session. You are not authorized to access github"
			case errors.Is(err, githubsim.ErrSessionConflict): // of a try whose answer was lost
				st.Exit, st.Cause = agent.ExitConflict, agent.CauseConflict
			}
		})
		return
	}
	defer func() {
		if !r.gone() {
			s.Close() // else the service waits for another sign of life
		}
	}()
	l.set(func(st *agent.Status) { st.State, st.Cause, st.Online = agent.Listening, "", true })
	err = githubsim.Listen(ctx, s, cred.Ephemeral, func(jobCtx context.Context, j githubsim.Job) githubsim.Conclusion {
		time.Sleep(lag)
		l.set(func(st *agent.Status) { st.State, st.Jobs = agent.Busy, st.Jobs+1 })
		defer l.set(func(st *agent.Status) { st.State = agent.Listening })
		if r.Admit != nil && !r.Admit(jobCtx, j) && jobCtx.Err() == nil {
			l.set(func(st *agent.Status) { st.Refused++ })
			return githubsim.Failure
		}
		select {
		case <-jobCtx.Done():
			if r.gone() {
				return ""
			}
			if r.Linger != nil {
				_ = sleep(ctx, r.Linger(j.ID)) // its listener ends it
			}
			return githubsim.Cancelled
		case <-time.After(time.Duration(j.Seconds * float64(time.Second))):
			if r.Fails != nil && r.Fails(j) {
				return githubsim.Failure
			}
			return githubsim.Success
		}
	})
	time.Sleep(lag)
	if errors.Is(err, githubsim.ErrDeprecated) {
		time.Sleep(deprecatedAfter)
	}
	l.set(func(st *agent.Status) {
		st.State, st.Exit = agent.Exited, agent.ExitOK
		if err != nil {
			st.Exit = agent.ExitTerminated
		}
		switch {
		case errors.Is(err, githubsim.ErrRunnerGone):
			st.Cause = store.CauseRefused // "The runner registration has been deleted from the server"
		case errors.Is(err, githubsim.ErrDeprecated):
			st.Exit, st.Cause, st.Detail = agent.ExitDeprecated, store.CauseDeprecated, "An error occurred: Runner version v2.336.0 is deprecated and cannot receive messages."
		}
	})
}

// What actions/runner 2.336.0 does while it makes a session (package simrunner has it in full): it sends a request
// that met a 503 or a lost connection again some times, and says nothing; then it says that it cannot connect, and
// begins anew after sessionRetry. A call that is not answered ends after callLimit.
const (
	resend       = 13 * time.Second // 10 s and a growing part of it
	resends      = 3
	tokenResends = 4
	sessionRetry = 30 * time.Second
	callLimit    = 100 * time.Second
	// deprecatedAfter is from its word that it listens to its end, should its version be refused.
	deprecatedAfter = 100 * time.Millisecond
)

// connect makes a session, again and again while a service is in trouble.
func (l *hubListener) connect(ctx context.Context, r *HubRunner, cred githubsim.Credentials) (*githubsim.Session, error) {
	if err := sleep(ctx, r.Begin); err != nil {
		return nil, err
	}
	for sent := 1; ; sent++ {
		call, cancel := ctx, context.CancelFunc(func() {})
		if r.Unanswered {
			call, cancel = context.WithTimeout(ctx, time.Second)
		}
		s, err := r.hub.Connect(call, cred)
		late := err != nil && call.Err() != nil && ctx.Err() == nil
		cancel()
		var out *githubsim.ServiceError
		most := 1
		switch {
		case late:
			if err := sleep(ctx, callLimit-time.Second); err != nil {
				return nil, err
			}
		case !errors.As(err, &out) || out.Trouble == githubsim.Answer403:
			return s, err
		case out.Trouble == githubsim.Answer503 && out.Service == githubsim.OAuth:
			most = 1 + tokenResends
		case out.Trouble == githubsim.Answer503, out.Trouble == githubsim.Drop:
			most = 1 + resends
		}
		wait := resend
		if sent >= most {
			sent, wait = 0, sessionRetry
			l.set(func(st *agent.Status) {
				st.State, st.Cause, st.Detail = agent.Blocked, store.CauseUnavailable, "Runner connect error: "+err.Error()
			})
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (l *hubListener) set(change func(*agent.Status)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.status)
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *hubListener) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *hubListener) Ref() process.Ref         { return l.ref }
func (l *hubListener) Boundary() string         { return "" }
func (l *hubListener) Changed() <-chan struct{} { return l.changed }
func (l *hubListener) Kill()                    { l.cancel() }
func (l *hubListener) Detach()                  {}

func (l *hubListener) Status() agent.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

func (l *hubListener) Stop(ctx context.Context, mode store.ReleaseMode) error {
	if mode == store.ReleaseDrain && l.Status().State == agent.Busy {
		return agent.ErrBusy
	}
	l.cancel()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
