package e2e

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/store"
)

// killEvery thins the kills out: 1 tries every write of the story, which takes some five minutes.
var killEvery = flag.Int("kill-every", 3, "kill the controller after every n-th write only")

// quick settings for stories that lose their controller. The lease is the product's: one that is shorter still would
// be lost by a controller that has to wait for its turn.
var quick = []string{"REMUDA_PROCESS_BOOT_DELAY=50ms"}

// A controller is killed with -9 right after one of its writes, from the first of a provision to the last
// of a release, and started again: the story ends as if nothing had happened, no instance is doubled
// and none leaks (S28, S79, H01, H02, H06, H08, H11, H13, H17, H25, H30).
func TestControllerKilled_S79_AfterAWriteNothingHappened(t *testing.T) {
	t.Parallel()
	undisturbed := &stalker{}
	if !t.Run("never", func(t *testing.T) { story(t, undisturbed) }) {
		return
	}
	step := int64(*killEvery)
	if testing.Short() {
		step = max(step, 16)
	}
	var told, killed atomic.Int64
	t.Run("after", func(t *testing.T) {
		t.Run("the others", func(t *testing.T) { program.Long(t, "kills after every third write") })
		for k := int64(1); k <= undisturbed.writes; k += step {
			t.Run(fmt.Sprintf("%02d", k), func(t *testing.T) {
				t.Parallel()
				killer := &stalker{after: k}
				story(t, killer)
				told.Add(1)
				if killer.killed {
					killed.Add(1)
				}
			})
		}
	})
	t.Logf("the controller was killed in %d of %d stories", killed.Load(), told.Load())
	// Two jobs may share a machine, and counts are written only when they last: a story may be a few
	// writes shorter than another.
	if killed.Load() < told.Load()*9/10 {
		t.Errorf("the controller was killed in %d of %d stories, want nearly all", killed.Load(), told.Load())
	}
}

// story is a cold start, its jobs, the release, a warm start, its jobs and the release.
func story(t *testing.T, killer *stalker) {
	s := serving(t, quick...)
	killer.follow(s)
	cold := s.request("100", 2)
	s.serve("100", 2)
	s.Check(s.expect(2, "instances are pooled", witness.Pooled))
	warm := s.request("200", 2)
	s.serve("200", 2)
	s.Check(s.expect(2, "instances are pooled", witness.Pooled))
	s.Check(s.drain())
	s.Check(killer.rest())
	s.Check(s.close())

	if machines, err := s.Machines(); err != nil || len(machines) != 2 {
		t.Errorf("machines = %v, %v, want the 2 that were needed", machines, err)
	}
	if cold.WarmCount != 0 || warm.WarmCount != 2 {
		t.Errorf("warm seats = %d and then %d, want 0 and 2", cold.WarmCount, warm.WarmCount)
	}
	if !slices.Equal(cold.ids(), warm.ids()) {
		t.Errorf("the second run got %v, want %v again", warm.ids(), cold.ids())
	}
}

// stalker counts the writes of an installation's controllers, and kills the controller that made a
// certain one.
type stalker struct {
	after  int64 // the write to kill after; 0: none
	writes int64 // how many were seen
	killed bool

	stop context.CancelFunc
	done func() error // waits for the end of the counting
}

// look is the pause between two looks for a change: a controller needs longer from one write to the
// next that depends on it.
const look = time.Millisecond

// follow begins to count. What went wrong is told by rest.
func (k *stalker) follow(s *installation) {
	db, err := sqlitedb.Open(s.Context(), filepath.Join(s.state, "remuda.db"))
	s.Check(err)
	ctx, stop := context.WithCancel(s.Context())
	var counting errgroup.Group
	counting.Go(func() error { return errors.Join(k.count(ctx, s, db), db.Close()) })
	k.stop, k.done = stop, counting.Wait
	s.Cleanup(func() { s.Check(k.rest()) }) // of a story that broke off
}

// rest ends the counting.
func (k *stalker) rest() error {
	k.stop()
	return k.done()
}

// count looks at the store whenever its file has changed.
func (k *stalker) count(ctx context.Context, s *installation, db *sqlitedb.DB) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	var seen int64
	for {
		var now int64
		if err := db.SQL().QueryRowContext(ctx, "PRAGMA data_version").Scan(&now); err != nil && ctx.Err() == nil {
			return fmt.Errorf("look for changes: %w", err)
		}
		if now != seen {
			seen = now
			if err := k.see(ctx, s, db.SQL()); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// controllersWrites sums up the versions of all records that only the controller writes; the request's
// is its client's.
const controllersWrites = `SELECT coalesce(sum(version), 0) FROM store_item WHERE sort IN (?, ?, ?)`

func (k *stalker) see(ctx context.Context, s *installation, db *sql.DB) error {
	err := db.QueryRowContext(ctx, controllersWrites, store.KindInstance, store.KindRunStatus, store.KindLaunch).Scan(&k.writes)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the story is over
	}
	if err != nil {
		return fmt.Errorf("count writes: %w", err)
	}
	if k.after == 0 || k.killed || k.writes < k.after {
		return nil
	}
	k.killed = true
	c, err := s.find("controller")
	if err != nil {
		return err
	}
	if _, err := c.Stop(syscall.SIGKILL); err != nil {
		return err
	}
	next, err := s.start("controller", "controller")
	if err != nil {
		return err
	}
	_, err = next.Await(`"this controller leads"`) // one that has hardly begun could not be told to stop in good order
	return err
}

// S44, S45, S50: the controller is killed with -9, and the queue of the pool loses all it holds. The next controller finds
// the idle machines in their records: a run that asks for them gets them at once, and no other is launched.
func TestControllerKilled_S44_S45_S50_QueueEmpty(t *testing.T) {
	t.Parallel()
	s := serving(t, quick...)
	cold := s.request("100", 2)
	s.serve("100", 2)
	s.Check(s.expect(2, "instances are pooled", witness.Pooled))

	killed, err := s.find("controller")
	s.Check(err)
	_, err = killed.Stop(syscall.SIGKILL)
	s.Check(err)
	db, err := sqlitedb.Open(s.Context(), filepath.Join(s.state, "remuda.db"))
	s.Check(err)
	_, err = db.SQL().ExecContext(s.Context(), "DELETE FROM pool_message")
	s.Check(errors.Join(err, db.Close()))
	_, err = s.start("controller", "controller")
	s.Check(err)

	warm := s.request("200", 2)
	if warm.WarmCount != 2 || !slices.Equal(cold.ids(), warm.ids()) {
		t.Errorf("%d warm seats, on %v, want 2, on %v", warm.WarmCount, warm.ids(), cold.ids())
	}
	s.serve("200", 2)
	s.Check(s.drain())
	s.Check(s.close())
}
