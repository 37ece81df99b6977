package sqlitepool_test

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/sqlitepool"
)

func ticket(n int) pool.Ticket {
	return pool.Ticket{
		InstanceID: fmt.Sprintf("i-%03d", n), UsageClass: "spot", InstanceType: "c6i.large", CPU: 2, Mem: 4096,
		ResourceClass: "medium", Threshold: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC),
	}
}

func offer(t *testing.T, p pool.Pool, ns ...int) {
	t.Helper()
	for _, n := range ns {
		if err := p.Offer(t.Context(), ticket(n)); err != nil {
			t.Fatal(err)
		}
	}
}

// receive fails the test unless the messages that come are those of want, in that order.
func receive(t *testing.T, p pool.Pool, hold, wait time.Duration, want ...int) (receipts []string) {
	t.Helper()
	out, err := p.Receive(t.Context(), "medium", hold, wait)
	if err != nil {
		t.Fatal(err)
	}
	var got, ids []string
	for _, m := range out {
		one, err := pool.Decode(m.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, receipts = append(got, one.InstanceID), append(receipts, m.Receipt)
	}
	for _, n := range want {
		ids = append(ids, ticket(n).InstanceID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Fatalf("Receive (-want +got):\n%s", diff)
	}
	return receipts
}

// inMemory runs test in a bubble of virtual time.
func inMemory(t *testing.T, test func(t *testing.T, p *sqlitepool.Pool)) {
	bubbletest.Run(t, func(t *testing.T) { test(t, open(t, ":memory:")) })
}

// A held message is hidden to the millisecond. S50
func TestReceive_S50_HoldIsExact(t *testing.T) {
	inMemory(t, func(t *testing.T, p *sqlitepool.Pool) {
		offer(t, p, 1, 2)
		receive(t, p, time.Minute, 0, 1, 2)
		time.Sleep(time.Minute - time.Millisecond)
		receive(t, p, time.Minute, 0)
		time.Sleep(time.Millisecond)
		receipts := receive(t, p, time.Minute, 0, 1, 2)
		if err := p.Done(t.Context(), "medium", receipts[0]); err != nil {
			t.Fatal(err)
		}
		if err := p.Done(t.Context(), "large", receipts[1]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		receive(t, p, time.Minute, 0, 2) // of another class nothing was deleted
	})
}

// Another process's message is seen after a poll at the latest, and what is held when a process
// ends is there for the next. H11
func TestReceive_H11_OtherProcess(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "remuda.db")
		p, other := open(t, path), open(t, path)
		start := time.Now()
		time.AfterFunc(7*time.Second+time.Millisecond, func() { offer(t, other, 1) })
		receive(t, p, time.Minute, pool.MaxWait, 1)
		if late := time.Since(start) - 7*time.Second; late < 0 || late > sqlitepool.PollEvery {
			t.Errorf("message seen %s after it was offered, want %s at most", late, sqlitepool.PollEvery)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		receive(t, other, time.Minute, 0)
		time.Sleep(time.Minute)
		receive(t, open(t, path), time.Minute, 0, 1)
	})
}

// Any number of receivers in two processes: each message is in exactly one hand.
func TestReceive_OneHandAtATime(t *testing.T) {
	const messages = 100
	path := filepath.Join(t.TempDir(), "remuda.db")
	pools := []*sqlitepool.Pool{open(t, path), open(t, path)}
	for n := range messages {
		offer(t, pools[n%2], n)
	}
	var mu sync.Mutex
	got := map[string]int{}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for {
				out, err := pools[worker%2].Receive(t.Context(), "medium", time.Hour, 0)
				if err != nil {
					t.Error(err)
				}
				if len(out) == 0 {
					return // true, not only likely
				}
				mu.Lock()
				for _, m := range out {
					got[m.Body]++
					got[m.Receipt]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(got) != 2*messages {
		t.Errorf("%d bodies and receipts of %d messages", len(got), messages)
	}
	for what, n := range got {
		if n != 1 {
			t.Errorf("%s received %d times", what, n)
		}
	}
}

// Close ends a Receive that waits.
func TestClose_EndsWaiting(t *testing.T) {
	inMemory(t, func(t *testing.T, p *sqlitepool.Pool) {
		start := time.Now()
		time.AfterFunc(time.Second, func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		if _, err := p.Receive(t.Context(), "medium", time.Hour, pool.MaxWait); err == nil {
			t.Error("Receive of a pool that was closed meanwhile: got no error")
		}
		if late := time.Since(start) - time.Second; late < 0 || late > sqlitepool.PollEvery {
			t.Errorf("Receive ended %s after the pool was closed, want %s at most", late, sqlitepool.PollEvery)
		}
	})
}

func TestOpen_Refuses(t *testing.T) {
	for _, text := range []string{"sqs://prefix", "sqlite:///", "sqlite:///no/such/folder/remuda.db", "sqlite:///x.db?mode=ro"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := sqlitepool.Open(context.Background(), u, clock.RealClock{}); err == nil {
			t.Errorf("Open(%s) = %v, want an error", text, p)
		}
	}
}
