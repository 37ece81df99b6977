package sqspool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/internal/awserr"
)

// use runs a call on the queue called name, which it makes if it does not exist. SQS may need a second until a new one can
// be used (SQS API, CreateQueue); that is left to the caller's next try.
func (p *Pool) use(ctx context.Context, name, call string, limit time.Duration, do func(ctx context.Context, url *string) error) error {
	err := p.on(ctx, name, call, limit, do)
	if !missing(err) {
		return err
	}
	// One that exists after all belongs to a process that was quicker, in another version.
	if err := p.create(ctx, name); err != nil && !exists(err) {
		return err
	}
	return p.on(ctx, name, call, limit, do)
}

// on runs a call on the queue called name, if it exists.
func (p *Pool) on(ctx context.Context, name, call string, limit time.Duration, do func(ctx context.Context, url *string) error) error {
	url, err := p.find(ctx, name)
	if err != nil {
		return err
	}
	err = p.call(ctx, limit, func(ctx context.Context) error { return do(ctx, &url) })
	if missing(err) {
		p.forget(name)
	}
	return explain(err, call, name)
}

// find returns the address of an existing queue.
func (p *Pool) find(ctx context.Context, name string) (string, error) {
	p.mu.Lock()
	url, ok := p.urls[name]
	p.mu.Unlock()
	if ok {
		return url, nil
	}
	var out *sqs.GetQueueUrlOutput
	err := p.call(ctx, callLimit, func(ctx context.Context) (err error) {
		out, err = p.api.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
		return err
	})
	if err != nil {
		return "", explain(err, "GetQueueUrl", name)
	}
	return p.remember(name, out.QueueUrl), nil
}

// create makes a queue as Ensure would. It never changes one that exists: SQS returns that or, if its
// attributes differ, QueueNameExists (H69).
func (p *Pool) create(ctx context.Context, name string) error {
	var out *sqs.CreateQueueOutput
	err := p.call(ctx, callLimit, func(ctx context.Context) (err error) {
		out, err = p.api.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: wanted()})
		return err
	})
	if err != nil {
		return explain(err, "CreateQueue", name)
	}
	p.remember(name, out.QueueUrl)
	return nil
}

func (p *Pool) remember(name string, url *string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.urls[name] = aws.ToString(url)
	return p.urls[name]
}

func (p *Pool) forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.urls, name)
}

// explain says what failed on which queue, and what an operator can do about it.
func explain(err error, call, name string) error {
	if errors.Is(err, errClosed) {
		return err
	}
	explained := awserr.Explain(err, "sqs:"+call, "queue "+name)
	if strings.HasSuffix(awserr.Code(err), "QueueDeletedRecently") {
		return fmt.Errorf("queue %s was deleted within the last 60 s, and SQS makes it again only after that; try again: %w", name, explained)
	}
	return explained
}

// missing reports whether the queue does not exist; a key that does not (KmsNotFound) is another matter.
func missing(err error) bool {
	code := awserr.Code(err)
	return strings.HasSuffix(code, "QueueDoesNotExist") || strings.HasSuffix(code, "NonExistentQueue")
}

func exists(err error) bool { return awserr.ClassOf(err) == awserr.Exists }
