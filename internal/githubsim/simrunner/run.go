//go:build unix

package simrunner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// deletedText is the real program's sentence for a registration that is gone
// (src/Runner.Listener/MessageListener.cs, CreateSessionAsync).
const deletedText = "Failed to create a session. The runner registration has been deleted from the server, please re-configure. Runner registrations are automatically deleted for runners that have not connected to the service recently."

// run is the listener: it takes jobs until ctx ends or, if the runner is ephemeral or --once was
// given, until it took one (src/Runner.Listener/Runner.cs, RunAsync).
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
	if err := os.MkdirAll(work, 0o755); err != nil {
		return &fatal{exitTerminated, fmt.Sprintf("Fail to create and validate runner's work directory '%s'.", work)}
	}
	if c.flag("once") {
		p.say("Warning: '--once' is going to be deprecated in the future, please consider using '--ephemeral' during runner registration.")
	}
	once := cred.Ephemeral || c.flag("once")
	d := &dispatcher{program: p, cred: cred, work: work, stopping: func() bool { return ctx.Err() != nil }}
	first := true
	for {
		session, err := p.connect(ctx, remote, cred)
		if err != nil {
			return p.interrupted(ctx, err)
		}
		if first {
			p.say(fmt.Sprintf("Current runner version: '%s'", Version))
			p.say(p.stamp() + ": Listening for Jobs")
			first = false
		}
		d.session = session
		err = githubsim.Listen(ctx, &reporter{Conn: session, program: p}, once, d.run)
		if errors.Is(err, githubsim.ErrSessionGone) && ctx.Err() == nil {
			continue // MessageListener.cs, GetNextMessageAsync: the session is created anew
		}
		return p.finish(ctx, session, cred, once, err)
	}
}

// finish ends the session and cleans up after the listener.
func (p *Program) finish(ctx context.Context, session *githubsim.RemoteSession, cred githubsim.Credentials, once bool, err error) error {
	if errors.Is(err, githubsim.ErrRunnerGone) {
		p.fail("The runner no longer exists on the server. Cleaning up local configuration.")
		return p.deleteLocal()
	}
	// 30 s: MessageListener.cs, DeleteSessionAsync.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if cerr := session.Close(last); cerr != nil && !once {
		return errors.Join(p.interrupted(ctx, err), cerr)
	}
	if err == nil && cred.Ephemeral {
		return p.deleteLocal()
	}
	return p.interrupted(ctx, err)
}

// interrupted makes the end by a signal a success (src/Runner.Listener/Program.cs, MainAsync).
func (p *Program) interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		p.say("Exiting...")
		return nil //nolint:nilerr // that is how it ends
	}
	return err
}

// connect creates a session, again and again while the service is unavailable or, for a while,
// knows of another session (MessageListener.cs, CreateSessionAsync and
// IsSessionCreationExceptionRetriable).
func (p *Program) connect(ctx context.Context, remote *githubsim.Remote, cred githubsim.Credentials) (*githubsim.RemoteSession, error) {
	var conflicts time.Duration
	failing := false
	for {
		session, err := remote.Connect(ctx, cred)
		if !errors.Is(err, githubapi.ErrUnavailable) && ctx.Err() == nil {
			p.say("")
			p.success("Connected to GitHub")
			p.say("")
		}
		switch {
		case err == nil:
			if failing {
				p.say(p.stamp() + ": Runner reconnected.")
			}
			return session, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, githubsim.ErrRunnerGone), errors.Is(err, githubsim.ErrUnauthorized):
			return nil, &fatal{exitTerminated, deletedText}
		case errors.Is(err, githubsim.ErrSessionConflict):
			p.fail("A session for this runner already exists.")
			if conflicts += p.Timing.SessionRetry; conflicts > p.Timing.SessionRetry && conflicts >= p.Timing.ConflictLimit {
				p.fail(fmt.Sprintf("Stop retry on SessionConflictException after retried for %v seconds.", p.Timing.ConflictLimit.Seconds()))
				return nil, &fatal{exitSessionConflict, "Failed to create session. " + err.Error()}
			}
		case !errors.Is(err, githubapi.ErrUnavailable):
			return nil, &fatal{exitTerminated, "Failed to create session. " + err.Error()}
		}
		if !failing {
			p.fail(fmt.Sprintf("%s: Runner connect error: %v. Retrying until reconnected.", p.stamp(), err))
			failing = true
		}
		if err := p.sleep(ctx, p.Timing.SessionRetry); err != nil {
			return nil, err
		}
	}
}

func (p *Program) sleep(ctx context.Context, d time.Duration) error {
	t := p.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reporter prints when the connection breaks and comes back (MessageListener.cs,
// GetNextMessageAsync).
type reporter struct {
	githubsim.Conn
	program *Program
	failing bool // used by the one goroutine that polls
}

// Next implements githubsim.Conn.
func (r *reporter) Next(ctx context.Context, seen int64) (githubsim.Message, error) {
	m, err := r.Conn.Next(ctx, seen)
	switch {
	case errors.Is(err, githubapi.ErrUnavailable) && !r.failing:
		r.failing = true
		r.program.fail(fmt.Sprintf("%s: Runner connect error: %v. Retrying until reconnected.", r.program.stamp(), err))
	case err == nil && r.failing:
		r.failing = false
		r.program.say(r.program.stamp() + ": Runner reconnected.")
	}
	return m, err
}
