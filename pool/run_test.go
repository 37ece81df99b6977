package pool_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
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
	records map[string]pool.Ticket // idle and pooled
	stop    func()
}

// run runs test with a Pickup whose Run is at work, and ends it. Thresholds count from now.
func run(t *testing.T, test func(t *testing.T, r *running)) {
	bubbletest.Run(t, func(t *testing.T) {
		mem := pooltest.NewMemory(clock.RealClock{})
		r := &running{mem: mem, calls: &counting{Pool: mem}, records: map[string]pool.Ticket{}}
		r.Pickup = pickupOn(r.calls, clock.RealClock{})
		r.start(t)
		test(t, r)
		r.stop()
	})
}

// start starts Run; stop ends it and waits.
func (r *running) start(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx, []string{"large", "medium"}, r.look) }()
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

// look brings the index in step with a record, as its owner does.
func (r *running) look(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := r.records[id]; ok {
		r.Put(t)
	} else {
		r.Drop(id)
	}
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

// Messages of instances that are not idle disappear, and make no instance a candidate. S48, H22
func TestRun_S48_ZombiesAreDeleted(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		late := r.idle(spot(30), 0) // its record has expired, no one noticed
		for n := range 25 {
			r.inject(t, "medium", spot(n))
		}
		r.inject(t, "medium", late)
		time.Sleep(3 * time.Second)
		if n := r.mem.Len("medium"); n != 0 {
			t.Errorf("%d messages of 26 are left", n)
		}
		if n := r.Kept(); n != 0 {
			t.Errorf("%d candidates, want none", n)
		}
	})
}

// A message is deleted once its record was looked at. What the index holds it holds by the record: a controller that
// begins anew, after kill -9 say, finds all of it there, and an empty queue hides nothing. H11, S44, S45, S50
func TestRun_H11_RestartWithAnEmptyQueue_S44_S45_S50(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		for n := range 2 {
			r.inject(t, "medium", r.idle(spot(n), time.Hour))
		}
		time.Sleep(time.Second)
		if n := r.mem.Len("medium"); n != 0 {
			t.Fatalf("%d messages are left of what was looked at", n)
		}
		take(t, r.Pickup, query(), "r", "i-000") // the claim is open

		r.stop()
		r.Pickup = pickupOn(r.calls, clock.RealClock{})
		for id := range r.records {
			r.look(id) // as the first scan does
		}
		r.start(t)
		for n := range 2 {
			want := r.records[spot(n).InstanceID]
			if got, ok := r.Take(query(), "r", nil); !ok || got != want {
				t.Errorf("Take = %+v, %t, want %+v", got, ok, want)
			}
		}
		take(t, r.Pickup, query(), "other", "")
	})
}

// A message that could not be deleted comes again, and changes nothing. S48
func TestRun_S48_UndeletedComesAgain(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		var down atomic.Bool
		down.Store(true)
		r.stop()
		r.calls.doneErr = func(string) error {
			if down.Load() {
				return errors.New("queue is down")
			}
			return nil
		}
		r.start(t)
		r.inject(t, "medium", r.idle(spot(1), time.Hour))
		take(t, r.Pickup, query(), "r", "i-001")
		time.Sleep(3 * pool.Hold)
		take(t, r.Pickup, query(), "other", "") // taken it stays, however often its message comes
		down.Store(false)
		time.Sleep(2 * pool.Hold)
		if n := r.mem.Len("medium"); n != 0 {
			t.Errorf("%d messages are left after the queue has recovered", n)
		}
	})
}

// Candidates expire although no one asks. S48
func TestRun_S48_ExpiresUnasked(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		r.inject(t, "medium", r.idle(spot(1), time.Minute))
		time.Sleep(time.Minute + 5*time.Second)
		if n := r.Kept(); n != 0 {
			t.Errorf("%d expired candidates are kept", n)
		}
	})
}

// A message in the queue of another class refreshes by its record, and is deleted where it came from. S43
func TestRun_S43_MessageInWrongQueue(t *testing.T) {
	run(t, func(t *testing.T, r *running) {
		r.inject(t, "large", r.idle(spot(1), time.Hour))
		wrong := query()
		wrong.ResourceClass = "large"
		take(t, r.Pickup, wrong, "r", "")
		take(t, r.Pickup, query(), "r", "i-001")
		if n := r.mem.Len("large"); n != 0 {
			t.Errorf("%d messages left in the wrong queue", n)
		}
	})
}

// A malformed message is deleted like any other, says so, and keeps nothing from the good one behind it. H21, H22
func TestRun_H21_H22_Malformed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log bytes.Buffer
		mem := pooltest.NewMemory(clock.RealClock{})
		p := pool.NewPickup(mem, clock.RealClock{}, slog.New(slog.NewTextHandler(&log, nil)))
		bad := []string{"", "no json", "{}", "[]", `{"instanceId":7}`, `{"instanceId":"i-x","threshold":"soon"}`, "\x00"}
		for _, body := range append(bad, `{"instanceId":"i-001"}`) {
			if err := mem.Inject(t.Context(), "medium", body); err != nil {
				t.Fatal(err)
			}
		}
		var looked []string
		if err := p.ReceiveOnce(t.Context(), "medium", func(id string) { looked = append(looked, id) }); err != nil {
			t.Fatal(err)
		}
		if n := mem.Len("medium"); n != 0 || !slices.Equal(looked, []string{"i-001"}) {
			t.Errorf("%d messages are left, looked at %q, want none and i-001", n, looked)
		}
		if n := strings.Count(log.String(), "a malformed message was removed from the pool's queue"); n != len(bad) || !strings.Contains(log.String(), "resource_class=medium") {
			t.Errorf("%d removals logged of %d:\n%s", n, len(bad), log.String())
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
		r.calls.receiveErr = fail
		r.start(t)
		down.Store("large", true)
		r.inject(t, "large", spot(1))
		receives := r.calls.received()["large"]
		r.inject(t, "medium", spot(2)) // a zombie elsewhere
		time.Sleep(time.Hour)
		if n := r.mem.Len("medium"); n != 0 {
			t.Error("the failure of one class keeps another's messages from deletion")
		}
		// Pauses grow to 30 s, half as much at random: 80 to 240 in an hour, and some at first.
		if n := r.calls.received()["large"] - receives; n < 60 || n > 300 {
			t.Errorf("%d receives from a failing queue in an hour", n)
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

func (hasty) Receive(context.Context, string, time.Duration, time.Duration) ([]pool.Message, error) {
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
		if n := r.calls.total() - before; n < 110 || n > 130 {
			t.Errorf("%d calls in a minute of empty answers from two queues, want one per second from each", n)
		}
	})
}
