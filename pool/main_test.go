package pool_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// quiet logs nothing.
var quiet = slog.New(slog.DiscardHandler)

// newPickup returns a Pickup on queues in memory, at epoch.
func newPickup() (*pool.Pickup, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(epoch)
	return pickupOn(pooltest.NewMemory(clk), clk), clk
}

func pickupOn(p pool.Pool, clk clock.WithTicker) *pool.Pickup {
	return pool.NewPickup(p, clk, quiet)
}

// spot returns a candidate for query, with a threshold n seconds after epoch + 1 min.
func spot(n int) pool.Ticket {
	return pool.Ticket{
		InstanceID: fmt.Sprintf("i-%03d", n), UsageClass: "spot", InstanceType: "c6i.large", CPU: 2, Mem: 4096,
		ResourceClass: "medium", Threshold: epoch.Add(time.Minute + time.Duration(n)*time.Second),
	}
}

// query matches spot tickets.
func query() pool.Query {
	return pool.Query{
		ResourceClass: "medium", UsageClasses: []string{"spot"}, AllowedTypes: []string{"c*"}, CPU: 2, Mem: 4096,
	}
}

// take fails the test unless Take returns want, "" for none.
func take(t *testing.T, p *pool.Pickup, q pool.Query, who, want string) {
	t.Helper()
	got, ok := p.Take(q, who, nil)
	if got.InstanceID != want || ok != (want != "") {
		t.Fatalf("Take(%+v, %s) = %q, %t, want %q", q, who, got.InstanceID, ok, want)
	}
}
