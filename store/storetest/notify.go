package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/store"
)

// readWithin bounds how long a key that is notified of again and again may stay unread. The embedded back
// end needs 100 ms at most, a queue's long poll a few seconds.
const readWithin = 2 * time.Minute

// notifyAgain is the pause between two notifications of the same key.
const notifyAgain = 50 * time.Millisecond

// watch runs a watch until it was notified of every key of want. do is called first, and then
// repeatedly, because any single notification may be lost.
func watch(t *testing.T, table store.Table, want []store.Key, do func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readWithin)
	defer cancel()
	missing := map[store.Key]bool{}
	for _, k := range want {
		missing[k] = true
	}
	all := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		err := table.Watch(ctx, func(k store.Key) {
			if missing[k] {
				if delete(missing, k); len(missing) == 0 {
					close(all)
				}
			}
		})
		if err != nil {
			t.Errorf("Watch() error = %v", err)
		}
	})
	again := time.NewTicker(notifyAgain)
	defer again.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			t.Fatalf("notify error = %v", err)
		}
		select {
		case <-all:
			return
		case <-ctx.Done():
			t.Fatalf("not every one of %v was read within %s", want, readWithin)
		case <-again.C:
		}
	}
}

func notificationIsRead(t *testing.T, table store.Table) {
	keys := make([]store.Key, 25) // more than one batch of a queue
	for i := range keys {
		keys[i] = testKey(i)
	}
	watch(t, table, keys, func(ctx context.Context) error { return table.Notify(ctx, keys...) })
	wantErr(t, "Notify() of nothing", table.Notify(t.Context()), nil)
}

func watchEnds(t *testing.T, table store.Table) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- table.Watch(ctx, func(store.Key) {}) }()
	select {
	case err := <-ended:
		t.Fatalf("Watch() returned %v before its context ended", err)
	case <-time.After(notifyAgain):
	}
	cancel()
	wantErr(t, "Watch()", <-ended, nil)
	wantErr(t, "Watch() with a context that had ended", table.Watch(ctx, func(store.Key) {}), nil)
}

// writersNotify checks that who writes what the controller must see also notifies.
func writersNotify(t *testing.T, table store.Table) {
	s := store.New(table)
	request := sampleRequest("100")
	p := store.Principal("i-1")
	for _, tt := range []struct {
		name string
		key  store.Key
		do   func(context.Context) error
	}{
		{"Submit", store.RequestKey(request.ID, store.KindRunRequest), func(ctx context.Context) error {
			_, err := s.Submit(ctx, request)
			return err
		}},
		{"Release", store.RequestKey(request.ID, store.KindRunRequest), func(ctx context.Context) error {
			_, err := s.Release(ctx, request.ID, 1, store.ReleaseDrain)
			return err
		}},
		{"Notify", store.RequestKey(request.ID, store.KindRunRequest), func(ctx context.Context) error {
			return s.Notify(ctx, request.ID)
		}},
		{"Signal", store.InstanceKey(p, store.KindSignal), func(ctx context.Context) error {
			return s.Signal(ctx, p, store.SignalValue{Signal: store.RegOK}, epoch)
		}},
		{"OrderDrain", store.DrainKey("d-1"), func(ctx context.Context) error {
			return s.OrderDrain(ctx, store.DrainOrder{ID: "d-1", CreatedAt: store.At(time.Now())})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { watch(t, table, []store.Key{tt.key}, tt.do) })
	}
}

func callsAfterClose(t *testing.T, table store.Table) {
	mustPut(t, table, 0, testItem(testKey(1), 1, 1))
	wantErr(t, "Close()", table.Close(), nil)
	ctx := t.Context()
	_, get := table.Get(ctx, store.Consistent, testKey(1))
	for call, err := range map[string]error{
		"Get":    get,
		"Put":    table.Put(ctx, testItem(testKey(1), 2, 2), 1),
		"Scan":   table.Scan(ctx, func(store.Item) error { return nil }),
		"Notify": table.Notify(ctx, testKey(1)),
		"Watch":  table.Watch(ctx, func(store.Key) {}),
	} {
		if err == nil {
			t.Errorf("%s() after Close() succeeded", call)
		}
	}
}
