// Package dynamostore keeps the items of package store in one DynamoDB table and rings over an SQS
// queue. The table has no index and no stream; docs/data-model.md#dynamodb tells the form of an item.
//
// It is the weakest back end the contract was written for: eventual reads may be stale, a ring may be
// lost or repeated and reaches one watcher only, and the outcome of a write can stay unknown. The SDK
// repeats nothing here: Store.Put of package store repeats writes and knows its own again, reads are
// repeated a few times by this package, rings are hints. See docs/architecture.md#store.
package dynamostore
