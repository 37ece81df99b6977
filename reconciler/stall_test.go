package reconciler_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// staller makes a controller stand still at its n-th call with an effect, as a paused virtual machine
// does: for a while none of its calls goes out, then all of them do, as late as they are. In between
// the lease has gone to another.
type staller struct {
	at   int
	mu   sync.Mutex
	n    int
	thaw chan struct{} // nil: it has not come to that; closed: it is over
}

// stallFor is far longer than a lease, and far shorter than the limit of any state.
const stallFor = 30 * time.Second

func (s *staller) step(ctx context.Context, _ string, do func() error) error {
	s.mu.Lock()
	if s.n++; s.n == s.at {
		s.thaw = make(chan struct{})
		time.AfterFunc(stallFor, func() { close(s.thaw) })
	}
	s.mu.Unlock()
	return s.renew(ctx, do)
}

func (s *staller) renew(ctx context.Context, do func() error) error {
	s.mu.Lock()
	thaw := s.thaw
	s.mu.Unlock()
	if thaw != nil {
		select {
		case <-thaw:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return do()
}

// H13 H28 S28 S79 invariant 1: a leader that stands still at any step, loses the lease, and wakes up with its
// calls still on their way changes nothing wrong: its successor has long gone on.
func TestStall_AtEveryStep(t *testing.T) {
	for n := 1; n <= 45; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, w *world) {
				w.Config.Limits.Idle = 2 * time.Minute
				w.stepping("stalled", &staller{at: n})
				crashStory(t, w)
			})
		})
	}
}
