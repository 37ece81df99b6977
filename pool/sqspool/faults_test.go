package sqspool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/pool"
)

const good = `{"instanceId":"i-1","resourceClass":"medium"}`

// Every receive asks all servers, whatever wait the caller wants, and one empty answer is neither
// an error nor the end. H20
func TestReceive_H20_LongPollsAlways(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var waits []float64
		p, _ := openWire(t, &wire{answer: found(func(_ string, in body) any {
			waits = append(waits, in["WaitTimeSeconds"].(float64))
			if len(waits) < 4 {
				return body{}
			}
			return body{"Messages": []body{{"MessageId": "m", "ReceiptHandle": "r", "Body": good}}}
		})})
		for i, wait := range []time.Duration{0, time.Millisecond, pool.MaxWait, 19*time.Second + 1} {
			out, err := p.Receive(t.Context(), "medium", 1, time.Hour, wait)
			if err != nil || len(out) != i/3 {
				t.Errorf("Receive = %v, %v, want %d messages", out, err, i/3)
			}
		}
		if want := []float64{1, 1, 20, 20}; !equal(waits, want) {
			t.Errorf("WaitTimeSeconds = %v, want %v", waits, want)
		}
	})
}

func equal[T comparable](a, b []T) bool {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return false
		}
	}
	return true
}

// The hold is never shorter than asked, nor longer than SQS allows, and always sent.
func TestReceive_HoldIsWholeSeconds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var holds []float64
		p, _ := openWire(t, &wire{answer: found(func(_ string, in body) any {
			holds = append(holds, in["VisibilityTimeout"].(float64))
			return body{}
		})})
		for _, hold := range []time.Duration{0, 1, time.Second, time.Second + 1, pool.MaxHold} {
			if _, err := p.Receive(t.Context(), "medium", 1, hold, 0); err != nil {
				t.Error(err)
			}
		}
		if want := []float64{1, 1, 1, 2, 43200}; !equal(holds, want) {
			t.Errorf("VisibilityTimeout = %v, want %v", holds, want)
		}
	})
}

// Messages that lack what they must have, or are not what their sender says, keep nothing from the
// good ones beside and behind them. H21, H22
func TestReceive_H21_H22_Incomplete(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		answers := [][]body{
			{{"MessageId": "no-body", "ReceiptHandle": "r1"}, {"MessageId": "no-json", "ReceiptHandle": "r2", "Body": "x"}},
			{
				{"MessageId": "no-receipt", "Body": good},
				{"MessageId": "bad-sum", "ReceiptHandle": "r3", "Body": good, "MD5OfBody": strings.Repeat("0", 32)},
				{}, {"MessageId": "good", "ReceiptHandle": "r4", "Body": good},
			},
		}
		var deleted []string
		p, log := openWire(t, &wire{answer: found(func(call string, in body) any {
			if call == "DeleteMessageBatch" {
				for _, e := range in["Entries"].([]any) {
					deleted = append(deleted, e.(map[string]any)["ReceiptHandle"].(string))
				}
				return body{}
			}
			out := answers[0]
			answers = answers[1:]
			return body{"Messages": out}
		})})
		out, err := p.Receive(t.Context(), "medium", pool.MaxBatch, time.Hour, 0)
		if err != nil || len(out) != 2 || out[0].Receipt != "r3" || out[1].Receipt != "r4" {
			t.Errorf("Receive = %v, %v, want the messages of r3 and r4", out, err)
		}
		if want := []string{"r1", "r2"}; !equal(deleted, want) {
			t.Errorf("deleted %v, want %v", deleted, want)
		}
		contains(t, log.String(), "message_id=no-body", "message_id=no-json", "message_id=no-receipt", "resource_class=medium")
	})
}

// Malformed messages that cannot be deleted do not make Receive fail or run for ever. H21
func TestReceive_H21_CannotDelete(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		w := &wire{answer: found(func(call string, _ body) any {
			if call == "DeleteMessageBatch" {
				return denied
			}
			return body{"Messages": []body{{"MessageId": "m", "ReceiptHandle": "r", "Body": "x"}}}
		})}
		p, log := openWire(t, w)
		out, err := p.Receive(t.Context(), "medium", 1, 0, pool.MaxWait)
		if len(out) > 0 || err != nil {
			t.Errorf("Receive = %v, %v, want nothing", out, err)
		}
		if n := w.count("ReceiveMessage"); n != 1 {
			t.Errorf("%d receives, want 1", n)
		}
		contains(t, log.String(), "sqs:DeleteMessage on queue remuda-medium", "access denied")
	})
}

// What was deleted may come back, with its old receipt too. It is a message like any other.
func TestReceive_Resurrected(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p, _ := openWire(t, &wire{answer: found(func(call string, _ body) any {
			if call == "DeleteMessageBatch" {
				return body{"Successful": []body{{"Id": "0"}}}
			}
			return body{"Messages": []body{{"MessageId": "m", "ReceiptHandle": "r", "Body": good}}}
		})})
		for range 3 {
			out, err := p.Receive(t.Context(), "medium", 1, time.Hour, 0)
			if err != nil || len(out) != 1 || out[0].Ticket.InstanceID != "i-1" {
				t.Fatalf("Receive = %v, %v, want i-1", out, err)
			}
			if err := p.Done(t.Context(), "medium", out[0].Receipt); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Done deletes in tens, says what stays, and goes on behind a batch that failed.
func TestDone_PartialFailures(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var sizes []int
		p, _ := openWire(t, &wire{answer: found(func(_ string, in body) any {
			sizes = append(sizes, len(in["Entries"].([]any)))
			switch len(sizes) {
			case 1:
				return body{"Failed": []body{
					{"Id": "3", "SenderFault": false, "Code": "InternalError", "Message": "try again"},
					{"Id": "4", "SenderFault": true, "Code": "ReceiptHandleIsInvalid"},
				}}
			case 2:
				return denied
			}
			return body{"Failed": []body{
				{"Id": "0", "SenderFault": true, "Code": "ReceiptHandleIsInvalid"},
				{"Id": "1", "SenderFault": true, "Code": "InvalidParameterValue", "Message": "The receipt handle has expired."},
			}}
		})})
		receipts := []string{"", "r-0"} // one that SQS would refuse the batch for, and one twice
		for n := range 25 {
			receipts = append(receipts, fmt.Sprintf("r-%d", n))
		}
		err := p.Done(t.Context(), "medium", receipts...)
		if want := []int{10, 10, 5}; !equal(sizes, want) {
			t.Errorf("batches of %v, want %v", sizes, want)
		}
		if err == nil {
			t.Fatal("got no error")
		}
		contains(t, err.Error(), "InternalError: 1 of 10 messages stay: try again", "access denied: allow sqs:DeleteMessage for")
		if err := p.Done(t.Context(), "medium", "a", "b"); err != nil {
			t.Errorf("Done with stale receipts: %v", err)
		}
	})
}

// A queue that does not exist has no messages, and Done makes none.
func TestDone_NoQueue(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p, _ := openWire(t, &wire{answer: func(call string, _ body) any {
			if call == "GetQueueUrl" {
				return noQueue
			}
			return nil // an error
		}})
		if err := p.Done(t.Context(), "medium", "r"); err != nil {
			t.Error(err)
		}
	})
}

// Errors name call, queue and what to do.
func TestErrors_TellTheOperator(t *testing.T) {
	deletedRecently := fault{400, "QueueDeletedRecently", "You must wait 60 seconds."}
	for _, c := range []struct {
		name   string
		answer func(call string, in body) any
		want   []string
	}{
		{"Denied", found(func(string, body) any { return denied }),
			[]string{"sqs:SendMessage on queue remuda-medium: access denied: allow sqs:SendMessage"}},
		{"MayNotCreate", func(call string, _ body) any {
			if call == "GetQueueUrl" {
				return noQueue
			}
			return denied
		}, []string{"sqs:CreateQueue on queue remuda-medium: access denied: allow sqs:CreateQueue"}},
		{"DeletedRecently", func(call string, _ body) any {
			if call == "GetQueueUrl" {
				return noQueue
			}
			return deletedRecently
		}, []string{"queue remuda-medium was deleted within the last 60 s", "try again", "sqs:CreateQueue on queue remuda-medium: throttled"}},
		{"NeverThere", func(call string, _ body) any {
			if call == "CreateQueue" {
				return body{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/remuda-medium"}
			}
			return noQueue
		}, []string{"on queue remuda-medium: not found"}},
		{"NoKey", found(func(string, body) any { return fault{400, "KmsNotFound", "the key"} }),
			[]string{"sqs:SendMessage on queue remuda-medium", "KmsNotFound: the key"}},
		{"NoAnswer", found(func(string, body) any { return errors.New("connection reset by peer") }),
			[]string{"sqs:SendMessage on queue remuda-medium: no usable answer", "connection reset by peer"}},
		{"Overloaded", found(func(string, body) any { return fault{503, "ServiceUnavailable", ""} }),
			[]string{"sqs:SendMessage on queue remuda-medium: no usable answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				w := &wire{answer: c.answer}
				p, _ := openWire(t, w)
				err := p.Offer(t.Context(), ticket(1))
				if err == nil {
					t.Fatal("Offer: got no error")
				}
				contains(t, err.Error(), c.want...)
				if c.name == "NoKey" && w.count("CreateQueue") > 0 {
					t.Error("a queue whose key is missing is made again")
				}
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("%q has the secret key", err)
				}
				for call, n := range w.calls {
					if n > 5 {
						t.Errorf("%d calls of %s within one Offer", n, call)
					}
				}
			})
		})
	}
}

// A queue that was just made is missing for a second or so, and a deleted one is made again.
func TestOffer_QueueAppearsLate(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var made time.Time
		w := &wire{answer: func(call string, in body) any {
			switch {
			case call == "CreateQueue":
				made = time.Now()
				return body{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/remuda-medium"}
			case made.IsZero() || time.Since(made) < 1500*time.Millisecond:
				return noQueue
			case call == "GetQueueUrl":
				return body{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/remuda-medium"}
			}
			return sent(in)
		}}
		p, _ := openWire(t, w)
		for range 2 {
			offer(t, p, 1, 2)
			if n := w.count("CreateQueue"); n != 1 {
				t.Errorf("%d calls of CreateQueue, want 1", n)
			}
			made, w.calls = time.Time{}, nil // somebody deleted it
		}
	})
}

// A connection that died without a word ends the call, not the receiver.
func TestReceive_NoAnswerForEver(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p, _ := openWire(t, &wire{answer: found(func(string, body) any { return silence{} })})
		start := time.Now()
		_, err := p.Receive(t.Context(), "medium", 1, time.Hour, pool.MaxWait)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 30*time.Second {
			t.Errorf("Receive after %s = %v, want context.DeadlineExceeded after 30 s", took, err)
		}
	})
}

// Close ends a Receive that waits.
func TestClose_EndsWaiting(t *testing.T) {
	both(t, func(t *testing.T, s *service) {
		p := s.open(t, nil)
		offer(t, p, 1)
		receive(t, p, 1)
		closed := make(chan error, 1)
		time.AfterFunc(300*time.Millisecond, func() { closed <- p.Close() })
		_, err := p.Receive(t.Context(), "medium", 1, time.Hour, pool.MaxWait)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if err == nil || !strings.Contains(err.Error(), "pool is closed") {
			t.Errorf("Receive of a pool that was closed meanwhile: error = %v", err)
		}
	})
}
