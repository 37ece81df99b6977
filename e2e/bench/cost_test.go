package bench_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Machines of BenchmarkCost, and warm runs of each.
const (
	costMachines = 4
	costRuns     = 3
)

// BenchmarkCost measures what AWS would charge for: request units as DynamoDB Local reports them, and the calls of
// SQS and EC2, of one cold and one warm lifecycle and of an idle hour. Machines run real agents, which boot at
// once; clients neither poll nor notify again. G2 G7
func BenchmarkCost(b *testing.B) {
	a := newAccount(b)
	w := run(b, bench.Options{Backends: a.backends()})
	time.Sleep(settled) // past the controller's second scan
	rounds := func(b *testing.B, prefix string, times int) {
		var all errgroup.Group
		for i := range costMachines {
			all.Go(func() error {
				for j := range times {
					id := fmt.Sprintf("%s-%d-%d", prefix, i, j)
					if _, err := w.Start(b.Context(), id, 1); err != nil {
						return err
					}
					time.Sleep(time.Duration(i+1) * 300 * time.Millisecond) // agents do not expect its end
					if _, err := w.Return(b.Context(), id, 1); err != nil {
						return err
					}
					if _, err := w.Journal.Phase(b.Context(), store.RequestID(id), statemachine.PhaseReleased); err != nil {
						return err
					}
				}
				return nil
			})
			time.Sleep(100 * time.Millisecond) // more than a batch of requests
		}
		check(b, all.Wait())
		time.Sleep(afterwards)
	}
	var tables [3]string // printed between the results, not within
	b.Run("lifecycle=cold", func(b *testing.B) { tables[0] = lifecycleCost(b, a, w, costMachines, func() { rounds(b, "cold", 1) }) })
	fmt.Print(tables[0])
	time.Sleep(againAfter)
	b.Run("lifecycle=warm", func(b *testing.B) {
		tables[1] = lifecycleCost(b, a, w, costMachines*costRuns, func() { rounds(b, "warm", costRuns) })
	})
	fmt.Print(tables[1])
	time.Sleep(againAfter)
	b.Run("idle-hour", func(b *testing.B) { tables[2] = idleCost(b, a) })
	fmt.Print(tables[2])
}

// afterwards is for what follows a lifecycle in its own time: messages to be deleted, records to expire.
const afterwards = 3 * time.Second

// steady reports whether a call is made at regular times, whatever the runs do.
func steady(what string) bool {
	switch what {
	case "agents Instance", "agents Heartbeat", "controller Heartbeat+WS", "controller Lease", "controller ":
		return true
	}
	return false
}

func ofQueues(what string) bool {
	return strings.HasSuffix(what, " notifications") || strings.HasSuffix(what, " pool")
}

func lifecycleCost(b *testing.B, a *account, w *bench.World, n float64, rounds func()) string {
	b.Helper()
	before, asked := a.counts(), w.ByController.Usage()
	for b.Loop() {
		rounds()
	}
	used, conflicts := a.counts().since(before), w.ByController.Usage().Since(asked).Conflicts
	per := func(v float64, name string) { b.ReportMetric(v/n, name) }
	none(b)
	_, write, read := used.sum(func(what string) bool { return !steady(what) })
	per(write, "write-units")
	per(read, "read-units")
	sqs, _, _ := used.sum(ofQueues)
	goals := fmt.Sprintf("G7: %.1f write units (at most 8.8), %.1f read units (4.4), %.1f SQS calls (0.33)\n"+
		"G2: %.2f conditional writes per claim (1.01)\n", write/n, read/n, float64(sqs)/n, 1+float64(conflicts)/n)
	_, write, read = used.sum(steady)
	per(write, "beside-write-units")
	per(read, "beside-read-units")
	for _, queue := range []string{"notifications", "pool"} {
		calls, _, _ := used.sum(func(what string) bool { return strings.HasSuffix(what, " "+queue) })
		per(float64(calls), queue+"-calls")
	}
	ec2, _, _ := used.sum(func(what string) bool { return strings.HasSuffix(what, " EC2") })
	per(float64(ec2), "ec2-calls")
	per(float64(conflicts), "conflicts")
	return fmt.Sprintf("%sEach of these %g lifecycles:\n%s", goals, n, used.table(n))
}

func idleCost(b *testing.B, a *account) string {
	b.Helper()
	before, start := a.counts(), time.Now()
	for b.Loop() {
		time.Sleep(2 * window)
	}
	used, hours := a.counts().since(before), time.Since(start).Hours()
	none(b)
	per := func(v float64, name string) { b.ReportMetric(v/(hours*costMachines), name+"/h") }
	beats, write, _ := used.sum(func(what string) bool { return what == "agents Heartbeat" })
	per(float64(beats), "heartbeats")
	per(write, "heartbeat-units")
	_, all, reads := used.sum(func(what string) bool { return what != "controller Lease" })
	goals := fmt.Sprintf("G7: an idle instance-hour writes %.2f times its heartbeats (at most 1.05), with reads at a fifth of the price %.2f times\n",
		all/write, (all+reads/5)/write)
	_, _, read := used.sum(func(what string) bool { return strings.HasPrefix(what, "agents ") })
	per(read, "agent-read-units")
	_, write, read = used.sum(func(what string) bool { return strings.HasPrefix(what, "controller ") && what != "controller Lease" })
	per(write, "controller-write-units")
	per(read, "controller-read-units")
	_, write, _ = used.sum(func(what string) bool { return what == "controller Lease" })
	b.ReportMetric(write/hours, "lease-units/h")
	calls, _, _ := used.sum(ofQueues)
	b.ReportMetric(float64(calls)/hours, "sqs-calls/h")
	return fmt.Sprintf("%sIn an hour, %d machines:\n%s", goals, costMachines, used.table(hours))
}
