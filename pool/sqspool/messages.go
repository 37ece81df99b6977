package sqspool

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/remuda-run/remuda/pool"
)

// Offer implements pool.Pool.
func (p *Pool) Offer(ctx context.Context, t pool.Ticket) error {
	body, err := pool.Encode(t)
	if err != nil {
		return err
	}
	return p.use(ctx, queueName(p.prefix, t.ResourceClass), "SendMessage", callLimit, func(ctx context.Context, url *string) error {
		_, err := p.api.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: &body})
		return err
	})
}

// Receive implements pool.Pool: one long poll. SQS counts in seconds, so hold and wait are rounded up, to one at
// least: with a wait of 0, SQS would ask some of its servers only and call that an empty queue (H20),
// and the SDK leaves a hold of 0 out, which would mean the queue's default.
func (p *Pool) Receive(ctx context.Context, class string, hold, wait time.Duration) (out []pool.Message, _ error) {
	in := &sqs.ReceiveMessageInput{
		MaxNumberOfMessages: pool.MaxBatch, VisibilityTimeout: seconds(hold), WaitTimeSeconds: seconds(wait),
	}
	// The SDK would answer one message that is not what its sender says with an error for all of them.
	// What is wrong with a body is found when it is read, and the record decides anyway.
	unchecked := func(o *sqs.Options) { o.DisableMessageChecksumValidation = true }
	err := p.use(ctx, queueName(p.prefix, class), "ReceiveMessage", wait+callLimit, func(ctx context.Context, url *string) error {
		in.QueueUrl = url
		answer, err := p.api.ReceiveMessage(ctx, in, unchecked)
		if err != nil {
			return err
		}
		for _, m := range answer.Messages {
			out = append(out, pool.Message{Body: aws.ToString(m.Body), Receipt: aws.ToString(m.ReceiptHandle)})
		}
		return nil
	})
	return out, err
}

func seconds(d time.Duration) int32 { return int32(max(1, (d+time.Second-1)/time.Second)) }

// Done implements pool.Pool. To delete a message twice is no error, so the caller may repeat the call. To policies it
// is called DeleteMessage (Service Authorization Reference, Amazon SQS).
func (p *Pool) Done(ctx context.Context, class string, receipts ...string) error {
	in := &sqs.DeleteMessageBatchInput{}
	for i, r := range receipts {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &r})
	}
	return p.open(ctx, func(ctx context.Context) error {
		return p.queue(queueName(p.prefix, class)).Do(ctx, "DeleteMessage", callLimit, func(ctx context.Context, url *string) error {
			in.QueueUrl = url
			out, err := p.api.DeleteMessageBatch(ctx, in)
			if err != nil || len(out.Failed) == 0 {
				return err
			}
			first := out.Failed[0] // as if it had been a call of its own
			fault := smithy.FaultServer
			if first.SenderFault {
				fault = smithy.FaultClient
			}
			return &smithy.GenericAPIError{
				Code: aws.ToString(first.Code), Fault: fault,
				Message: fmt.Sprintf("%d of %d messages stay: %s", len(out.Failed), len(receipts), aws.ToString(first.Message)),
			}
		})
	})
}
