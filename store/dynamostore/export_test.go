package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/remuda-run/remuda/store"
)

// batch is what one BatchWriteItem takes (API reference of DynamoDB).
const batch = 25

// Fill stores items in the form that Put gives them. The product has no use for BatchWriteItem, as it takes no
// conditions; for a test that only reads, ten thousand calls are minutes of moto.
func (t *Table) Fill(ctx context.Context, items ...store.Item) error {
	for some := range slices.Chunk(items, batch) {
		var puts []types.WriteRequest
		for _, item := range some {
			wire, err := encode(item)
			if err != nil {
				return err
			}
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: wire}})
		}
		out, err := t.db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{t.name: puts}})
		if err != nil {
			return err
		}
		if left := len(out.UnprocessedItems[t.name]); left > 0 {
			return fmt.Errorf("%d items were not stored", left)
		}
	}
	return nil
}

// Patient lets a call take minutes: what stands in for DynamoDB and SQS shares the machine with all other tests, and moto
// reads its whole table for each page. It goes on with a call that was given up, so that giving up makes it slower.
func (t *Table) Patient() *Table {
	t.itemLimit, t.pageLimit, t.queue.Limit = 5*time.Minute, 5*time.Minute, time.Minute
	return t
}

// SizeOf returns the size by which DynamoDB bills an item (DynamoDB, "Item sizes and formats").
func SizeOf(item attributes) int {
	n := 0
	for name, v := range item {
		n += len(name) + sizeOf(v)
	}
	return n
}

func sizeOf(v types.AttributeValue) int {
	const container, element = 3, 1
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return (len(v.Value)+1)/2 + 1
	case *types.AttributeValueMemberL:
		n := container
		for _, e := range v.Value {
			n += element + sizeOf(e)
		}
		return n
	case *types.AttributeValueMemberM:
		return container + element*len(v.Value) + SizeOf(v.Value)
	}
	return 1
}
