package reconciler_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// watched is a table whose reads take as long as DynamoDB's, and that refuses keys as it does; it notes
// when it was scanned.
type watched struct {
	store.Table
	mu    sync.Mutex
	scans []time.Time
	gets  int
}

func (w *watched) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	w.mu.Lock()
	w.gets++
	w.mu.Unlock()
	time.Sleep(8 * time.Millisecond)
	for _, k := range keys {
		if len(k.Partition) > 2048 { // DynamoDB, "Quotas"
			return nil, fmt.Errorf("get: %w: hash primary key values must be under 2048 bytes", store.ErrInvalid)
		}
	}
	return w.Table.Get(ctx, c, keys...)
}

func (w *watched) Scan(ctx context.Context, yield func(store.Item) error) error {
	w.mu.Lock()
	w.scans = append(w.scans, time.Now())
	w.mu.Unlock()
	return w.Table.Scan(ctx, yield)
}

// listed is a fleet that notes when it was listed.
type listed struct {
	fleet.Fleet
	mu sync.Mutex
	at []time.Time
}

func (l *listed) List(ctx context.Context, token string) ([]fleet.Machine, error) {
	l.mu.Lock()
	l.at = append(l.at, time.Now())
	l.mu.Unlock()
	return l.Fleet.List(ctx, token)
}

// flood notifies at 500 a second for so long.
func (w *world) flood(lasts time.Duration, key func(n int) store.Key) {
	w.t.Helper()
	for n := 0; n < int(lasts.Seconds())*500; n += 50 {
		keys := make([]store.Key, 50)
		for i := range keys {
			keys[i] = key(n + i)
		}
		if err := w.Table.Notify(w.t.Context(), keys...); err != nil {
			w.t.Fatalf("Notify() error = %v", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// checkPace: nothing was later than every by more than a second.
func checkPace(t *testing.T, what string, at []time.Time, from, to time.Time, every time.Duration) {
	t.Helper()
	last := from
	for _, next := range append(at, to) {
		if next.Before(from) {
			continue
		}
		if gap := next.Sub(last); gap > every+time.Second {
			t.Errorf("%s: %s between two, want %s", what, gap, every)
		}
		last = next
	}
}

// H53: whatever notifications come, the sweep and the scan, which is the net under them all, come in time; and a request is
// served meanwhile.
func TestNotificationFlood_SweepAndScanComeInTime_H53(t *testing.T) {
	takesLong(t)
	for name, tt := range map[string]struct {
		lasts time.Duration
		key   func(n int) store.Key
	}{
		"Drains": {5 * time.Minute, func(n int) store.Key { return store.DrainKey(fmt.Sprintf("order-%d", n)) }},
		"Requests": {4 * time.Minute, func(n int) store.Key {
			return store.RequestKey(store.RequestID(fmt.Sprintf("%d", n)), store.KindRunRequest)
		}},
		"Instances": {4 * time.Minute, func(n int) store.Key {
			return store.InstanceKey(store.Principal(fmt.Sprintf("ROLE:i-%d", n)), store.KindSignal)
		}},
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			table, machines := &watched{Table: w.Table}, &listed{Fleet: w.Fleet}
			w.controllerWith("c1", reconciler.Options{Table: table, Fleet: machines})
			time.Sleep(time.Minute)
			from := w.Clock.Now()
			w.flood(tt.lasts/2, tt.key)
			w.submit(spec("served", 1))
			w.flood(tt.lasts/2, func(n int) store.Key { return tt.key(n + 1_000_000) })
			to := w.Clock.Now()
			if st := w.status("served"); st.Phase != statemachine.Ready {
				t.Errorf("a request of the flood's time is %q", st.Phase)
			}
			table.mu.Lock()
			checkPace(t, "scan", table.scans, from, to, w.Config().Scan)
			table.mu.Unlock()
			machines.mu.Lock()
			checkPace(t, "sweep of the fleet", machines.at, from, to, w.Config().Sweep)
			machines.mu.Unlock()
			if name == "Drains" && table.gets > 3*int(tt.lasts.Seconds()) {
				t.Errorf("%d reads in %s for orders that do not exist", table.gets, tt.lasts)
			}
			w.release("served", 1, store.ReleaseDrain)
		}))
	}
}

// A notification whose key no item can have leaves nothing behind, in memory or in the log.
func TestNotificationFlood_OfLongKeys_LeavesNothing(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &watched{Table: w.Table}
		w.controllerWith("c1", reconciler.Options{Table: table})
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		table.mu.Lock()
		before, read := heap(), table.gets
		table.mu.Unlock()
		for n := range 400 {
			long := fmt.Sprintf("%d-%s", n, strings.Repeat("9", 250_000))
			for _, k := range []store.Key{
				store.RequestKey(store.RequestID(long), store.KindRunRequest), store.DrainKey(long),
				store.InstanceKey(store.Principal(long), store.KindSignal),
			} {
				if err := table.Notify(t.Context(), k); err != nil {
					t.Fatalf("Notify() error = %v", err)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(3 * w.Config().Scan)
		if after := heap(); after > before+50<<20 {
			t.Errorf("the heap grew by %d MB", (after-before)>>20)
		}
		if n := len(w.alarms.raised()); n > 0 {
			t.Errorf("%d alarms: %.200q", n, w.alarms.raised()[0])
		}
		if n := table.gets - read; n > 10_000 {
			t.Errorf("%d reads for keys that no item can have", n)
		}
	})
}

// H10 H61: what somebody leaves without an expiry where workflows and machines write is given one, a few with each
// scan.
func TestJunk_Goes_H61(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		put := func(partition, sort string) store.Key {
			k := store.Key{Partition: partition, Sort: sort}
			if err := w.Table.Put(t.Context(), store.Item{Key: k, Attributes: []byte(`{"note":"kept"}`)}, store.Unconditional); err != nil {
				t.Fatal(err)
			}
			return k
		}
		var junk []store.Key
		for i := range 30 {
			junk = append(junk, put("INSTANCE#i-gone", fmt.Sprint("TYPE#Mine", i)))
		}
		junk = append(junk, put("RUN#4711", "TYPE#Note"), put("INSTANCE#i-gone", store.KindHeartbeat), put("RUN#4712", store.KindRunClient))
		w.Configure(func(c *reconciler.Config) { c.Scan = time.Minute })
		w.controller("c1", nil)
		w.serve(spec("100", 1), time.Minute)
		left := func() (without, with int) {
			items, err := w.Table.Get(t.Context(), store.Consistent, junk...)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				if item.ExpiresAt.IsZero() {
					without++
				} else if with++; item.ExpiresAt.After(w.Clock.Now().Add(8*24*time.Hour)) || string(item.Attributes) != `{"note":"kept"}` {
					t.Errorf("%v holds %s until %s, want what it held for a week", item.Key, item.Attributes, item.ExpiresAt)
				}
			}
			return without, with
		}
		w.await(5*time.Minute, "every junk item has an expiry", func() bool { without, with := left(); return without == 0 && with == len(junk) })
		w.release("100", 1, store.ReleaseDrain)
		for _, k := range junk { // the audit at the end would name them
			if err := w.Table.Put(t.Context(), store.Item{Key: k, ExpiresAt: w.Clock.Now().Truncate(time.Second), Attributes: []byte(`{}`)}, store.Unconditional); err != nil {
				t.Fatal(err)
			}
		}
	})
}
