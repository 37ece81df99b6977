package bench_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// A warm run takes the machines that are there, and everybody's calls are counted.
func TestWorld_WarmRunLaunchesNothing(t *testing.T) {
	ctx := t.Context()
	w := run(t, bench.Options{Poll: 10 * time.Millisecond})
	check(t, w.Warm(ctx, 2))
	client, controller, agents := w.ByClient.Usage(), w.ByController.Usage(), w.ByAgents.Usage()
	ready, err := w.Start(ctx, "1", 2)
	check(t, err)
	back, err := w.Return(ctx, "1", 2)
	check(t, err)
	if ready <= 0 || back <= 0 {
		t.Errorf("ready after %s, back after %s, want both above 0", ready, back)
	}
	if n := w.Fleet.Launched(); n != 2 {
		t.Errorf("launched %d machines, want 2", n)
	}
	if u := w.ByClient.Usage().Since(client); u.Writes() != 2 || u.Notified != 2 {
		t.Errorf("client wrote %v and notified %d times, want a request and its release, each notified", u.Puts, u.Notified)
	}
	// claimed, registered, running, released, pooled
	if u := w.ByController.Usage().Since(controller); u.Writes(store.KindInstance) < 2*5 {
		t.Errorf("controller wrote %v, want at least five writes for each of two instances", u.Puts)
	}
	// One more each if it took so long that they said again what they said first, after their start: againAfter.
	if u := w.ByAgents.Usage().Since(agents); u.Writes(store.KindSignal) < 2*2 || u.Writes(store.KindSignal) > 2*3 {
		t.Errorf("agents wrote %v, want two signals for each of two instances", u.Puts)
	}
}

// The floor makes the writes of a warm run and a return, and nobody else sees them.
func TestFloor_RunsAgainAndAgain(t *testing.T) {
	ctx := t.Context()
	w := open(t, bench.Options{})
	floor, err := w.Floor(ctx, 3)
	check(t, err)
	defer floor.Close()
	for _, id := range []string{"1", "2"} {
		if err := errors.Join(floor.Start(ctx, id), floor.Return(ctx, id)); err != nil {
			t.Fatalf("run %s: %v", id, err)
		}
	}
	err = w.Client.Scan(ctx, store.Visitor{
		Instance: func(in store.Instance) { t.Errorf("instance %s is everybody's", in.ID) },
		Request:  func(r store.RunRequest) { t.Errorf("request %s is everybody's", r.ID) },
	})
	check(t, err)
}

// Seeded records are what the store would have written.
func TestSeed_IsRead(t *testing.T) {
	ctx := t.Context()
	w := open(t, bench.Options{})
	check(t, bench.Seed(ctx, w.Client.Table(), 3, time.Hour))
	check(t, bench.Beat(ctx, w.Client, 2))
	instances, signals, heartbeats := 0, 0, 0
	err := w.Client.Scan(ctx, store.Visitor{
		Instance:  func(store.Instance) { instances++ },
		Signal:    func(store.Signal) { signals++ },
		Heartbeat: func(store.Heartbeat) { heartbeats++ },
		Bad:       func(k store.Key, err error) { t.Errorf("%v: %v", k, err) },
	})
	if err != nil || instances != 3 || signals != 3 || heartbeats != 1 {
		t.Errorf("read %d instances, %d signals, %d heartbeats, %v, want 3, 3, 1", instances, signals, heartbeats, err)
	}
}

func TestMeter_Units(t *testing.T) {
	table, err := sqlitestore.OpenMemory(t.Context(), clock.RealClock{})
	check(t, err)
	defer table.Close()
	var m bench.Meter
	counted := m.Count(table)
	key, absent := store.Key{Partition: "p", Sort: "s"}, store.Key{Partition: "p", Sort: "none"}
	item := store.Item{Key: key, Version: 1, Attributes: []byte(`{"a":"` + strings.Repeat("x", 1024) + `"}`)} // 2 units to write, 1 to read
	check(t, counted.Put(t.Context(), item, 0))
	if err := counted.Put(t.Context(), item, 0); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("second put: %v, want %v", err, store.ErrConflict)
	}
	for _, how := range []store.Consistency{store.Consistent, store.Eventual} {
		if _, err := counted.Get(t.Context(), how, key, absent); err != nil {
			t.Fatal(err)
		}
	}
	u := m.Usage()
	if u.Writes() != 2 || u.Writes("s") != 2 || u.Writes("other") != 0 || u.Conflicts != 1 || u.WriteUnits != 4 {
		t.Errorf("writes %v, %d conflicts, %g units, want 2, 1, 4", u.Puts, u.Conflicts, u.WriteUnits)
	}
	if u.Gets != 2 || u.Items != 4 || u.ReadUnits != 2+1 {
		t.Errorf("%d gets of %d items, %g units, want 2, 4, 3", u.Gets, u.Items, u.ReadUnits)
	}
}

func TestTimes_Quantile(t *testing.T) {
	var hundred bench.Times
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	for _, tt := range []struct {
		times bench.Times
		q     float64
		want  time.Duration
	}{
		{hundred, .5, 50}, {hundred, .99, 99}, {hundred, 1, 100}, {hundred, .001, 1},
		{bench.Times{7}, .5, 7}, {bench.Times{7}, .99, 7}, {nil, .5, 0}, {bench.Times{1, 2}, .5, 1}, {bench.Times{1, 2}, .51, 2},
	} {
		if got := tt.times.Quantile(tt.q); got != tt.want {
			t.Errorf("Quantile(%g) of %d = %d, want %d", tt.q, len(tt.times), got, tt.want)
		}
	}
}

// The delays have the distribution that the goals name.
func TestDelay_Distribution(t *testing.T) {
	var drawn bench.Times
	d := bench.NewDynamoDB(1)
	for range 20_000 {
		drawn = append(drawn, d.Next(time.Second))
	}
	if p50 := drawn.Quantile(.5).Seconds(); math.Abs(p50-1) > .02 {
		t.Errorf("p50 = %g s, want 1", p50)
	}
	if tail := drawn.Quantile(.99).Seconds() / drawn.Quantile(.5).Seconds(); math.Abs(tail-2.1) > .1 {
		t.Errorf("p99 / p50 = %g, want 2.1", tail)
	}
}
