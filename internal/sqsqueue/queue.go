// Package sqsqueue is one queue of SQS by its name: its address, its attributes, and what its errors mean.
package sqsqueue

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/internal/awserr"
)

// Queue is a queue that may not exist yet. Its methods are safe for concurrent use. Their errors name the call, the queue
// and what an operator can do.
type Queue struct {
	API        *sqs.Client
	Name       string
	Attributes map[string]string // those that it must have; what is not named here is left to the operator
	Limit      time.Duration     // of a call that waits for nothing

	url      atomic.Pointer[string] // nil until it was looked up
	looking  sync.Mutex             // held by the one that looks it up
	prepared sync.Once
}

// Prepare looks the queue's address up beside what the caller does next, the first time it is called, unless it is known.
// Anyone who needs it meanwhile waits for this look; one that fails, or is ended by ctx, they repeat.
func (q *Queue) Prepare(ctx context.Context) {
	q.prepared.Do(func() {
		if q.url.Load() == nil && q.looking.TryLock() {
			go func() {
				defer q.looking.Unlock()
				_, _ = q.find(ctx)
			}()
		}
	})
}

// Do makes a call on the queue, which policies call sqs:<action>. The queue's address is looked up once, and again after the
// queue was not found.
func (q *Queue) Do(ctx context.Context, action string, limit time.Duration, call func(ctx context.Context, url *string) error) error {
	url, err := q.address(ctx)
	if err != nil {
		return err
	}
	return q.bounded(ctx, action, limit, func(ctx context.Context) error { return call(ctx, url) })
}

// address returns what is known, or looks it up.
func (q *Queue) address(ctx context.Context) (*string, error) {
	if url := q.url.Load(); url != nil {
		return url, nil
	}
	q.looking.Lock()
	defer q.looking.Unlock()
	if url := q.url.Load(); url != nil {
		return url, nil
	}
	return q.find(ctx)
}

func (q *Queue) find(ctx context.Context) (url *string, _ error) {
	err := q.bounded(ctx, "GetQueueUrl", q.Limit, func(ctx context.Context) error {
		out, err := q.API.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &q.Name})
		if err == nil {
			url = out.QueueUrl
			q.url.Store(url)
		}
		return err
	})
	return url, err
}

// Create makes the queue. It never changes one that exists: SQS returns that or, if its attributes differ,
// QueueNameExists, which is awserr.Exists (H69).
func (q *Queue) Create(ctx context.Context) error {
	return q.bounded(ctx, "CreateQueue", q.Limit, func(ctx context.Context) error {
		out, err := q.API.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &q.Name, Attributes: q.Attributes})
		if err == nil {
			q.url.Store(out.QueueUrl)
		}
		return err
	})
}

// bounded makes one call that may take limit.
func (q *Queue) bounded(ctx context.Context, action string, limit time.Duration, call func(context.Context) error) error {
	bound, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(bound)
	if Missing(err) {
		q.url.Store(nil)
	}
	if err != nil && ctx.Err() == nil && bound.Err() != nil {
		err = fmt.Errorf("no answer within %s", limit) // our limit is no deadline of the caller's
	}
	explained := awserr.Explain(err, "sqs:"+action, q.resource())
	if strings.HasSuffix(awserr.Code(err), "QueueDeletedRecently") {
		return fmt.Errorf("%s was deleted within the last 60 s, and SQS makes it again only after that; try again: %w", q.resource(), explained)
	}
	return explained
}

func (q *Queue) resource() string { return "queue " + q.Name }

// Missing reports whether err says that the queue does not exist; a key that does not (KmsNotFound) is another matter.
func Missing(err error) bool {
	code := awserr.Code(err)
	return strings.HasSuffix(code, "QueueDoesNotExist") || strings.HasSuffix(code, "NonExistentQueue")
}
