package faults_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/faults"
)

// A client of its own process sees a broken connection, not an answer.
func TestProxy_BreaksTheConnection(t *testing.T) {
	up := newUpstream(t, "{}")
	endpoint, tr := faults.Proxy(t, up.URL, faults.Faults{Rules: []faults.Rule{{Op: "sqs.SendMessage", Kind: faults.LostReply, Rate: 1, Limit: 1}}})
	direct := &http.Transport{}
	defer direct.CloseIdleConnections()
	if got := do(t, direct, endpoint, "sqs.SendMessage", nil); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "EOF") {
		t.Errorf("SendMessage = %s, want a connection that ends", got)
	}
	if n := up.served(); n != 1 {
		t.Errorf("the service got %d calls, want 1", n)
	}
	if got := do(t, direct, endpoint, "sqs.SendMessage", nil); got != "200 {}" {
		t.Errorf("second SendMessage = %s, want 200 {}", got)
	}
	tr.MustFire(t)
	want := faults.Counts{Calls: map[string]int{"sqs.SendMessage": 2}}
	if diff := cmp.Diff(want, tr.Counter().Snapshot()); diff != "" {
		t.Errorf("Snapshot() (-want +got):\n%s", diff)
	}
}

// With the service of AWS itself: the SDK's own retry meets the lost reply, and units add up.
func TestProxy_CountsUnitsOfDynamoDB(t *testing.T) {
	endpoint, tr := faults.Proxy(t, awstest.DynamoDBLocal(t), faults.Faults{
		AskCapacity: true, Rules: []faults.Rule{{Op: "dynamodb.PutItem", Kind: faults.LostReply, Rate: 1, Limit: 1}},
	})
	client := dynamodb.NewFromConfig(awstest.Config(t, endpoint))
	table := aws.String(awstest.Name(t))
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatalf("CreateTable() error = %v", err)
	}
	before := tr.Counter().Snapshot()
	item := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "a"}}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: item}); err != nil {
		t.Errorf("PutItem() error = %v", err)
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: table, Item: item, ConditionExpression: aws.String("attribute_not_exists(PK)"),
	}); err == nil {
		t.Error("PutItem() of what exists: error = nil, want a failed condition")
	}
	if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: table, Key: item, ConsistentRead: aws.Bool(true)}); err != nil {
		t.Errorf("GetItem() error = %v", err)
	}
	if _, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{*table: {Keys: []map[string]types.AttributeValue{item}}},
	}); err != nil {
		t.Errorf("BatchGetItem() error = %v", err)
	}
	got := tr.Counter().Snapshot().Since(before)
	want := faults.Counts{
		Calls:     map[string]int{"dynamodb.PutItem": 3, "dynamodb.GetItem": 1, "dynamodb.BatchGetItem": 1},
		ReadUnits: 1.5, WriteUnits: 2, ConditionsFailed: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	tr.MustFire(t)
}
