package sqspool

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/remuda-run/remuda/pool"
)

// letter is a message on its way.
type letter struct {
	body string
	sent chan error // has room for the outcome, which no one may wait for any more
}

// Offer implements pool.Pool. Messages that are offered while another of their class is on its way
// travel together in the next call (docs/goals.md, G7); a single one never waits. After ctx ends the
// message may still be sent.
func (p *Pool) Offer(ctx context.Context, t pool.Ticket) error {
	body, err := pool.Encode(t)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l := letter{body, make(chan error, 1)}
	if err := p.post(queueName(p.prefix, t.ResourceClass), l); err != nil {
		return err
	}
	select {
	case err := <-l.sent:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// post hands a letter to the sender of its queue, and starts one if there is none.
func (p *Pool) post(name string, l letter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended() {
		return errClosed
	}
	waiting, busy := p.outbox[name]
	p.outbox[name] = append(waiting, l)
	if !busy {
		p.senders.Go(func() { p.deliver(name) })
	}
	return nil
}

// deliver sends what waits for a queue, up to MaxBatch at a time, until nothing does.
func (p *Pool) deliver(name string) {
	for {
		p.mu.Lock()
		waiting := p.outbox[name]
		if len(waiting) == 0 {
			delete(p.outbox, name)
			p.mu.Unlock()
			return
		}
		n := min(len(waiting), pool.MaxBatch)
		p.outbox[name] = waiting[n:]
		p.mu.Unlock()
		if err := p.send(name, waiting[:n]); err != nil {
			p.returnAll(name, err)
		}
	}
}

// returnAll fails what waits for a queue that just failed. Else those who wait would learn one by one
// that SQS does not answer, ten seconds after each other.
func (p *Pool) returnAll(name string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.outbox[name] {
		l.sent <- err
	}
	p.outbox[name] = nil
}

// send sends up to MaxBatch letters in one call, reports to each what became of it, and returns the error of
// the call as a whole. The contexts of those who offer do not count: one that ends must not take the
// others' messages with it. To policies the call is called SendMessage.
func (p *Pool) send(name string, letters []letter) error {
	in := &sqs.SendMessageBatchInput{}
	for i, l := range letters {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: &l.body})
	}
	outcome := make(map[string]error)
	err := p.use(context.Background(), name, "SendMessage", callLimit, func(ctx context.Context, url *string) error {
		in.QueueUrl = url
		out, err := p.api.SendMessageBatch(ctx, in)
		if err != nil {
			return err
		}
		for _, e := range out.Successful {
			outcome[aws.ToString(e.Id)] = nil
		}
		for _, e := range out.Failed {
			outcome[aws.ToString(e.Id)] = explain(entryError(e), "SendMessage", name)
		}
		return nil
	})
	for i, l := range letters {
		one, known := outcome[strconv.Itoa(i)]
		switch {
		case err != nil:
			one = err
		case !known:
			one = explain(errors.New("the answer has no result for this message"), "SendMessage", name)
		}
		l.sent <- one
	}
	return err
}

// entryError is an entry of a batch that failed, as if it had been a call of its own.
func entryError(e types.BatchResultErrorEntry) *smithy.GenericAPIError {
	fault := smithy.FaultServer
	if e.SenderFault {
		fault = smithy.FaultClient
	}
	return &smithy.GenericAPIError{Code: aws.ToString(e.Code), Message: aws.ToString(e.Message), Fault: fault}
}
