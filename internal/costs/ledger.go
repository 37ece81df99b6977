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
	rows map[key]*store.CostRow
}

type key struct{ class, usage, repository string }

// NewLedger returns a ledger that goes on from rows.
func NewLedger(rows []store.CostRow) *Ledger {
	l := &Ledger{map[key]*store.CostRow{}}
	for _, r := range rows {
		l.rows[key{r.Class, r.Usage, r.Repository}] = &r
	}
	return l
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

// row returns the row of a key; that of all others once there is no room for more.
func (l *Ledger) row(class, usage, repository string) *store.CostRow {
	k := key{class, usage, repository}
	if l.rows[k] == nil && len(l.rows) >= store.MaxCostRows-1 {
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
			Add(&l.row(in.ResourceClass, in.UsageClass, whose).Spent, s.Phase, d, in.Price)
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
	seconds, dollars := (*store.Seconds)(nil), (*float64)(nil)
	switch phase {
	case Booting:
		seconds, dollars = &to.Booting, &to.BootingDollars
	case Busy:
		seconds, dollars = &to.Busy, &to.BusyDollars
	case Idle:
		seconds, dollars = &to.Idle, &to.IdleDollars
	}
	*seconds = store.Seconds(plus(float64(*seconds), d.Seconds(), 1e3))
	*dollars = plus(*dollars, price*d.Hours(), 1e9)
	if price == 0 {
		to.Unpriced = store.Seconds(plus(float64(to.Unpriced), d.Seconds(), 1e3))
	}
}

// plus adds in whole parts of one, so that the sum does not depend on the order in which machines come.
func plus(sum, more, parts float64) float64 {
	return math.Round(sum*parts+math.Round(more*parts)) / parts
}
