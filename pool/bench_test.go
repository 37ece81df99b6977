package pool_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
)

// BenchmarkTake measures one selection beside unsuitable candidates of 500 types. G2
func BenchmarkTake(b *testing.B) {
	for _, n := range []int{0, 100, 1000, 10_000, 100_000} {
		size := "unsuitable=" + strconv.Itoa(n)
		b.Run("exhausted/"+size, func(b *testing.B) {
			p, calls := crowd(n, 0)
			measure(b, func(int) spent {
				start := now()
				if got, ok := p.Take(query(), "r", nil); ok {
					b.Fatalf("Take = %+v, want none", got)
				}
				return start.since()
			})
			b.ReportMetric(float64(calls.total()), "pool-calls")
		})
		b.Run("match/"+size, func(b *testing.B) {
			p, calls := crowd(n, 1)
			measure(b, func(int) spent { return takeOne(b, p, query()) })
			b.ReportMetric(float64(calls.total()), "pool-calls")
		})
		// Each query another one.
		b.Run("first/"+size, func(b *testing.B) {
			p, _ := crowd(n, 1)
			measure(b, func(i int) spent {
				q := query()
				q.Mem -= i % 512
				return takeOne(b, p, q)
			})
		})
	}
	// Everything fits, so the oldest of 500 types has to be found.
	b.Run("anything/suitable=100000", func(b *testing.B) {
		p, _ := crowd(100_000, 1)
		q := query()
		q.AllowedTypes = []string{"*"}
		measure(b, func(int) spent { return takeOne(b, p, q) })
	})
}

// BenchmarkPut measures what a full scan costs per candidate that has not changed.
func BenchmarkPut(b *testing.B) {
	p, _ := crowd(100_000, 0)
	measure(b, func(i int) spent {
		t := distant(unsuitable(i % 100_000))
		start := now()
		p.Put(t)
		return start.since()
	})
}

// crowd returns a Pickup of n unsuitable and m suitable candidates, and its Pool.
func crowd(n, m int) (*pool.Pickup, *counting) {
	calls := &counting{Pool: pooltest.NewMemory(clock.RealClock{})}
	p := pickupOn(calls, clock.RealClock{})
	p.SetMaxLooks(1 << 62)
	for i := range n {
		p.Put(distant(unsuitable(i)))
	}
	for i := range m {
		p.Put(distant(spot(i)))
	}
	return p, calls
}

// distant returns t with a threshold in the far future.
func distant(t pool.Ticket) pool.Ticket {
	t.Threshold = t.Threshold.AddDate(100, 0, 0)
	return t
}

func takeOne(b *testing.B, p *pool.Pickup, q pool.Query) spent {
	start := now()
	got, ok := p.Take(q, "r", nil)
	took := start.since()
	if !ok {
		b.Fatal("Take finds nothing")
	}
	p.Return(got.InstanceID)
	return took
}

// spent is what something took: by the clock, and of this thread's CPU time, which includes one
// system call to read it, a few hundred nanoseconds.
type spent struct{ wall, cpu time.Duration }

type instant struct {
	wall time.Time
	cpu  time.Duration
}

func now() instant {
	cpu := cpuNow()
	return instant{time.Now(), cpu}
}

func (i instant) since() spent {
	wall := time.Since(i.wall)
	return spent{wall, cpuNow() - i.cpu}
}

// measure reports the distribution of what op returns; its first calls warm up.
func measure(b *testing.B, op func(i int) spent) {
	b.ReportAllocs()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range 10 {
		op(i)
	}
	var wall, cpu []time.Duration
	for i := 0; b.Loop(); i++ {
		s := op(i)
		wall, cpu = append(wall, s.wall), append(cpu, s.cpu)
	}
	distribution(b, "", wall)
	distribution(b, "cpu-", cpu)
}

func distribution(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	for _, q := range []int{50, 99} {
		b.ReportMetric(float64(took[(len(took)-1)*q/100].Nanoseconds()), fmt.Sprintf("%sp%d-ns", name, q))
	}
	b.ReportMetric(float64(took[len(took)-1].Nanoseconds()), name+"max-ns")
}
