package sim

import (
	"bytes"
	"context"
	"fmt"

	"github.com/remuda-run/remuda/store"
)

// decoded is a store of which everything is read again and again, for the audit: what has not changed since is not decoded
// again, which took a quarter of the time of a story with many machines.
type decoded struct {
	*store.Store

	table store.Table
	known map[store.Key]known
}

// known is a record as it was last decoded.
type known struct {
	item store.Item
	tell func(store.Visitor)
}

// of reports whether that was of an item as it is now. Heartbeats have no versions.
func (k known) of(item store.Item) bool {
	return k.tell != nil && item.Broken == nil && k.item.Version == item.Version && k.item.ExpiresAt.Equal(item.ExpiresAt) &&
		bytes.Equal(k.item.Attributes, item.Attributes)
}

func newDecoded(table store.Table) decoded {
	return decoded{store.New(table), table, map[store.Key]known{}}
}

// Scan implements audit.Records.
func (d decoded) Scan(ctx context.Context, v store.Visitor) error {
	err := d.table.Scan(ctx, func(item store.Item) error {
		have := d.known[item.Key]
		if !have.of(item) {
			var err error
			if have, err = decode(ctx, item); err != nil {
				return err
			}
			d.known[item.Key] = have
		}
		have.tell(v)
		return nil
	})
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	return nil
}

// decode reads one item as a *store.Store does.
func decode(ctx context.Context, item store.Item) (known, error) {
	k := known{item, func(store.Visitor) {}}
	err := store.New(single{item: item}).Scan(ctx, store.Visitor{
		Request:   func(r store.RunRequest) { k.tell = func(v store.Visitor) { v.Request(r) } },
		Client:    func(c store.RunClient) { k.tell = func(v store.Visitor) { v.Client(c) } },
		Status:    func(st store.RunStatus) { k.tell = func(v store.Visitor) { v.Status(st) } },
		Instance:  func(in store.Instance) { k.tell = func(v store.Visitor) { v.Instance(in) } },
		Heartbeat: func(h store.Heartbeat) { k.tell = func(v store.Visitor) { v.Heartbeat(h) } },
		Signal:    func(s store.Signal) { k.tell = func(v store.Visitor) { v.Signal(s) } },
		Launch:    func(l store.Launch) { k.tell = func(v store.Visitor) { v.Launch(l) } },
		Drain:     func(o store.DrainOrder) { k.tell = func(v store.Visitor) { v.Drain(o) } },
		Bad:       func(key store.Key, err error) { k.tell = func(v store.Visitor) { v.Bad(key, err) } },
	})
	return k, err
}

// single is a table with one item.
type single struct {
	store.Table

	item store.Item
}

// Scan implements store.Table.
func (s single) Scan(_ context.Context, yield func(store.Item) error) error { return yield(s.item) }
