package dynamostore_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

func TestMain(m *testing.M) { awstest.Main(m) }

// roundTrip is an http.RoundTripper in one function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// target is what a request calls, such as DynamoDB_20120810.PutItem or AmazonSQS.SendMessage.
func target(r *http.Request) string { return r.Header.Get("X-Amz-Target") }

// config returns the configuration of DynamoDB at one endpoint and SQS at another, and lets around see every
// request.
func config(t testing.TB, dynamo, queues string, around func(next http.RoundTripper) http.RoundTripper) aws.Config {
	t.Helper()
	cfg := awstest.Config(t, dynamo)
	to, err := url.Parse(queues)
	if err != nil {
		t.Fatal(err)
	}
	below := &http.Transport{}
	t.Cleanup(below.CloseIdleConnections)
	var transport http.RoundTripper = roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(target(r), "AmazonSQS.") {
			r = r.Clone(r.Context())
			r.URL.Scheme, r.URL.Host, r.Host = to.Scheme, to.Host, to.Host
		}
		return below.RoundTrip(r)
	})
	if around != nil {
		transport = around(transport)
	}
	cfg.HTTPClient = awscfg.PlainBodies(&http.Client{Transport: transport})
	return cfg
}

// local returns the configuration of DynamoDB Local with the queues of moto.
func local(t testing.TB, around func(http.RoundTripper) http.RoundTripper) aws.Config {
	t.Helper()
	return config(t, awstest.DynamoDBLocal(t), awstest.Moto(t), around)
}

// moto returns the configuration of moto alone. Its writes are made one after the other: two at once into a
// new partition may each make it, and one item is lost; nor is its conditional write one step
// (moto/dynamodb/models: update_item; table.py: put_item). That writes do not lose each other is
// shown with DynamoDB Local.
func moto(t testing.TB) aws.Config {
	t.Helper()
	var writing sync.Mutex
	return config(t, awstest.Moto(t), awstest.Moto(t), func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			switch target(r) {
			case "DynamoDB_20120810.PutItem", "DynamoDB_20120810.UpdateItem":
				writing.Lock()
				defer writing.Unlock()
			}
			return next.RoundTrip(r)
		})
	})
}

// create makes a table of its own for t and removes it when t ends. It returns its URL.
func create(t testing.TB, cfg aws.Config) *url.URL {
	t.Helper()
	u := &url.URL{Scheme: "dynamodb", Host: awstest.Name(t)}
	table := open(t, u, cfg, clock.RealClock{})
	if _, err := table.Ensure(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := dynamodb.NewFromConfig(cfg).DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &u.Host})
		if err != nil {
			t.Logf("delete table: %v", err)
		}
	})
	return u
}

// open opens a table that is patient with what stands in for AWS.
func open(t testing.TB, u *url.URL, cfg aws.Config, clk clock.WithTicker) *dynamostore.Table {
	t.Helper()
	return impatient(t, u, cfg, clk).Patient()
}

// impatient opens a table with the product's limits.
func impatient(t testing.TB, u *url.URL, cfg aws.Config, clk clock.WithTicker) *dynamostore.Table {
	t.Helper()
	table, err := dynamostore.Open(t.Context(), u, cfg, clk, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// fresh returns a new table on cfg.
func fresh(t testing.TB, cfg aws.Config) *dynamostore.Table {
	t.Helper()
	return open(t, create(t, cfg), cfg, clock.RealClock{})
}

func key(n int) store.Key {
	return store.Key{Partition: fmt.Sprintf("TEST#%05d", n), Sort: "TYPE#Test"}
}

func tableURL(name string) *url.URL { return &url.URL{Scheme: "dynamodb", Host: name} }
