package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/fleet/ec2fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/faults"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/sqspool"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

// account is DynamoDB Local, moto's SQS and EC2 in memory, with every call counted.
type account struct {
	*tally
	ec2    *ec2test.Server
	dynamo string
	sqs    string
	name   string
	fleet  *ec2fleet.Fleet
}

// leftOut says that a benchmark was skipped, which go test does not tell of benchmarks.
func leftOut(b testing.TB) {
	b.Cleanup(func() {
		if b.Skipped() {
			fmt.Printf("left out: %s: needs DynamoDB Local and moto, that is Java, Node.js and Python 3\n", b.Name())
		}
	})
}

func newAccount(b testing.TB) *account {
	b.Helper()
	leftOut(b)
	web := &http.Transport{MaxIdleConnsPerHost: 128} // as package awscfg has it
	b.Cleanup(web.CloseIdleConnections)
	a := &account{
		tally: &tally{by: map[string]*faults.Transport{}, next: web}, ec2: ec2test.New(b),
		dynamo: awstest.DynamoDBLocal(b), sqs: awstest.Moto(b), name: awstest.Name(b),
	}
	a.fleet = fleetOn(b, a.ec2, a.url("ec2"), a.config(bench.Controller, a.ec2.URL))
	a.ensure(b)
	return a
}

// fleetOn opens a fleet on EC2 in memory, and makes what it needs there.
func fleetOn(b testing.TB, server *ec2test.Server, u *url.URL, cfg aws.Config) *ec2fleet.Fleet {
	b.Helper()
	f, err := ec2fleet.Open(b.Context(), u, cfg, ec2fleet.Options{
		Subnets: server.Subnets(), SecurityGroups: []string{ec2test.Group}, AMI: ec2test.AMI, InstanceProfile: ec2test.Profile,
		UserData: "#!/bin/sh\n", Clock: clock.RealClock{},
	})
	check(b, err)
	b.Cleanup(func() {
		if err := f.Close(); err != nil {
			b.Error(err)
		}
	})
	_, err = f.Ensure(b.Context(), true)
	check(b, err)
	return f
}

func (a *account) ensure(b testing.TB) {
	b.Helper()
	table, err := a.table(b.Context(), bench.Controller)
	check(b, err)
	defer table.Close()
	if _, err := table.(*dynamostore.Table).Ensure(b.Context(), true); err != nil {
		b.Fatal(err)
	}
	queues, err := a.pool(b.Context())
	check(b, err)
	defer queues.Close()
	if _, err := queues.(*sqspool.Pool).Ensure(b.Context(), true, bench.Class); err != nil {
		b.Fatal(err)
	}
}

func (a *account) backends() *bench.Backends {
	return &bench.Backends{Table: a.table, Pool: a.pool, Fleet: a.fleet}
}

func (a *account) url(scheme string) *url.URL { return &url.URL{Scheme: scheme, Host: a.name} }

// config is for clients of one endpoint.
func (a *account) config(who bench.Who, endpoint string) aws.Config {
	return awsConfig(endpoint, counter{a, who})
}

// awsConfig is for clients of one endpoint.
func awsConfig(endpoint string, transport http.RoundTripper) aws.Config {
	return aws.Config{
		Region: awstest.Region, BaseEndpoint: aws.String(endpoint), HTTPClient: &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider(awstest.AccessKey, awstest.SecretKey, ""),
	}
}

func (a *account) table(ctx context.Context, who bench.Who) (store.Table, error) {
	return dynamostore.Open(ctx, a.url("dynamodb"), a.config(who, a.dynamo), clock.RealClock{}, slog.New(slog.DiscardHandler))
}

func (a *account) pool(context.Context) (pool.Pool, error) {
	return sqspool.Open(a.url("sqs"), a.config(bench.Controller, a.sqs))
}

// tally counts calls and request units by who makes them and what they are about, such as "agents Heartbeat".
type tally struct {
	next http.RoundTripper

	mu sync.Mutex
	by map[string]*faults.Transport
}

func (t *tally) of(what string) *faults.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by[what] == nil {
		transport, err := faults.New(t.next, faults.Faults{AskCapacity: true})
		if err != nil {
			panic(err) // it has no rules
		}
		t.by[what] = transport
	}
	return t.by[what]
}

// counts is a tally at one moment.
type counts map[string]faults.Counts

func (t *tally) counts() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := counts{}
	for what, transport := range t.by {
		out[what] = transport.Counter().Snapshot()
	}
	return out
}

func (c counts) since(earlier counts) counts {
	out := counts{}
	for what, now := range c {
		if diff := now.Since(earlier[what]); len(diff.Calls) > 0 {
			out[what] = diff
		}
	}
	return out
}

// sum adds up what a selection of calls cost.
func (c counts) sum(of func(what string) bool) (calls int, write, read float64) {
	for what, n := range c {
		if !of(what) {
			continue
		}
		for _, k := range n.Calls {
			calls += k
		}
		write += n.WriteUnits + float64(n.ConditionsFailed) // which cost what a write would, at least
		read += n.ReadUnits
	}
	return calls, write, read
}

// table lists everything, for each of n.
func (c counts) table(n float64) string {
	var lines strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c)) {
		lines.WriteString("    " + strings.TrimSpace(what) + ":")
		for _, op := range slices.Sorted(maps.Keys(c[what].Calls)) {
			_, name, _ := strings.Cut(op, ".")
			lines.WriteString(formatted(float64(c[what].Calls[op])/n, name))
		}
		_, write, read := c.sum(func(w string) bool { return w == what })
		lines.WriteString(formatted(write/n, "write units") + formatted(read/n, "read units") + "\n")
	}
	return lines.String()
}

func formatted(v float64, unit string) string {
	if v == 0 {
		return ""
	}
	text, err := json.Marshal(float64(int(v*100+.5)) / 100)
	if err != nil {
		panic(err) // it is a number
	}
	return " " + string(text) + " " + unit
}

// counter sends the calls of one party through the tally.
type counter struct {
	a   *account
	who bench.Who
}

func (c counter) RoundTrip(req *http.Request) (*http.Response, error) {
	body := []byte{}
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	if strings.Contains(req.Header.Get("X-Amz-Target"), "SQS") { // notifications are the table's: one configuration, two services
		out.URL.Host = strings.TrimPrefix(c.a.sqs, "http://")
		out.Host = out.URL.Host
	}
	return c.a.of(string(c.who) + " " + about(req.Header.Get("X-Amz-Target"), body)).RoundTrip(out)
}

// about names the records or the queue that a call is about.
func about(target string, body []byte) string {
	type key struct{ SK struct{ S string } }
	var in struct {
		Item, Key    key
		RequestItems map[string]struct{ Keys []key }
		QueueUrl     string
		QueueName    string
	}
	if target == "" {
		return "EC2"
	}
	if json.Unmarshal(body, &in) != nil {
		return "?"
	}
	queue := in.QueueUrl + in.QueueName
	switch {
	case strings.HasSuffix(queue, "-events"):
		return "notifications"
	case queue != "":
		return "pool"
	}
	kinds := map[string]bool{in.Item.SK.S + in.Key.SK.S: true}
	for _, batch := range in.RequestItems {
		for _, k := range batch.Keys {
			kinds[k.SK.S] = true
		}
	}
	delete(kinds, "")
	name := strings.Join(slices.Sorted(maps.Keys(kinds)), "+")
	return strings.ReplaceAll(name, "TYPE#", "")
}
