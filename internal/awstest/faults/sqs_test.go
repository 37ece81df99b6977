package faults_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/faults"
)

// mailbox is a queue in ElasticMQ behind faults of its receives.
type mailbox struct {
	t      *testing.T
	client *sqs.Client
	tr     *faults.Transport
	url    *string
}

func newMailbox(t *testing.T, kinds ...faults.Kind) mailbox {
	t.Helper()
	endpoint := awstest.ElasticMQ(t)
	var rules []faults.Rule
	for _, kind := range kinds {
		rules = append(rules, faults.Rule{Op: "sqs.ReceiveMessage", Kind: kind, Rate: 1})
	}
	tr := through(t, faults.Faults{Rules: rules})
	m := mailbox{t: t, tr: tr, client: sqs.NewFromConfig(config(t, endpoint, tr))}
	out, err := m.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(awstest.Name(t))})
	if err != nil {
		t.Fatalf("CreateQueue() error = %v", err)
	}
	m.url = out.QueueUrl
	return m
}

func (m mailbox) send(body string) {
	m.t.Helper()
	if _, err := m.client.SendMessage(m.t.Context(), &sqs.SendMessageInput{QueueUrl: m.url, MessageBody: &body}); err != nil {
		m.t.Fatalf("SendMessage(%s) error = %v", body, err)
	}
}

// receive returns at most one message.
func (m mailbox) receive() *types.Message {
	m.t.Helper()
	out, err := m.client.ReceiveMessage(m.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: m.url, VisibilityTimeout: 600, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil {
		m.t.Fatalf("ReceiveMessage() error = %v", err)
	}
	if len(out.Messages) == 0 {
		return nil
	}
	return &out.Messages[0]
}

func (m mailbox) remove(handle *string) {
	m.t.Helper()
	if _, err := m.client.DeleteMessage(m.t.Context(), &sqs.DeleteMessageInput{QueueUrl: m.url, ReceiptHandle: handle}); err != nil {
		m.t.Errorf("DeleteMessage(%s) error = %v", *handle, err)
	}
}

// waiting returns how many messages the service itself has, hidden ones included.
func (m mailbox) waiting() string {
	m.t.Helper()
	out, err := m.client.GetQueueAttributes(context.WithoutCancel(m.t.Context()), &sqs.GetQueueAttributesInput{
		QueueUrl: m.url, AttributeNames: []types.QueueAttributeName{"All"},
	})
	if err != nil {
		m.t.Fatalf("GetQueueAttributes() error = %v", err)
	}
	return out.Attributes["ApproximateNumberOfMessages"] + "+" + out.Attributes["ApproximateNumberOfMessagesNotVisible"]
}

func TestSQS_FalselyEmpty(t *testing.T) {
	m := newMailbox(t, faults.EmptyReceive)
	m.send("a")
	if got := m.receive(); got != nil {
		t.Errorf("receive() = %s, want nothing", *got.Body)
	}
	m.tr.MustFire(t)
	m.tr.Enable(false)
	if got := m.receive(); got == nil {
		t.Error("receive() without faults = nothing, want the message")
	}
}

func TestSQS_DuplicateWhileHidden(t *testing.T) {
	m := newMailbox(t, faults.Duplicate)
	m.send("a")
	first := m.receive() // nothing to repeat yet
	second := m.receive()
	if first == nil || second == nil || *first.MessageId != *second.MessageId || *second.Body != "a" {
		t.Fatalf("receive() = %v, then %v, want the message twice", first, second)
	}
	if *first.ReceiptHandle == *second.ReceiptHandle || second.Attributes["ApproximateReceiveCount"] != "2" {
		t.Errorf("second delivery has handle %s, count %s, want another handle and 2", *second.ReceiptHandle, second.Attributes["ApproximateReceiveCount"])
	}
	if _, err := m.client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
		QueueUrl: m.url, ReceiptHandle: second.ReceiptHandle, VisibilityTimeout: 30,
	}); err != nil {
		t.Errorf("ChangeMessageVisibility() of the second handle: error = %v", err)
	}
	m.remove(second.ReceiptHandle)
	if got := m.waiting(); got != "0+0" {
		t.Errorf("after deletion by the second handle the service has %s messages, want 0+0", got)
	}
	if got := m.receive(); got != nil {
		t.Errorf("receive() = %s after deletion, want nothing", *got.Body)
	}
	m.tr.MustFire(t)
}

func TestSQS_ResurrectedAfterDeletion(t *testing.T) {
	m := newMailbox(t, faults.Resurrect)
	for _, body := range []string{"a", "b"} {
		m.send(body)
		got := m.receive()
		if got == nil {
			t.Fatalf("receive() = nothing, want %s", body)
		}
		if body == "a" {
			m.remove(got.ReceiptHandle)
			continue
		}
		// The queue still hides b, and a, which was deleted, is delivered again.
		if *got.Body != "a" {
			t.Fatalf("receive() = %s, want a, risen", *got.Body)
		}
		m.remove(got.ReceiptHandle)
		if got = m.receive(); got == nil || *got.Body != "b" {
			t.Fatalf("receive() = %v, want b: a is gone for good", got)
		}
		m.remove(got.ReceiptHandle)
	}
	if got := m.waiting(); got != "0+0" {
		t.Errorf("the service has %s messages, want 0+0", got)
	}
	m.tr.MustFire(t)
}

// A batch of a risen message, which the service does not know, and one that it has.
func TestSQS_BatchOverARisenMessage(t *testing.T) {
	m := newMailbox(t, faults.Resurrect)
	m.send("a")
	m.remove(m.receive().ReceiptHandle)
	risen := m.receive()
	m.tr.Enable(false)
	m.send("b")
	other := m.receive()
	batch := []types.DeleteMessageBatchRequestEntry{
		{Id: aws.String("1"), ReceiptHandle: risen.ReceiptHandle},
		{Id: aws.String("2"), ReceiptHandle: other.ReceiptHandle},
	}
	for _, entries := range [][]types.DeleteMessageBatchRequestEntry{batch, batch[:1]} {
		out, err := m.client.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: m.url, Entries: entries})
		if err != nil || len(out.Successful) != len(entries) || len(out.Failed) != 0 {
			t.Errorf("DeleteMessageBatch() of %d = %+v, %v, want all successful", len(entries), out, err)
		}
	}
	if got := m.waiting(); got != "0+0" {
		t.Errorf("the service has %s messages, want 0+0", got)
	}
}
