// Package pool hands idle instances to run requests.
//
// The pool is an index of the records that may be claimed, Pickup: all claim workers draw from it, and the claim
// itself is the conditional write in package store. Pool is a doorbell beside it, with one queue per resource class:
// a message says that an instance's record is worth a look, and is deleted once it was looked at. Messages may repeat,
// reorder, arrive late, come back after they were deleted, or name an instance that is gone; an empty queue hides
// nothing. See docs/architecture.md#pool and docs/adr/0019.
package pool

import (
	"context"
	"time"
)

// Ticket describes one claimable instance. It is also the body of a message.
type Ticket struct {
	InstanceID    string    `json:"instanceId"`
	UsageClass    string    `json:"usageClass"`
	InstanceType  string    `json:"instanceType"`
	CPU           int       `json:"cpu"` // vCPUs
	Mem           int       `json:"mem"` // MiB
	ResourceClass string    `json:"resourceClass"`
	Threshold     time.Time `json:"threshold"` // UTC, whole milliseconds
}

// Message is one received message. Receipt is the back end's handle on it and is valid until the
// message becomes visible again.
type Message struct {
	Body    string
	Receipt string
}

// Limits of one Receive, those of SQS (SQS Developer Guide, "Message quotas").
const (
	MaxBatch = 10
	MaxWait  = 20 * time.Second
)

// Pool stores messages in a queue per resource class. A queue exists as soon as it is named. All
// methods are safe for concurrent use and by several processes at once.
type Pool interface {
	// Offer adds a message, Encode's, to the queue of t.ResourceClass. After an error it may have been added.
	Offer(ctx context.Context, t Ticket) error
	// Receive returns up to MaxBatch visible messages of class, whatever they say, and hides them for hold.
	// It waits up to wait (up to MaxWait) for the first; none is no error, and says little about the queue.
	Receive(ctx context.Context, class string, hold, wait time.Duration) ([]Message, error)
	// Done deletes messages of class, up to MaxBatch, by their receipts.
	Done(ctx context.Context, class string, receipts ...string) error
	// Close releases what Open took. Calls after it fail.
	Close() error
}
