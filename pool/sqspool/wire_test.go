package sqspool_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/remuda-run/remuda/pool/sqspool"
)

// wire stands between the SDK and SQS. It counts calls, but not their repetitions by the SDK, and its answers come before those of next.
type wire struct {
	next   http.RoundTripper              // nil: nothing is behind it
	answer func(call string, in body) any // what SQS says: a body, a fault, an error, or nil for what next says

	mu    sync.Mutex
	calls map[string]int
}

// body is a request or an answer in the JSON protocol of AWS.
type body map[string]any

// fault is an error that SQS answers with.
type fault struct {
	status        int
	code, message string
}

// silence is a connection that died without a word.
type silence struct{}

var (
	noQueue = fault{400, "QueueDoesNotExist", "The specified queue does not exist."}
	denied  = fault{403, "AccessDeniedException", "User: arn:aws:sts::1:assumed-role/x/y is not authorized"}
)

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	var in body
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	if strings.HasPrefix(r.Header.Get("Amz-Sdk-Request"), "attempt=1") {
		w.mu.Lock()
		if w.calls == nil {
			w.calls = make(map[string]int)
		}
		w.calls[call]++
		w.mu.Unlock()
	}
	var out any
	if w.answer != nil {
		out = w.answer(call, in)
	}
	if err := r.Context().Err(); err != nil { // it took too long
		return nil, err
	}
	switch out := out.(type) {
	case nil:
		if w.next == nil {
			return nil, fmt.Errorf("unexpected call %s %v", call, in)
		}
		return w.next.RoundTrip(r)
	case error:
		return nil, out
	case silence:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case fault:
		return reply(r, out.status, body{"__type": "com.amazonaws.sqs#" + out.code, "message": out.message})
	default:
		return reply(r, http.StatusOK, out)
	}
}

// count returns how often a call was made.
func (w *wire) count(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[call]
}

// behind puts w before the network.
func (w *wire) behind(next http.RoundTripper) http.RoundTripper {
	w.next = next
	return w
}

func reply(r *http.Request, status int, content any) (*http.Response, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(raw)), ContentLength: int64(len(raw)), ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// openWire opens the pool of prefix remuda on an SQS that is w alone, so that it works in a bubble
// of virtual time.
func openWire(t *testing.T, w *wire) *sqspool.Pool {
	t.Helper()
	cfg := aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient: &http.Client{Transport: w},
	}
	u := &url.URL{Scheme: "sqs", Host: "remuda"}
	p, err := sqspool.Open(u, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// found answers GetQueueUrl as if every queue existed, and leaves the rest to answer.
func found(answer func(call string, in body) any) func(string, body) any {
	return func(call string, in body) any {
		if call == "GetQueueUrl" {
			return body{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/" + in["QueueName"].(string)}
		}
		return answer(call, in)
	}
}

// sent is the answer to a message that was taken.
var sent = body{"MessageId": "m"}
