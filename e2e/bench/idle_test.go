package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/store"
)

// BenchmarkIdle measures what a controller takes in a process of its own while its instances are
// idle, and at the same time for comparison another without any, and one with metrics that are scraped. A fourth process
// writes the heartbeats. G5
func BenchmarkIdle(b *testing.B) {
	b.Run(fmt.Sprintf("records=%d", *records), func(b *testing.B) {
		dir, other := b.TempDir(), b.TempDir()
		for _, d := range []string{dir, other} {
			w := open(b, bench.Options{Dir: d})
			seed(b, w, *records)
			beats(b, w, *records)
		}
		var full, empty, scraped idleReport
		for b.Loop() {
			spawn(b, "agents", dir, *records)
			spawn(b, "agents", other, *records)
			all := []*json.Decoder{
				json.NewDecoder(spawn(b, "controller", dir, *records)), json.NewDecoder(spawn(b, "controller", b.TempDir(), 0)),
				json.NewDecoder(spawn(b, "scraped", other, *records)),
			}
			for i, out := range []*idleReport{&full, &empty, &scraped} {
				check(b, all[i].Decode(out))
			}
		}
		none(b)
		b.ReportMetric(full.Filled.Seconds()*1000, "filled-ms")
		b.ReportMetric(full.Before.Heap, "heap-fleet-MiB")
		b.ReportMetric(full.After.Sys, "go-sys-MiB")
		b.ReportMetric(full.PeakRSS, "rss-peak-MiB")
		b.ReportMetric(float64(full.Usage.Writes())/full.Window.Seconds(), "writes/s")
		b.ReportMetric(float64(full.Usage.Items)/full.Window.Seconds(), "items-read/s")
		for name, r := range map[string]idleReport{"": full, "empty-": empty, "scraped-": scraped} {
			b.ReportMetric(r.After.Heap, name+"heap-MiB")
			b.ReportMetric(r.After.RSS, name+"rss-MiB")
			b.ReportMetric(float64(r.After.Goroutines), name+"goroutines")
			b.ReportMetric(100*r.CPU.Seconds()/r.Window.Seconds(), name+"cpu-%")
		}
	})
}

// idleLife is how long seeded instances may stay idle: longer than any benchmark.
const idleLife = time.Hour

func seed(b *testing.B, w *bench.World, n int) {
	b.Helper()
	check(b, bench.Seed(b.Context(), w.Client.Table(), n, idleLife))
}

// beats writes every heartbeat once.
func beats(b *testing.B, w *bench.World, n int) {
	b.Helper()
	for i := range n {
		check(b, bench.Beat(b.Context(), w.Client, i))
	}
}

// BenchmarkTakeover measures from the start of a controller, the lease being free, until it claims an
// instance for a request that waits; and beside it one reading of the whole table. G6
func BenchmarkTakeover(b *testing.B) {
	b.Run(fmt.Sprintf("records=%d", *records), func(b *testing.B) {
		ctx := b.Context()
		w := open(b, bench.Options{})
		w.SeedFleet(*records)
		seed(b, w, *records)
		var claims, reads bench.Times
		for b.Loop() {
			for range takeovers {
				id := fmt.Sprint(len(claims))
				beats(b, w, *records)
				if _, err := w.Client.Submit(ctx, bench.Spec(id, 1)); err != nil {
					b.Fatal(err)
				}
				reads = append(reads, timed(b, func() error { return readAll(ctx, w.Client) }))
				claims = append(claims, takeover(b, w, store.RequestID(id)))
			}
		}
		none(b)
		b.ReportMetric(float64(len(claims)), "rounds")
		report(b, "claim", claims)
		report(b, "read", reads)
		b.ReportMetric(ratio(claims, reads, .5), "ratio-p50")
	})
}

// takeovers is how often a controller is started.
const takeovers = 5

func takeover(b *testing.B, w *bench.World, id store.RequestID) time.Duration {
	began := time.Now()
	defer start(b, w)()
	claimed, err := w.Journal.Claimed(b.Context(), id)
	check(b, err)
	return claimed.Sub(began)
}

// readAll reads and decodes every record, as a controller does first.
func readAll(ctx context.Context, s *store.Store) error {
	return s.Scan(ctx, store.Visitor{
		Request: func(store.RunRequest) {}, Status: func(store.RunStatus) {}, Instance: func(store.Instance) {},
		Launch: func(store.Launch) {}, Drain: func(store.DrainOrder) {},
		Heartbeat: func(store.Heartbeat) {}, Signal: func(store.Signal) {},
	})
}
