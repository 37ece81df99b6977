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
	"fmt"
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

// Delivery is one received message. Receipt is the back end's handle on it and is valid until the
// message becomes visible again.
type Delivery struct {
	Ticket  Ticket
	Receipt string
}

// Limits of a back end, those of SQS (SQS Developer Guide, "Message quotas").
const (
	MaxBatch = 10
	MaxHold  = 12 * time.Hour
	MaxWait  = 20 * time.Second
)

// Pool stores messages in a queue per resource class. A queue exists as soon as it is named. All
// methods are safe for concurrent use and by several processes at once.
type Pool interface {
	// Offer adds a message to the queue of t.ResourceClass. After an error it may have been added.
	Offer(ctx context.Context, t Ticket) error
	// Receive returns up to max (1 to MaxBatch) visible messages of class and hides them for hold
	// (up to MaxHold). It waits up to wait (up to MaxWait) for the first; none is no error, and says
	// little about the queue. Malformed messages are removed and never returned. Arguments that
	// CheckReceive refuses are an error.
	Receive(ctx context.Context, class string, max int, hold, wait time.Duration) ([]Delivery, error)
	// Done deletes messages of class. Receipts that are unknown or no longer valid are ignored.
	Done(ctx context.Context, class string, receipts ...string) error
	// Close releases what Open took. Calls after it fail.
	Close() error
}

// CheckReceive reports which argument of Pool.Receive is out of its range.
func CheckReceive(max int, hold, wait time.Duration) error {
	switch {
	case max < 1 || max > MaxBatch:
		return fmt.Errorf("max must be 1 to %d, got %d", MaxBatch, max)
	case hold < 0 || hold > MaxHold:
		return fmt.Errorf("hold must be 0 to %s, got %s", MaxHold, hold)
	case wait < 0 || wait > MaxWait:
		return fmt.Errorf("wait must be 0 to %s, got %s", MaxWait, wait)
	}
	return nil
}
