package reconciler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// operatorOf is an operator that shows a rival; loaded says whether the rival's tenure has read the records.
func operatorOf(c *rival) (op *Operator, loaded func(bool)) {
	op = &Operator{elector: c.elector}
	return op, func(is bool) {
		m := &manager{scanner: &scanner{}}
		m.scanner.loaded.Store(is)
		op.manager.Store(m)
	}
}

// leadershipIs fails the test unless op has exactly that part now.
func leadershipIs(t *testing.T, op *Operator, reason string, want Leadership) {
	t.Helper()
	synctest.Wait()
	if got := op.Leadership(); got != want {
		t.Errorf("Leadership() = %+v, want %+v (%s)", got, want, reason)
	}
	if op.Stalled() {
		t.Errorf("Stalled() = true (%s)", reason)
	}
}

func TestLeadership_LeaderAndStandby(t *testing.T) {
	election(t, func(t *testing.T, _ *storetest.Memory, first, second *rival) {
		leader, loaded := operatorOf(first)
		standby, standbyLoaded := operatorOf(second)
		leadershipIs(t, leader, "the tenure has only begun", Leadership{true, 1, ReadingRecords})
		loaded(false)
		leadershipIs(t, leader, "it reads", Leadership{true, 1, ReadingRecords})
		loaded(true)
		leadershipIs(t, leader, "it works", Leadership{true, 1, ""})
		leadershipIs(t, standby, "it read the lease", Leadership{false, 1, ""})

		standbyLink := second.link
		standbyLink.set(fails)
		time.Sleep(second.ttl + second.request)
		leadershipIs(t, standby, "it could still take over in time", Leadership{false, 1, ""})
		time.Sleep(second.ttl)
		leadershipIs(t, standby, "it cannot see the lease", Leadership{false, 1, StoreUnreachable})
		leadershipIs(t, leader, "it is the other that cannot", Leadership{true, 1, ""})
		standbyLink.set(hangs)
		time.Sleep(10 * time.Minute)
		leadershipIs(t, standby, "a store that hangs stalls nobody", Leadership{false, 1, StoreUnreachable})
		standbyLink.set(nil)
		time.Sleep(time.Second)
		leadershipIs(t, standby, "it sees it again", Leadership{false, 1, ""})

		first.link.set(hangs)
		time.Sleep(first.ttl)
		leadershipIs(t, leader, "it could not renew", Leadership{true, 1, NoTrust})
		time.Sleep(10 * time.Second)
		standbyLoaded(true)
		leadershipIs(t, standby, "it took over", Leadership{true, 2, ""})
		leadershipIs(t, leader, "it cannot know that", Leadership{true, 1, NoTrust})
		first.link.set(nil)
		time.Sleep(2 * time.Second)
		leadershipIs(t, leader, "it follows", Leadership{false, 2, ""})
	})
}

// A store that never answered makes no controller ready, and stalls none.
func TestLeadership_StoreAwayFromTheStart(t *testing.T) {
	election(t, func(t *testing.T, table *storetest.Memory, _, _ *rival) {
		c := newRival(t, "third", table, clock.RealClock{})
		c.link.set(hangs)
		op, _ := operatorOf(c)
		if got := op.Leadership(); got != (Leadership{NotReady: NotStarted}) {
			t.Errorf("Leadership() = %+v, want not started", got)
		}
		time.Sleep(10 * time.Second)
		leadershipIs(t, op, "it never read the lease", Leadership{false, 0, StoreUnreachable})
		c.stop(t)
	})
}

// A call that does not end though its time is over keeps the loop from turning: for so long the process is of no use.
func TestStalled(t *testing.T) {
	election(t, func(t *testing.T, _ *storetest.Memory, first, second *rival) {
		release := make(chan struct{})
		stuck := func(context.Context, func() error) error { <-release; return nil }
		for _, c := range []*rival{first, second} {
			op, _ := operatorOf(c)
			c.link.set(stuck)
			time.Sleep(30 * time.Second)
			if op.Stalled() {
				t.Errorf("%s: Stalled() = true after 30 s, want some patience", c.holder)
			}
			time.Sleep(10 * time.Second)
			if !op.Stalled() {
				t.Errorf("%s: Stalled() = false after 40 s", c.holder)
			}
			c.link.set(nil)
		}
		close(release)
		time.Sleep(time.Second)
		for _, c := range []*rival{first, second} {
			if op, _ := operatorOf(c); op.Stalled() {
				t.Errorf("%s: Stalled() = true though it turns again", c.holder)
			}
		}
	})
}

// Stopping is said from the moment that Run is told to end, and Run leaves nothing that could seem stalled.
func TestLeadership_Stopping(t *testing.T) {
	election(t, func(t *testing.T, table *storetest.Memory, _, second *rival) {
		cfg := Defaults()
		e := &elector{store: store.New(table), clock: second.clock, offset: none, log: second.log, holder: "third", ttl: cfg.LeaseTTL, request: cfg.LeaseRequest}
		op := &Operator{elector: e}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- op.Run(ctx) }()
		leadershipIs(t, op, "it waits", Leadership{false, 1, ""})
		cancel()
		leadershipIs(t, op, "told to end", Leadership{false, 1, Stopping})
		if err := <-ended; err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
		time.Sleep(time.Hour)
		leadershipIs(t, op, "it has ended", Leadership{false, 1, Stopping})
	})
}
