package reconciler

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/store"
)

// instance is one instance: its record, what its agent said, and what was learned elsewhere. All
// but write is guarded by the lock of instanceRecords.
type instance struct {
	wary  *atomic.Bool  // of all
	write chan struct{} // full from the reading of record to its update, around every write

	record  store.Instance
	doubt   bool // a write's outcome is unknown: read again before the next
	unheard bool // a ring or a scan says that the vitals changed
	vitals  vitals

	minting   bool               // a registration is being made
	minted    store.Registration // made last; its delivery may have failed
	tried     int64              // highest serial ever tried at GitHub by this process
	untold    string             // name that GitHub may have registered: its answer did not come
	blocked   bool               // GitHub's fault that no registration could be made
	away      bool               // GitHub did not answer when its gate closed
	awayAt    time.Time          // when that was last found
	allowance allowance          // of registrations that its agent asks for
	online    online             // when its listener was, last
	trouble   absence            // of its listener, which is not online
	removed   int64              // serial of the registration whose runner is gone at GitHub
	watched   bool               // its request waits for its job to end
	ending    time.Time
	missing   time.Time // since when the fleet's listings lack it; zero: the last one did not
	listed    bool      // a listing of this tenure showed it
	announced bool      // its message was sent, or received
	unwritten time.Time // since when its record is missing in the store; zero: it is there
	unread    bool      // its record could not be read when it was last needed
}

// snapshot is a consistent copy of an instance.
type snapshot struct {
	store.Instance
	vitals    vitals
	doubt     bool
	minted    store.Registration
	tried     int64
	untold    string
	unheard   bool
	minting   bool
	blocked   bool
	away      bool
	awayAt    time.Time
	allowance allowance
	online    online
	trouble   absence
	wary      bool
	removed   int64
	announced bool
	ending    time.Time
	unwritten time.Time
	unread    bool
}

func (in *instance) snapshot() snapshot {
	return snapshot{
		Instance: in.record, vitals: in.vitals, doubt: in.doubt, minted: in.minted, tried: in.tried, untold: in.untold, unheard: in.unheard,
		minting: in.minting, blocked: in.blocked, away: in.away, awayAt: in.awayAt, allowance: in.allowance, removed: in.removed, announced: in.announced, ending: in.ending,
		online: in.online, trouble: in.trouble, wary: in.wary != nil && in.wary.Load(),
		unwritten: in.unwritten, unread: in.unread,
	}
}

// lock waits until nobody else writes the instance, which may take as long as the store is unavailable.
func (in *instance) lock(ctx context.Context, id store.InstanceID) (unlock func(), err error) {
	select {
	case in.write <- struct{}{}:
		return func() { <-in.write }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("instance %s: %w", id, context.Cause(ctx))
	}
}
