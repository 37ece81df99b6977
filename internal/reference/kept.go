package reference

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// remoteLife is how long a value of AWS is taken for good. A new one counts a minute after it was stored; Secrets Manager asks
// $0.05 for 10,000 readings (its price list, 2026), which makes $0.22 a month for each controller.
const remoteLife = time.Minute

// Kept is what one reference names, read anew: a file each time, what AWS keeps once a minute. While it cannot be read, what
// was read last stands, as an outage of the service that keeps a secret is no reason to be without. It is safe for concurrent use.
type Kept struct {
	Reader *Reader
	Text   string // the reference
	Clock  clock.PassiveClock

	mu    sync.Mutex // held while reading: the others want the same answer
	value []byte
	until time.Time
}

// Get returns the present value.
func (k *Kept) Get(ctx context.Context) ([]byte, error) {
	if !Remote(k.Text) {
		return k.Reader.Read(ctx, k.Text)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.Clock.Now()
	if k.value != nil && now.Before(k.until) {
		return k.value, nil
	}
	value, err := k.Reader.Read(ctx, k.Text)
	if err != nil && k.value == nil {
		return nil, err
	}
	if err == nil {
		k.value = value
	}
	k.until = now.Add(remoteLife)
	return k.value, nil
}
