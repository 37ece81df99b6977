package pool_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
)

// The seeds and sizes of the simulation. 100 seeds make the 10^6 selections of G3 in docs/goals.md.
var (
	lyingSeed       = flag.Uint64("lying.seed", 1, "first seed of the simulation")
	lyingSeeds      = flag.Uint64("lying.seeds", 10, "number of seeds")
	lyingSelections = flag.Int("lying.selections", 10_000, "selections per seed")
)

// A queue that repeats, reorders, delays, resurrects, denies and forgets costs no selection: none
// misses a match that the records hold, none gets what they do not. G3, S43-S45, S48, S50, H11, H20
func TestPickup_G3_LyingQueueChangesNoAnswer(t *testing.T) {
	for seed := *lyingSeed; seed < *lyingSeed+*lyingSeeds; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			for w.selections < *lyingSelections {
				w.step()
			}
			w.settle()
			if w.hits < w.selections/10 || w.selections-w.hits < w.selections/10 {
				t.Errorf("%d of %d selections found something: the simulation proves little", w.hits, w.selections)
			}
		})
	}
}

// world is the truth (records) beside a Pickup on a lying queue.
type world struct {
	t          *testing.T
	seed       uint64
	rand       *rand.Rand
	clock      *clocktesting.FakeClock
	messages   *pooltest.Memory
	queue      pool.Pool // messages, with lies
	pickup     *pool.Pickup
	serial     int
	idle       map[string]pool.Ticket // records that are idle and pooled
	busy       []pool.Ticket          // records of owned instances
	taken      []pool.Ticket          // claims under way
	selections int
	hits       int
}

func newWorld(t *testing.T, seed uint64) *world {
	clk := clocktesting.NewFakeClock(epoch)
	messages := pooltest.NewMemory(clk)
	w := &world{
		t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 3)), clock: clk, idle: map[string]pool.Ticket{},
		messages: messages, queue: pooltest.Weaken(messages, seed),
	}
	w.boot()
	return w
}

// boot starts a controller, which scans the records.
func (w *world) boot() {
	w.pickup = pickupOn(w.queue, w.clock)
	for _, t := range w.idle {
		w.pickup.Put(t)
	}
}

var (
	worldClasses = []string{"small", "large"}
	worldUsages  = []string{"spot", "on-demand"}
	worldTypes   = []string{"c6i.large", "c6g.large", "m5.large", "m6i.xlarge", "r6i.large", "t3.large"}
	worldGlobs   = []string{"*", "c*", "c6*.large", "m*.large", "r6i.large", "*.XLARGE", "z*"}
)

func pick[T any](w *world, from []T) T { return from[w.rand.IntN(len(from))] }

func (w *world) step() {
	ctx := w.t.Context()
	switch n := w.rand.IntN(100); {
	case n < 40:
		w.selectOne()
	case n < 48:
		w.launch()
	case n < 58:
		w.release(ctx)
	case n < 68:
		w.endClaim(true)
	case n < 71:
		w.endClaim(false)
	case n < 73:
		w.dieIdle()
	case n < 95:
		w.faultless(w.pickup.ReceiveOnce(ctx, pick(w, worldClasses), w.look))
	case n < 96 && w.rand.IntN(100) == 0: // kill -9: claims under way are as if they had never been
		for _, t := range w.taken {
			w.idle[t.InstanceID] = t
		}
		w.taken = nil
		w.boot()
	default:
		w.clock.Step(time.Duration(w.rand.IntN(2000)) * time.Millisecond)
	}
}

// faultless accepts no error but the queue's lies.
func (w *world) faultless(err error) {
	if err != nil && !errors.Is(err, pooltest.ErrFault) {
		w.t.Fatalf("seed %d: %v", w.seed, err)
	}
}

// look brings the index in step with a record. Claims under way are idle by their record, too.
func (w *world) look(id string) {
	if t, ok := w.idle[id]; ok {
		w.pickup.Put(t)
		return
	}
	if i := slices.IndexFunc(w.taken, func(t pool.Ticket) bool { return t.InstanceID == id }); i >= 0 {
		w.pickup.Put(w.taken[i])
		return
	}
	w.pickup.Drop(id)
}

func (w *world) launch() {
	if len(w.idle)+len(w.busy)+len(w.taken) >= 60 {
		return
	}
	w.serial++
	w.busy = append(w.busy, pool.Ticket{
		InstanceID: fmt.Sprintf("i-%d", w.serial), UsageClass: pick(w, worldUsages), InstanceType: pick(w, worldTypes),
		CPU: 2 << w.rand.IntN(2), Mem: 1024 << w.rand.IntN(3), ResourceClass: pick(w, worldClasses),
	})
}

// release pools an instance: record, index, message. Now and then the message lies as well.
func (w *world) release(ctx context.Context) {
	if len(w.busy) == 0 {
		return
	}
	i := w.rand.IntN(len(w.busy))
	t := w.busy[i]
	w.busy = slices.Delete(w.busy, i, i+1)
	t.Threshold = w.clock.Now().Add(time.Duration(1+w.rand.IntN(60)) * time.Second)
	w.idle[t.InstanceID] = t
	w.pickup.Put(t)
	message := t
	if w.rand.IntN(4) == 0 {
		message.Mem, message.InstanceType, message.Threshold = 1<<20, "z1d.large", t.Threshold.Add(time.Hour)
	}
	w.faultless(w.pickup.Offer(ctx, message))
}

// endClaim ends one claim under way: won, or not made.
func (w *world) endClaim(won bool) {
	if len(w.taken) == 0 {
		return
	}
	i := w.rand.IntN(len(w.taken))
	t := w.taken[i]
	w.taken = slices.Delete(w.taken, i, i+1)
	if won && t.Threshold.After(w.clock.Now()) {
		w.busy = append(w.busy, t)
		w.pickup.Drop(t.InstanceID)
		return
	}
	w.idle[t.InstanceID] = t
	w.pickup.Return(t.InstanceID)
}

func (w *world) dieIdle() {
	ids := slices.Sorted(maps.Keys(w.idle)) // sorted, so that a seed means the same every time
	if len(ids) == 0 {
		return
	}
	id := pick(w, ids)
	delete(w.idle, id)
	w.pickup.Drop(id)
}

// best is what a search of all records finds.
func (w *world) best(q pool.Query) (best pool.Ticket, found bool) {
	rank := func(t pool.Ticket) int { return slices.Index(q.UsageClasses, t.UsageClass) }
	for _, t := range w.idle {
		if !t.Threshold.After(w.clock.Now()) || !q.Matches(t) {
			continue
		}
		if !found || rank(t) < rank(best) || rank(t) == rank(best) &&
			(t.Threshold.Before(best.Threshold) || t.Threshold.Equal(best.Threshold) && t.InstanceID < best.InstanceID) {
			best, found = t, true
		}
	}
	return best, found
}

// selectOne is one selection of a new request.
func (w *world) selectOne() {
	w.selections++
	q := pool.Query{
		ResourceClass: pick(w, worldClasses), UsageClasses: slices.Clone(worldUsages), CPU: 2 << w.rand.IntN(2),
		Mem: 1024 << w.rand.IntN(3), AllowedTypes: []string{pick(w, worldGlobs), pick(w, worldGlobs)},
	}
	w.rand.Shuffle(2, func(i, j int) { q.UsageClasses[i], q.UsageClasses[j] = q.UsageClasses[j], q.UsageClasses[i] })
	q.UsageClasses = q.UsageClasses[:1+w.rand.IntN(2)]
	who := fmt.Sprintf("r-%d", w.selections)
	defer w.pickup.Forget(who)
	want, exists := w.best(q)
	got, ok := w.pickup.Take(q, who, nil)
	switch {
	case exists && !ok:
		w.t.Fatalf("seed %d, selection %d: missed match %+v for %+v", w.seed, w.selections, want, q)
	case ok && (!exists || got != want):
		w.t.Fatalf("seed %d, selection %d: wrong match %+v for %+v, want %+v", w.seed, w.selections, got, q, want)
	case ok:
		w.hits++
		delete(w.idle, got.InstanceID)
		w.taken = append(w.taken, got)
	}
}

// settle lets everything come to rest and compares both sides. S44
func (w *world) settle() {
	for len(w.taken) > 0 {
		w.endClaim(false)
	}
	want := 0
	for _, t := range w.idle {
		if t.Threshold.After(w.clock.Now()) {
			want++
		}
	}
	if got := w.pickup.Sizes().Available; got != want {
		w.t.Errorf("seed %d: %d candidates at rest, want %d", w.seed, got, want)
	}
	for id := range w.idle {
		delete(w.idle, id)
		w.pickup.Drop(id)
	}
	// No instance is idle: in the end no message is left, though deleted ones come back.
	for n := 0; w.messages.Len("small")+w.messages.Len("large") > 0; n++ {
		if n == 2000 {
			w.t.Fatalf("seed %d: messages are left", w.seed)
		}
		for _, class := range worldClasses {
			w.faultless(w.pickup.ReceiveOnce(w.t.Context(), class, w.look))
		}
		w.clock.Step(time.Second)
	}
	if s := w.pickup.Sizes(); s.Available+s.Taken != 0 {
		w.t.Errorf("seed %d: Sizes = %+v, want nothing left", w.seed, s)
	}
}
