package dynamostore

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Patient lets a call take minutes: what stands in for DynamoDB and SQS shares the machine with all other tests, and moto
// reads its whole table for each page. It goes on with a call that was given up, so that giving up makes it slower.
func (t *Table) Patient() *Table {
	t.itemLimit, t.pageLimit, t.queueLimit = 5*time.Minute, 5*time.Minute, time.Minute
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
