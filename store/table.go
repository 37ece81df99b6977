// Package store keeps remuda's records: requests and their status, instances, heartbeats,
// signals, launches, the lease and drain orders.
//
// Table is the contract a back end implements: items under two-part keys, in one table without
// an index. Store, on top of any Table, gives the records their types and enforces their rules:
// it is the only way to write one. The contract is written for the weakest back end (DynamoDB);
// see docs/architecture.md#store and docs/data-model.md.
package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Key addresses one item. Partition names its owner, Sort its kind.
type Key struct {
	Partition string
	Sort      string
}

// Item is the stored form of a record.
type Item struct {
	Key        Key
	Version    int64     // at least 1; items written unconditionally carry 0
	ExpiresAt  time.Time // zero: never. Whole seconds. From then on the item counts as absent.
	Attributes []byte    // one JSON object without key, version and expiry
	Broken     error     // why what is stored could not be read; the item has only its key then
}

// Valid says why no back end may put the item over version expect: ErrInvalid.
func (i Item) Valid(expect int64) error {
	var wrong string
	switch {
	case i.Key.Partition == "" || i.Key.Sort == "":
		wrong = "both parts of the key must be set"
	case expect < Unconditional:
		wrong = fmt.Sprintf("the expected version must not be negative, got %d", expect)
	case expect == Unconditional && i.Version != 0:
		wrong = fmt.Sprintf("an unconditional item has version 0, got %d", i.Version)
	case expect != Unconditional && i.Version != expect+1:
		wrong = fmt.Sprintf("version must be %d, got %d", expect+1, i.Version)
	case !i.ExpiresAt.Equal(i.ExpiresAt.Truncate(time.Second)):
		wrong = fmt.Sprintf("expiresAt must be in whole seconds, got %s", i.ExpiresAt.UTC())
	case !bytes.HasPrefix(bytes.TrimLeft(i.Attributes, " \t\r\n"), []byte("{")) || !json.Valid(i.Attributes):
		wrong = "attributes must be one JSON object"
	default:
		return nil
	}
	return fmt.Errorf("put %s %s: %w: %s", i.Key.Partition, i.Key.Sort, ErrInvalid, wrong)
}

// Consistency of a read.
type Consistency int

// Eventual reads may return the state before the last writes. Consistent reads never do.
const (
	Eventual Consistency = iota
	Consistent
)

// Unconditional as the expected version of a Put makes it so.
const Unconditional int64 = -1

// Table stores items. All methods are safe for concurrent use and by several processes at once.
//
// An item whose expiry is none (ErrExpiry) counts as absent for Put, and is returned by Get and Scan as Broken.
//
// Errors: ErrConflict, ErrInvalid and ErrRefused are definite, nothing was changed. After any other
// error of Put the outcome is unknown; repeating the identical call is always right.
type Table interface {
	// Get returns the items found, in no order. Absent and expired ones are left out. Any number
	// of keys may be asked for.
	Get(ctx context.Context, c Consistency, keys ...Key) ([]Item, error)
	// Put stores the whole item if the stored version is expect (0: absent or expired; Unconditional:
	// whatever it is). Otherwise it changes nothing and returns a *ConflictError carrying the
	// stored item. The caller sets item.Version; a conditional Put needs expect+1 there.
	Put(ctx context.Context, item Item, expect int64) error
	// Scan calls yield for every item, in no order, read consistently; items written meanwhile
	// may or may not appear. It stops at the first error of yield and returns it.
	Scan(ctx context.Context, yield func(Item) error) error
	// Notify tells one watcher, in whatever process, that the items under keys deserve a look.
	Notify(ctx context.Context, keys ...Key) error
	// Watch calls notify for each key notified of, until ctx ends, and then returns nil. A notification may be
	// lost, repeated or late, and reaches one watcher only: it is a hint.
	Watch(ctx context.Context, notify func(Key)) error
	// Close releases what Open took. Calls after it fail.
	Close() error
}
