package reconciler

import (
	"context"
	"errors"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// waitsForListener reports whether nothing but a listener that is not online yet is missing from an instance.
func (s snapshot) waitsForListener() bool {
	return s.Registration.Assignment == s.Assignment && s.proven()
}

// excuse asks GitHub before a machine is given up because its listener is not online. A listener that GitHub does not
// answer cannot say so, since it still waits for the answer; but then GitHub hardly answers us. Until it does, and for
// one gate more, nothing is concluded about the machine (ADR 0011). Nor is it if a job of its run is on it.
func (t *term) excuse(ctx context.Context, s snapshot) bool {
	online, err := t.listens(ctx, s)
	if online || s.serving() {
		return true
	}
	away := errors.Is(err, githubapi.ErrUnavailable) || errors.Is(err, githubapi.ErrThrottled)
	if !away && !s.withoutHub() {
		return false
	}
	now := t.clock.Now()
	t.view.with(s.ID, func(in *instance) { in.away, in.awayAt = away, now })
	if away {
		t.view.withRun(s.RunID, func(r *run) { r.problem = err.Error() })
	}
	return true
}

// listens reports whether GitHub shows online the listener that was silent: it may have come online since, and have taken a job
// that another registration would not reach. One that was refused has ended, whatever GitHub still shows.
func (t *term) listens(ctx context.Context, s snapshot) (bool, error) {
	have, err := t.find(ctx, s.Registration.Name)
	if err != nil {
		return false, err
	}
	return !s.trouble.refused && (have.Online || have.Busy), nil
}

// withoutHub reports whether GitHub did not answer when the gate of the present state closed.
func (s snapshot) withoutHub() bool { return s.away && s.awayAt.After(s.Since.Time) }
