package pool_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
)

// running is a Pickup at work in a bubble of virtual time.
type running struct {
	*pool.Pickup
	mem   *pooltest.Memory
	calls *counting

	mu      sync.Mutex
	classes []string
	records map[string]pool.Ticket // idle and pooled
	stop    func()
}

// run runs test with a Pickup whose Run is at work, and ends it. Thresholds count from now.
func run(t *testing.T, test func(t *testing.T, r *running)) {
	bubbletest.Run(t, func(t *testing.T) {
		mem := pooltest.NewMemory(clock.RealClock{})
		r := &running{mem: mem, calls: &counting{Pool: mem}, classes: []string{"medium"}, records: map[string]pool.Ticket{}}
		r.Pickup = pickupOn(r.calls, clock.RealClock{}, pool.PickupOptions{})
		r.start(t)
		test(t, r)
		r.stop()
	})
}

// start starts Run; stop ends it and waits.
func (r *running) start(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx, r.classList, r.lookup) }()
	var once sync.Once
	r.stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run = %v, want nil", err)
			}
		})
	}
}

func (r *running) classList() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.classes
}

// setClasses names the classes and waits until Run has noticed.
func (r *running) setClasses(classes ...string) {
	r.mu.Lock()
	r.classes = classes
	r.mu.Unlock()
	time.Sleep(6 * time.Second)
}

func (r *running) lookup(id string) (pool.Ticket, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.records[id]
	return t, ok
}

// idle makes the record of t say that it is idle and pooled, for life.
func (r *running) idle(t pool.Ticket, life time.Duration) pool.Ticket {
	t.Threshold = time.Now().UTC().Truncate(time.Millisecond).Add(life)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records[t.InstanceID] = t
	return t
}

func (r *running) inject(t *testing.T, class string, tickets ...pool.Ticket) {
	t.Helper()
	for _, ticket := range tickets {
		body, err := pool.Encode(ticket)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.mem.Inject(t.Context(), class, body); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait()
}

// A message brings an instance to mind; the record says what it is. H14, H15, S45
func TestRun_S45_H14_RecordSuppliesAttributes(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		record := r.idle(spot(1), time.Minute)
		message := record
		message.Mem, message.Threshold = 1<<20, message.Threshold.Add(time.Hour)
		r.inject(t, "medium", message)
		if got, ok := r.Take(query(), "r", nil); !ok || got != record {
			t.Errorf("Take = %+v, %t, want %+v", got, ok, record)
		}
	})
}

// Messages of instances that are not idle disappear, and make nobody a candidate. S48, H22
func TestRun_S48_ZombiesAreDeleted(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		late := r.idle(spot(30), 0) // its record has expired, nobody noticed
		for n := range 25 {
			r.inject(t, "medium", spot(n))
		}
		r.inject(t, "medium", late)
		time.Sleep(3 * time.Second)
		if n := r.mem.Len("medium"); n != 0 {
			t.Errorf("%d messages of 26 are left", n)
		}
		if s := r.Stats(); s.Available != 0 || s.Stale != 26 || s.Received != 26 || s.Deleted != 26 {
			t.Errorf("Stats = %+v, want none available of 26 received, stale and deleted", s)
		}
		if n := r.calls.done("medium"); n > 4 {
			t.Errorf("26 messages deleted by %d calls, want batches", n)
		}
	})
}

// While the instance is idle its message stays in the queue, so that a crash loses nothing; then it
// is deleted. H11, S50
func TestRun_H11_MessageOutlivesTake(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		ticket := r.idle(spot(1), time.Hour)
		if err := r.Offer(t.Context(), ticket); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		take(t, r.Pickup, query(), "r", "i-001")
		time.Sleep(time.Minute)
		if n := r.mem.Len("medium"); n != 1 {
			t.Fatalf("%d messages while the claim is open, want 1", n)
		}

		r.stop() // a crash; the next controller knows nothing but the record and the queue
		r.Pickup = pickupOn(r.calls, clock.RealClock{}, pool.PickupOptions{})
		r.start(t)
		time.Sleep(pool.DefaultIdleLimit)
		take(t, r.Pickup, query(), "r", "i-001")

		r.Drop("i-001")
		time.Sleep(2 * time.Second)
		if n := r.mem.Len("medium"); n != 0 {
			t.Errorf("%d messages after Drop, want 0", n)
		}
	})
}

// Candidates expire although nobody asks, and their messages go. S48
func TestRun_S48_ExpiresUnasked(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		r.inject(t, "medium", r.idle(spot(1), time.Minute))
		time.Sleep(time.Minute + 5*time.Second)
		if n := r.mem.Len("medium"); n != 0 {
			t.Errorf("%d messages of an expired candidate are left", n)
		}
	})
}

// The queue repeats itself: a bounded number of receipts is kept, and all copies are deleted.
func TestRun_DuplicatesAreBounded(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		ticket := r.idle(spot(1), time.Hour)
		for range pool.MaxReceipts + 5 {
			r.inject(t, "medium", ticket)
		}
		time.Sleep(2 * time.Second)
		if n := r.mem.Len("medium"); n != pool.MaxReceipts {
			t.Errorf("%d messages kept for one candidate, want %d", n, pool.MaxReceipts)
		}
		r.Drop("i-001")
		time.Sleep(2 * time.Second)
		if n := r.mem.Len("medium"); n != 0 {
			t.Errorf("%d messages after Drop, want 0", n)
		}
	})
}

// A message in the queue of another class refreshes by its record, and is deleted where it came from. S43
func TestRun_S43_MessageInWrongQueue(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		r.setClasses("large", "medium")
		r.inject(t, "large", r.idle(spot(1), time.Hour))
		wrong := query()
		wrong.ResourceClass = "large"
		take(t, r.Pickup, wrong, "r", "")
		take(t, r.Pickup, query(), "r", "i-001")
		r.Drop("i-001")
		time.Sleep(2 * time.Second)
		if n := r.mem.Len("large"); n != 0 {
			t.Errorf("%d messages left in the wrong queue", n)
		}
	})
}

// A Drop between lookup and its use is not undone by what was looked up before. S44
func TestRun_S44_DropDuringLookupWins(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		mem := pooltest.NewMemory(clock.RealClock{})
		p := pickupOn(mem, clock.RealClock{}, pool.PickupOptions{})
		ticket := spot(1)
		ticket.Threshold = time.Now().Add(time.Hour)
		if err := mem.Offer(t.Context(), ticket); err != nil {
			t.Fatal(err)
		}
		lookups := 0
		err := p.ReceiveOnce(t.Context(), "medium", func(id string) (pool.Ticket, bool) {
			lookups++
			if lookups == 1 {
				p.Drop(id) // claimed by another worker, just now
				return ticket, true
			}
			return pool.Ticket{}, false
		})
		if err != nil || lookups != 2 || p.Len() != 0 {
			t.Errorf("error %v, %d lookups, %d candidates; want nil, 2, 0", err, lookups, p.Len())
		}
	})
}

// Classes come and go.
func TestRun_FollowsTheClasses(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		r.setClasses("medium", "large")
		r.inject(t, "large", spot(1))
		time.Sleep(2 * time.Second)
		if n := r.mem.Len("large"); n != 0 {
			t.Error("messages of a new class are not received")
		}
		r.setClasses("large")
		before := r.calls.received()["medium"]
		time.Sleep(time.Hour)
		if n := r.calls.received()["medium"]; n != before {
			t.Errorf("%d receives from a removed class", n-before)
		}
		many := make([]string, pool.MaxReceivers+44)
		for n := range many {
			many[n] = fmt.Sprintf("class-%03d", n)
		}
		r.setClasses(many...)
		if n := len(r.calls.received()) - 2; n != pool.MaxReceivers {
			t.Errorf("receives from %d classes, want %d", n, pool.MaxReceivers)
		}
	})
}

// Errors are retried ever less often, for ever, and class by class. H53
func TestRun_H53_ErrorsBackOffAndEndNothing(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		var down sync.Map
		fail := func(class string) error {
			if _, ok := down.Load(class); ok {
				return errors.New("queue is down")
			}
			return nil
		}
		r.stop()
		r.calls.receiveErr, r.calls.doneErr = fail, fail
		r.start(t)
		r.setClasses("medium", "large")

		r.inject(t, "large", r.idle(spot(1), time.Hour))
		down.Store("large", true)
		r.Drop("i-001") // its message cannot be deleted now
		r.mu.Lock()
		delete(r.records, "i-001")
		r.mu.Unlock()
		receives, dones := r.calls.received()["large"], r.calls.done("large")
		r.inject(t, "medium", spot(2)) // a zombie elsewhere
		time.Sleep(time.Hour)
		if n := r.mem.Len("medium"); n != 0 {
			t.Error("the failure of one class keeps another's messages from deletion")
		}
		// Pauses grow to 30 s, half as much at random: 80 to 240 in an hour, and some at first.
		if n := r.calls.received()["large"] - receives; n < 60 || n > 300 {
			t.Errorf("%d receives from a failing queue in an hour", n)
		}
		if n := r.calls.done("large") - dones; n < 60 || n > 300 {
			t.Errorf("%d deletions from a failing queue in an hour", n)
		}
		down.Clear()
		time.Sleep(time.Hour)
		if n := r.mem.Len("large"); n != 0 {
			t.Error("messages are left after the queue has recovered")
		}
	})
}

// hasty never waits and never has anything.
type hasty struct{ pool.Pool }

func (hasty) Receive(context.Context, string, int, time.Duration, time.Duration) ([]pool.Delivery, error) {
	return nil, nil
}

// A queue that is empty at once is not asked without pause. S56
func TestRun_S56_NoHotLoopOnEmptyAnswers(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		r.stop()
		r.calls.Pool = hasty{r.mem}
		before := r.calls.total()
		r.start(t)
		time.Sleep(time.Minute)
		if n := r.calls.total() - before; n < 55 || n > 65 {
			t.Errorf("%d calls in a minute of empty answers, want one per second", n)
		}
	})
}

// The end waits for everything that Run started, and for what it still has to delete.
func TestRun_EndsCleanly(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		r.inject(t, "medium", r.idle(spot(1), time.Hour), r.idle(spot(2), time.Hour))
		r.Drop("i-001")
		r.stop()
		if n := r.mem.Len("medium"); n != 1 {
			t.Errorf("%d messages after the end, want that of the idle instance only", n)
		}
		r.calls.doneErr = func(string) error { return errors.New("queue is down") }
		r.start(t)
		synctest.Wait()
		r.Drop("i-002")
		r.stop() // nor does it hang when deleting fails
		if s := r.Stats(); s.Discards != 1 {
			t.Errorf("Stats().Discards = %d, want the one that could not be deleted", s.Discards)
		}
	})
}

// A failing queue costs a call per worker and round, not one per batch, and what it holds is kept.
func TestPickup_FailingQueueIsLeftAlone(t *testing.T) {
	var now atomic.Int32
	calls := &counting{Pool: pooltest.NewMemory(clock.RealClock{})}
	var meet chan struct{}
	calls.doneErr = func(string) error {
		now.Add(1)
		defer now.Add(-1)
		<-meet // until the test has seen all that come at once
		return errors.New("queue is down")
	}
	p := pickupOn(calls, clock.RealClock{}, pool.PickupOptions{})
	p.Discard("large", 500)
	bubbletest.Run(t, func(t *testing.T) {
		meet = make(chan struct{})
		ended := make(chan error)
		go func() { ended <- p.DeleteOnce(t.Context()) }()
		synctest.Wait()
		if n := now.Load(); n != pool.DiscardWorkers {
			t.Errorf("%d deletions at once, want %d", n, pool.DiscardWorkers)
		}
		close(meet)
		if err := <-ended; err == nil {
			t.Error("DeleteOnce = nil, want the queue's error")
		}
	})
	if n := calls.done("large"); n != pool.DiscardWorkers {
		t.Errorf("%d calls in one round, want %d", n, pool.DiscardWorkers)
	}
	if n := p.Stats().Discards; n != 500 {
		t.Errorf("%d messages wait for deletion, want 500", n)
	}
}

// What cannot be deleted is forgotten beyond a bound: it comes back by itself.
func TestPickup_DiscardsAreBounded(t *testing.T) {
	p, _ := newPickup(pool.PickupOptions{})
	p.Discard("medium", pool.MaxDiscards-1)
	p.Discard("large", 5)
	if n := p.Stats().Discards; n != pool.MaxDiscards {
		t.Errorf("Stats().Discards = %d, want %d", n, pool.MaxDiscards)
	}
	if err := p.DeleteOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Discards != 0 || s.Deleted != pool.MaxDiscards {
		t.Errorf("Stats = %+v, want all deleted", s)
	}
}
