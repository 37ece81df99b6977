package pool

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/internal/logkey"
)

const (
	// maxDiscards bounds the messages that wait for deletion (about 2 MB of SQS receipts). A message
	// beyond it is left alone: it comes back when its hold ends and is discarded then.
	maxDiscards = 10_000
	// discardLinger lets deletions gather into batches of MaxBatch, which costs a tenth of the calls
	// (docs/goals.md, G7). Nobody waits for them: the messages are hidden meanwhile.
	discardLinger = time.Second
	// discardWorkers bounds parallel deletions. At 15 ms a call (docs/goals.md) four delete 2,600 messages
	// per second.
	discardWorkers = 4
	// discardGrace bounds the last round of deletions after the end. What it leaves comes back and
	// is discarded by the next controller.
	discardGrace = 5 * time.Second
)

// discards are the messages to delete. Safe for concurrent use.
type discards struct {
	mu      sync.Mutex
	byClass map[string][]string // handles, oldest first
	count   int
	wake    chan struct{} // holds one token after something was added
}

func newDiscards() *discards {
	return &discards{byClass: make(map[string][]string), wake: make(chan struct{}, 1)}
}

// add takes handles in, as far as there is room.
func (d *discards) add(class string, handles ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	handles = handles[:min(len(handles), maxDiscards-d.count)]
	if len(handles) == 0 {
		return
	}
	d.byClass[class] = append(d.byClass[class], handles...)
	d.count += len(handles)
	select {
	case d.wake <- struct{}{}:
	default: // there is a token
	}
}

// take removes and returns everything.
func (d *discards) take() map[string][]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.byClass
	d.byClass, d.count = make(map[string][]string), 0
	return all
}

func (d *discards) len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// deleteMessages deletes what was discarded until ctx ends, and then once more.
func (p *Pickup) deleteMessages(ctx context.Context) {
	retry := newBackOff()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-p.discards.wake:
		}
		p.pause(ctx, discardLinger)
		for err := p.deleteAll(ctx); err != nil && ctx.Err() == nil; err = p.deleteAll(ctx) {
			p.log.WarnContext(ctx, "delete messages", logkey.Error, err)
			p.pause(ctx, retry.NextBackOff())
		}
		retry.Reset()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardGrace)
	defer cancel()
	if err := p.deleteAll(last); err != nil {
		p.log.WarnContext(ctx, "delete messages at the end", logkey.Error, err, logkey.Count, p.discards.len())
	}
}

// deleteAll tries to delete everything, and keeps what could not be. A class whose queue fails is
// not tried again in this round, and does not keep the others from theirs.
func (p *Pickup) deleteAll(ctx context.Context) error {
	var group errgroup.Group
	group.SetLimit(discardWorkers)
	for class, handles := range p.discards.take() {
		failed := new(atomic.Bool)
		for batch := range slices.Chunk(handles, MaxBatch) {
			group.Go(func() error {
				if failed.Load() {
					p.discards.add(class, batch...)
					return nil
				}
				if err := p.pool.Done(ctx, class, batch...); err != nil {
					failed.Store(true)
					p.discards.add(class, batch...)
					return fmt.Errorf("delete %d messages of class %s: %w", len(batch), class, err)
				}
				p.mu.Lock()
				defer p.mu.Unlock()
				p.stats.Deleted += uint64(len(batch))
				return nil
			})
		}
	}
	return group.Wait()
}
