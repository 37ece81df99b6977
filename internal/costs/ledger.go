package costs

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Ledger adds up what machines cost, by resource class, usage class and repository.
type Ledger struct {
	rows     map[key]*store.CostRow
	unpriced map[unpricedKey]*store.UnpricedTime
	price    PriceOf
}

type key struct{ class, usage, repository string }

type unpricedKey struct {
	key
	instanceType, zone string
}

// PriceOf returns the list price of an instance in dollars per hour, and false if the price is not known.
type PriceOf func(usageClass, instanceType, zone string) (dollars float64, known bool)

// of returns the price. It is unknown without a list, and a price of 0 counts as unknown.
func (p PriceOf) of(usageClass, instanceType, zone string) (dollars float64, known bool) {
	if p == nil {
		return 0, false
	}
	dollars, known = p(usageClass, instanceType, zone)
	return dollars, known && dollars > 0
}

// NewLedger returns a ledger that continues from rows. It uses only the prices in the records of instances.
func NewLedger(rows []store.CostRow) *Ledger { return Resume(store.Costs{Rows: rows}, nil) }

// Resume returns a ledger that continues the costs of a day with the present prices. If price is nil, costs in dollars are switched off.
func Resume(day store.Costs, price PriceOf) *Ledger {
	l := &Ledger{map[key]*store.CostRow{}, map[unpricedKey]*store.UnpricedTime{}, price}
	for _, r := range day.Rows {
		l.rows[key{r.Class, r.Usage, r.Repository}] = &r
	}
	for _, u := range day.Unpriced {
		l.unpriced[unpricedKey{key{u.Class, u.Usage, u.Repository}, u.Type, u.Zone}] = &u
	}
	l.settle()
	return l
}

// settle adds the dollars of recorded times whose price is now known.
func (l *Ledger) settle() {
	for k, u := range l.unpriced {
		price, known := l.price.of(u.Usage, u.Type, u.Zone)
		if !known {
			continue
		}
		delete(l.unpriced, k)
		spent := &l.row(u.Class, u.Usage, u.Repository).Spent
		for phase, seconds := range []store.Seconds{Booting: u.Booting, Busy: u.Busy, Idle: u.Idle} {
			_, dollars := partsOf(spent, Phase(phase))
			*dollars = plus(*dollars, price*seconds.Duration().Hours(), 1e9)
			spent.Unpriced = store.Seconds(max(0, plus(float64(spent.Unpriced), -float64(seconds), 1e3)))
		}
	}
}

// Unpriced returns the times without a known price, in order.
func (l *Ledger) Unpriced() []store.UnpricedTime {
	out := make([]store.UnpricedTime, 0, len(l.unpriced))
	for _, u := range l.unpriced {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b store.UnpricedTime) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Usage, b.Usage), cmp.Compare(a.Repository, b.Repository),
			cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone))
	})
	return out
}

// without records time without a known price. If the list is full, only the row contains the time.
func (l *Ledger) without(of store.UnpricedTime, phase Phase, d time.Duration) {
	k := unpricedKey{key{of.Class, of.Usage, of.Repository}, of.Type, of.Zone}
	u := l.unpriced[k]
	if u == nil && len(l.unpriced) == store.MaxCostRows {
		return
	}
	if u == nil {
		u = &of
		l.unpriced[k] = u
	}
	sum := store.Spent{Booting: u.Booting, Busy: u.Busy, Idle: u.Idle}
	Add(&sum, phase, d, 0)
	u.Booting, u.Busy, u.Idle = sum.Booting, sum.Busy, sum.Idle
}

// Rows returns the ledger's rows in order.
func (l *Ledger) Rows() []store.CostRow {
	out := make([]store.CostRow, 0, len(l.rows))
	for _, r := range l.rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b store.CostRow) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Usage, b.Usage), cmp.Compare(a.Repository, b.Repository))
	})
	return out
}

// row returns the row of a key. It returns the row of all others if the list is full or the key is invalid. The fleet takes class and usage
// class from an instance's tags, so they can be invalid.
func (l *Ledger) row(class, usage, repository string) *store.CostRow {
	if !store.ValidRepository(repository) {
		repository = ""
	}
	k := key{class, usage, repository}
	if l.rows[k] == nil && len(l.rows) >= store.MaxCostRows-1 || !store.ValidCostName(class) || !store.ValidCostName(usage) {
		k = key{class: store.OtherCosts}
	}
	r := l.rows[k]
	if r == nil {
		r = &store.CostRow{Class: k.class, Usage: k.usage, Repository: k.repository}
		l.rows[k] = r
	}
	return r
}

// Machine adds what a machine was between two instants. repository returns whose run a request is, by the name that histories
// give it; "" if that is not known.
func (l *Ledger) Machine(in store.Instance, from, to time.Time, repository func(run string) string) {
	for _, s := range segmentsSince(in, from, to) {
		if d := s.within(from, to); d > 0 {
			whose := ""
			if s.Run != "" {
				whose = repository(s.Run)
			}
			price := Price(in, l.price)
			Add(&l.row(in.ResourceClass, in.UsageClass, whose).Spent, s.Phase, d, price)
			if price == 0 && l.price != nil {
				l.without(store.UnpricedTime{Class: in.ResourceClass, Usage: in.UsageClass, Repository: whose, Type: in.InstanceType, Zone: in.Zone}, s.Phase, d)
			}
		}
	}
}

// segmentsSince is Segments but for what was before an instant: of a machine that has not changed since then nothing need be read.
func segmentsSince(in store.Instance, from, to time.Time) []Segment {
	if in.ChangedAt.After(from) || in.CreatedAt.After(from) {
		return Segments(in, to)
	}
	if in.State == statemachine.Terminated {
		return nil
	}
	return []Segment{{From: from, To: to, Phase: phaseOf(in), Run: in.RunID.Noted()}}
}

// Ready adds the start of a run that became ready: its request, its machines by whether they were warm, and what it waited.
func (l *Ledger) Ready(r store.RunRequest, st store.RunStatus) {
	for i, seat := range st.Instances {
		row := l.row(r.ResourceClass, seat.UsageClass, r.Repository)
		if seat.Warm {
			row.Warm++
		} else {
			row.Cold++
		}
		if i == 0 {
			row.Requests++
			row.Waited = store.Seconds(plus(float64(row.Waited), st.ReadyAt.Sub(st.PendingAt.Time).Seconds(), 1e3))
		}
	}
}

// Price returns the price of an instance per hour, from the present list or else from the list at its launch; 0 if unknown.
func Price(in store.Instance, list PriceOf) float64 {
	if dollars, known := list.of(in.UsageClass, in.InstanceType, in.Zone); known {
		return dollars
	}
	return max(0, in.Price)
}

// OfRun returns what the machines of a request cost between two instants: for as long as they booted for it, or were its own.
func OfRun(id store.RequestID, machines []store.Instance, from, to time.Time) store.Spent {
	var out store.Spent
	for _, in := range machines {
		for _, s := range Segments(in, to) {
			if d := s.within(from, to); d > 0 && store.Names(s.Run, id) {
				Add(&out, s.Phase, d, in.Price)
			}
		}
	}
	return out
}

// Add adds a time of a machine whose price is in dollars per hour; 0: not known.
func Add(to *store.Spent, phase Phase, d time.Duration, price float64) {
	seconds, dollars := partsOf(to, phase)
	*seconds = store.Seconds(plus(float64(*seconds), d.Seconds(), 1e3))
	*dollars = plus(*dollars, price*d.Hours(), 1e9)
	if price == 0 {
		to.Unpriced = store.Seconds(plus(float64(to.Unpriced), d.Seconds(), 1e3))
	}
}

// partsOf returns the sums that a phase is added to.
func partsOf(of *store.Spent, phase Phase) (seconds *store.Seconds, dollars *float64) {
	switch phase {
	case Booting:
		return &of.Booting, &of.BootingDollars
	case Busy:
		return &of.Busy, &of.BusyDollars
	default:
		return &of.Idle, &of.IdleDollars
	}
}

// plus adds in whole parts of one, so that the sum does not depend on the order in which machines come.
func plus(sum, more, parts float64) float64 {
	return math.Round(sum*parts+math.Round(more*parts)) / parts
}
