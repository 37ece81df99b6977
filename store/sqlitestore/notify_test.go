package sqlitestore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

func keyNamed(name string) store.Key { return store.Key{Partition: name, Sort: "TYPE#Test"} }

// watch starts a watch that ends before the test does, and returns the names it is notified of.
func watch(t *testing.T, table *sqlitestore.Table) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	seen := make(chan string, 100_000)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := table.Watch(ctx, func(k store.Key) { seen <- k.Partition }); err != nil {
			t.Errorf("Watch() error = %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if err := table.Close(); err != nil {
			t.Errorf("Close() error = %v", err)
		}
	})
	return seen
}

// listening notifies of "start" through table until it is read: from then on none is missed.
func listening(t *testing.T, table *sqlitestore.Table, seen <-chan string) {
	t.Helper()
	for {
		if err := table.Notify(t.Context(), keyNamed("start")); err != nil {
			t.Fatal(err)
		}
		select {
		case name := <-seen:
			if name != "start" {
				t.Fatalf("got %q, want only what came since", name)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// next returns the first name that is not "start".
func next(seen <-chan string) string {
	for name := range seen {
		if name != "start" {
			return name
		}
	}
	return ""
}

// A notification of another process is read. How soon is a matter of the poll: see the test of its clock.
func TestWatch_OtherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	table := open(t, path, clock.RealClock{})
	seen := watch(t, table)
	listening(t, table, seen)

	child := command(t, path)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for n := range 11 {
		name := fmt.Sprintf("key-%d", n)
		if _, err := fmt.Fprintln(in, name); err != nil {
			t.Fatal(err)
		}
		if got := next(seen); got != name {
			t.Fatalf("got %q, want %q", got, name)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
}

// Within a process a notification is read at once, not at the next poll: no virtual time passes.
func TestWatch_OwnProcessAtOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := open(t, ":memory:", clock.RealClock{})
		seen := watch(t, table)
		synctest.Wait()
		start := time.Now()
		for n := range 3 {
			if err := table.Notify(t.Context(), keyNamed(fmt.Sprint(n)), keyNamed("too")); err != nil {
				t.Fatal(err)
			}
			if got, too := <-seen, <-seen; got != fmt.Sprint(n) || too != "too" {
				t.Errorf("got %q and %q, want %d and too", got, too, n)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %s of virtual time, want none", took)
		}
	})
}

// Nothing polls a database that no other process can reach, so a day of virtual time is free.
func TestWatch_MemoryIdlesWithoutTicks(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		clk := countingClock{WithTicker: clock.RealClock{}, tickers: new(int)}
		seen := watch(t, open(t, ":memory:", clk))
		time.Sleep(24 * time.Hour)
		if *clk.tickers != 0 || len(seen) != 0 {
			t.Errorf("tickers = %d, notifications = %d, want none", *clk.tickers, len(seen))
		}
	})
}

type countingClock struct {
	clock.WithTicker
	tickers *int
}

func (c countingClock) NewTicker(d time.Duration) clock.Ticker {
	*c.tickers++
	return c.WithTicker.NewTicker(d)
}

// The poll follows the injected clock, and only it. Every 20 ms, so that others are read within 100.
func TestWatch_PollsByTheInjectedClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	table, other := open(t, path, clk), open(t, path, clock.RealClock{})
	defer other.Close()
	seen := watch(t, table)
	listening(t, table, seen) // by the bell: the clock stands still
	if err := other.Notify(t.Context(), keyNamed("other")); err != nil {
		t.Fatal(err)
	}
	select {
	case name := <-seen:
		if name != "start" {
			t.Errorf("got %q before the clock moved", name)
		}
	case <-time.After(100 * time.Millisecond):
	}
	clk.Step(20 * time.Millisecond)
	if got := next(seen); got != "other" {
		t.Errorf("got %q, want other", got)
	}
}

func TestWatch_DoesNotReplay(t *testing.T) {
	table := open(t, filepath.Join(t.TempDir(), "r.db"), clock.RealClock{})
	if err := table.Notify(t.Context(), keyNamed("before")); err != nil {
		t.Fatal(err)
	}
	seen := watch(t, table)
	listening(t, table, seen)
	if err := table.Notify(t.Context(), keyNamed("after")); err != nil {
		t.Fatal(err)
	}
	if got := next(seen); got != "after" {
		t.Errorf("got %q, want only what came after the start", got)
	}
}

func TestWatch_EveryWatcherSeesAllInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	tables := []*sqlitestore.Table{open(t, path, clock.RealClock{}), open(t, path, clock.RealClock{})}
	var seen []<-chan string
	for _, table := range tables {
		seen = append(seen, watch(t, table))
		listening(t, table, seen[len(seen)-1])
	}
	const many = 1200 // several pages and a pruning
	var want []string
	var keys []store.Key
	for n := range many {
		want = append(want, fmt.Sprint(n))
		keys = append(keys, keyNamed(want[n]))
	}
	if err := tables[0].Notify(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	for w, names := range seen {
		var got []string
		for len(got) < many {
			got = append(got, next(names))
		}
		if !slices.Equal(got, want) {
			t.Errorf("watcher %d did not see 0 to %d in order", w, many-1)
		}
	}
}
