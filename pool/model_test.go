package pool_test

import (
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/pool"
)

// model is the Pickup as a list that is searched from end to end.
type model struct {
	pickup   *pool.Pickup
	clock    *clocktesting.FakeClock
	maxLooks int
	all      map[string]*modelEntry
	looks    map[[2]string]int
}

type modelEntry struct {
	ticket pool.Ticket
	taken  bool
}

// best returns the candidate that q must get, or nil.
func (m *model) best(q pool.Query, who string, vetoed []string) *modelEntry {
	var best *modelEntry
	rank := func(e *modelEntry) int { return slices.Index(q.UsageClasses, e.ticket.UsageClass) }
	for id, e := range m.all {
		switch {
		case e.taken, !e.ticket.Threshold.After(m.clock.Now()), !q.Matches(e.ticket):
		case m.looks[[2]string{who, id}] >= m.maxLooks, slices.Contains(vetoed, id):
		case best == nil, rank(e) < rank(best),
			rank(e) == rank(best) && e.ticket.Threshold.Before(best.ticket.Threshold),
			rank(e) == rank(best) && e.ticket.Threshold.Equal(best.ticket.Threshold) && id < best.ticket.InstanceID:
			best = e
		}
	}
	return best
}

var (
	genID     = rapid.SampledFrom([]string{"i-1", "i-2", "i-3", "i-4", "i-5", "i-6", "i-7", "i-8", "i-9"})
	genWho    = rapid.SampledFrom([]string{"r-1/1", "r-1/2", "r-2/1"})
	genClass  = rapid.SampledFrom([]string{"small", "large"})
	genUsage  = rapid.SampledFrom([]string{"spot", "on-demand"})
	genType   = rapid.SampledFrom([]string{"c6i.large", "c6g.large", "m5.large"})
	genTypes  = rapid.SampledFrom([]string{"*", "c*", "c6i.*", "m5.large", "*.LARGE", "x*"})
	genTicket = rapid.Custom(func(t *rapid.T) pool.Ticket {
		return pool.Ticket{
			InstanceID: genID.Draw(t, "id"), UsageClass: genUsage.Draw(t, "usage"), InstanceType: genType.Draw(t, "type"),
			CPU: rapid.IntRange(1, 2).Draw(t, "cpu"), Mem: rapid.IntRange(1, 3).Draw(t, "mem"),
			ResourceClass: genClass.Draw(t, "class"),
			Threshold:     epoch.Add(time.Duration(rapid.IntRange(-2, 30).Draw(t, "threshold")) * time.Second),
		}
	})
	genQuery = rapid.Custom(func(t *rapid.T) pool.Query {
		return pool.Query{
			ResourceClass: genClass.Draw(t, "class"), UsageClasses: rapid.SliceOfN(genUsage, 0, 3).Draw(t, "usages"),
			AllowedTypes: rapid.SliceOfN(genTypes, 0, 2).Draw(t, "types"),
			CPU:          rapid.IntRange(1, 2).Draw(t, "cpu"), Mem: rapid.IntRange(1, 3).Draw(t, "mem"),
		}
	})
)

func (m *model) put(t *rapid.T) {
	ticket := genTicket.Draw(t, "ticket")
	m.pickup.Put(ticket)
	switch e := m.all[ticket.InstanceID]; {
	case !ticket.Threshold.After(m.clock.Now()):
		delete(m.all, ticket.InstanceID)
	case e == nil:
		m.all[ticket.InstanceID] = &modelEntry{ticket: ticket}
	default:
		e.ticket = ticket
	}
}

func (m *model) drop(t *rapid.T) {
	id := genID.Draw(t, "id")
	m.pickup.Drop(id)
	delete(m.all, id)
}

func (m *model) take(t *rapid.T) {
	q, who := genQuery.Draw(t, "query"), genWho.Draw(t, "who")
	vetoed := rapid.SliceOfN(genID, 0, 4).Draw(t, "vetoed")
	want := m.best(q, who, vetoed)
	got, ok := m.pickup.Take(q, who, func(c pool.Ticket) bool {
		if !q.Matches(c) {
			t.Fatalf("veto asked about %+v, which does not match %+v", c, q)
		}
		return slices.Contains(vetoed, c.InstanceID)
	})
	if ok != (want != nil) {
		t.Fatalf("Take(%+v) = %+v, %t; want %+v", q, got, ok, want)
	}
	if want == nil {
		return
	}
	if got != want.ticket {
		t.Fatalf("Take(%+v) = %+v\nwant %+v", q, got, want.ticket)
	}
	want.taken = true
	m.looks[[2]string{who, got.InstanceID}]++
}

// count compares how many can be taken, and sees that none is.
func (m *model) count(t *rapid.T) {
	q, who := genQuery.Draw(t, "query"), genWho.Draw(t, "who")
	n, passed := rapid.IntRange(-1, 5).Draw(t, "n"), rapid.SliceOfN(genID, 0, 4).Draw(t, "vetoed")
	got := m.pickup.Takeable(q, who, n, func(c pool.Ticket) bool { return slices.Contains(passed, c.InstanceID) })
	want := 0
	for want < n {
		e := m.best(q, who, passed)
		if e == nil {
			break
		}
		passed = append(slices.Clone(passed), e.ticket.InstanceID)
		want++
	}
	if got != want {
		t.Fatalf("Takeable(%+v, %s, %d) = %d, want %d", q, who, n, got, want)
	}
}

func (m *model) giveBack(t *rapid.T) {
	id := genID.Draw(t, "id")
	m.pickup.Return(id)
	if e := m.all[id]; e != nil && e.taken {
		e.taken = false
	}
}

func (m *model) forget(t *rapid.T) {
	who := genWho.Draw(t, "who")
	m.pickup.Forget(who)
	for k := range m.looks {
		if k[0] == who {
			delete(m.looks, k)
		}
	}
}

func (m *model) wait(t *rapid.T) {
	m.clock.Step(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
}

// check compares what can be seen without taking. S44
func (m *model) check(t *rapid.T) {
	available, taken := 0, 0
	who := map[string]bool{}
	for _, e := range m.all {
		switch {
		case e.taken:
			taken++
		case e.ticket.Threshold.After(m.clock.Now()):
			available++
		}
	}
	for k := range m.looks {
		who[k[0]] = true
	}
	s := m.pickup.Sizes()
	if s.Available != available || s.Taken != taken || s.Requests != len(who) {
		t.Fatalf("Sizes = %+v, want %d available, %d taken, %d requests", s, available, taken, len(who))
	}
}

// Whatever is put, dropped, taken and returned in whatever order, the index answers as a naive
// list does. S43, S44, S48, S50, S51, S52, S53, S55, S58, S59
func TestPickup_AnswersAsANaiveList(t *testing.T) {
	for range 10 { // times rapid's 100 checks
		rapid.Check(t, checkModel)
	}
}

func checkModel(t *rapid.T) {
	maxLooks := rapid.IntRange(1, 6).Draw(t, "maxLooks")
	p, clk := newPickup()
	p.SetMaxLooks(maxLooks)
	m := &model{pickup: p, clock: clk, maxLooks: maxLooks, all: map[string]*modelEntry{}, looks: map[[2]string]int{}}
	t.Repeat(map[string]func(*rapid.T){
		"put": m.put, "put again": m.put, "drop": m.drop, "take": m.take, "take again": m.take, "count": m.count,
		"return": m.giveBack, "forget": m.forget, "wait": m.wait, "": m.check,
	})
}
