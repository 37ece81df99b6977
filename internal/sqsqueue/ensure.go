package sqsqueue

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/ensure"
)

// A queue is encrypted with SQS's own key or with one of the operator's.
const (
	encryption = string(types.QueueAttributeNameSqsManagedSseEnabled)
	ownKey     = string(types.QueueAttributeNameKmsMasterKeyId)
)

// Ensure makes the queue and repairs its attributes, or only says what it would do unless apply is true. It may run
// at any time, also by several at once. A queue that an operator encrypts with a key of his own stays so.
func (q *Queue) Ensure(ctx context.Context, apply bool) (ensure.Step, error) {
	step := ensure.Step{Resource: q.resource(), Action: ensure.Unchanged}
	_, err := q.find(ctx) // it may have been deleted
	if Missing(err) {
		if step.Action = ensure.WouldCreate; !apply {
			return step, nil
		}
		step.Action = ensure.Created
		if err = q.Create(ctx); awserr.ClassOf(err) != awserr.Exists {
			return step, err
		}
		step.Action = ensure.Unchanged
		_, err = q.find(ctx) // another was quicker, with other attributes
	}
	if err != nil {
		return step, err
	}
	set, detail, err := q.differences(ctx)
	if err != nil || len(set) == 0 {
		return step, err
	}
	step.Action, step.Detail = ensure.Updated, detail
	if !apply {
		step.Action = ensure.WouldUpdate
		return step, nil
	}
	return step, q.Do(ctx, "SetQueueAttributes", q.Limit, func(ctx context.Context, url *string) error {
		_, err := q.API.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: set})
		return err
	})
}

// Remove deletes the queue, or only says that it would unless apply is true. One that is gone is no step.
func (q *Queue) Remove(ctx context.Context, apply bool) ([]ensure.Step, error) {
	_, err := q.find(ctx) // SQS lists a queue for up to 60 s after its end (SQS API, DeleteQueue)
	if err == nil && apply {
		err = q.Do(ctx, "DeleteQueue", q.Limit, func(ctx context.Context, url *string) error {
			_, err := q.API.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: url})
			return err
		})
	}
	switch {
	case Missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	q.url.Store(nil)
	return []ensure.Step{ensure.Removal(q.resource(), apply)}, nil
}

// differences returns the attributes that must be set, and what they are now. SQS may show old
// values for a minute after a change (SQS API, SetQueueAttributes), so the same change may be made twice.
func (q *Queue) differences(ctx context.Context) (set map[string]string, detail string, _ error) {
	is, err := q.Read(ctx, append(slices.Collect(maps.Keys(q.Attributes)), ownKey)...)
	if err != nil {
		return nil, "", err
	}
	set = map[string]string{}
	var changes []string
	for _, key := range slices.Sorted(maps.Keys(q.Attributes)) {
		want := q.Attributes[key]
		if is[key] == want || key == encryption && is[ownKey] != "" {
			continue
		}
		set[key] = want
		changes = append(changes, fmt.Sprintf("%s %q becomes %q", key, is[key], want))
	}
	return set, strings.Join(changes, ", "), nil
}

// Read returns the attributes of these names as they are.
func (q *Queue) Read(ctx context.Context, names ...string) (is map[string]string, _ error) {
	in := &sqs.GetQueueAttributesInput{}
	for _, name := range names {
		in.AttributeNames = append(in.AttributeNames, types.QueueAttributeName(name))
	}
	err := q.Do(ctx, "GetQueueAttributes", q.Limit, func(ctx context.Context, url *string) error {
		in.QueueUrl = url
		out, err := q.API.GetQueueAttributes(ctx, in)
		if err == nil {
			is = out.Attributes
		}
		return err
	})
	return is, err
}
