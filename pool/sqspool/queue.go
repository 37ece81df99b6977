package sqspool

import (
	"context"
	"time"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/sqsqueue"
)

// use runs a call on the queue called name, which it makes if it does not exist. SQS may need a second until a new one can
// be used (SQS API, CreateQueue); that is left to the caller's next try.
func (p *Pool) use(ctx context.Context, name, action string, limit time.Duration, do func(ctx context.Context, url *string) error) error {
	return p.open(ctx, func(ctx context.Context) error {
		q := p.queue(name)
		err := q.Do(ctx, action, limit, do)
		if !sqsqueue.Missing(err) {
			return err
		}
		// One that exists after all belongs to a process that was quicker, in another version.
		if err := q.Create(ctx); err != nil && awserr.ClassOf(err) != awserr.Exists {
			return err
		}
		return q.Do(ctx, action, limit, do)
	})
}

// queue returns the one queue called name.
func (p *Pool) queue(name string) *sqsqueue.Queue {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[name]
	if q == nil {
		q = &sqsqueue.Queue{API: p.api, Name: name, Attributes: wanted(), Limit: callLimit}
		p.queues[name] = q
	}
	return q
}
