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

func ringKey(name string) store.Key { return store.Key{Partition: name, Sort: "TYPE#Test"} }

// watch starts a watch that ends before the test does, and returns the names it hears.
func watch(t *testing.T, table *sqlitestore.Table) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan string, 100_000)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := table.Watch(ctx, func(k store.Key) { heard <- k.Partition }); err != nil {
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
	return heard
}

// listening rings "start" through table until it is heard: from then on no ring is missed.
func listening(t *testing.T, table *sqlitestore.Table, heard <-chan string) {
	t.Helper()
	for {
		if err := table.Notify(t.Context(), ringKey("start")); err != nil {
			t.Fatal(err)
		}
		select {
		case name := <-heard:
			if name != "start" {
				t.Fatalf("heard %q, want only what was rung since", name)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// next returns the first name that is not "start".
func next(heard <-chan string) string {
	for name := range heard {
		if name != "start" {
			return name
		}
	}
	return ""
}

// A ring of another process is heard. How soon is a matter of the poll: see the test of its clock.
func TestWatch_OtherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	table := open(t, path, clock.RealClock{})
	heard := watch(t, table)
	listening(t, table, heard)

	child := command(t, path)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for n := range 11 {
		name := fmt.Sprintf("ring-%d", n)
		if _, err := fmt.Fprintln(in, name); err != nil {
			t.Fatal(err)
		}
		if got := next(heard); got != name {
			t.Fatalf("heard %q, want %q", got, name)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
}

// Within a process a ring is heard at once, not at the next poll: no virtual time passes.
func TestWatch_OwnProcessAtOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := open(t, ":memory:", clock.RealClock{})
		heard := watch(t, table)
		synctest.Wait()
		start := time.Now()
		for n := range 3 {
			if err := table.Notify(t.Context(), ringKey(fmt.Sprint(n)), ringKey("too")); err != nil {
				t.Fatal(err)
			}
			if got, too := <-heard, <-heard; got != fmt.Sprint(n) || too != "too" {
				t.Errorf("heard %q and %q, want %d and too", got, too, n)
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
		heard := watch(t, open(t, ":memory:", clk))
		time.Sleep(24 * time.Hour)
		if *clk.tickers != 0 || len(heard) != 0 {
			t.Errorf("tickers = %d, rings = %d, want none", *clk.tickers, len(heard))
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

// The poll follows the injected clock, and only it. Every 20 ms, so that others are heard within 100.
func TestWatch_PollsByTheInjectedClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	table, other := open(t, path, clk), open(t, path, clock.RealClock{})
	defer other.Close()
	heard := watch(t, table)
	listening(t, table, heard) // by the bell: the clock stands still
	if err := other.Notify(t.Context(), ringKey("other")); err != nil {
		t.Fatal(err)
	}
	select {
	case name := <-heard:
		if name != "start" {
			t.Errorf("heard %q before the clock moved", name)
		}
	case <-time.After(100 * time.Millisecond):
	}
	clk.Step(20 * time.Millisecond)
	if got := next(heard); got != "other" {
		t.Errorf("heard %q, want other", got)
	}
}

func TestWatch_DoesNotReplay(t *testing.T) {
	table := open(t, filepath.Join(t.TempDir(), "r.db"), clock.RealClock{})
	if err := table.Notify(t.Context(), ringKey("before")); err != nil {
		t.Fatal(err)
	}
	heard := watch(t, table)
	listening(t, table, heard)
	if err := table.Notify(t.Context(), ringKey("after")); err != nil {
		t.Fatal(err)
	}
	if got := next(heard); got != "after" {
		t.Errorf("heard %q, want only what was rung after the start", got)
	}
}

func TestWatch_EveryWatcherHearsEveryRingInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	tables := []*sqlitestore.Table{open(t, path, clock.RealClock{}), open(t, path, clock.RealClock{})}
	var heard []<-chan string
	for _, table := range tables {
		heard = append(heard, watch(t, table))
		listening(t, table, heard[len(heard)-1])
	}
	const rings = 1200 // several pages and a pruning
	var want []string
	var keys []store.Key
	for n := range rings {
		want = append(want, fmt.Sprint(n))
		keys = append(keys, ringKey(want[n]))
	}
	if err := tables[0].Notify(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	for w, names := range heard {
		var got []string
		for len(got) < rings {
			got = append(got, next(names))
		}
		if !slices.Equal(got, want) {
			t.Errorf("watcher %d did not hear 0 to %d in order", w, rings-1)
		}
	}
}
