package githubsim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// Runner-side pauses between tries (actions/runner, src/Runner.Listener/MessageListener.cs: 15 to
// 30 s). Shorter, so that simulations recover quickly.
const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
)

// Conn is a session as the listener loop sees it: a *Session or one over HTTP.
type Conn interface {
	Next(ctx context.Context, seen int64) (Message, error)
	Complete(ctx context.Context, jobID string, c Conclusion) error
}

// RunFunc carries out one job. It ends early when ctx does, and then reports Cancelled; or "", of a machine that is gone and
// reports nothing.
type RunFunc func(ctx context.Context, j Job) Conclusion

// Listen is the loop of a runner: it polls for messages, runs one job at a time and reports its
// end, and goes on polling meanwhile. With once it returns after the first job. When ctx ends, a
// running job is cancelled, waited for and reported, as the real listener does on a signal
// (actions/runner, src/Runner.Listener/JobDispatcher.cs, ShutdownAsync); the error is then ctx's.
func Listen(ctx context.Context, c Conn, once bool, run RunFunc) error {
	pollCtx, stop := context.WithCancel(ctx)
	messages := make(chan Message)
	failed := make(chan error, 1)
	go func() { failed <- poll(pollCtx, c, messages) }()

	var (
		done    chan Conclusion // of the running job; nil: idle
		current Job
		cancel  context.CancelFunc = func() {}
	)
	finish := func() error {
		cancel()
		conclusion := <-done
		done = nil
		return complete(context.WithoutCancel(ctx), c, current.ID, conclusion)
	}
	var polled bool
	err := func() error {
		for {
			select {
			case m := <-messages:
				switch {
				case m.Kind == MessageCancel && m.Job.ID == current.ID:
					cancel()
				case m.Kind == MessageJob && done == nil:
					var jobCtx context.Context
					jobCtx, cancel = context.WithCancel(context.WithoutCancel(ctx))
					current, done = m.Job, make(chan Conclusion, 1)
					go func(j Job, out chan<- Conclusion) { out <- run(jobCtx, j) }(m.Job, done)
				}
			case conclusion := <-done:
				done = nil
				cancel()
				if err := complete(context.WithoutCancel(ctx), c, current.ID, conclusion); err != nil || once {
					return err
				}
			case err := <-failed:
				polled = true
				return err
			}
		}
	}()
	stop()
	if !polled {
		<-failed
	}
	if done != nil {
		if cerr := finish(); cerr != nil && !errors.Is(cerr, ErrRunnerGone) && !errors.Is(cerr, ErrSessionGone) {
			err = errors.Join(err, cerr)
		}
	}
	return err
}

// poll sends every message to out until ctx or the session ends.
func poll(ctx context.Context, c Conn, out chan<- Message) error {
	var seen int64
	for {
		var m Message
		err := retry(ctx, func() (err error) {
			m, err = c.Next(ctx, seen)
			return err
		})
		if err != nil {
			return err
		}
		if m.ID == 0 {
			continue
		}
		seen = m.ID
		select {
		case out <- m:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// complete reports the end of a job, again and again while the service is unavailable, up to the
// time after which the service has given the job up.
func complete(ctx context.Context, c Conn, jobID string, conclusion Conclusion) error {
	if conclusion == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, DefaultSessionTimeout)
	defer stop()
	return retry(ctx, func() error { return c.Complete(ctx, jobID, conclusion) })
}

// retry repeats f while the service is unavailable, until ctx ends.
func retry(ctx context.Context, f func() error) error {
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(retryFirst),
		backoff.WithMaxInterval(retryMost),
		backoff.WithMaxElapsedTime(0),
	)
	return backoff.Retry(func() error {
		err := f()
		if err == nil || errors.Is(err, githubapi.ErrUnavailable) {
			return err
		}
		return backoff.Permanent(err)
	}, backoff.WithContext(pause, ctx))
}

// Attach is a whole runner: it connects, listens and runs jobs until ctx ends or, if it is
// ephemeral, until it ran one. A nil run waits for Job.Seconds on the hub's clock and succeeds.
func (h *Hub) Attach(ctx context.Context, cred Credentials, run RunFunc) error {
	if run == nil {
		run = sleeper(h.opts.Clock)
	}
	s, err := h.Connect(ctx, cred)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := Listen(ctx, s, cred.Ephemeral, run); err != nil {
		return fmt.Errorf("runner %s: %w", cred.Name, err)
	}
	return nil
}

// sleeper waits for Job.Seconds.
func sleeper(on clock.Clock) RunFunc {
	return func(ctx context.Context, j Job) Conclusion {
		t := on.NewTimer(time.Duration(j.Seconds * float64(time.Second)))
		defer t.Stop()
		select {
		case <-t.C():
			return Success
		case <-ctx.Done():
			return Cancelled
		}
	}
}
