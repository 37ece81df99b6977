//go:build unix

package simrunner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// deletedText is the real program's sentence for a registration that is gone
// (src/Runner.Listener/BrokerMessageListener.cs, CreateSessionAsync).
const deletedText = "Failed to create a session. The runner registration has been deleted from the server, please re-configure. Runner registrations are automatically deleted for runners that have not connected to the service recently."

// connect creates a session, again and again while the service is away or, for a while, knows of another
// session (BrokerMessageListener.cs, CreateSessionAsync and IsSessionCreationExceptionRetriable). That it is
// connected is said before anything is asked.
func (l *listening) connect(ctx context.Context) error {
	p := l.Program
	var conflicts time.Duration
	for failing := false; ; {
		p.say("")
		p.success("Connected to GitHub")
		p.say("")
		var session *githubsim.RemoteSession
		err := p.send(ctx, func() (err error) {
			session, err = l.remote.Connect(ctx, l.cred)
			return err
		})
		if err == nil {
			if failing {
				p.say(p.stamp() + ": Runner reconnected.")
			}
			l.session.Store(session)
			return nil
		}
		said := explain(err, l.host, "Failed to create broker session: {ERROR}")
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, githubsim.ErrRunnerGone), errors.Is(err, githubsim.ErrUnauthorized):
			return &fatal{exitTerminated, deletedText}
		case errors.Is(err, githubsim.ErrForbidden):
			return &fatal{exitTerminated, fmt.Sprintf("Failed to create session. You are not authorized to access %s.", l.server)}
		case errors.Is(err, githubsim.ErrSessionConflict):
			p.fail("A session for this runner already exists.")
			if conflicts += p.Timing.SessionRetry; conflicts > p.Timing.SessionRetry && conflicts >= p.Timing.ConflictLimit {
				p.fail(fmt.Sprintf("Stop retry on SessionConflictException after retried for %v seconds.", p.Timing.ConflictLimit.Seconds()))
				return &fatal{exitSessionConflict, "Failed to create session. " + said}
			}
		case !errors.Is(err, githubapi.ErrUnavailable):
			return &fatal{exitTerminated, "Failed to create session. " + said}
		}
		if !failing {
			p.fail(fmt.Sprintf("%s: Runner connect error: %s. Retrying until reconnected.", p.stamp(), said))
			failing = true
		}
		if err := p.sleep(ctx, p.Timing.SessionRetry); err != nil {
			return err
		}
	}
}
