// Package sqspool keeps the queues of package pool in Amazon SQS: a standard queue per resource
// class, named after the installation's prefix and the class.
//
// It adds nothing to what SQS promises: a message may come twice, late or after its deletion, and an
// empty answer says little, though every receive is a long poll, which asks all of SQS's servers
// (H20). Queues are made when they are first used; Ensure makes them beforehand and repairs what
// differs. No queue is ever purged, and
// only Remove deletes any. See docs/architecture.md#pool.
package sqspool

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/internal/sqsqueue"
)

const (
	// attempts bounds those of the SDK within one call. Callers back off and repeat: what failed was
	// a hint, and no one waits for it.
	attempts = 2
	// callLimit bounds one call beyond the wait it asks for. SQS answers in 15 ms (docs/goals.md), twice
	// that on a bad day; a connection that died says nothing at all.
	callLimit = 10 * time.Second
)

var errClosed = errors.New("pool is closed")

// Pool implements pool.Pool.
type Pool struct {
	api    *sqs.Client
	prefix string

	end   context.CancelFunc              // ends every call under way
	onEnd func(func()) (stop func() bool) // registers one
	ended func() bool                     // whether Close was called

	mu     sync.Mutex
	queues map[string]*sqsqueue.Queue // by name
}

// Open returns the queues of the prefix that u names (sqs://<prefix>), in the region and with the
// credentials of cfg, whose HTTP client stays the caller's. It calls nothing. The caller closes the Pool.
func Open(u *url.URL, cfg aws.Config) (*Pool, error) {
	if u.Scheme != "sqs" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" {
		return nil, fmt.Errorf("open pool %s: want sqs://<prefix>, the prefix of the queues' names", u.Redacted())
	}
	for key := range u.Query() {
		if key != "region" {
			return nil, fmt.Errorf("open pool %s: unknown parameter %q, known is region", u.Redacted(), key)
		}
	}
	root, end := context.WithCancel(context.Background())
	return &Pool{
		api:    sqs.NewFromConfig(cfg, func(o *sqs.Options) { o.RetryMaxAttempts = attempts }),
		prefix: u.Host,
		end:    end, ended: func() bool { return root.Err() != nil },
		onEnd:  func(f func()) func() bool { return context.AfterFunc(root, f) },
		queues: make(map[string]*sqsqueue.Queue),
	}, nil
}

// Close implements pool.Pool. Calls under way fail.
func (p *Pool) Close() error {
	p.end()
	return nil
}

// open runs do, and ends it with the Pool.
func (p *Pool) open(ctx context.Context, do func(context.Context) error) error {
	if p.ended() {
		return errClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.onEnd(cancel)()
	err := do(ctx)
	if err != nil && p.ended() {
		return errClosed // which hides that its context was cancelled: not the caller's
	}
	return err
}
