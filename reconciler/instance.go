package reconciler

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// instance is one instance: its record, and what is known beside it. All but write is guarded by the lock of
// instanceRecords.
type instance struct {
	write          chan struct{} // full from the reading of record to its update, around every write
	distrustOnline *atomic.Bool  // of all
	record         store.Instance
	served         []string // the requests, named as in record.History
	launchedFor    string   // the first of them; "": unknown
	known
}

// known is what is known of an instance beside its record, by who learns it.
type known struct {
	stored   stored       // cache
	vitals   vitals       // observer
	reg      registration // runners
	listener listener     // listeners
	machine  machine      // fleet sweep and reaper
	offered  bool         // to the pool: its message was sent, or received
	awaited  bool         // its request waits for its job to end
	noted    noted        // of its history, for its next write
}

// stored is how well the record is known.
type stored struct {
	outcomeUnknown bool      // a write's outcome is unknown: read again before the next
	unconfirmed    int       // consecutive unconfirmed writes
	undecodable    bool      // it could not be read when it was last needed
	missingSince   time.Time // since when the store lacks it; zero: it is there
}

// registration is what this process did at GitHub for an instance.
type registration struct {
	requesting    bool               // GitHub is asked for one
	obtained      store.Registration // made last; its delivery may have failed
	next          store.Registration // made while a job runs, to follow the present one
	preparedAt    int64              // serial of the last one during whose job that was tried
	outlasted     int64              // assignment in which a job lasted longer than the next registration does
	lastSerial    int64              // highest serial ever tried
	unconfirmed   string             // name that GitHub may have registered: its answer did not come
	githubDown    bool               // GitHub's fault that none could be made
	runnerDeleted int64              // serial of the one whose runner is gone
	labelled      int64              // serial of the one made ahead whose runner has the request's label, as GitHub says
	unlabelled    int64              // serial of the one made ahead whose runner could not be given it for certain
	allowance     allowance          // of those that its agent asks for
}

// listener is what is known of an instance's listener beside its agent's word.
type listener struct {
	githubDown   bool      // GitHub did not answer when its gate closed
	githubDownAt time.Time // when that was last found
	online       online    // when it was, last
	offline      offline   // it is not
}

// machine is what the fleet says of an instance.
type machine struct {
	cloud            statemachine.Cloud
	reason           fleet.StateReason // why the instance ended
	listed           bool              // a listing of this leadership term contains it
	unlistedSince    time.Time         // since when listings lack the instance; zero: the last listing has it
	terminateAskedAt time.Time         // when termination was last requested; zero: never
}

// snapshot is a consistent copy of an instance.
type snapshot struct {
	store.Instance
	known
	distrustOnline bool
}

func (in *instance) snapshot() snapshot {
	return snapshot{in.record, in.known, in.distrustOnline != nil && in.distrustOnline.Load()}
}

// recordsOf returns the records of instances.
func recordsOf(list []snapshot) []store.Instance {
	out := make([]store.Instance, 0, len(list))
	for _, s := range list {
		out = append(out, s.Instance)
	}
	return out
}

// lock waits for the other writer of the instance, for at most the time that a write may take.
func (in *instance) lock(ctx context.Context, id store.InstanceID) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, writeFor, fmt.Errorf("%w: another write is under way", store.ErrUnconfirmed))
	defer cancel()
	select {
	case in.write <- struct{}{}:
		return func() { <-in.write }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("instance %s: %w", id, context.Cause(ctx))
	}
}
