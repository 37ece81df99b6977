package sqspool_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/pool"
)

const good = `{"instanceId":"i-1","resourceClass":"medium"}`

// Every receive asks all servers, whatever wait the caller wants, and one empty answer is neither
// an error nor the end. H20
func TestReceive_H20_LongPollsAlways(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var waits []float64
		p := openWire(t, &wire{answer: found(func(_ string, in body) any {
			waits = append(waits, in["WaitTimeSeconds"].(float64))
			if len(waits) < 4 {
				return body{}
			}
			return body{"Messages": []body{{"MessageId": "m", "ReceiptHandle": "r", "Body": good}}}
		})})
		for i, wait := range []time.Duration{0, time.Millisecond, pool.MaxWait, 19*time.Second + 1} {
			out, err := p.Receive(t.Context(), "medium", time.Hour, wait)
			if err != nil || len(out) != i/3 {
				t.Errorf("Receive = %v, %v, want %d messages", out, err, i/3)
			}
		}
		if want := []float64{1, 1, 20, 20}; !slices.Equal(waits, want) {
			t.Errorf("WaitTimeSeconds = %v, want %v", waits, want)
		}
	})
}

// The hold is never shorter than asked, nor longer than SQS allows, and always sent.
func TestReceive_HoldIsWholeSeconds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var holds []float64
		p := openWire(t, &wire{answer: found(func(_ string, in body) any {
			holds = append(holds, in["VisibilityTimeout"].(float64))
			return body{}
		})})
		for _, hold := range []time.Duration{0, 1, time.Second, time.Second + 1, 12 * time.Hour} {
			if _, err := p.Receive(t.Context(), "medium", hold, 0); err != nil {
				t.Error(err)
			}
		}
		if want := []float64{1, 1, 1, 2, 43200}; !slices.Equal(holds, want) {
			t.Errorf("VisibilityTimeout = %v, want %v", holds, want)
		}
	})
}

// Messages that lack what they must have, or are not what their sender says, keep nothing from the
// good ones beside them. H21, H22
func TestReceive_H21_H22_Incomplete(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := openWire(t, &wire{answer: found(func(string, body) any {
			return body{"Messages": []body{
				{}, {"MessageId": "no-body", "ReceiptHandle": "r1"},
				{"MessageId": "bad-sum", "ReceiptHandle": "r2", "Body": good, "MD5OfBody": strings.Repeat("0", 32)},
			}}
		})})
		out, err := p.Receive(t.Context(), "medium", time.Hour, 0)
		want := []pool.Message{{}, {Receipt: "r1"}, {Body: good, Receipt: "r2"}}
		if diff := cmp.Diff(want, out); err != nil || diff != "" {
			t.Errorf("Receive: error %v (-want +got):\n%s", err, diff)
		}
	})
}

// What was deleted may come back, with its old receipt too. It is a message like any other.
func TestReceive_Resurrected(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := openWire(t, &wire{answer: found(func(call string, _ body) any {
			if call == "DeleteMessageBatch" {
				return body{"Successful": []body{{"Id": "0"}}}
			}
			return body{"Messages": []body{{"MessageId": "m", "ReceiptHandle": "r", "Body": good}}}
		})})
		for range 3 {
			out, err := p.Receive(t.Context(), "medium", time.Hour, 0)
			if err != nil || len(out) != 1 || out[0].Body != good {
				t.Fatalf("Receive = %v, %v, want i-1", out, err)
			}
			if err := p.Done(t.Context(), "medium", out[0].Receipt); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Done says what stays.
func TestDone_PartialFailure(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := openWire(t, &wire{answer: found(func(string, body) any {
			return body{"Failed": []body{{"Id": "1", "SenderFault": false, "Code": "InternalError", "Message": "try again"}}}
		})})
		err := p.Done(t.Context(), "medium", "a", "b", "c")
		if err == nil {
			t.Fatal("got no error")
		}
		contains(t, err.Error(), "sqs:DeleteMessage on queue remuda-medium", "InternalError: 1 of 3 messages stay: try again")
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
		t.Run(c.name, bubbletest.Case(func(t *testing.T) {
			w := &wire{answer: c.answer}
			p := openWire(t, w)
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
		}))
	}
}

// A queue that was just made is missing for a second or so: the next try finds it, and does not make it again.
func TestOffer_QueueAppearsLate(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var made time.Time
		w := &wire{answer: func(call string, _ body) any {
			switch {
			case call == "CreateQueue":
				made = time.Now()
				return body{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/remuda-medium"}
			case made.IsZero() || time.Since(made) < time.Second:
				return noQueue
			case call == "GetQueueUrl":
				return body{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/remuda-medium"}
			}
			return sent
		}}
		p := openWire(t, w)
		for range 2 {
			if err := p.Offer(t.Context(), ticket(1)); err == nil {
				t.Error("Offer to a queue that is not there yet: got no error")
			}
			time.Sleep(time.Second)
			offer(t, p, 1)
			if n := w.count("CreateQueue"); n != 1 {
				t.Errorf("%d calls of CreateQueue, want 1", n)
			}
			made, w.calls = time.Time{}, nil // it was deleted
		}
	})
}

// A connection that died without a word ends the call, not the receiver.
func TestReceive_NoAnswerForEver(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := openWire(t, &wire{answer: found(func(string, body) any { return silence{} })})
		start := time.Now()
		_, err := p.Receive(t.Context(), "medium", time.Hour, pool.MaxWait)
		if took := time.Since(start); err == nil || !strings.Contains(err.Error(), "no answer within 30s") || took != 30*time.Second {
			t.Errorf("Receive after %s = %v, want an error after 30 s that says so", took, err)
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
		_, err := p.Receive(t.Context(), "medium", time.Hour, pool.MaxWait)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if err == nil || !strings.Contains(err.Error(), "pool is closed") {
			t.Errorf("Receive of a pool that was closed meanwhile: error = %v", err)
		}
	})
}
