package sqspool_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/sqspool"
)

// A message is what docs say it is, in the queue that they name: another program reads it.
func TestOffer_OnTheWire(t *testing.T) {
	both(t, func(t *testing.T, s *service) {
		offer(t, s.open(t, nil), 1)
		out, err := s.raw.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: s.queue(t, "medium"), WaitTimeSeconds: 2})
		if err != nil || len(out.Messages) != 1 {
			t.Fatalf("%v, %v, want one message", out, err)
		}
		want := `{"instanceId":"i-001","usageClass":"spot","instanceType":"c6i.large","cpu":2,"mem":4096,` +
			`"resourceClass":"medium","threshold":"2031-05-06T07:08:09Z"}`
		if got := *out.Messages[0].Body; got != want {
			t.Errorf("body = %s, want %s", got, want)
		}
	})
}

// The same message twice is two deliveries, each with a receipt of its own.
func TestReceive_Duplicates(t *testing.T) {
	both(t, func(t *testing.T, s *service) {
		p := s.open(t, nil)
		offer(t, p, 1, 1)
		receipts := map[string]bool{}
		for len(receipts) < 2 {
			out, err := p.Receive(t.Context(), "medium", time.Hour, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if len(out) == 0 {
				t.Fatal("a duplicate is missing")
			}
			for _, d := range out {
				receipts[d.Receipt] = true
			}
		}
		for r := range receipts {
			if err := p.Done(t.Context(), "medium", r); err != nil {
				t.Error(err)
			}
		}
	})
}

// A queue that an operator deletes is made again by who needs it next.
func TestOffer_QueueDeleted(t *testing.T) {
	both(t, func(t *testing.T, s *service) {
		p := s.open(t, nil)
		offer(t, p, 1)
		drop := func() {
			if _, err := s.raw.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: s.queue(t, "medium")}); err != nil {
				t.Fatal(err)
			}
		}
		drop()
		offer(t, p, 2)
		receive(t, p, 2)
		drop()
		receive(t, p)
	})
}

// Ten warm cycles at once take twelve calls at most: one each to offer, one to receive and one to delete all ten. The
// queue's address is asked for once.
func TestCalls_PerWarmCycle(t *testing.T) {
	both(t, func(t *testing.T, s *service) {
		w := new(wire)
		p := s.open(t, w.behind)
		if _, err := p.Ensure(t.Context(), true, "medium"); err != nil {
			t.Fatal(err)
		}
		w.calls = nil
		if err := errors.Join(offerAll(t.Context(), p, pool.MaxBatch)...); err != nil {
			t.Fatal(err)
		}
		got, turns := 0, 0
		for got < pool.MaxBatch {
			out, err := p.Receive(t.Context(), "medium", time.Hour, pool.MaxWait)
			if err != nil {
				t.Fatal(err)
			}
			got += len(out)
			turns++
			var receipts []string
			for _, d := range out {
				receipts = append(receipts, d.Receipt)
			}
			if err := p.Done(t.Context(), "medium", receipts...); err != nil {
				t.Fatal(err)
			}
		}
		total := 0
		for _, n := range w.calls {
			total += n
		}
		t.Logf("%d calls for %d cycles: %v", total, pool.MaxBatch, w.calls)
		if total > pool.MaxBatch+2*turns {
			t.Errorf("%d calls, want %d at most: %v", total, pool.MaxBatch+2*turns, w.calls)
		}
	})
}

func TestOpen_Refuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"sqlite:///x.db", "want sqs://<prefix>"}, {"sqs://", "want sqs://<prefix>"}, {"sqs:remuda", "want sqs://<prefix>"},
		{"sqs://remuda/x", "want sqs://<prefix>"}, {"sqs://user:hidden@remuda", "want sqs://<prefix>"},
		{"sqs://remuda?regoin=eu-west-1", `unknown parameter "regoin"`},
	} {
		u, err := url.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := sqspool.Open(u, aws.Config{HTTPClient: http.DefaultClient})
		if err == nil {
			t.Errorf("Open(%s) = %v, want an error", c.text, p)
			continue
		}
		contains(t, err.Error(), c.want)
		if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q has the password", err)
		}
	}
}
