package pool_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
)

// The edges of a threshold, for a candidate at hand and for one that comes back. S48, H23
func TestPickup_S48_ExpiredAreGone(t *testing.T) {
	for _, c := range []struct {
		name string
		left time.Duration
		want string
	}{
		{"OneTickBefore", time.Nanosecond, "i-001"},
		{"Exactly", 0, ""},
		{"After", -time.Nanosecond, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, clk := newPickup()
			p.Put(spot(1))
			take(t, p, query(), "r", "i-001")
			clk.SetTime(spot(1).Threshold.Add(-c.left))
			p.Return("i-001")
			take(t, p, query(), "r", c.want)

			late, _ := newPickup()
			now := spot(1)
			now.Threshold = epoch.Add(c.left)
			late.Put(now)
			take(t, late, query(), "r", c.want)
		})
	}
	p, clk := newPickup()
	for n := range 1000 {
		p.Put(spot(n))
	}
	clk.SetTime(spot(899).Threshold)
	if got := p.Sizes().Available; got != 100 {
		t.Errorf("%d are available after 900 of 1000 expired", got)
	}
	if got := p.Kept(); got != 100 {
		t.Errorf("%d are kept, want those that have not expired", got)
	}
}

// What one request cannot use stays for others, at once and untouched. S55, S58
func TestPickup_S55_S58_ExhaustedIsRelative(t *testing.T) {
	p, _ := newPickup()
	p.Put(spot(1))
	picky := query()
	picky.AllowedTypes = []string{"r6*"}
	take(t, p, picky, "picky", "")
	take(t, p, query(), "other", "i-001")
	take(t, p, query(), "third", "") // S50
	p.Return("i-001")
	take(t, p, picky, "picky", "")
	take(t, p, query(), "third", "i-001")
}

// One unsuitable instance is looked at not even once, however often one asks. S56
func TestPickup_S56_NoHotLoop(t *testing.T) {
	calls := &counting{Pool: pooltest.NewMemory(clocktesting.NewFakeClock(epoch))}
	p := pickupOn(calls, clocktesting.NewFakeClock(epoch))
	odd := spot(1)
	odd.UsageClass = "on-demand"
	p.Put(odd)
	for range 100 {
		if got, ok := p.Take(query(), "r", func(c pool.Ticket) bool { t.Errorf("looked at %+v", c); return false }); ok {
			t.Fatalf("Take = %+v", got)
		}
	}
	if n := calls.total(); n != 0 {
		t.Errorf("Take calls the Pool %d times", n)
	}
}

// 100,000 unsuitable candidates cost no call, no look and no memory. S54, S57, H20, H24
func TestPickup_S57_ManyUnsuitable(t *testing.T) {
	calls := &counting{Pool: pooltest.NewMemory(clocktesting.NewFakeClock(epoch))}
	p := pickupOn(calls, clocktesting.NewFakeClock(epoch))
	for n := range 100_000 {
		p.Put(unsuitable(n))
	}
	match := spot(1)
	p.Put(match)
	q := query()
	take(t, p, q, "r", match.InstanceID)
	take(t, p, q, "r", "")
	p.Return(match.InstanceID)
	if s := p.Sizes(); s.Available != 100_001 || s.Groups != 501 {
		t.Errorf("Sizes = %+v, want 100,001 available in 501 groups", s)
	}
	if n := calls.total(); n != 0 {
		t.Errorf("Put and Take call the Pool %d times", n)
	}
	exhausted := q
	exhausted.CPU = 64
	if n := testing.AllocsPerRun(100, func() { p.Take(exhausted, "r", nil) }); n != 0 {
		t.Errorf("an exhausted Take allocates %v times", n)
	}
}

// unsuitable returns one of many candidates of 500 types that query does not match.
func unsuitable(n int) pool.Ticket {
	t := spot(n)
	t.InstanceID = fmt.Sprintf("i-x%06d", n)
	t.InstanceType = fmt.Sprintf("m%d.large", n%500)
	return t
}

// Every spot candidate comes before any on-demand one, and within them the one that would be lost
// first, whatever its type. S51
func TestPickup_S51_OrderOfPreference(t *testing.T) {
	p, _ := newPickup()
	for n, edit := range []func(*pool.Ticket){
		func(t *pool.Ticket) { t.UsageClass = "on-demand" },
		func(t *pool.Ticket) {},
		func(t *pool.Ticket) { t.UsageClass, t.InstanceType = "on-demand", "c7g.large" },
		func(t *pool.Ticket) { t.InstanceType, t.Mem = "c7g.large", 8192 },
		func(t *pool.Ticket) {},
	} {
		ticket := spot(n)
		edit(&ticket)
		p.Put(ticket)
	}
	q := query()
	q.UsageClasses = []string{"spot", "on-demand"}
	for _, want := range []string{"i-001", "i-003", "i-004", "i-000", "i-002", ""} {
		take(t, p, q, "r", want)
	}
}

// A taken candidate stays hidden whatever is said of it meanwhile, and comes back as it is then. S50
func TestPickup_S50_PutDoesNotUnhide(t *testing.T) {
	p, _ := newPickup()
	p.Put(spot(1))
	take(t, p, query(), "r", "i-001")
	p.Put(spot(1))
	bigger := spot(1)
	bigger.Mem, bigger.Threshold = 8192, spot(9).Threshold
	p.Put(bigger)
	take(t, p, query(), "other", "")
	p.Return("i-001")
	p.Return("i-001")
	if got, ok := p.Take(query(), "other", nil); !ok || got != bigger {
		t.Errorf("Take = %+v, %t, want %+v", got, ok, bigger)
	}
	p.Drop("i-001")
	p.Return("i-001")
	take(t, p, query(), "third", "")
}

// A candidate that keeps coming back is taken a few times by each attempt. S56
func TestPickup_S56_GuardAgainstRecurrence(t *testing.T) {
	p, _ := newPickup()
	p.Put(spot(1))
	p.Put(spot(2))
	for range pool.MaxLooks {
		take(t, p, query(), "r/1", "i-001")
		p.Drop("i-001") // as after a lost claim; then its record says idle again
		p.Put(spot(1))
	}
	take(t, p, query(), "r/1", "i-002")
	take(t, p, query(), "r/1", "")
	take(t, p, query(), "r/2", "i-001")
	p.Return("i-001")
	p.Forget("r/1")
	take(t, p, query(), "r/1", "i-001")
	if s := p.Sizes(); s.Requests != 2 {
		t.Errorf("Sizes().Requests = %d, want 2", s.Requests)
	}
	p.Forget("r/1")
	p.Forget("r/2")
	if s := p.Sizes(); s.Requests != 0 {
		t.Errorf("Sizes().Requests = %d after Forget, want 0", s.Requests)
	}
}

// A vetoed candidate is left alone, also if the veto itself fails.
func TestPickup_VetoedStaysAvailable(t *testing.T) {
	p, _ := newPickup()
	for n := range 3 {
		p.Put(spot(n))
	}
	got, ok := p.Take(query(), "young", func(c pool.Ticket) bool { return c.InstanceID == "i-000" })
	if !ok || got.InstanceID != "i-001" {
		t.Errorf("Take = %s, %t, want i-001", got.InstanceID, ok)
	}
	if _, ok := p.Take(query(), "young", func(pool.Ticket) bool { return true }); ok {
		t.Error("Take returns a vetoed candidate")
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the veto's panic is swallowed")
			}
		}()
		p.Take(query(), "young", func(pool.Ticket) bool { panic("veto") })
	}()
	take(t, p, query(), "old", "i-000")
	take(t, p, query(), "old", "i-002")
}

// A group ends with the last candidate in it, taken or not, so that types come and go for ever.
func TestPickup_GroupsAreBounded(t *testing.T) {
	p, _ := newPickup()
	for n := range 1000 {
		one := spot(n)
		one.InstanceType = fmt.Sprintf("c%d.large", n)
		p.Put(one)
		if n%2 == 0 {
			take(t, p, query(), "r", one.InstanceID)
		}
		p.Drop(one.InstanceID)
	}
	if s := p.Sizes(); s.Groups != 0 {
		t.Errorf("Sizes = %+v, want nothing left", s)
	}
}

// The caller may reuse the memory of its query.
func TestPickup_KeepsNoMemoryOfTheQuery(t *testing.T) {
	p, _ := newPickup()
	q := query()
	take(t, p, q, "r", "")
	q.AllowedTypes[0], q.UsageClasses[0] = "m*", "on-demand"
	p.Put(spot(1))
	take(t, p, query(), "r", "i-001")
}

// The message carries the threshold it is given, which is the record's. H14
func TestPickup_H14_OfferSendsTheRecordsThreshold(t *testing.T) {
	clk := clocktesting.NewFakeClock(epoch)
	mem := pooltest.NewMemory(clk)
	p := pickupOn(mem, clk)
	if err := p.Offer(t.Context(), spot(7)); err != nil {
		t.Fatal(err)
	}
	got, err := mem.Receive(t.Context(), "medium", time.Minute, 0)
	if err != nil || len(got) != 1 {
		t.Fatalf("Receive = %+v, %v, want one message", got, err)
	}
	if sent, err := pool.Decode(got[0].Body); err != nil || sent != spot(7) {
		t.Errorf("sent %+v, %v, want %+v", sent, err, spot(7))
	}
	if err := mem.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Offer(t.Context(), spot(7)); err == nil || !strings.Contains(err.Error(), "i-007") {
		t.Errorf("Offer to a closed pool: error = %v, want one that names i-007", err)
	}
}
