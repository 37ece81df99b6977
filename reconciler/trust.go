package reconciler

import (
	"context"
	"fmt"

	"github.com/remuda-run/remuda/store"
)

// trustedTable refuses writes outside the window of trust. Reads pass.
type trustedTable struct {
	store.Table
	trust func() bool
}

// Put sends the write only while the lease is ours beyond doubt. Should it arrive late all the
// same, its condition decides.
func (t trustedTable) Put(ctx context.Context, item store.Item, expect int64) error {
	if !t.trust() {
		return fmt.Errorf("put %s: %w", item.Key.Partition, store.ErrNotLeader)
	}
	return t.Table.Put(ctx, item, expect)
}
