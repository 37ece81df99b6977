package dynamostore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/lazyregexp"
	"github.com/remuda-run/remuda/internal/sqsqueue"
)

// Table implements store.Table.
type Table struct {
	name   string // of the table
	db     *dynamodb.Client
	queue  sqsqueue.Queue // of notifications
	clock  clock.WithTicker
	log    *slog.Logger
	closed atomic.Bool

	itemLimit time.Duration // of one try of an item's call
	pageLimit time.Duration // of one try of a scan's
}

// Forms of names (DynamoDB, "Naming rules"; SQS, CreateQueue).
var (
	tableForm = lazyregexp.New(`^[A-Za-z0-9_.-]{3,255}$`)
	queueForm = lazyregexp.New(`^[A-Za-z0-9_-]{1,80}$`)
)

// Open returns the table that u names: dynamodb://<table>?region=<region>&events=<queue>. Region is that of
// cfg unless given, events <table>-events. Nothing is called and nothing is created: see Ensure. The caller
// closes it.
func Open(_ context.Context, u *url.URL, cfg aws.Config, clk clock.WithTicker, log *slog.Logger) (*Table, error) {
	t := &Table{name: u.Host, clock: clk, log: log, itemLimit: itemTimeout, pageLimit: pageTimeout}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	t.queue.Name, t.queue.Attributes, t.queue.Limit = cmp.Or(query.Get("events"), t.name+"-events"), queueAttributes, queueTimeout
	if err := t.validate(u, query); err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	// The SDK repeats nothing. Of a write, package store must know that its outcome is unknown before it
	// repeats it: a repeated write that meets itself would look like a conflict (H13). And only
	// the caller knows how long a call may take.
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	if region := query.Get("region"); region != "" {
		cfg.Region = region
	}
	t.db, t.queue.API = dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg)
	return t, nil
}

func (t *Table) validate(u *url.URL, query url.Values) error {
	var errs []error
	if u.Scheme != "dynamodb" {
		errs = append(errs, fmt.Errorf("scheme: must be dynamodb, got %q", u.Scheme))
	}
	if !tableForm().MatchString(t.name) {
		errs = append(errs, fmt.Errorf("table: must be 3 to 255 of A-Z, a-z, 0-9, _, . and -, got %q", t.name))
	}
	if (u.Path != "" && u.Path != "/") || u.User != nil || u.Fragment != "" {
		errs = append(errs, errors.New("must have the form dynamodb://<table>?region=<region>&events=<queue>"))
	}
	if !queueForm().MatchString(t.queue.Name) {
		errs = append(errs, fmt.Errorf("events: must be 1 to 80 of A-Z, a-z, 0-9, _ and -, got %q; name one by ?events=", t.queue.Name))
	}
	for name, values := range query {
		if (name != "region" && name != "events") || len(values) != 1 {
			errs = append(errs, fmt.Errorf("query: may have one region and one events, got %s=%q", name, values))
		}
	}
	return errors.Join(errs...)
}

// Close implements store.Table. Calls under way go on; idle connections are closed if cfg's client can.
func (t *Table) Close() error {
	t.closed.Store(true)
	if c, ok := t.db.Options().HTTPClient.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
	return nil
}

// errClosed is the error of calls after Close. It is no kind of package store: nothing cures it.
var errClosed = errors.New("the table is closed")

func (t *Table) usable() error {
	if t.closed.Load() {
		return fmt.Errorf("table %s: %w", t.name, errClosed)
	}
	return nil
}
