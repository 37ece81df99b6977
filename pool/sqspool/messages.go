package sqspool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/pool"
)

// Receive implements pool.Pool. SQS counts in seconds, so hold and wait are rounded up, to one at
// least: with a wait of 0, SQS would ask some of its servers only and call that an empty queue (H20),
// and the SDK leaves a hold of 0 out, which would mean the queue's default.
func (p *Pool) Receive(ctx context.Context, class string, limit int, hold, wait time.Duration) ([]pool.Delivery, error) {
	if err := pool.CheckReceive(limit, hold, wait); err != nil {
		return nil, fmt.Errorf("receive from class %s: %w", class, err)
	}
	name := queueName(p.prefix, class)
	for end := p.clock.Now().Add(wait); ; wait = max(0, end.Sub(p.clock.Now())) {
		messages, err := p.receive(ctx, name, limit, hold, wait)
		if err != nil {
			return nil, err
		}
		out, bad := p.sort(ctx, class, messages)
		cleared := p.clear(ctx, name, class, bad)
		// Malformed messages must not look like an empty queue (H21), unless they stay in it.
		if len(out) > 0 || len(bad) == 0 || !cleared {
			return out, nil
		}
	}
}

// receive is one long poll.
func (p *Pool) receive(ctx context.Context, name string, limit int, hold, wait time.Duration) (messages []types.Message, _ error) {
	in := &sqs.ReceiveMessageInput{
		MaxNumberOfMessages: int32(limit), VisibilityTimeout: seconds(hold), WaitTimeSeconds: seconds(wait),
	}
	// The SDK would answer one message that is not what its sender says with an error for all of them.
	// What is wrong with a body is found when it is read, and the record decides anyway.
	unchecked := func(o *sqs.Options) { o.DisableMessageChecksumValidation = true }
	err := p.use(ctx, name, "ReceiveMessage", wait+callLimit, func(ctx context.Context, url *string) error {
		in.QueueUrl = url
		out, err := p.api.ReceiveMessage(ctx, in, unchecked)
		if err == nil {
			messages = out.Messages
		}
		return err
	})
	return messages, err
}

func seconds(d time.Duration) int32 { return int32(max(1, (d+time.Second-1)/time.Second)) }

// sort splits messages into deliveries and receipts of malformed ones, which it logs (H22). What
// has no receipt can neither be delivered nor deleted.
func (p *Pool) sort(ctx context.Context, class string, messages []types.Message) (out []pool.Delivery, bad []string) {
	for _, m := range messages {
		t, err := pool.Decode(aws.ToString(m.Body))
		receipt := aws.ToString(m.ReceiptHandle)
		if err == nil && receipt == "" {
			err = errors.New("no receipt handle")
		}
		if err == nil {
			out = append(out, pool.Delivery{Ticket: t, Receipt: receipt})
			continue
		}
		p.log.WarnContext(ctx, "malformed message removed", logkey.Class, class,
			logkey.Message, aws.ToString(m.MessageId), logkey.Error, err)
		bad = append(bad, receipt)
	}
	return out, bad
}

// clear deletes malformed messages and reports whether all are gone. Those that are not come back
// when their hold ends, and cost the good ones nothing.
func (p *Pool) clear(ctx context.Context, name, class string, bad []string) bool {
	if len(bad) == 0 {
		return true
	}
	err := p.delete(ctx, name, bad)
	if err != nil {
		p.log.WarnContext(ctx, "delete malformed messages", logkey.Class, class, logkey.Error, err)
	}
	return err == nil && !slices.Contains(bad, "")
}

// Done implements pool.Pool. Every batch is tried, and what SQS could not delete is in the error;
// to delete a message twice does no harm, so the caller may repeat the whole call.
func (p *Pool) Done(ctx context.Context, class string, receipts ...string) error {
	if p.ended() {
		return errClosed
	}
	return p.delete(ctx, queueName(p.prefix, class), receipts)
}

// delete deletes messages in batches. SQS would refuse a whole batch for one empty receipt in it.
func (p *Pool) delete(ctx context.Context, name string, receipts []string) error {
	seen := map[string]bool{"": true}
	receipts = slices.DeleteFunc(slices.Clone(receipts), func(r string) bool {
		again := seen[r]
		seen[r] = true
		return again
	})
	var errs []error
	for batch := range slices.Chunk(receipts, pool.MaxBatch) {
		errs = append(errs, p.deleteBatch(ctx, name, batch))
	}
	return errors.Join(errs...)
}

// deleteBatch deletes up to MaxBatch messages. A queue that does not exist has none. To policies the
// call is called DeleteMessage (Service Authorization Reference, Amazon SQS).
func (p *Pool) deleteBatch(ctx context.Context, name string, receipts []string) error {
	in := &sqs.DeleteMessageBatchInput{}
	for i, r := range receipts {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &r})
	}
	err := p.on(ctx, name, "DeleteMessage", callLimit, func(ctx context.Context, url *string) error {
		in.QueueUrl = url
		out, err := p.api.DeleteMessageBatch(ctx, in)
		if err != nil {
			return err
		}
		return refused(out.Failed, len(receipts))
	})
	if missing(err) {
		return nil
	}
	return err
}

// stale are the codes of receipts that are unknown, of another queue, or expired (SQS API,
// DeleteMessage, Errors; an expired one is InvalidParameterValue).
var stale = []string{"ReceiptHandleIsInvalid", "InvalidParameterValue", "InvalidIdFormat"}

// refused returns an error that tells what was not deleted, apart from stale receipts.
func refused(failed []types.BatchResultErrorEntry, of int) error {
	failed = slices.DeleteFunc(slices.Clone(failed), func(f types.BatchResultErrorEntry) bool {
		return slices.Contains(stale, aws.ToString(f.Code))
	})
	if len(failed) == 0 {
		return nil
	}
	told := entryError(failed[0])
	told.Message = fmt.Sprintf("%d of %d messages stay: %s", len(failed), of, told.Message)
	return told
}
