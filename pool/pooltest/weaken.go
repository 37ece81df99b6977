package pooltest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/remuda-run/remuda/pool"
)

// ErrFault is the cause of the errors that Weaken makes up.
var ErrFault = errors.New("made-up fault")

// How often a weakened Pool does what the contract allows, per call or message: as bad as SQS could be on its worst day.
const (
	duplicate = 0.1  // a received message is delivered again, though held
	resurrect = 0.1  // a deleted message comes back
	reorder   = 0.5  // a batch comes shuffled
	late      = 0.2  // an offered message stays unseen for some calls, while later ones are seen
	empty     = 0.3  // Receive returns nothing, at once, whatever the queue holds
	lostReply = 0.1  // Offer or Done takes effect and returns an error
	refused   = 0.05 // a call has no effect and returns an error
)

// Weaken returns p as weak as the contract allows. With the same seed, the same calls in the same order meet the
// same faults; a test prints it when it fails. Closing it closes p.
func Weaken(p pool.Pool, seed uint64) pool.Pool {
	return &weak{Pool: p, rand: rand.New(rand.NewPCG(seed, 0x5eed)), held: make(map[string]string)}
}

// maxHeld bounds the receipts that a weakened Pool remembers in order to resurrect their messages.
const maxHeld = 4096

type weak struct {
	pool.Pool

	mu   sync.Mutex
	rand *rand.Rand
	late []pool.Ticket     // offered, not yet passed on
	held map[string]string // bodies by receipt
}

// chance is true with probability p.
func (w *weak) chance(p float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.Float64() < p
}

// Offer implements pool.Pool.
func (w *weak) Offer(ctx context.Context, t pool.Ticket) error {
	if w.chance(refused) {
		return fmt.Errorf("offer: %w, not done", ErrFault)
	}
	if _, err := pool.Encode(t); err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if w.chance(late) {
		w.mu.Lock()
		w.late = append(w.late, t)
		w.mu.Unlock()
	} else if err := w.Pool.Offer(ctx, t); err != nil {
		return err
	}
	if w.chance(lostReply) {
		return fmt.Errorf("offer: %w, done", ErrFault)
	}
	return nil
}

// Receive implements pool.Pool.
func (w *weak) Receive(ctx context.Context, class string, hold, wait time.Duration) ([]pool.Message, error) {
	if err := w.deliverLate(ctx); err != nil {
		return nil, err
	}
	if w.chance(refused) {
		return nil, fmt.Errorf("receive: %w", ErrFault)
	}
	if w.chance(empty) {
		return nil, ctx.Err()
	}
	out, err := w.Pool.Receive(ctx, class, hold, wait)
	if err != nil {
		return nil, err
	}
	for _, m := range out {
		if w.chance(duplicate) {
			if err := w.again(ctx, class, m.Body); err != nil {
				return nil, err
			}
		}
	}
	shuffle := w.chance(reorder)
	w.mu.Lock()
	defer w.mu.Unlock()
	if shuffle {
		w.rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	if len(w.held) > maxHeld {
		clear(w.held)
	}
	for _, m := range out {
		w.held[m.Receipt] = m.Body
	}
	return out, nil
}

// again offers a message to the queue of class once more.
func (w *weak) again(ctx context.Context, class, body string) error {
	t, err := pool.Decode(body)
	if err != nil {
		return err
	}
	t.ResourceClass = class
	return w.Pool.Offer(ctx, t)
}

// deliverLate passes on what was kept back, more likely than not.
func (w *weak) deliverLate(ctx context.Context) error {
	if !w.chance(0.6) {
		return nil
	}
	w.mu.Lock()
	late := w.late
	w.late = nil
	w.mu.Unlock()
	for i, t := range late {
		if err := w.Pool.Offer(ctx, t); err != nil {
			w.mu.Lock()
			w.late = append(w.late, late[i:]...)
			w.mu.Unlock()
			return err
		}
	}
	return nil
}

// Done implements pool.Pool.
func (w *weak) Done(ctx context.Context, class string, receipts ...string) error {
	if w.chance(refused) {
		return fmt.Errorf("done: %w, not done", ErrFault)
	}
	if err := w.Pool.Done(ctx, class, receipts...); err != nil {
		return err
	}
	for _, r := range receipts {
		w.mu.Lock()
		body, known := w.held[r]
		delete(w.held, r)
		w.mu.Unlock()
		if known && w.chance(resurrect) {
			if err := w.again(ctx, class, body); err != nil {
				return err
			}
		}
	}
	if w.chance(lostReply) {
		return fmt.Errorf("done: %w, done", ErrFault)
	}
	return nil
}
