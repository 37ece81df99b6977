package sqspool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/remuda-run/remuda/internal/ensure"
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
		encryption: "true",
	}
}

const (
	encryption = string(types.QueueAttributeNameSqsManagedSseEnabled)
	ownKey     = string(types.QueueAttributeNameKmsMasterKeyId)
	visible    = string(types.QueueAttributeNameApproximateNumberOfMessages)
	held       = string(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible)
)

// Ensure makes the queues of classes and repairs their attributes, or only says what it would do
// unless apply is true. Each queue fails alone; the error joins what failed. It may run at any time,
// also by several at once. A queue that an operator encrypts with a key of his own stays so.
//
// Queues of classes that are not configured any more are listed as "removed class: unused" with what
// is left in them, and never deleted (H57): SQS's count of messages is approximate, an unused queue
// costs nothing, and its name could not be used again for a minute if the class came back. Their
// messages expire after a day, and their instances do not depend on them.
func (p *Pool) Ensure(ctx context.Context, apply bool, classes ...string) ([]ensure.Step, error) {
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
			add(p.ensureQueue(ctx, apply, name))
		}
	}
	names, err := p.list(ctx)
	errs = append(errs, err)
	for _, name := range names {
		if used[name] {
			continue
		}
		if step, err := p.unused(ctx, name); !missing(err) { // else it was deleted meanwhile
			add(step, err)
		}
	}
	return steps, errors.Join(errs...)
}

func (p *Pool) ensureQueue(ctx context.Context, apply bool, name string) (ensure.Step, error) {
	step := ensure.Step{Resource: "queue " + name}
	p.forget(name) // it may have been deleted
	_, err := p.find(ctx, name)
	if missing(err) {
		if step.Action = ensure.WouldCreate; !apply {
			return step, nil
		}
		step.Action = ensure.Created
		if err = p.create(ctx, name); !exists(err) {
			return step, err
		}
		_, err = p.find(ctx, name) // another was quicker, in another version: repair it
	}
	if err != nil {
		return step, err
	}
	set, detail, err := p.differences(ctx, name)
	switch {
	case err != nil:
		return step, err
	case len(set) == 0:
		step.Action = ensure.Unchanged
		return step, nil
	case !apply:
		step.Action, step.Detail = ensure.WouldUpdate, detail
		return step, nil
	}
	step.Action, step.Detail = ensure.Updated, detail
	return step, p.on(ctx, name, "SetQueueAttributes", callLimit, func(ctx context.Context, url *string) error {
		_, err := p.api.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: set})
		return err
	})
}

// differences returns the attributes that must be set, and what they are now. SQS may show old
// values for a minute after a change (SQS API, SetQueueAttributes), so the same change may be made twice.
func (p *Pool) differences(ctx context.Context, name string) (set map[string]string, detail string, _ error) {
	want := wanted()
	is, err := p.attributes(ctx, name, append(slices.Collect(maps.Keys(want)), ownKey)...)
	if err != nil {
		return nil, "", err
	}
	if is[ownKey] != "" {
		delete(want, encryption)
	}
	var changes []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if is[key] == want[key] {
			delete(want, key)
			continue
		}
		changes = append(changes, fmt.Sprintf("%s %q becomes %q", key, is[key], want[key]))
	}
	return want, strings.Join(changes, ", "), nil
}

func (p *Pool) attributes(ctx context.Context, name string, keys ...string) (map[string]string, error) {
	in := &sqs.GetQueueAttributesInput{}
	for _, key := range keys {
		in.AttributeNames = append(in.AttributeNames, types.QueueAttributeName(key))
	}
	var is map[string]string
	err := p.on(ctx, name, "GetQueueAttributes", callLimit, func(ctx context.Context, url *string) error {
		in.QueueUrl = url
		out, err := p.api.GetQueueAttributes(ctx, in)
		if err == nil {
			is = out.Attributes
		}
		return err
	})
	return is, err
}

// list returns the names of all queues that belong to the prefix, sorted.
func (p *Pool) list(ctx context.Context) (names []string, _ error) {
	start := namePrefix(p.prefix)
	size := int32(1000) // the most; without it SQS does not say that there are more (SQS API, ListQueues)
	pages := sqs.NewListQueuesPaginator(p.api, &sqs.ListQueuesInput{QueueNamePrefix: &start, MaxResults: &size})
	for pages.HasMorePages() {
		err := p.call(ctx, callLimit, func(ctx context.Context) error {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, url := range page.QueueUrls {
				if name := url[strings.LastIndexByte(url, '/')+1:]; ours(p.prefix, name) {
					names = append(names, name)
				}
			}
			return nil
		})
		if err != nil {
			return nil, explain(err, "ListQueues", start+"*")
		}
	}
	slices.Sort(names)
	return names, nil
}

func (p *Pool) unused(ctx context.Context, name string) (ensure.Step, error) {
	is, err := p.attributes(ctx, name, visible, held)
	return ensure.Step{
		Resource: "queue " + name, Action: ensure.Unchanged,
		Detail: fmt.Sprintf("removed class: unused, about %s messages and %s held", is[visible], is[held]),
	}, err
}
