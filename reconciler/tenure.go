package reconciler

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/store"
)

// tenure is one term of leadership as its parts see it. It is built anew for each, and for each turn of it, and never changes,
// so that nothing of an old one can leak into the next.
type tenure struct {
	cfg      Config
	clock    clock.WithTicker
	log      *slog.Logger
	queues   queues
	recorder Recorder

	term    int64       // of the lease; it only grows
	turn    int         // of the term: how often it began anew with another configuration
	trusted func() bool // whether anything may be done outside; the contracts ask, too

	// writable says since when the store has taken our writes without a gap. While it does not, agents
	// cannot report either, so no one's silence counts from before.
	writable func() time.Time
}

// queues hold the keys to look at: what may have something to do is added to its queue.
type queues struct {
	requests     queue[store.RequestID]
	instances    queue[store.InstanceID]
	launches     queue[string]
	offers       queue[store.InstanceID]
	reaper       queue[string]
	drainer      queue[string]
	sweeper      queue[string]
	housekeeping queue[string]
	runs         queue[string] // repositories
	floors       queue[string] // classes
}

func newQueues(clk clock.WithTicker, metrics workqueue.MetricsProvider) queues {
	return queues{
		requests:     newQueue[store.RequestID]("requests", clk, metrics),
		instances:    newQueue[store.InstanceID]("instances", clk, metrics),
		offers:       newQueue[store.InstanceID]("offers", clk, metrics),
		launches:     newQueue[string]("launches", clk, metrics),
		reaper:       newQueue[string]("reaper", clk, metrics),
		drainer:      newQueue[string]("drainer", clk, metrics),
		sweeper:      newQueue[string]("sweeper", clk, metrics),
		housekeeping: newQueue[string]("housekeeping", clk, metrics),
		runs:         newQueue[string]("runs", clk, metrics),
		floors:       newQueue[string]("floors", clk, metrics),
	}
}

// shutDown ends every queue, also of a tenure that never came to run: a queue owns a goroutine from its
// beginning. It may be repeated.
func (q queues) shutDown() {
	for _, q := range []interface{ ShutDown() }{q.requests, q.instances, q.launches, q.reaper, q.sweeper, q.housekeeping, q.offers, q.drainer, q.runs, q.floors} {
		q.ShutDown()
	}
}

// insist tries until it succeeds or ctx ends, with pauses that grow to 5 s. tell gets each failure.
func insist(ctx context.Context, try func() error, tell func(error)) error {
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond),
		backoff.WithMaxInterval(5*time.Second), backoff.WithMaxElapsedTime(0))
	return backoff.RetryNotify(try, backoff.WithContext(pause, ctx), func(err error, _ time.Duration) { tell(err) })
}
