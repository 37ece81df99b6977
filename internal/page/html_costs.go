package page

import (
	"slices"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/remuda-run/remuda/store"
)

// CostDays is how many days of costs the overview shows; `remuda costs` shows a year.
const CostDays = 7

// dayCosts is what one day came to.
type dayCosts struct {
	Day      string
	Requests int
	Spent    store.Spent
}

// dayCosts adds up the costs of each day, the newest first, and of all.
func (m *model) dayCosts() (days []dayCosts, all store.Spent) {
	for _, c := range slices.Backward(m.Costs) {
		one := dayCosts{Day: c.Day}
		for _, r := range c.Rows {
			one.Requests, one.Spent = one.Requests+r.Requests, one.Spent.Plus(r.Spent)
		}
		days, all = append(days, one), all.Plus(one.Spent)
	}
	return days, all
}

func showCosts(v view) g.Node {
	title := h.H2(g.Textf("Costs, last %d days", CostDays))
	days, all := v.dayCosts()
	if len(days) == 0 {
		return g.Group{title, none(v, "Nothing was counted.")}
	}
	most := 0.0
	for _, d := range days {
		most = max(most, d.Spent.Dollars())
	}
	unpriced := g.Node(nil)
	if all.Unpriced > 0 {
		unpriced = g.Textf(" Not in them: %s of machines whose price is not known.", short(all.Unpriced.Duration()))
	}
	return g.Group{title,
		table("cards numbers", columns("Day", "Runs", "Busy", "Boot", "Idle", "Dollars", "Share of the dearest"), days, func(d dayCosts) g.Node { return showDay(d, most) }),
		h.P(h.Class("note"), g.Text("Estimates by list prices, of machines alone. Days are those of UTC."), unpriced),
	}
}

func showDay(d dayCosts, most float64) g.Node {
	s, dollars, bar := d.Spent, dash, g.Text(dash)
	if s.Priced() {
		dollars = strconv.FormatFloat(s.Dollars(), 'f', 2, 64)
	}
	if most > 0 {
		bar = h.Meter(h.Aria("label", "dollars of "+d.Day), h.Max("1"), h.Value(strconv.FormatFloat(s.Dollars()/most, 'f', 3, 64)))
	}
	return h.Tr(
		h.Th(h.Scope("row"), g.Text(d.Day)),
		cell("Runs", g.Text(strconv.Itoa(d.Requests))),
		cell("Busy", g.Text(short(s.Busy.Duration()))), cell("Boot", g.Text(short(s.Booting.Duration()))), cell("Idle", g.Text(short(s.Idle.Duration()))),
		cell("Dollars", g.Text(dollars)), cell("Share of the dearest", bar),
	)
}
