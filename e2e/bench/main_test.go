package bench_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/internal/awstest"
)

// records is how many idle instances the benchmarks of size have.
var records = flag.Int("records", 10_000, "idle instances of BenchmarkIdle and BenchmarkTakeover")

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		if err := child(what); err != nil {
			fmt.Fprintln(os.Stderr, what+":", err)
			os.Exit(1)
		}
		return
	}
	awstest.Main(m)
}

// check ends the test or benchmark on an error.
func check(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// run opens a world and runs it until the test or benchmark ends.
func run(b testing.TB, o bench.Options) *bench.World {
	b.Helper()
	w := open(b, o)
	stop := start(b, w)
	b.Cleanup(stop)
	return w
}

// open opens a world in a folder of its own, until the test or benchmark ends.
func open(b testing.TB, o bench.Options) *bench.World {
	b.Helper()
	if o.Dir == "" {
		o.Dir = b.TempDir()
	}
	if os.Getenv("REMUDA_BENCH_LOG") != "" { // the whole story
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	w, err := bench.Open(b.Context(), o)
	check(b, err)
	b.Cleanup(func() {
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	})
	return w
}

// start runs a world until stop is called.
func start(b testing.TB, w *bench.World) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(b.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return func() {
		cancel(errors.New("benchmark is over"))
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}

// report adds p50, p99 and the maximum of times to the results, in milliseconds.
func report(b *testing.B, name string, times bench.Times) {
	b.Helper()
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", .5}, {"p99", .99}, {"max", 1}} {
		b.ReportMetric(float64(times.Quantile(q.at).Microseconds())/1000, name+"-"+q.name+"-ms")
	}
}

// none takes what go test reports of every benchmark out of the results, where it says nothing.
func none(b *testing.B) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
}
