package dynamostore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// notifyBatch is how many messages one call of SQS takes or gives (SQS, "Message quotas").
const notifyBatch = 10

// longPoll is the longest wait of ReceiveMessage; a wait asks all of SQS's servers, so that no message is
// overlooked. The queue's Limit is added for the answer.
const longPoll = 20 * time.Second

// receivers is how many long polls a watch has. Receiving and deleting ten notifications takes two calls of some
// 15 ms (docs/goals.md), so three receive 1,000 notifications per second, for 13,000 idle calls a day.
const receivers = 3

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
	// A notification that comes late is of no use (seconds).
	string(types.QueueAttributeNameDelaySeconds): "0",
	// Encryption with SQS's own key: it costs nothing and needs no permission. A key of the operator's is
	// left in its place, since a queue has one of the two.
	string(types.QueueAttributeNameSqsManagedSseEnabled): "true",
}

// message is the body of a notification.
type message struct {
	PK string `json:"PK"`
	SK string `json:"SK"`
}

// Notify implements store.Table. Ten keys make one call.
func (t *Table) Notify(ctx context.Context, keys ...store.Key) error {
	if err := t.usable(); err != nil {
		return err
	}
	for chunk := range slices.Chunk(keys, notifyBatch) {
		bodies := make([]string, len(chunk))
		for i, k := range chunk {
			body, err := json.Marshal(message{k.Partition, k.Sort})
			if err != nil {
				return fmt.Errorf("notify %s %s: %w: %w", k.Partition, k.Sort, store.ErrInvalid, err)
			}
			bodies[i] = string(body)
		}
		if err := repeat(ctx, upTo(notifyTries), func() error { return t.send(ctx, bodies) }); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) send(ctx context.Context, bodies []string) error {
	return t.onQueue(ctx, "SendMessage", t.queue.Limit, func(ctx context.Context, url *string) error {
		if len(bodies) == 1 {
			_, err := t.queue.API.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: &bodies[0]})
			return err
		}
		in := &sqs.SendMessageBatchInput{QueueUrl: url}
		for i, body := range bodies {
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &body})
		}
		out, err := t.queue.API.SendMessageBatch(ctx, in)
		if err != nil || len(out.Failed) == 0 {
			return err
		}
		// Those that were sent may be sent again: a notification may be repeated.
		return fmt.Errorf("%d of %d notifications were not taken: %s: %s", len(out.Failed), len(bodies),
			aws.ToString(out.Failed[0].Code), aws.ToString(out.Failed[0].Message))
	})
}

// onQueue makes a call on the queue of notifications, and gives its error a kind of package store.
func (t *Table) onQueue(ctx context.Context, action string, limit time.Duration, call func(ctx context.Context, url *string) error) error {
	return classified(t.queue.Do(ctx, action, limit, call))
}

// Watch implements store.Table. An unavailable queue delays notifications only; a missing one, or one that this
// caller may not read, is an error that an operator must see.
func (t *Table) Watch(ctx context.Context, notify func(store.Key)) error {
	if err := t.usable(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the end of ctx is the end of a watch, and no error
	}
	var one sync.Mutex // notify is called by one receiver at a time
	var got received
	group, watching := errgroup.WithContext(ctx)
	for range receivers {
		group.Go(func() error {
			return t.receive(watching, &got, func(k store.Key) {
				one.Lock()
				defer one.Unlock()
				notify(k)
			})
		})
	}
	group.Go(func() error {
		t.removeLate(watching, &got)
		return nil
	})
	err := group.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the same
	}
	return err
}

// receive delivers notifications until ctx ends.
func (t *Table) receive(ctx context.Context, got *received, notify func(store.Key)) error {
	pause := pauses()
	for ctx.Err() == nil {
		messages, err := t.next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the same
		case errors.Is(err, store.ErrUnavailable):
			t.log.Warn("receiving notifications failed; it is tried again", logkey.Error, err)
			timer := t.clock.NewTimer(pause.NextBackOff())
			select {
			case <-timer.C():
			case <-ctx.Done():
				timer.Stop()
			}
			continue
		case err != nil:
			return err
		}
		pause.Reset()
		for _, m := range messages {
			k, ok := keyOfNotification(aws.ToString(m.Body))
			if !ok {
				t.log.Warn("a message in the queue of notifications is malformed and was ignored", logkey.Detail, fmt.Sprintf("%.200q", aws.ToString(m.Body)))
				continue
			}
			notify(k)
		}
		for _, full := range got.add(messages) {
			t.remove(ctx, full)
		}
	}
	return nil
}

// keyOfNotification reads the body of a notification. What names no item is none.
func keyOfNotification(body string) (store.Key, bool) {
	var k message
	if err := json.Unmarshal([]byte(body), &k); err != nil || k.PK == "" || k.SK == "" {
		return store.Key{}, false
	}
	return store.Key{Partition: k.PK, Sort: k.SK}, true
}

// next waits for messages, up to longPoll.
func (t *Table) next(ctx context.Context) (messages []types.Message, _ error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	err := t.onQueue(ctx, "ReceiveMessage", longPoll+t.queue.Limit, func(ctx context.Context, url *string) error {
		out, err := t.queue.API.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: url, MaxNumberOfMessages: notifyBatch, WaitTimeSeconds: int32(longPoll.Seconds()),
		})
		if err == nil {
			messages = out.Messages
		}
		return err
	})
	return messages, err
}

// removeLinger lets receipts gather into full calls, which are a third of all that a notification costs (docs/goals.md, G7).
// No one waits for them: the messages are hidden for queueAttributes' 30 s. What a crash leaves arrives again.
const removeLinger = 2 * time.Second

// removeLast bounds the last removal, after the watch.
const removeLast = time.Second

// received are the receipts of messages that were delivered, or were malformed, and are not deleted yet.
type received struct {
	mu       sync.Mutex
	receipts []*string
}

// add takes messages in and returns what makes full calls.
func (r *received) add(messages []types.Message) (full [][]*string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range messages {
		r.receipts = append(r.receipts, m.ReceiptHandle)
		if len(r.receipts) == notifyBatch {
			full = append(full, r.receipts)
			r.receipts = nil
		}
	}
	return full
}

// take removes and returns what is left.
func (r *received) take() []*string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.receipts
	r.receipts = nil
	return all
}

// removeLate deletes what makes no full call, until ctx ends, and then once more.
func (t *Table) removeLate(ctx context.Context, got *received) {
	ticker := t.clock.NewTicker(removeLinger)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C():
			t.remove(ctx, got.take())
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLast)
	defer cancel()
	t.remove(last, got.take())
}

// remove deletes up to notifyBatch messages, malformed ones too. One that stays arrives again, as it
// may be.
func (t *Table) remove(ctx context.Context, receipts []*string) {
	if len(receipts) == 0 {
		return
	}
	in := &sqs.DeleteMessageBatchInput{}
	for i, receipt := range receipts {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: receipt})
	}
	err := t.onQueue(ctx, "DeleteMessage", t.queue.Limit, func(ctx context.Context, url *string) error {
		in.QueueUrl = url
		_, err := t.queue.API.DeleteMessageBatch(ctx, in)
		return err
	})
	if err != nil && ctx.Err() == nil {
		t.log.Warn("notifications could not be deleted; they will arrive again", logkey.Count, len(receipts), logkey.Error, err)
	}
}
