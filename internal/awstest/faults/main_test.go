package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/faults"
)

func TestMain(m *testing.M) { awstest.Main(m) }

// upstream is a service that says yes to everything.
type upstream struct {
	*httptest.Server
	mu    sync.Mutex
	calls int
	reply string
	code  int
}

func newUpstream(t *testing.T, reply string) *upstream {
	t.Helper()
	u := &upstream{reply: reply, code: http.StatusOK}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Errorf("read request: %v", err)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		u.calls++
		w.WriteHeader(u.code)
		fmt.Fprint(w, u.reply)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) served() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls
}

// through returns a transport with faults, on connections that close with the test.
func through(t *testing.T, f faults.Faults) *faults.Transport {
	t.Helper()
	next := &http.Transport{}
	t.Cleanup(next.CloseIdleConnections)
	tr, err := faults.New(next, f)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// config is that of clients that do not retry, so that each fault shows.
func config(t *testing.T, endpoint string, tr *faults.Transport) aws.Config {
	t.Helper()
	cfg := awstest.Config(t, endpoint)
	cfg.HTTPClient = &http.Client{Transport: tr}
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	return cfg
}

// request is a call as the SDK would make it: "sqs.SendMessage" in JSON, "ec2.RunInstances" as a form.
func request(ctx context.Context, endpoint, op string, args map[string]string) *http.Request {
	service, operation, _ := strings.Cut(op, ".")
	target := map[string]string{"dynamodb": "DynamoDB_20120810.", "sqs": "AmazonSQS."}[service]
	form := url.Values{"Action": {operation}, "Version": {"2016-11-15"}}
	for key, value := range args {
		form.Set(key, value)
	}
	body, contentType := form.Encode(), "application/x-www-form-urlencoded"
	if target != "" {
		raw, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		body, contentType = string(raw), "application/x-amz-json-1.0"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	if target != "" {
		req.Header.Set("X-Amz-Target", target+operation)
	}
	return req
}

// do makes a call and returns the status and the body, or "error: …".
func do(t *testing.T, tr http.RoundTripper, endpoint, op string, args map[string]string) string {
	t.Helper()
	resp, err := tr.RoundTrip(request(t.Context(), endpoint, op, args))
	if err != nil {
		return "error: " + err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}
