package reconciler

import (
	"errors"

	"github.com/remuda-run/remuda/store"
)

// badRecords reports the records that cannot be read.
type badRecords struct {
	*tenure
	cache   *cache
	limited *limitedLog // there may be any number of them
}

// badRecord isolates a record that cannot be read: it is reported and skipped (H70).
func (b *badRecords) badRecord(k store.Key, err error) {
	if p, ok := k.Principal(); ok && k.Sort == store.KindInstance && errors.Is(err, store.ErrExpiry) {
		if id, known := b.cache.instances.id(p); known {
			b.cache.instances.with(id, func(in *instance) {
				if in.stored.missingSince.IsZero() {
					in.stored.missingSince = b.clock.Now()
				}
			})
			b.cache.index.changed(id)
			b.queues.instances.Add(id)
		}
	}
	if id, due := b.cache.requests.unanswered(k); due && b.cache.requests.markChanged(id, b.clock.Now()) {
		b.queues.requests.Add(id)
	}
	cause := k.Sort
	if !store.KnownKind(cause) {
		cause = "" // anyone may make up kinds: they are one cause
	}
	b.limited.Error("a record breaks its rules and was skipped", cause, k.String(), err)
}
