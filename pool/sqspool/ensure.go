package sqspool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/internal/sqsqueue"
	"github.com/remuda-run/remuda/pool"
)

const (
	// visibility hides a message from others when a receiver names no time of its own. Receive always
	// does, so that only concerns people who look: the default of SQS (SQS API, SetQueueAttributes).
	visibility = 30 * time.Second
	// retention is how long SQS keeps a message (60 s to 14 days, 4 days by default; ibid.). It counts
	// from sending and is not renewed. What an outage leaves is soon gone; one that expires too early is a
	// hint lost and nothing else.
	retention = 24 * time.Hour
)

// wanted are the attributes of every queue. Encryption with SQS's own keys costs nothing.
func wanted() map[string]string {
	in := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	return map[string]string{
		string(types.QueueAttributeNameVisibilityTimeout):             in(visibility),
		string(types.QueueAttributeNameMessageRetentionPeriod):        in(retention),
		string(types.QueueAttributeNameReceiveMessageWaitTimeSeconds): in(pool.MaxWait),
		string(types.QueueAttributeNameDelaySeconds):                  "0", // a hint that comes late is of no use
		string(types.QueueAttributeNameSqsManagedSseEnabled):          "true",
	}
}

const (
	visible = string(types.QueueAttributeNameApproximateNumberOfMessages)
	held    = string(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible)
)

// Ensure makes the queues of classes and repairs their attributes, or only says what it would do
// unless apply is true. Each queue fails alone; the error joins what failed. It may run at any time,
// also by several at once. A queue that an operator encrypts with a key of his own stays so.
//
// Queues of classes that are not configured any more are listed as "removed class: unused" with what
// is left in them, and not deleted (H57): SQS's count of messages is approximate, an unused queue
// costs nothing, and its name could not be used again for a minute if the class came back. Their
// messages expire after a day, and their instances do not depend on them.
func (p *Pool) Ensure(ctx context.Context, apply bool, classes ...string) (steps []ensure.Step, _ error) {
	err := p.open(ctx, func(ctx context.Context) (err error) {
		steps, err = p.ensure(ctx, apply, classes)
		return err
	})
	return steps, err
}

func (p *Pool) ensure(ctx context.Context, apply bool, classes []string) ([]ensure.Step, error) {
	var steps []ensure.Step
	var errs []error
	add := func(step ensure.Step, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		steps = append(steps, step)
	}
	used := make(map[string]bool)
	for _, class := range classes {
		if name := queueName(p.prefix, class); !used[name] {
			used[name] = true
			add(p.queue(name).Ensure(ctx, apply))
		}
	}
	names, err := p.list(ctx)
	errs = append(errs, err)
	for _, name := range names {
		if used[name] {
			continue
		}
		if step, err := p.unused(ctx, name); !sqsqueue.Missing(err) { // else it was deleted meanwhile
			add(step, err)
		}
	}
	return steps, errors.Join(errs...)
}

// Remove deletes the queues of all classes, also of those that are not configured any more, or only says so unless apply
// is true. Each fails alone. A controller that leads would make them again.
func (p *Pool) Remove(ctx context.Context, apply bool) (steps []ensure.Step, _ error) {
	err := p.open(ctx, func(ctx context.Context) error {
		names, err := p.list(ctx)
		errs := []error{err}
		for _, name := range names {
			step, err := p.queue(name).Remove(ctx, apply)
			steps, errs = append(steps, step...), append(errs, err)
		}
		return errors.Join(errs...)
	})
	return steps, err
}

// list returns the names of all queues that belong to the prefix, sorted.
func (p *Pool) list(ctx context.Context) (names []string, _ error) {
	start := namePrefix(p.prefix)
	size := int32(1000) // the most; without it SQS does not say that there are more (SQS API, ListQueues)
	pages := sqs.NewListQueuesPaginator(p.api, &sqs.ListQueuesInput{QueueNamePrefix: &start, MaxResults: &size})
	for pages.HasMorePages() {
		bound, cancel := context.WithTimeout(ctx, callLimit)
		page, err := pages.NextPage(bound)
		cancel()
		if err != nil {
			return nil, awserr.Explain(err, "sqs:ListQueues", "queue "+start+"*")
		}
		for _, url := range page.QueueUrls {
			if name := url[strings.LastIndexByte(url, '/')+1:]; ours(p.prefix, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

func (p *Pool) unused(ctx context.Context, name string) (ensure.Step, error) {
	is, err := p.queue(name).Read(ctx, visible, held)
	return ensure.Step{
		Resource: "queue " + name, Action: ensure.Unchanged,
		Detail: fmt.Sprintf("removed class: unused, about %s messages and %s held", is[visible], is[held]),
	}, err
}
