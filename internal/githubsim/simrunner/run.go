//go:build unix

package simrunner

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// listening is the listener at work: it takes jobs until ctx ends or, if the runner is ephemeral or --once
// was given, until it took one (src/Runner.Listener/Runner.cs, RunAsync).
type listening struct {
	*Program
	remote *githubsim.Remote
	cred   githubsim.Credentials
	host   string
	server string // address of the service, as messages name it
	once   bool
	jobs   *dispatcher

	session atomic.Pointer[githubsim.RemoteSession] // made last; there is one once connect succeeded
}

func (p *Program) run(ctx context.Context, c *commandLine) error {
	if !p.configured() {
		return &fatal{exitTerminated, "An error occurred: Not configured. Run config.(sh/cmd) to configure the runner."}
	}
	cred, work, err := p.load()
	if err != nil {
		return err
	}
	remote, err := githubsim.NewRemote(cred.URL, p.Client)
	if err != nil {
		return err
	}
	at, err := url.Parse(cred.URL)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return &fatal{exitTerminated, fmt.Sprintf("Fail to create and validate runner's work directory '%s'.", work)}
	}
	if c.flag("once") {
		p.say("Warning: '--once' is going to be deprecated in the future, please consider using '--ephemeral' during runner registration.")
	}
	l := &listening{
		Program: p, remote: remote, cred: cred, host: at.Host, server: at.Scheme + "://" + at.Host, once: cred.Ephemeral || c.flag("once"),
	}
	l.jobs = &dispatcher{
		program: p, cred: cred, work: work, session: l.session.Load, stopping: func() bool { return ctx.Err() != nil },
	}
	p.pass(p.Timing.Boot)
	if err := l.connect(ctx); err != nil {
		return interrupted(ctx, err)
	}
	p.say(fmt.Sprintf("Current runner version: '%s'", Version))
	p.say(p.stamp() + ": Listening for Jobs")
	return l.finish(ctx, l.loop(ctx))
}

// loop takes one message after the other, and the end of the job that runs.
func (l *listening) loop(ctx context.Context) error {
	polling, stop := context.WithCancel(ctx)
	defer stop()
	offers := make(chan offer)
	failed := make(chan error, 1)
	go func() { failed <- l.poll(polling, offers) }()
	var current *task
	for {
		select {
		case o := <-offers:
			switch {
			case o.Kind == githubsim.MessageJob && current == nil:
				err := l.request(ctx, func() error { return l.session.Load().Acquire(ctx, o.Job.ID) })
				if err == nil {
					current = l.begin(ctx, o.Job)
				}
				o.taken <- err == nil
				continue
			case o.Kind == githubsim.MessageCancel && current != nil && o.Job.ID == current.job.ID:
				current.cancel()
			case o.Kind == githubsim.MessageUpdate:
				l.update(o.Update)
			}
			o.taken <- true
		case conclusion := <-current.ended():
			err := l.complete(ctx, current, conclusion)
			current = nil
			if err != nil || l.once {
				stop()
				<-failed
				return err
			}
		case err := <-failed:
			if errors.Is(err, githubsim.ErrRunnerGone) {
				l.fail("The runner no longer exists on the server. Cleaning up local configuration.")
			}
			if current != nil { // src/Runner.Listener/JobDispatcher.cs, ShutdownAsync, EnsureDispatchFinished
				current.cancel()
				if cerr := l.complete(ctx, current, <-current.done); cerr != nil {
					err = errors.Join(err, cerr)
				}
			}
			return err
		}
	}
}

// task is the job that runs.
type task struct {
	job    githubsim.Job
	cancel context.CancelFunc
	done   chan githubsim.Conclusion
}

// ended is where the job's end is told; of none nothing is.
func (a *task) ended() <-chan githubsim.Conclusion {
	if a == nil {
		return nil
	}
	return a.done
}

func (l *listening) begin(ctx context.Context, j githubsim.Job) *task {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := &task{j, cancel, make(chan githubsim.Conclusion, 1)}
	go func() { a.done <- l.jobs.run(ctx, j) }()
	return a
}

// complete reports the end of a job. A session or a runner that is gone took the job with it.
func (l *listening) complete(ctx context.Context, a *task, c githubsim.Conclusion) error {
	a.cancel()
	ctx = context.WithoutCancel(ctx)
	err := l.request(ctx, func() error { return l.session.Load().Complete(ctx, a.job.ID, c) })
	if errors.Is(err, githubsim.ErrRunnerGone) || errors.Is(err, githubsim.ErrSessionGone) {
		return nil
	}
	return err
}

// update says what the program says of an update that it cannot fetch: it tries one even where updates are
// off, and then goes on (src/Runner.Listener/SelfUpdaterV2.cs).
func (l *listening) update(u githubsim.Update) {
	l.say("Runner update in progress, do not shutdown runner.")
	l.say(fmt.Sprintf("Downloading %s runner", u.Version))
	l.fail(fmt.Sprintf("Runner update failed: Runner package '%s' failed after 3 download attempts", u.URL))
	l.say("Runner update process finished.")
}

// finish ends the session and cleans up after the listener.
func (l *listening) finish(ctx context.Context, err error) error {
	if errors.Is(err, githubsim.ErrRunnerGone) {
		return l.deleteLocal()
	}
	// 30 s: BrokerMessageListener.cs, DeleteSessionAsync.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if cerr := l.session.Load().Close(last); cerr != nil && !l.once {
		return errors.Join(interrupted(ctx, err), cerr)
	}
	if err == nil && l.cred.Ephemeral {
		return l.deleteLocal()
	}
	return interrupted(ctx, err)
}

// interrupted makes the end by a signal a success (src/Runner.Listener/Program.cs, MainAsync).
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // that is how it ends
	}
	return err
}
