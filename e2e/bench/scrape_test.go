package bench_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/internal/metrics"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
)

// scrapeWaiting requests wait in BenchmarkScrape, and scrapePeriod is what Prometheus is usually configured with.
const (
	scrapeWaiting = 1000
	scrapePeriod  = 15 * time.Second
	scrapeMost    = 2 << 20 // bytes
)

// BenchmarkScrape measures one answer of /metrics, as text and not compressed, of a controller with idle instances and requests
// that wait for a type of which there is none.
func BenchmarkScrape(b *testing.B) {
	b.Run(fmt.Sprintf("records=%d/requests=%d", *records, scrapeWaiting), func(b *testing.B) {
		m := metrics.New([]string{bench.Class})
		w := open(b, bench.Options{Metrics: m, NoAgents: true, Tune: func(c *reconciler.Config) { c.MaxInstances = *records }})
		w.SeedFleet(*records)
		seed(b, w, *records)
		beats(b, w, *records)
		for i := range scrapeWaiting {
			r := bench.Spec(string(lineID(i)), 1)
			r.AllowedInstanceTypes, r.NoWait = []string{"m5.large"}, true
			_, err := w.Client.Submit(b.Context(), r)
			check(b, err)
		}
		defer start(b, w)()
		for i := range scrapeWaiting {
			_, err := w.Journal.Phase(b.Context(), lineID(i), statemachine.Pending)
			check(b, err)
		}
		time.Sleep(settled)
		handler := m.Handler(slog.New(slog.DiscardHandler))
		var times bench.Times
		size := 0
		for b.Loop() {
			answer := httptest.NewRecorder()
			times = append(times, timed(b, func() error {
				handler.ServeHTTP(answer, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/metrics", nil))
				return nil
			}))
			if size = answer.Body.Len(); answer.Code != http.StatusOK || size > scrapeMost {
				b.Fatalf("status %d, %d bytes, want at most %d", answer.Code, size, scrapeMost)
			}
		}
		none(b)
		slices.Sort(times)
		report(b, "scrape", times)
		b.ReportMetric(float64(size)/1024, "KiB")
	})
}

// scrapes asks for the metrics as Prometheus does, until ctx ends.
func scrapes(ctx context.Context, m *metrics.Metrics) {
	handler := m.Handler(slog.New(slog.DiscardHandler))
	tick := time.NewTicker(scrapePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
		}
	}
}
