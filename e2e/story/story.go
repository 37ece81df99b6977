// Package story tells how a day goes with remuda, through the command line as its users have it, and
// judges what happened by a witness. Where it is told, on one machine or on AWS, is its site's matter.
package story

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// Site is a running installation with a simulated GitHub. Its resource class small has types c* and
// r6i.large, and no instance that stays idle while the story needs it expires.
type Site interface {
	// Remuda runs one command line and returns what it printed.
	Remuda(ctx context.Context, args ...string) ([]byte, error)
	// Crash kills the agent of an instance with SIGKILL, for good.
	Crash(id store.InstanceID) error
	// Ended returns why the controller ended; nil while it runs.
	Ended() error
}

// Options configure New. All are required but those that say so.
type Options struct {
	Site      Site
	Witness   *witness.Witness // watches the site's store
	GitHub    string           // root of the simulated GitHub
	Out       io.Writer        // what happens, for people
	Patience  time.Duration    // for one thing to come true
	Forgotten time.Duration    // max runtime of the run that never releases; its jobs must fit
	Drain     bool             // drain the fleet at the end instead of waiting until all have been idle for too long
	Launches  int              // most machines that may be launched; 0: any number
}

// Story is one telling.
type Story struct {
	Options
	runs []result
	held map[string][]string // instances by run, as the requests were answered
}

// result is the answer of `remuda request -o json`.
type result struct {
	Label     string       `json:"label"`
	Instances []store.Seat `json:"instances"`
	WarmCount int          `json:"warmCount"`
	Seconds   float64      `json:"seconds"`
}

// New returns a story that has not begun.
func New(o Options) *Story { return &Story{Options: o, held: map[string][]string{}} }

// Tell plays the steps one after the other. It ends at the first one that cannot be played to its end;
// what happened otherwise than it should is left to Judge.
func (s *Story) Tell(ctx context.Context, steps []Step) error {
	for i, step := range steps {
		fmt.Fprintf(s.Out, "\n%d. %s\n", i+1, step.Title)
		if err := step.act(s, ctx); err != nil {
			return fmt.Errorf("%s: %w", step.Title, err)
		}
		if err := s.fleet(ctx); err != nil {
			return err
		}
	}
	return nil
}

// request asks for runners and waits for them.
func (s *Story) request(ctx context.Context, run string, count int, more ...string) (result, error) {
	args := []string{"request", "--id", run, "--count", fmt.Sprint(count), "--resource-class", "small", "--timeout", s.Patience.String(), "-o", "json"}
	r, err := program.JSON[result](s.Site.Remuda(ctx, append(args, more...)...))
	if err == nil && len(r.Instances) != count {
		err = fmt.Errorf("run %s got %d instances, want %d", run, len(r.Instances), count)
	}
	return r, err
}

// answer notes and prints what a run was given.
func (s *Story) answer(r result) {
	s.runs = append(s.runs, r)
	for _, seat := range r.Instances {
		s.held[r.Label] = append(s.held[r.Label], string(seat.InstanceID))
	}
	s.say("%s got %d warm and %d cold in %.1f s", r.Label, r.WarmCount, len(r.Instances)-r.WarmCount, r.Seconds)
}

func (s *Story) release(ctx context.Context, runs ...string) error {
	for _, run := range runs {
		if _, err := s.Site.Remuda(ctx, "release", "--id", run); err != nil {
			return err
		}
	}
	s.say("released %s", strings.Join(runs, ", "))
	return nil
}

// jobs queues jobs and waits until they ran.
func (s *Story) jobs(ctx context.Context, run string, count int) error {
	jobs, err := program.JSON[[]githubsim.JobRecord](
		s.Site.Remuda(ctx, "dev", "submit", "--run", run, "--count", fmt.Sprint(count), "--seconds", "0.5", "--wait", "-o", "json"))
	for _, j := range jobs {
		s.say("job %s ran on %s: %s", j.Name, j.InstanceID, j.Conclusion)
	}
	return err
}

// instances returns the records that want accepts.
func (s *Story) instances(want func(store.Instance) bool) []store.Instance {
	return slices.DeleteFunc(s.Witness.Instances(), func(in store.Instance) bool { return !want(in) })
}

// fleet prints the fleet as `remuda status` shows it.
func (s *Story) fleet(ctx context.Context) error {
	out, err := s.Site.Remuda(ctx, "status")
	for line := range strings.Lines(strings.TrimRight(string(out), "\n") + "\n") {
		fmt.Fprint(s.Out, "    ", line)
	}
	return err
}

// until waits for a condition that the records will show.
func (s *Story) until(ctx context.Context, what string, cond func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Patience, fmt.Errorf("not within %s", s.Patience))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if err := s.Site.Ended(); err != nil {
			return fmt.Errorf("%s: the controller ended: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, errors.Join(ctx.Err(), context.Cause(ctx)))
		case <-tick.C:
		}
	}
	return nil
}

// expect makes what did not come true a violation.
func (s *Story) expect(ok bool, format string, args ...any) {
	if !ok {
		s.Witness.Say(format, args...)
	}
}

func (s *Story) say(format string, args ...any) { fmt.Fprintf(s.Out, "  "+format+"\n", args...) }

// outage puts calls of the simulated GitHub out of order; the zero value ends it.
func (s *Story) outage(ctx context.Context, o githubsim.Outage) error {
	defer http.DefaultClient.CloseIdleConnections()
	return githubsim.ControlClient{Root: s.GitHub, Token: "simulated"}.Call(ctx, http.MethodPut, "/outage", o, nil)
}
