// Package dynamostore keeps the items of package store in one DynamoDB table and notifies over an SQS
// queue. The table has no index and no stream; docs/data-model.md#dynamodb describes the form of an item.
//
// It is the weakest back end the contract was written for: eventual reads may be stale, a notification may be
// lost or repeated and reaches one watcher only, and the outcome of a write can stay unknown. The SDK
// repeats nothing here: Store.Put of package store repeats writes and knows its own again, reads are
// repeated a few times by this package, notifications are hints. See docs/architecture.md#store.
package dynamostore
