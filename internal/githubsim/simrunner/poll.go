//go:build unix

package simrunner

import (
	"context"
	"errors"
	"fmt"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// offer is a message on its way to the loop, which answers whether it was taken: one that was not is
// delivered again.
type offer struct {
	githubsim.Message
	taken chan bool
}

// poll offers every message until ctx or the runner's life ends.
func (l *listening) poll(ctx context.Context, offers chan<- offer) error {
	var seen int64
	for {
		m, err := l.next(ctx, &seen)
		if err != nil {
			return err
		}
		o := offer{m, make(chan bool, 1)}
		select {
		case offers <- o:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case taken := <-o.taken:
			if taken {
				seen = m.ID
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// next waits for a message (src/Runner.Listener/BrokerMessageListener.cs, GetNextMessageAsync). What fails
// within one wait adds up, over days if no message comes, and is told once. That it is over is not told.
func (l *listening) next(ctx context.Context, seen *int64) (githubsim.Message, error) {
	p := l.Program
	for failed := 0; ; {
		var m githubsim.Message
		err := p.request(ctx, func() (err error) {
			m, err = l.session.Load().Next(ctx, *seen)
			return err
		})
		switch {
		case err == nil && m.ID == 0:
			continue
		case err == nil:
			return m, nil
		case ctx.Err() != nil:
			return m, context.Cause(ctx)
		case errors.Is(err, githubsim.ErrRunnerGone), errors.Is(err, githubsim.ErrDeprecated):
			return m, err
		case errors.Is(err, githubsim.ErrSessionGone):
			if err := l.connect(ctx); err != nil {
				return m, err
			}
			*seen = 0 // ids are a session's own
			continue
		case !errors.Is(err, githubapi.ErrUnavailable):
			return m, &fatal{exitTerminated, "An error occurred: Get next message failed with non-retryable error."}
		}
		said := explain(err, l.host, fmt.Sprintf(
			"Failed to get job message. Request to %s/broker/message failed with status: {STATUS}. Error message {ERROR}", l.server))
		if failed++; failed >= badPolls {
			return m, errors.New(said)
		}
		if failed == 1 {
			p.fail(fmt.Sprintf("%s: Runner connect error: %s. Retrying until reconnected.", p.stamp(), said))
		}
		pause := p.Timing.Poll
		if failed > soonPolls {
			pause = p.Timing.LongPoll
		}
		if err := p.sleep(ctx, p.Timing.in(pause)); err != nil {
			return m, err
		}
	}
}
