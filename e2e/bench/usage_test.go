package bench_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/store"
)

// Machines of BenchmarkUsage, a client for each, and runs of each client, one after the other.
const (
	machines = 10
	runs     = 3
)

// beat is the period of heartbeats.
const beat = 5 * time.Second

// BenchmarkUsage counts what store and pool are asked for: by one warm run of one instance, from the
// request until the instance is pooled again, and by an instance that is idle for an hour. A client
// that polls for its status and says that it is alive adds to the former. G2 G7
func BenchmarkUsage(b *testing.B) {
	w := run(b, bench.Options{})
	booted := stagger(b, w)
	b.Run("lifecycle", func(b *testing.B) { lifecycle(b, w) })
	time.Sleep(againAfter - time.Since(booted))
	b.Run("idle-hour", func(b *testing.B) { idleHour(b, w) })
}

// againAfter is when an agent has said once more what it said first, after its start.
const againAfter = 17 * time.Second

// stagger fills the pool with machines whose heartbeats are spread over their period, and returns when
// the last one booted.
func stagger(b *testing.B, w *bench.World) time.Time {
	b.Helper()
	for i := range machines {
		if _, err := w.Start(b.Context(), fmt.Sprintf("cold-%d", i), 1); err != nil {
			b.Fatal(err)
		}
		time.Sleep(beat / machines)
	}
	booted := time.Now()
	var all errgroup.Group
	for i := range machines {
		all.Go(func() error {
			_, err := w.Return(b.Context(), fmt.Sprintf("cold-%d", i), 1)
			return err
		})
	}
	check(b, all.Wait())
	return booted
}

// asked is what was asked up to an instant.
type asked struct {
	at                         time.Time
	client, controller, agents bench.Usage
	pool                       int64
}

func askedOf(w *bench.World) asked {
	return asked{time.Now(), w.ByClient.Usage(), w.ByController.Usage(), w.ByAgents.Usage(), w.Pool.Calls()}
}

func lifecycle(b *testing.B, w *bench.World) {
	before := askedOf(w)
	for b.Loop() {
		var all errgroup.Group
		for i := range machines {
			all.Go(func() error {
				for j := range runs {
					id := fmt.Sprintf("%d-%d", i, j)
					if _, err := w.Start(b.Context(), id, 1); err != nil {
						return err
					}
					time.Sleep(time.Duration(i) * 200 * time.Millisecond) // agents do not expect its end
					if _, err := w.Return(b.Context(), id, 1); err != nil {
						return err
					}
				}
				return nil
			})
		}
		check(b, all.Wait())
	}
	after := askedOf(w)
	client, controller, agents := after.client.Since(before.client), after.controller.Since(before.controller), after.agents.Since(before.agents)
	regular := after.at.Sub(before.at).Seconds() / beat.Seconds() * machines
	per := func(n float64, name string) { b.ReportMetric(n/(machines*runs), name) }
	none(b)
	per(float64(client.Writes()), "client-writes")
	per(float64(controller.Writes(store.KindInstance)), "instance-writes")
	per(float64(controller.Writes(store.KindRunStatus, store.KindRunRequest)), "status-writes")
	per(float64(agents.Writes(store.KindSignal)), "signal-writes")
	per(float64(agents.Writes(store.KindHeartbeat))-regular, "extra-beats")
	per(client.ReadUnits, "client-read-units")
	per(controller.ReadUnits, "controller-read-units")
	per(float64(client.Notified+controller.Notified+agents.Notified), "notifications")
	per(float64(after.pool-before.pool), "pool-calls")
	per(float64(controller.Conflicts), "conflicts")
}

// idleHour lets everything rest for a while and scales what is asked for to an hour.
func idleHour(b *testing.B, w *bench.World) {
	before := askedOf(w)
	for b.Loop() {
		time.Sleep(window)
	}
	after := askedOf(w)
	controller, agents := after.controller.Since(before.controller), after.agents.Since(before.agents)
	per := func(n float64, name string) { b.ReportMetric(n/(after.at.Sub(before.at).Hours()*machines), name+"/h") }
	none(b)
	per(float64(agents.Writes()), "agent-writes")
	per(agents.ReadUnits, "agent-read-units")
	per(float64(controller.Writes(store.KindInstance)), "controller-writes")
	per(controller.ReadUnits, "controller-read-units")
	per(float64(after.pool-before.pool), "pool-calls")
}
