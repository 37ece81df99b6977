package bench_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/bench"
)

// modes are the circumstances of a warm start.
var modes = []struct {
	name   string
	poll   time.Duration // of the agents; 0: the product's
	slow   bool          // the store is as slow as DynamoDB
	hold   time.Duration // a run lasts up to this
	rounds map[int]int   // by instances per request
	spare  map[int]int   // further requests' worth of warm machines
}{
	// What users get on one machine. Agents look every 250 ms while idle and every 2 s while their runner
	// runs, so machines come back slowly, and meanwhile the next rounds take others.
	{"agents=250ms", 0, false, 2 * time.Second, map[int]int{1: 25, 10: 15, 100: 4}, map[int]int{1: 9, 10: 7}},
	// What the controller adds: agents see their records almost at once.
	{"agents=10ms", 10 * time.Millisecond, false, 0, map[int]int{1: 60, 10: 30, 100: 8}, nil},
	{"agents=10ms/store=dynamodb", 10 * time.Millisecond, true, 0, map[int]int{1: 30, 10: 15, 100: 4}, nil},
}

// BenchmarkReady measures from a request to its status Ready, all instances warm, and beside it, in
// the same rounds, the floor: the unavoidable calls of the store in a straight line. G1 G14
func BenchmarkReady(b *testing.B) {
	for _, mode := range modes {
		for _, n := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/N=%d", mode.name, n), func(b *testing.B) {
				o := bench.Options{Poll: mode.poll}
				if mode.slow {
					o.Delay = bench.NewDynamoDB(1)
				}
				ready(b, o, n, mode.rounds[n], mode.spare[n], mode.hold)
			})
		}
	}
}

func ready(b *testing.B, o bench.Options, n, rounds, spare int, hold time.Duration) {
	ctx := b.Context()
	w := run(b, o)
	floor, err := w.Floor(ctx, n)
	check(b, err)
	defer floor.Close()
	warm := n * (1 + spare)
	check(b, w.Warm(ctx, warm))
	rng := rand.New(rand.NewPCG(1, 0))
	var readies, returns, floors, floorReturns bench.Times
	for b.Loop() {
		back := make(chan returned, rounds)
		for range rounds {
			id := fmt.Sprint(len(readies))
			check(b, w.Journal.Pooled(ctx, n))
			floors = append(floors, timed(b, func() error { return floor.Start(ctx, id) }))
			floorReturns = append(floorReturns, timed(b, func() error { return floor.Return(ctx, id) }))
			took, err := w.Start(ctx, id, n)
			check(b, err)
			readies = append(readies, took)
			lasts := time.Duration(rng.Int64N(int64(hold) + 1))
			go func() {
				time.Sleep(lasts)
				took, err := w.Return(ctx, id, n)
				back <- returned{took, err}
			}()
		}
		for range rounds {
			r := <-back
			if r.err != nil {
				b.Fatal(r.err)
			}
			returns = append(returns, r.took)
		}
	}
	none(b)
	b.ReportMetric(float64(w.Fleet.Launched()-warm), "cold") // launched although warm ones were there
	b.ReportMetric(float64(len(readies)), "rounds")
	report(b, "ready", readies)
	report(b, "floor", floors)
	report(b, "return", returns)
	report(b, "return-floor", floorReturns)
	b.ReportMetric(ratio(readies, floors, .5), "ratio-p50")
	b.ReportMetric(ratio(readies, floors, .99), "ratio-p99")
}

type returned struct {
	took time.Duration
	err  error
}

func timed(b *testing.B, do func() error) time.Duration {
	b.Helper()
	start := time.Now()
	check(b, do())
	return time.Since(start)
}

func ratio(of, to bench.Times, q float64) float64 {
	return float64(of.Quantile(q)) / float64(to.Quantile(q))
}
