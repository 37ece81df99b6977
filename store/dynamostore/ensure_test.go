package dynamostore_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

// wantSteps checks the actions of an Ensure on the table and its queue.
func wantSteps(t *testing.T, when string, table *dynamostore.Table, apply bool, want ...ensure.Action) []ensure.Step {
	t.Helper()
	steps, err := table.Ensure(t.Context(), apply)
	if err != nil {
		t.Fatalf("%s: Ensure() error = %v", when, err)
	}
	var got []ensure.Action
	for _, s := range steps {
		got = append(got, s.Action)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: Ensure(%t) = %v, actions (-want +got):\n%s", when, apply, steps, diff)
	}
	return steps
}

// Ensure creates what is missing, repairs what differs, and then has nothing to do; without apply it changes
// nothing. H55 H69
func TestEnsure_H69(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]aws.Config{"DynamoDBLocal": local(t, nil), "Moto": moto(t)} {
		t.Run(name, func(t *testing.T) {
			u := tableURL(awstest.Name(t))
			table := open(t, u, cfg, clock.RealClock{})
			defer table.Close()
			wantSteps(t, "dry run", table, false, ensure.WouldCreate, ensure.WouldCreate)
			wantSteps(t, "dry run again", table, false, ensure.WouldCreate, ensure.WouldCreate)
			steps := wantSteps(t, "first", table, true, ensure.Created, ensure.Created)
			if steps[0].Resource != "table "+u.Host || steps[1].Resource != "queue "+u.Host+"-events" {
				t.Errorf("steps = %v", steps)
			}
			wantSteps(t, "second", table, true, ensure.Unchanged, ensure.Unchanged)

			db := dynamodb.NewFromConfig(cfg)
			out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &u.Host})
			if err != nil || out.Table.TableStatus != types.TableStatusActive || out.Table.BillingModeSummary == nil ||
				out.Table.BillingModeSummary.BillingMode != types.BillingModePayPerRequest || len(out.Table.GlobalSecondaryIndexes) != 0 || out.Table.StreamSpecification != nil {
				t.Errorf("table = %+v, %v, want it active, on demand, without index and stream", out.Table, err)
			}
			spoil(t, cfg, u.Host)
			steps = wantSteps(t, "dry run on a spoilt queue", table, false, ensure.WouldUpdate, ensure.WouldUpdate)
			if !strings.Contains(steps[1].Detail, `MessageRetentionPeriod "60" becomes "3600"`) || strings.Contains(steps[1].Detail, "WaitTime") || !strings.Contains(steps[0].Detail, "expiresAt") {
				t.Errorf("details = %q, %q, want what differs and nothing else", steps[0].Detail, steps[1].Detail)
			}
			wantSteps(t, "mending", table, true, ensure.Updated, ensure.Updated)
			wantSteps(t, "after mending", table, true, ensure.Unchanged, ensure.Unchanged)
		})
	}
}

// spoil turns time to live off and changes the queue, as an operator may.
func spoil(t *testing.T, cfg aws.Config, name string) {
	t.Helper()
	_, err := dynamodb.NewFromConfig(cfg).UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: &name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expiresAt"), Enabled: aws.Bool(false)},
	})
	if err != nil {
		t.Fatal(err)
	}
	setQueue(t, cfg, name, "MessageRetentionPeriod", "60")
}

// A table and a queue that others made are put right, in one Ensure.
func TestEnsure_WhatOthersMade(t *testing.T) {
	cfg := local(t, nil)
	u, db := tableURL(awstest.Name(t)), dynamodb.NewFromConfig(cfg)
	in := &dynamodb.CreateTableInput{TableName: &u.Host, BillingMode: types.BillingModeProvisioned,
		ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)},
		StreamSpecification:   &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly}}
	for name, kind := range map[string]types.KeyType{"PK": types.KeyTypeHash, "SK": types.KeyTypeRange} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind})
	}
	slices.SortFunc(in.KeySchema, func(a, b types.KeySchemaElement) int { return strings.Compare(*a.AttributeName, *b.AttributeName) })
	if _, err := db.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	table := open(t, u, cfg, clock.RealClock{})
	defer table.Close()
	want := "billing mode PROVISIONED becomes PAY_PER_REQUEST, stream off, time to live on expiresAt"
	if steps := wantSteps(t, "dry run", table, false, ensure.WouldUpdate, ensure.WouldCreate); steps[0].Detail != want {
		t.Errorf("detail = %q, want %q", steps[0].Detail, want)
	}
	if steps := wantSteps(t, "mending", table, true, ensure.Updated, ensure.Created); steps[0].Detail != want {
		t.Errorf("detail = %q, want %q", steps[0].Detail, want)
	}
	setQueue(t, cfg, u.Host, "DelaySeconds", "900") // notifications come 15 min late
	steps := wantSteps(t, "a queue that delays", table, true, ensure.Unchanged, ensure.Updated)
	if steps[1].Detail != `DelaySeconds "900" becomes "0"` {
		t.Errorf("detail = %q, want the delay", steps[1].Detail)
	}
	out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &u.Host})
	if err != nil || out.Table.BillingModeSummary.BillingMode != types.BillingModePayPerRequest || out.Table.StreamSpecification != nil {
		t.Errorf("table = %+v, %v, want it on demand and without stream", out.Table, err)
	}
}

// Two at once both succeed: `remuda init` and a controller, say.
func TestEnsure_TwoAtOnce(t *testing.T) {
	cfg := local(t, nil)
	u := tableURL(awstest.Name(t))
	table := open(t, u, cfg, clock.RealClock{})
	defer table.Close()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if steps, err := table.Ensure(t.Context(), true); err != nil || len(steps) != 2 {
				t.Errorf("Ensure() = %v, %v, want two steps", steps, err)
			}
		})
	}
	wg.Wait()
	wantSteps(t, "afterwards", table, true, ensure.Unchanged, ensure.Unchanged)
}

// A table of another owner is left alone, and the queue is seen to all the same. H53
func TestEnsure_ForeignTable_H53(t *testing.T) {
	cfg := local(t, nil)
	u := tableURL(awstest.Name(t))
	_, err := dynamodb.NewFromConfig(cfg).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &u.Host, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeN}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	table := open(t, u, cfg, clock.RealClock{})
	defer table.Close()
	for _, apply := range []bool{false, true} {
		steps, err := table.Ensure(t.Context(), apply)
		if !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), "its key is id (number), must be PK (string), SK (string)") || len(steps) != 1 {
			t.Errorf("Ensure(%t) = %v, %v, want the queue's step and what is wrong with the table", apply, steps, err)
		}
	}
}

// A missing permission is named, whichever it is, and nothing more is done.
func TestEnsure_NamesTheMissingPermission(t *testing.T) {
	for _, call := range []string{
		"DescribeTable", "CreateTable", "DescribeTimeToLive", "UpdateTimeToLive", "GetQueueUrl", "CreateQueue",
	} {
		t.Run(call, func(t *testing.T) {
			cfg := local(t, func(next http.RoundTripper) http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					if strings.HasSuffix(target(r), "."+call) {
						return coded(r, 400, "AccessDeniedException"), nil
					}
					return next.RoundTrip(r)
				})
			})
			table := open(t, tableURL(awstest.Name(t)), cfg, clock.RealClock{})
			defer table.Close()
			steps, err := table.Ensure(t.Context(), true)
			if !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), ":"+call) || !strings.Contains(err.Error(), "allow ") || len(steps) != 1 {
				t.Errorf("Ensure() = %v, %v, want one step and the permission", steps, err)
			}
		})
	}
}

func TestOpen_BadURL(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"sqlite:///x.db", "scheme"},
		{"dynamodb://", "table"},
		{"dynamodb://ab", "table"},
		{"dynamodb://remuda/other", "form"},
		{"dynamodb://user@remuda", "form"},
		{"dynamodb://remuda?events=a.b", "events"},
		{"dynamodb://re.muda", "events"},
		{"dynamodb://" + strings.Repeat("x", 100), "events"},
		{"dynamodb://remuda?regio=eu-west-1", "regio"},
		{"dynamodb://remuda?region=a&region=b", "region"},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = dynamostore.Open(t.Context(), u, aws.Config{Region: "eu-west-1"}, clock.RealClock{}, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Open(%s) error = %v, want it to name %s", tt.url, err, tt.want)
		}
	}
	u := &url.URL{Scheme: "dynamodb", Host: "re.muda", RawQuery: "region=eu-central-1&events=notifications"}
	if _, err := dynamostore.Open(t.Context(), u, aws.Config{}, clock.RealClock{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Errorf("Open(%s) error = %v", u, err)
	}
}

// Remove deletes what Ensure made, once; a dry run only says so.
func TestRemove(t *testing.T) {
	t.Parallel()
	table := open(t, tableURL(awstest.Name(t)), moto(t), clock.RealClock{})
	defer table.Close()
	wantSteps(t, "first", table, true, ensure.Created, ensure.Created)
	for _, try := range []struct {
		apply bool
		want  []ensure.Action
	}{
		{false, []ensure.Action{ensure.WouldDelete, ensure.WouldDelete}}, {true, []ensure.Action{ensure.Deleted, ensure.Deleted}}, {true, nil},
	} {
		steps, err := table.Remove(t.Context(), try.apply)
		var got []ensure.Action
		for _, s := range steps {
			got = append(got, s.Action)
		}
		if err != nil || !slices.Equal(got, try.want) {
			t.Fatalf("Remove(%t) = %v, %v, want %v", try.apply, steps, err, try.want)
		}
	}
	wantSteps(t, "afterwards", table, false, ensure.WouldCreate, ensure.WouldCreate)
}
