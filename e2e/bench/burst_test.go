package bench_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/reconciler"
)

// burst is how many requests BenchmarkBurst makes at once, and launchTime how long EC2 takes for a call of
// CreateFleet (docs/goals.md).
const (
	burst      = 1000
	launchTime = 2 * time.Second
)

// BenchmarkBurst makes 1,000 requests for one machine each while nothing is warm, and counts the calls of
// CreateFleet until all have theirs: requests that come while a controller runs, and requests that a new
// controller finds. The store is as slow as DynamoDB, EC2 is in memory, machines run nothing. G9
func BenchmarkBurst(b *testing.B) {
	for _, found := range []bool{false, true} {
		goals := ""
		name := map[bool]string{false: "come", true: "found"}[found]
		b.Run(fmt.Sprintf("requests=%d/%s", burst, name), func(b *testing.B) {
			server := ec2test.New(b)
			machines := fleetOn(b, server, &url.URL{Scheme: "ec2", Host: "bench"}, awstest.Config(b, server.URL))
			w := open(b, bench.Options{
				Backends: &bench.Backends{Fleet: slowLaunch{machines}}, NoAgents: true, Delay: bench.NewDynamoDB(1),
				Tune: func(c *reconciler.Config) { c.MaxCount = burst },
			})
			for b.Loop() {
				burstOnce(b, w, server, found)
			}
			goals = fmt.Sprintf("G9: %d CreateFleet calls (at most 2), %d launched of %d needed\n",
				server.Calls("CreateFleet"), len(server.Instances()), burst)
		})
		fmt.Print(goals) // after the results
	}
}

// slowLaunch takes launchTime for a launch.
type slowLaunch struct{ fleet.Fleet }

func (s slowLaunch) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	select {
	case <-ctx.Done():
		return fleet.Outcome{}, context.Cause(ctx)
	case <-time.After(launchTime):
		return s.Fleet.Launch(ctx, p)
	}
}

func burstOnce(b *testing.B, w *bench.World, server *ec2test.Server, found bool) {
	b.Helper()
	if !found {
		defer start(b, w)()
		time.Sleep(settled)
	}
	began := time.Now()
	var all errgroup.Group
	for i := range burst {
		all.Go(func() error {
			_, err := w.Client.Submit(b.Context(), bench.Spec(fmt.Sprint(i), 1))
			return err
		})
	}
	check(b, all.Wait())
	submitted := time.Since(began)
	if found {
		began = time.Now()
		defer start(b, w)()
	}
	for len(server.Instances()) < burst && time.Since(began) < 5*time.Minute {
		time.Sleep(50 * time.Millisecond)
	}
	took := time.Since(began)
	time.Sleep(settled) // whatever else it would launch
	none(b)
	b.ReportMetric(float64(server.Calls("CreateFleet")), "createfleet-calls")
	b.ReportMetric(float64(len(server.Instances())), "launched")
	b.ReportMetric(submitted.Seconds(), "submitted-s")
	b.ReportMetric(took.Seconds(), "launched-s")
}
