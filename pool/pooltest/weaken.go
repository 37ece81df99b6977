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

// Weakness is how much of what the contract allows a weakened Pool does. All but Seed are chances
// from 0 to 1 per call or message. With the same seed, the same calls in the same order meet the
// same faults; a test prints it when it fails.
type Weakness struct {
	Seed      uint64
	Duplicate float64 // a received message is delivered again, though held
	Resurrect float64 // a deleted message comes back
	Reorder   float64 // a batch comes shuffled
	Late      float64 // an offered message stays unseen for some calls, while later ones are seen
	Empty     float64 // Receive returns nothing, at once, whatever the queue holds
	LostReply float64 // Offer or Done takes effect and returns an error
	Refused   float64 // a call has no effect and returns an error
}

// Lying is a Weakness as bad as SQS could be on its worst day.
func Lying(seed uint64) Weakness {
	return Weakness{
		Seed: seed, Duplicate: 0.1, Resurrect: 0.1, Reorder: 0.5, Late: 0.2, Empty: 0.3, LostReply: 0.1, Refused: 0.05,
	}
}

// Weaken returns p as weak as w says. Closing it closes p.
func Weaken(p pool.Pool, w Weakness) pool.Pool {
	return &weak{
		Pool: p, w: w, rand: rand.New(rand.NewPCG(w.Seed, 0x5eed)), held: make(map[string]pool.Ticket),
	}
}

// maxHeld bounds the receipts that a weakened Pool remembers in order to resurrect their messages.
const maxHeld = 4096

type weak struct {
	pool.Pool
	w Weakness

	mu   sync.Mutex
	rand *rand.Rand
	late []pool.Ticket          // offered, not yet passed on
	held map[string]pool.Ticket // by receipt
}

// chance is true with probability p.
func (w *weak) chance(p float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.Float64() < p
}

// Offer implements pool.Pool.
func (w *weak) Offer(ctx context.Context, t pool.Ticket) error {
	if w.chance(w.w.Refused) {
		return fmt.Errorf("offer: %w, not done", ErrFault)
	}
	if _, err := pool.Encode(t); err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if w.chance(w.w.Late) {
		w.mu.Lock()
		w.late = append(w.late, t)
		w.mu.Unlock()
	} else if err := w.Pool.Offer(ctx, t); err != nil {
		return err
	}
	if w.chance(w.w.LostReply) {
		return fmt.Errorf("offer: %w, done", ErrFault)
	}
	return nil
}

// Receive implements pool.Pool.
func (w *weak) Receive(ctx context.Context, class string, limit int, hold, wait time.Duration) ([]pool.Delivery, error) {
	if err := w.deliverLate(ctx); err != nil {
		return nil, err
	}
	if w.chance(w.w.Refused) {
		return nil, fmt.Errorf("receive: %w", ErrFault)
	}
	if w.chance(w.w.Empty) {
		return nil, errors.Join(pool.CheckReceive(limit, hold, wait), ctx.Err())
	}
	out, err := w.Pool.Receive(ctx, class, limit, hold, wait)
	if err != nil {
		return nil, err
	}
	for _, d := range out {
		if w.chance(w.w.Duplicate) {
			if err := w.Pool.Offer(ctx, d.Ticket); err != nil {
				return nil, err
			}
		}
	}
	shuffle := w.chance(w.w.Reorder)
	w.mu.Lock()
	defer w.mu.Unlock()
	if shuffle {
		w.rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	if len(w.held) > maxHeld {
		clear(w.held)
	}
	for _, d := range out {
		w.held[d.Receipt] = d.Ticket
	}
	return out, nil
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
	if w.chance(w.w.Refused) {
		return fmt.Errorf("done: %w, not done", ErrFault)
	}
	if err := w.Pool.Done(ctx, class, receipts...); err != nil {
		return err
	}
	for _, r := range receipts {
		w.mu.Lock()
		t, known := w.held[r]
		delete(w.held, r)
		w.mu.Unlock()
		if known && w.chance(w.w.Resurrect) {
			t.ResourceClass = class // the queue it was in
			if err := w.Pool.Offer(ctx, t); err != nil {
				return err
			}
		}
	}
	if w.chance(w.w.LostReply) {
		return fmt.Errorf("done: %w, done", ErrFault)
	}
	return nil
}
