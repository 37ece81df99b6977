package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Money laws.
const (
	Counted = "the known cost is no less than the cost of the instances"
	Wants   = "the demand of a day has each request of that day"
	Steps   = "a budget step begins only when it is due, and does not end in its month"
)

// countedWithin is how long an instance may live until its cost is known. It has no pace: the controller writes costs once a
// minute, and less often if a day has many rows.
const countedWithin = 3 * time.Minute

// moneyLaws compare the cost that the leader reports with a ledger of the world: the life of each instance, by its list price.
type moneyLaws struct {
	w       *World
	records *records

	last     budgetSaid
	since    map[string]time.Time                    // since when the known cost is too low, or zero
	unpriced map[string]map[store.InstanceID]float64 // by day: dollars of the time in which the price of an instance was unknown
	looked   time.Time                               // when that was last counted
}

// budgetSaid is what a lease says of the budget. It is decoded here, and not by the product, so that an older product can be judged:
// that one never says that its cost is unknown.
type budgetSaid struct {
	Month        string     `json:"month"`
	Monthly      float64    `json:"monthly"`
	Spent        float64    `json:"spent"`
	Off          string     `json:"off"`
	UnknownSince store.Time `json:"unknownSince"`
}

func (b budgetSaid) unknown() bool { return !b.UnknownSince.IsZero() }

func newMoneyLaws(w *World, r *records) *moneyLaws {
	return &moneyLaws{w: w, records: r, since: map[string]time.Time{}, unpriced: map[string]map[store.InstanceID]float64{}}
}

// off lists the steps of a budget that are said to be off.
func (b budgetSaid) off() map[string]bool {
	out := map[string]bool{}
	for what := range strings.SplitSeq(b.Off, ", ") {
		if what != "" {
			out[what] = true
		}
	}
	return out
}

// said compares the budget in a lease with the budget in the lease before. Within a month the cost never falls, and no step ends.
// While the cost is unknown, no step begins.
func (m *moneyLaws) said(item store.Item) {
	var lease struct {
		Holder string
		Health struct{ Budget budgetSaid }
	}
	if json.Unmarshal(item.Attributes, &lease) != nil || lease.Holder == "" || lease.Health.Budget.Monthly == 0 {
		return // of no leader, or one that has no budget
	}
	was, is := m.last, lease.Health.Budget
	m.last = is
	for what := range is.off() {
		if most := m.truth(is.Month, m.w.clock.Now()) + m.tolerance(); !m.due(what, most) {
			m.w.verdicts.once(Steps, "begin "+is.Month+what, "%q is off at %s of %s, and the month has cost %s", what, dollars(is.Spent), dollars(is.Monthly), dollars(most))
		}
		if was.Month == is.Month && was.unknown() && is.unknown() && !was.off()[what] {
			m.w.verdicts.broke(Steps, "%q is off since now, and the cost is unknown since %s", what, m.w.clock.Since(is.UnknownSince.Time))
		}
	}
	if was.Month != is.Month {
		return
	}
	if is.Spent < was.Spent-m.tolerance() {
		m.w.verdicts.broke(Counted, "the known cost of %s falls from %s to %s", is.Month, dollars(was.Spent), dollars(is.Spent))
	}
	for what := range was.off() {
		if !is.off()[what] {
			m.w.verdicts.broke(Steps, "%q is not off any more, and %s has cost %s", what, is.Month, dollars(was.Spent))
		}
	}
}

// due reports whether a step is due once so many dollars are spent.
func (m *moneyLaws) due(what string, dollars float64) bool {
	for _, text := range m.w.o.Money.Steps {
		step, _ := parseStep(text)
		named := string(step.Do) == what || step.To > 0 && strings.HasPrefix(what, "more than ")
		if named && dollars >= step.At*m.w.o.Money.Budget {
			return true
		}
	}
	return false
}

// known holds the cost that the leader knows to the ledger, for as long as it does not say that the cost is unknown.
func (m *moneyLaws) known() {
	if m.w.o.Money.Budget == 0 {
		return
	}
	m.records.mu.Lock()
	defer m.records.mu.Unlock()
	now, is := m.w.clock.Now(), m.last
	m.count(now)
	cost, unknown := m.truth(is.Month, now.Add(-countedWithin)), m.unknown(is.Month)
	known := is.Monthly > 0 && !is.unknown()
	if m.lasts("behind", now, known && is.Spent < cost-unknown-m.tolerance()) {
		m.w.verdicts.once(Counted, "behind", "the known cost of %s is %s, and instances cost %s, and the price of %s is unknown",
			is.Month, dollars(is.Spent), dollars(cost), dollars(unknown))
	}
	if m.lasts("zero", now, known && is.Spent == 0 && unknown > m.tolerance()) {
		m.w.verdicts.once(Counted, "zero", "the known cost of %s is zero, and instances live whose price is unknown", is.Month)
	}
}

// lasts reports whether something has been so for longer than it may be while nothing is out of order.
func (m *moneyLaws) lasts(what string, now time.Time, is bool) bool {
	if !is || m.since[what].IsZero() {
		m.since[what] = time.Time{}
		if is {
			m.since[what] = now
		}
		return false
	}
	return m.w.disturbances.late(m.since[what], countedWithin)
}

// count notes for how long the prices of instances have been unknown. Once a price is known, the time of the same day counts.
func (m *moneyLaws) count(now time.Time) {
	day, from := store.DayOf(now), m.looked
	m.looked = now
	if m.unpriced[day] == nil {
		m.unpriced[day] = map[store.InstanceID]float64{}
	}
	for id, in := range m.records.instances {
		_, priced := m.w.prices.PerHour(in.UsageClass, in.InstanceType, in.Zone)
		switch {
		case priced:
			delete(m.unpriced[day], id)
		case !from.IsZero():
			m.unpriced[day][id] += lived(in, from, now).Hours() * m.w.prices.list(in.UsageClass, in.InstanceType)
		}
	}
}

// unknown returns the dollars of a month that accrued while the price of their instance was unknown.
func (m *moneyLaws) unknown(month string) float64 {
	sum := 0.0
	for day, all := range m.unpriced {
		for _, dollars := range all {
			if strings.HasPrefix(day, month) {
				sum += dollars
			}
		}
	}
	return sum
}

// truth is what all instances of a month have cost until an instant.
func (m *moneyLaws) truth(month string, until time.Time) float64 {
	begin, err := time.Parse("2006-01", month)
	if err != nil {
		return 0 // no lease has said a month yet
	}
	if end := begin.AddDate(0, 1, 0); until.After(end) {
		until = end
	}
	sum := 0.0
	for _, in := range m.records.instances {
		sum += lived(in, begin, until).Hours() * m.w.prices.list(in.UsageClass, in.InstanceType)
	}
	return sum
}

// tolerance is what the clocks of controllers may make of each instance.
func (m *moneyLaws) tolerance() float64 {
	return float64(len(m.records.instances)) * 2 * m.w.o.Money.Price * (2*m.w.clocks.skew() + callsTake).Hours()
}

func dollars(d float64) string { return fmt.Sprintf("$%.4f", d) }

// lived is for how long an instance lived between two instants, by its record.
func lived(in store.Instance, from, to time.Time) time.Duration {
	if in.State == statemachine.Terminated && in.Since.Time.Before(to) {
		to = in.Since.Time
	}
	return max(0, to.Sub(later(from, in.CreatedAt.Time)))
}

// demanded: each request that is over is in the demand of its day. Bad rows do not change that.
func (m *moneyLaws) demanded() {
	m.records.mu.Lock()
	defer m.records.mu.Unlock()
	days := map[string]map[int64]bool{}
	for id, st := range m.records.status {
		r := m.records.requests[id][st.Attempt].RunRequest
		p, over := store.PastRequestOf(r, st, time.Time{})
		if r.ID != id || !over || !m.w.disturbances.late(p.End(), countedWithin) {
			continue
		}
		day := store.DayOf(p.End())
		if days[day] == nil {
			days[day] = m.demandOf(day)
		}
		if !days[day][p.At.UnixNano()] {
			m.w.verdicts.broke(Wants, "request %s/%d was over at %s, and the demand of %s does not have it", id, st.Attempt, p.End().Sub(m.w.begin), day)
		}
	}
}

// demandOf returns the instants of the requests in the demand of a day.
func (m *moneyLaws) demandOf(day string) map[int64]bool {
	out := map[int64]bool{}
	demand, err := store.ReadDemand(context.Background(), store.New(m.w.truth.Table), day)
	if err != nil {
		m.w.verdicts.broke("records", "demand of %s: %v", day, err)
	}
	for _, p := range demand.Requests() {
		out[p.At.UnixNano()] = true
	}
	return out
}

// hinders reports whether a step of the budget may keep a floor from being filled, or a request from being served.
func (m *moneyLaws) hinders() bool { return m.last.Off != "" }
