package dynamostore

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

// queueAttributes are those of the queue of notifications. What is not named here is left to the operator.
var queueAttributes = map[string]string{
	// A notification says that an item deserves a look, and every scan looks at all: one that is older than an
	// hour (seconds here) would only make a controller that comes back wade through yesterday's.
	string(types.QueueAttributeNameMessageRetentionPeriod): "3600",
	// Notifications are delivered within milliseconds, and deleted within removeLinger. Seconds until one that was received and not
	// deleted arrives again, at the next leader perhaps.
	string(types.QueueAttributeNameVisibilityTimeout): "30",
	// Who receives without a wait of its own does not hammer the queue (seconds, the longest).
	string(types.QueueAttributeNameReceiveMessageWaitTimeSeconds): "20",
	// Encryption with SQS's own key: it costs nothing and needs no permission. A key of the operator's is
	// left in its place, since a queue has one of the two.
	string(types.QueueAttributeNameSqsManagedSseEnabled): "true",
}

// ensureQueue sets attributes that differ; creating a queue that exists with others would be refused (H69).
func (t *Table) ensureQueue(ctx context.Context, apply bool) (ensure.Step, error) {
	step := ensure.Step{Resource: t.queueResource(), Action: ensure.Unchanged}
	t.queueURL.Store(nil)
	url, err := t.lookUp(ctx)
	if awserr.ClassOf(err) == awserr.NotFound {
		if step.Action = ensure.WouldCreate; !apply {
			return step, nil
		}
		step.Action = ensure.Created
		url, err = t.createQueue(ctx)
		if awserr.ClassOf(err) == awserr.Exists { // another Ensure came first, with other attributes
			step.Action = ensure.Unchanged
			url, err = t.lookUp(ctx)
		}
	}
	if err != nil || step.Action == ensure.Created {
		return step, err
	}
	differ, detail, err := t.queueDiffers(ctx, url)
	if err != nil || len(differ) == 0 {
		return step, err
	}
	step.Action, step.Detail = ensure.Updated, detail
	if !apply {
		step.Action = ensure.WouldUpdate
		return step, nil
	}
	_, err = bounded(ctx, t.queueLimit, "sqs:SetQueueAttributes", t.queueResource(), func(ctx context.Context) (*sqs.SetQueueAttributesOutput, error) {
		return t.queue.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: differ})
	})
	return step, err
}

func (t *Table) createQueue(ctx context.Context) (*string, error) {
	out, err := bounded(ctx, t.queueLimit, "sqs:CreateQueue", t.queueResource(), func(ctx context.Context) (*sqs.CreateQueueOutput, error) {
		return t.queue.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &t.events, Attributes: queueAttributes})
	})
	if err != nil {
		return nil, err
	}
	return out.QueueUrl, nil
}

// queueDiffers returns the attributes that are not as they must be, and the difference for people.
func (t *Table) queueDiffers(ctx context.Context, url *string) (differ map[string]string, detail string, err error) {
	const operators = types.QueueAttributeNameKmsMasterKeyId
	names := slices.Sorted(maps.Keys(queueAttributes))
	in := &sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []types.QueueAttributeName{operators}}
	for _, name := range names {
		in.AttributeNames = append(in.AttributeNames, types.QueueAttributeName(name))
	}
	out, err := bounded(ctx, t.queueLimit, "sqs:GetQueueAttributes", t.queueResource(), func(ctx context.Context) (*sqs.GetQueueAttributesOutput, error) {
		return t.queue.GetQueueAttributes(ctx, in)
	})
	if err != nil {
		return nil, "", err
	}
	differ = map[string]string{}
	var texts []string
	for _, name := range names {
		have, want := out.Attributes[name], queueAttributes[name]
		if name == string(types.QueueAttributeNameSqsManagedSseEnabled) && out.Attributes[string(operators)] != "" {
			continue
		}
		if have != want {
			differ[name] = want
			texts = append(texts, fmt.Sprintf("%s %s, was %s", name, want, have))
		}
	}
	return differ, strings.Join(texts, "; "), nil
}
