package sqlitepool_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
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
	out, err := p.Receive(t.Context(), "medium", pool.MaxBatch, hold, wait)
	if err != nil {
		t.Fatal(err)
	}
	var got, ids []string
	for _, d := range out {
		got, receipts = append(got, d.Ticket.InstanceID), append(receipts, d.Receipt)
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

// A held message is hidden to the millisecond, and its receipt is valid as long. S50
func TestReceive_S50_HoldIsExact(t *testing.T) {
	inMemory(t, func(t *testing.T, p *sqlitepool.Pool) {
		offer(t, p, 1)
		first := receive(t, p, time.Minute, 0, 1)
		time.Sleep(time.Minute - time.Millisecond)
		receive(t, p, time.Minute, 0)
		time.Sleep(time.Millisecond)
		if err := p.Done(t.Context(), "medium", first...); err != nil {
			t.Fatal(err)
		}
		second := receive(t, p, time.Minute, 0, 1) // the receipt came too late
		if err := p.Done(t.Context(), "medium", first...); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		third := receive(t, p, time.Minute, 0, 1) // nor does it fit the next hold
		if first[0] == second[0] || second[0] == third[0] {
			t.Errorf("receipts %v, %v, %v, want different ones", first, second, third)
		}
		if err := p.Done(t.Context(), "medium", third...); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		receive(t, p, time.Minute, 0)
	})
}

// A waiting Receive ends with the message: offered by this process, or coming back.
func TestReceive_WaitEndsWithTheMessage(t *testing.T) {
	inMemory(t, func(t *testing.T, p *sqlitepool.Pool) {
		start := time.Now()
		elapsed := func(want time.Duration) {
			t.Helper()
			if got := time.Since(start); got != want {
				t.Errorf("after %s, want %s", got, want)
			}
		}
		receive(t, p, time.Minute, pool.MaxWait)
		elapsed(20 * time.Second)
		done := make(chan struct{})
		go func() {
			defer close(done)
			receive(t, p, 5*time.Second, pool.MaxWait, 1)
			elapsed(23 * time.Second)
			receive(t, p, time.Minute, pool.MaxWait, 1)
			elapsed(28 * time.Second)
		}()
		time.Sleep(3 * time.Second)
		other := ticket(2)
		other.ResourceClass = "large"
		if err := p.Offer(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		offer(t, p, 1)
		<-done
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
				out, err := pools[worker%2].Receive(t.Context(), "medium", 3, time.Hour, 0)
				if err != nil {
					t.Error(err)
				}
				if len(out) == 0 {
					return // true, not only likely
				}
				mu.Lock()
				for _, d := range out {
					got[d.Ticket.InstanceID]++
					got[d.Receipt]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(got) != 2*messages {
		t.Errorf("%d ids and receipts of %d messages", len(got), messages)
	}
	for what, n := range got {
		if n != 1 {
			t.Errorf("%s received %d times", what, n)
		}
	}
}

// Malformed messages cost the caller nothing: it gets the good one behind them in the same call,
// and the log says what was removed. H21, H22
func TestReceive_H21_H22_Malformed(t *testing.T) { bubbletest.Run(t, malformed) }

func malformed(t *testing.T) {
	var log bytes.Buffer
	u := &url.URL{Scheme: "sqlite", Opaque: ":memory:"}
	p, err := sqlitepool.Open(t.Context(), u, clock.RealClock{}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for range 2*pool.MaxBatch + 1 {
		if err := p.Inject(t.Context(), "medium", "no json"); err != nil {
			t.Fatal(err)
		}
	}
	offer(t, p, 1)
	receive(t, p, time.Hour, 0, 1)
	time.Sleep(time.Hour)
	receive(t, p, time.Hour, 0, 1) // the others were not only hidden
	if n := strings.Count(log.String(), "malformed message removed"); n != 2*pool.MaxBatch+1 {
		t.Errorf("%d removals logged of %d:\n%s", n, 2*pool.MaxBatch+1, log.String())
	}
	if !strings.Contains(log.String(), "resource_class=medium") {
		t.Errorf("the log does not name the class:\n%s", log.String())
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
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
		if _, err := p.Receive(t.Context(), "medium", 1, time.Hour, pool.MaxWait); err == nil {
			t.Error("Receive of a pool that was closed meanwhile: got no error")
		}
		if got := time.Since(start); got != time.Second {
			t.Errorf("Receive ended after %s, want when the pool was closed", got)
		}
	})
}

func TestOpen_Refuses(t *testing.T) {
	for _, text := range []string{"sqs://prefix", "sqlite:///", "sqlite:///no/such/folder/remuda.db", "sqlite:///x.db?mode=ro"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := sqlitepool.Open(context.Background(), u, clock.RealClock{}, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("Open(%s) = %v, want an error", text, p)
		}
	}
}
