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

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// notifyBatch is how many messages one call of SQS takes or gives (SQS, "Message quotas").
const notifyBatch = 10

// longPoll is the longest wait of ReceiveMessage; a wait asks all of SQS's servers, so that no message is
// overlooked. Table.queueLimit is added for the answer.
const longPoll = 20 * time.Second

// receivers is how many long polls a watch has. Receiving and deleting ten notifications takes two calls of some
// 15 ms (docs/goals.md), so three receive 1,000 notifications per second, for 13,000 idle calls a day.
const receivers = 3

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
	url, err := t.lookUp(ctx)
	if err != nil {
		return err
	}
	if len(bodies) == 1 {
		_, err := bounded(ctx, t.queueLimit, "sqs:SendMessage", t.queueResource(), func(ctx context.Context) (*sqs.SendMessageOutput, error) {
			return t.queue.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: &bodies[0]})
		})
		return t.forget(err)
	}
	in := &sqs.SendMessageBatchInput{QueueUrl: url}
	for i, body := range bodies {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &body})
	}
	out, err := bounded(ctx, t.queueLimit, "sqs:SendMessage", t.queueResource(), func(ctx context.Context) (*sqs.SendMessageBatchOutput, error) {
		return t.queue.SendMessageBatch(ctx, in)
	})
	if err != nil {
		return t.forget(err)
	}
	for _, f := range out.Failed { // those that were sent may be sent again: a notification may be repeated
		return fmt.Errorf("%w: sqs:SendMessage on %s: %d of %d notifications were not taken: %s: %s", store.ErrUnavailable,
			t.queueResource(), len(out.Failed), len(bodies), aws.ToString(f.Code), aws.ToString(f.Message))
	}
	return nil
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
func (t *Table) next(ctx context.Context) ([]types.Message, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	url, err := t.lookUp(ctx)
	if err != nil {
		return nil, err
	}
	out, err := bounded(ctx, longPoll+t.queueLimit, "sqs:ReceiveMessage", t.queueResource(), func(ctx context.Context) (*sqs.ReceiveMessageOutput, error) {
		return t.queue.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: url, MaxNumberOfMessages: notifyBatch, WaitTimeSeconds: int32(longPoll.Seconds()),
		})
	})
	if err != nil {
		return nil, t.forget(err)
	}
	return out.Messages, nil
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
	url := t.queueURL.Load()
	if len(receipts) == 0 || url == nil {
		return
	}
	in := &sqs.DeleteMessageBatchInput{QueueUrl: url}
	for i, receipt := range receipts {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: receipt})
	}
	_, err := bounded(ctx, t.queueLimit, "sqs:DeleteMessage", t.queueResource(), func(ctx context.Context) (*sqs.DeleteMessageBatchOutput, error) {
		return t.queue.DeleteMessageBatch(ctx, in)
	})
	if err != nil && ctx.Err() == nil {
		t.log.Warn("notifications could not be deleted; they will arrive again", logkey.Count, len(receipts), logkey.Error, err)
	}
}

// lookUp returns the URL of the queue. It asks once.
func (t *Table) lookUp(ctx context.Context) (*string, error) {
	if url := t.queueURL.Load(); url != nil {
		return url, nil
	}
	out, err := bounded(ctx, t.queueLimit, "sqs:GetQueueUrl", t.queueResource(), func(ctx context.Context) (*sqs.GetQueueUrlOutput, error) {
		return t.queue.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &t.events})
	})
	if err != nil {
		return nil, err
	}
	t.queueURL.Store(out.QueueUrl)
	return out.QueueUrl, nil
}

// forget lets the queue be looked up again after it was not found, and returns err.
func (t *Table) forget(err error) error {
	if awserr.ClassOf(err) == awserr.NotFound {
		t.queueURL.Store(nil)
	}
	return err
}

func (t *Table) queueResource() string { return "queue " + t.events }
