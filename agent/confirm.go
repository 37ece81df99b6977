package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// confirmPause is between two reads that hooks ask for: whatever runs as the runner's user may ask all the time.
const confirmPause = time.Second

// confirmer finds out, at the start of a job, whose run the listener is for that the machine started ahead. Nothing waited for
// the agent to learn of that before the job came.
type confirmer struct {
	o      *Options
	log    *slog.Logger
	disk   *disk
	watch  *watch
	turn   chan struct{} // holds one while the record is read; guards readAt
	readAt time.Time

	opening  sync.Mutex
	listener net.Listener  // of the hook's socket; nil: not open
	opened   chan struct{} // closed once it is
}

// Confirm makes sure that what the job-started hook reads is not older than its job. If the machine listens ahead it reads
// the record, consistently, and takes over the run that its listener is for. An error says that this is not known: no job
// may be let in or refused. Calls at once take turns, and there is at most one read in a second.
func (a *Agent) Confirm(ctx context.Context) error { return a.confirmer.confirm(ctx) }

func (c *confirmer) confirm(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !c.disk.get().Work.waits() {
		return nil
	}
	if left := c.readAt.Add(confirmPause).Sub(c.o.Clock.Now()); left > 0 {
		select {
		case <-c.o.Clock.After(left):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	c.readAt = c.o.Clock.Now()
	in, err := c.watch.read(ctx, store.Consistent)
	switch {
	case err != nil:
		return fmt.Errorf("read the record of this machine: %w", err)
	case in.State == statemachine.Terminated:
		return errEnds
	}
	if err := c.disk.assume(in); err != nil {
		return fmt.Errorf("apply the record of this machine: %w", err)
	}
	c.watch.take(in)
	return nil
}

// errEnds: whose a job is that is on a machine with an end under way matters no more.
var errEnds = errors.New("this machine is being ended")
