package sqspool_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/sqspool"
)

func TestMain(m *testing.M) { awstest.Main(m) }

// services are the implementations of SQS that every test with a queue runs on.
var services = map[string]func(testing.TB) string{"moto": awstest.Moto, "ElasticMQ": awstest.ElasticMQ}

// both runs test on each service, with a prefix of its own.
func both(t *testing.T, test func(t *testing.T, s *service)) {
	for name, start := range services {
		t.Run(name, func(t *testing.T) { test(t, connect(t, start)) })
	}
}

// service is one prefix on an implementation of SQS.
type service struct {
	cfg    aws.Config
	raw    *sqs.Client // without our Pool in between
	prefix string
}

func connect(t testing.TB, start func(testing.TB) string) *service {
	t.Helper()
	cfg := awstest.Config(t, start(t))
	return &service{cfg: cfg, raw: sqs.NewFromConfig(cfg), prefix: awstest.Name(t)}
}

// open opens the pool of the service's prefix. Its requests go through wrap, which may be nil.
func (s *service) open(t testing.TB, wrap func(http.RoundTripper) http.RoundTripper) *sqspool.Pool {
	t.Helper()
	cfg := s.cfg
	if wrap != nil {
		below := &http.Transport{}
		t.Cleanup(below.CloseIdleConnections)
		cfg.HTTPClient = awscfg.PlainBodies(&http.Client{Transport: wrap(below)})
	}
	u := &url.URL{Scheme: "sqs", Host: s.prefix}
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

// queue returns the address of the queue of class, which must exist.
func (s *service) queue(t testing.TB, class string) *string {
	t.Helper()
	out, err := s.raw.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(sqspool.QueueName(s.prefix, class))})
	if err != nil {
		t.Fatal(err)
	}
	return out.QueueUrl
}

func ticket(n int) pool.Ticket {
	return pool.Ticket{
		InstanceID: fmt.Sprintf("i-%03d", n), UsageClass: "spot", InstanceType: "c6i.large", CPU: 2, Mem: 4096,
		ResourceClass: "medium", Threshold: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC),
	}
}

func offer(t testing.TB, p pool.Pool, ns ...int) {
	t.Helper()
	for _, n := range ns {
		if err := p.Offer(t.Context(), ticket(n)); err != nil {
			t.Fatal(err)
		}
	}
}

// receive fails the test unless exactly the messages of want come, in any order and number.
func receive(t testing.TB, p pool.Pool, want ...int) (receipts []string) {
	t.Helper()
	out, err := p.Receive(t.Context(), "medium", time.Hour, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	got, ids := map[string]bool{}, map[string]bool{}
	for _, m := range out {
		one, err := pool.Decode(m.Body)
		if err != nil {
			t.Fatal(err)
		}
		got[one.InstanceID] = true
		receipts = append(receipts, m.Receipt)
	}
	for _, n := range want {
		ids[ticket(n).InstanceID] = true
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Fatalf("Receive (-want +got):\n%s", diff)
	}
	return receipts
}

// contains fails the test unless text contains every part.
func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}
