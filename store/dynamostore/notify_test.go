package dynamostore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

// watch starts a watch that ends before the test does.
func watch(t *testing.T, table *dynamostore.Table) <-chan store.Key {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	seen := make(chan store.Key, 1000)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := table.Watch(ctx, func(k store.Key) { seen <- k }); err != nil {
			t.Errorf("Watch() error = %v", err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return seen
}

// counted counts the calls of SQS by name, and lets first answer them.
func counted(calls *sync.Map, first func(*http.Request) *http.Response) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if name, ok := strings.CutPrefix(target(r), "AmazonSQS."); ok {
				n, _ := calls.LoadOrStore(name, new(atomic.Int32))
				n.(*atomic.Int32).Add(1)
				if a := first(r); a != nil {
					return a, nil
				}
			}
			return next.RoundTrip(r)
		})
	}
}

func count(calls *sync.Map, name string) int32 {
	if n, ok := calls.Load(name); ok {
		return n.(*atomic.Int32).Load()
	}
	return 0
}

// Malformed messages are deleted and hide none; what was delivered is deleted too. H21 H22
func TestWatch_MalformedMessages_H21_H22(t *testing.T) {
	t.Parallel()
	for name, endpoint := range map[string]func(testing.TB) string{"Moto": awstest.Moto, "ElasticMQ": awstest.ElasticMQ} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, awstest.DynamoDBLocal(t), endpoint(t), nil)
			u := create(t, cfg)
			table := open(t, u, cfg, clock.RealClock{})
			defer table.Close()
			queue, at := queueOf(t, cfg, u.Host)
			for _, body := range []string{"hello", "{}", `{"PK":"RUN#1"}`, `{"PK":7,"SK":"x"}`, `[]`} {
				if _, err := queue.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: at, MessageBody: &body}); err != nil {
					t.Fatal(err)
				}
			}
			if err := table.Notify(t.Context(), key(1), key(2)); err != nil {
				t.Fatal(err)
			}
			seen := watch(t, table)
			for got := map[store.Key]bool{}; !got[key(1)] || !got[key(2)]; { // a slow machine gets one twice
				k := <-seen
				if got[k] = true; k != key(1) && k != key(2) {
					t.Fatalf("got %v, want the two keys notified of", k)
				}
			}
			for { // deleted after delivery
				out, err := queue.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: at, AttributeNames: []types.QueueAttributeName{"All"}})
				if err != nil {
					t.Fatal(err)
				}
				if out.Attributes["ApproximateNumberOfMessages"] == "0" && out.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0" {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
}

// queueOf returns the queue of a table's notifications.
func queueOf(t *testing.T, cfg aws.Config, table string) (client *sqs.Client, address *string) {
	t.Helper()
	queue := sqs.NewFromConfig(cfg)
	at, err := queue.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(table + "-events")})
	if err != nil {
		t.Fatal(err)
	}
	return queue, at.QueueUrl
}

// setQueue changes an attribute of it.
func setQueue(t *testing.T, cfg aws.Config, table, name, value string) {
	t.Helper()
	queue, at := queueOf(t, cfg, table)
	_, err := queue.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: at, Attributes: map[string]string{name: value}})
	if err != nil {
		t.Fatal(err)
	}
}

// Deleting what was delivered is a third of what notifications cost, and can wait: those that come one by one are deleted
// together. The end of the watch leaves none of them to the next one. G7
func TestWatch_DeletesTogether_G7(t *testing.T) {
	var calls sync.Map
	cfg := local(t, counted(&calls, func(*http.Request) *http.Response { return nil }))
	u := create(t, cfg)
	setQueue(t, cfg, u.Host, string(types.QueueAttributeNameVisibilityTimeout), "43200") // hides for 12 h, or a slow machine gets one twice
	// Who sends waits for an answer however late it is: Notify would send another, and ten would be there early.
	queue, at := queueOf(t, cfg, u.Host)
	clk := testingclock.NewFakeClock(time.Now()) // stands still: nothing is deleted for its age
	table := open(t, u, cfg, clk)
	defer table.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen, ended := make(chan store.Key), make(chan error, 1)
	go func() { ended <- table.Watch(ctx, func(k store.Key) { seen <- k }) }()
	expect := func(n int) {
		t.Helper()
		body := fmt.Sprintf(`{"PK":%q,"SK":%q}`, key(n).Partition, key(n).Sort)
		if _, err := queue.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: at, MessageBody: &body}); err != nil {
			t.Fatal(err)
		}
		if got := <-seen; got != key(n) {
			t.Fatalf("got %v, want %v", got, key(n))
		}
	}
	deleted := func(want int32) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); count(&calls, "DeleteMessageBatch") != want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d calls to delete, want %d", count(&calls, "DeleteMessageBatch"), want)
			}
		}
	}
	for n := range 9 {
		expect(n)
	}
	deleted(0)
	expect(9)
	deleted(1) // ten
	expect(10)
	expect(11)
	deleted(1)
	cancel()
	if err := <-ended; err != nil {
		t.Fatalf("Watch() error = %v", err)
	}
	deleted(2)
}

// What makes no full call is deleted soon all the same. G7
func TestWatch_DeletesSoon_G7(t *testing.T) {
	var calls sync.Map
	cfg := local(t, counted(&calls, func(*http.Request) *http.Response { return nil }))
	table := fresh(t, cfg)
	defer table.Close()
	seen := watch(t, table)
	if err := table.Notify(t.Context(), key(1)); err != nil {
		t.Fatal(err)
	}
	<-seen
	for deadline := time.Now().Add(time.Minute); count(&calls, "DeleteMessageBatch") == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a notification that was delivered is not deleted")
		}
	}
}

// Ten keys make one call, and the queue is looked up once. A queue in trouble delays notifications only.
func TestNotify_CallsAndTrouble(t *testing.T) {
	var calls sync.Map
	var trouble atomic.Int32
	cfg := local(t, counted(&calls, func(r *http.Request) *http.Response {
		if strings.HasSuffix(target(r), "ReceiveMessage") && trouble.Add(-1) >= 0 {
			return coded(r, 500, "InternalFailure")
		}
		return nil
	}))
	table := fresh(t, cfg)
	defer table.Close()
	calls.Clear()
	var keys []store.Key
	for n := range 25 {
		keys = append(keys, key(n))
	}
	if err := errors.Join(table.Notify(t.Context(), keys...), table.Notify(t.Context(), key(25)), table.Notify(t.Context())); err != nil {
		t.Fatal(err)
	}
	if b, one, lookups := count(&calls, "SendMessageBatch"), count(&calls, "SendMessage"), count(&calls, "GetQueueUrl"); b != 3 || one != 1 || lookups != 1 {
		t.Errorf("%d batches, %d single messages, %d look-ups, want 3, 1, 1", b, one, lookups)
	}
	trouble.Store(5)
	seen := watch(t, table)
	got := map[store.Key]bool{}
	for len(got) < 26 {
		got[<-seen] = true
	}
	if n := count(&calls, "DeleteMessageBatch"); n > 26 {
		t.Errorf("%d deletions of 26 messages", n)
	}
}

// The queue's address is looked up beside the first write and kept: the notification that follows waits for no look.
func TestPut_G1_LooksTheQueueUpMeanwhile(t *testing.T) {
	var calls sync.Map
	looked := make(chan struct{})
	cfg := config(t, "http://127.0.0.1:1", "http://127.0.0.1:1", counted(&calls, func(r *http.Request) *http.Response {
		switch target(r) {
		case "AmazonSQS.GetQueueUrl":
			defer close(looked)
			return answer(r, 200, `{"QueueUrl":"http://127.0.0.1/1/q"}`)
		case "AmazonSQS.SendMessage":
			return answer(r, 200, `{"MessageId":"1"}`)
		}
		return nil
	}))
	base := cfg.HTTPClient
	cfg.HTTPClient = doer(func(r *http.Request) (*http.Response, error) {
		if target(r) != "DynamoDB_20120810.PutItem" {
			return base.Do(r)
		}
		select {
		case <-looked:
			return answer(r, 200, `{}`), nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
	table := open(t, tableURL("remuda"), cfg, clock.RealClock{})
	defer table.Close()
	for range 2 {
		if err := table.Put(t.Context(), store.Item{Key: key(1), Version: 1, Attributes: []byte(`{}`)}, 0); err != nil {
			t.Fatalf("Put() error = %v: the queue was not looked up meanwhile", err)
		}
		if err := table.Notify(t.Context(), key(1)); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(&calls, "GetQueueUrl"); n != 1 {
		t.Errorf("the queue was looked up %d times, want once", n)
	}
}

type doer func(*http.Request) (*http.Response, error)

func (f doer) Do(r *http.Request) (*http.Response, error) { return f(r) }

// A batch of which SQS takes only a part is repeated, and is an error when it stays so.
func TestNotify_PartlyTaken(t *testing.T) {
	var calls sync.Map
	var refuse atomic.Int32
	cfg := config(t, "http://127.0.0.1:1", "http://127.0.0.1:1", counted(&calls, func(r *http.Request) *http.Response {
		switch target(r) {
		case "AmazonSQS.GetQueueUrl":
			return answer(r, 200, `{"QueueUrl":"http://127.0.0.1/1/q"}`)
		case "AmazonSQS.SendMessageBatch":
			if refuse.Add(-1) >= 0 {
				return answer(r, 200, `{"Successful":[],"Failed":[{"Id":"1","SenderFault":false,"Code":"InternalError","Message":"busy"}]}`)
			}
			return answer(r, 200, `{"Successful":[]}`)
		}
		return nil
	}))
	table := open(t, tableURL("remuda"), cfg, clock.RealClock{})
	defer table.Close()
	refuse.Store(1)
	if err := table.Notify(t.Context(), key(1), key(2)); err != nil || count(&calls, "SendMessageBatch") != 2 {
		t.Errorf("Notify() error = %v after %d calls, want none after 2", err, count(&calls, "SendMessageBatch"))
	}
	refuse.Store(100)
	if err := table.Notify(t.Context(), key(1), key(2)); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "busy") {
		t.Errorf("Notify() error = %v, want %v and why", err, store.ErrUnavailable)
	}
}

// A queue that is missing is an error that says so, for those who notify and for the one who watches; once
// it exists no one must start again.
func TestNotify_MissingQueue(t *testing.T) {
	cfg := local(t, nil)
	u := tableURL(awstest.Name(t))
	table := open(t, u, cfg, clock.RealClock{})
	defer table.Close()
	for call, err := range map[string]error{
		"Notify": table.Notify(t.Context(), key(1)),
		"Watch":  table.Watch(t.Context(), func(store.Key) {}),
	} {
		if !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), "queue "+u.Host+"-events: not found") || !strings.Contains(err.Error(), "remuda init") {
			t.Errorf("%s() error = %v, want %v that names the queue and the remedy", call, err, store.ErrRefused)
		}
	}
	queue := sqs.NewFromConfig(cfg)
	made, err := queue.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(u.Host + "-events")})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Notify(t.Context(), key(1)); err != nil {
		t.Errorf("Notify() error = %v, now that the queue exists", err)
	}
	if _, err := queue.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: made.QueueUrl}); err != nil {
		t.Fatal(err)
	}
	if err := table.Notify(t.Context(), key(1)); !errors.Is(err, store.ErrRefused) {
		t.Errorf("Notify() error = %v, want %v: the queue is gone", err, store.ErrRefused)
	}
}
