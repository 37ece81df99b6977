package aws

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/story"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest/faults"
)

// EC2 refuses in all its ways, and what it gave is neither lost nor asked for twice: its rate is exceeded,
// then the quota of fleets; then it gives two of three, says why beside them, and the answer is lost; at
// the end one of the three cannot be terminated and fails every call that names it (H67, S71, S74, S75).
func TestFaults_Refusals(t *testing.T) {
	t.Parallel()
	seed := *seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("faults: -seed %d", seed)
	var stub *ec2test.Server
	var lost *faults.Transport
	w := newWorld(t, func(w *world) {
		stub = w.cloud
		stub.Refuse(ec2test.Pool{Type: "c6i.large", Zone: "us-east-1a"}, "InsufficientInstanceCapacity")
		stub.Limit(2)
		for _, action := range []string{"CreateFleet", "DescribeInstances", "TerminateInstances"} {
			stub.Throttle(action, 4) // one more than the SDK tries
		}
		stub.Fail("CreateFleet", ec2test.Fault{Status: http.StatusBadRequest, Code: "MaxFleetCountExceeded", Message: "The maximum number of fleets has been reached."})
		var proxy string
		proxy, lost = faults.Proxy(t, stub.URL, faults.Faults{Seed: seed, Rules: []faults.Rule{
			{Op: "ec2.CreateFleet", Kind: faults.LostReply, Rate: 1, Limit: 4},
		}})
		w.roleID = *w.role.RoleId // IAM need not be asked
		w.parts.controller["ec2"] = proxy
	})
	w.install()
	var partial, refused atomic.Bool
	w.beside(func(ctx context.Context) error { operate(ctx, stub, &partial, &refused); return nil })
	w.begin()
	w.tells(story.Short, 3)
	lost.MustFire(t)
	if n := len(stub.Instances()); n != 3 || !partial.Load() || !refused.Load() {
		t.Errorf("%d instances launched, two first %t, termination refused %t; want 3, true, true", n, partial.Load(), refused.Load())
	}
	t.Logf("%s; calls: CreateFleet %d, DescribeInstances %d, TerminateInstances %d",
		hits(lost), stub.Calls("CreateFleet"), stub.Calls("DescribeInstances"), stub.Calls("TerminateInstances"))
}

// operate lifts the limit once two live, makes the first of three a bad one, and repairs it when the others
// are gone in spite of it.
func operate(ctx context.Context, stub *ec2test.Server, partial, refused *atomic.Bool) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	stuck := ""
	for {
		alive := stub.Alive()
		switch {
		case !partial.Load() && len(alive) == 2:
			partial.Store(true)
			stub.Limit(-1)
		case stuck == "" && len(alive) == 3:
			stuck = alive[0]
			stub.Stick(stuck, "OperationNotPermitted")
		case stuck != "" && !refused.Load() && slices.Equal(alive, []string{stuck}) && named(stub, stuck):
			refused.Store(true)
			stub.Stick(stuck, "")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// named reports whether a call was to terminate an instance.
func named(stub *ec2test.Server, id string) bool {
	for _, form := range stub.Requests("TerminateInstances") {
		for _, values := range form {
			if slices.Contains(values, id) {
				return true
			}
		}
	}
	return false
}
