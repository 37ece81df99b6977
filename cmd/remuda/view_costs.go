package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

// spentView is store.Spent, with every key.
type spentView struct {
	Booting        store.Seconds `json:"bootingSeconds"`
	Busy           store.Seconds `json:"busySeconds"`
	Idle           store.Seconds `json:"idleSeconds"`
	BootingDollars float64       `json:"bootingDollars"`
	BusyDollars    float64       `json:"busyDollars"`
	IdleDollars    float64       `json:"idleDollars"`
	Unpriced       store.Seconds `json:"unpricedSeconds"` // of machines whose price is not known
}

func newSpentView(s store.Spent) spentView { return spentView(s) }

func (v spentView) spent() store.Spent { return store.Spent(v) }

// text is what a request cost, for people; "" if nothing was counted.
func (v spentView) text() string {
	s := v.spent()
	if s.Seconds() == 0 {
		return ""
	}
	text := fmt.Sprintf("machines were busy for %s and booted for %s: ", machineTime(s.Busy), machineTime(s.Booting))
	if !s.Priced() {
		return text + "their price is not known"
	}
	text += fmt.Sprintf("about $%.4f by list prices", s.Dollars())
	if s.Unpriced > 0 {
		text += fmt.Sprintf(", without %s of unknown price", machineTime(s.Unpriced))
	}
	return text
}

// machineTime writes the time of machines.
func machineTime(s store.Seconds) string { return short(s.Duration()) }

// costsView is what `remuda costs -o json` prints. Its shape is documented in docs/operating.md.
type costsView struct {
	From     string     `json:"from"`     // first day, UTC
	To       string     `json:"to"`       // last day
	Through  store.Time `json:"through"`  // nothing after is counted yet; "": nothing at all
	Estimate bool       `json:"estimate"` // always: dollars are of list prices
	By       string     `json:"by"`
	Rows     []costsRow `json:"rows"`
	Total    costsRow   `json:"total"`
	Unknown  []string   `json:"unknown"` // days that are unreadable or lost rows: their cost is higher than shown
}

// costsRow is what one class, repository or day came to.
type costsRow struct {
	Name          string        `json:"name"`
	Requests      int           `json:"requests"`
	Warm          int           `json:"warm"`
	Cold          int           `json:"cold"`
	WaitedSeconds store.Seconds `json:"waitedSeconds"`
	Spent         spentView     `json:"spent"`
}

func (r *costsRow) add(o store.CostRow) {
	r.Requests, r.Warm, r.Cold = r.Requests+o.Requests, r.Warm+o.Warm, r.Cold+o.Cold
	r.WaitedSeconds += o.Waited
	r.Spent = newSpentView(r.Spent.spent().Plus(o.Spent))
}

// What costs are told by.
const (
	byClass      = "class"
	byRepository = "repository"
	byDay        = "day"
)

// newCostsView adds the costs of days up. Days are in their own order, all else by its dollars.
func newCostsView(days []store.Costs, by, from, to string, unreadable ...string) costsView {
	v := costsView{From: from, To: to, Estimate: true, By: by, Rows: []costsRow{}, Total: costsRow{Name: "all"}, Unknown: []string{}}
	v.Unknown = append(v.Unknown, unreadable...)
	at := map[string]int{}
	for _, day := range days {
		if day.Through.After(v.Through.Time) {
			v.Through = day.Through
		}
		if day.Lost > 0 {
			v.Unknown = append(v.Unknown, day.Day)
		}
		for _, r := range day.Rows {
			name := map[string]string{byClass: r.Class, byRepository: r.Repository, byDay: day.Day}[by]
			i, known := at[name]
			if !known {
				i = len(v.Rows)
				at[name], v.Rows = i, append(v.Rows, costsRow{Name: name})
			}
			v.Rows[i].add(r)
			v.Total.add(r)
		}
	}
	if by != byDay {
		slices.SortFunc(v.Rows, func(a, b costsRow) int {
			return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(a.Name, b.Name))
		})
	}
	return v
}

// weight is what rows are compared by: dollars where any are known, and a millionth of the seconds, which decide among those without.
func (r costsRow) weight() float64 {
	s := r.Spent.spent()
	return s.Dollars() + float64(s.Seconds())/1e6
}

// renderCosts draws costs for people, in lines of at most width columns; 0: any.
func renderCosts(v costsView, width int) string {
	unknown := ""
	if len(v.Unknown) > 0 {
		unknown = fmt.Sprintf("Unknown: all or part of the costs of %s; the items cannot be read.\n", strings.Join(v.Unknown, ", "))
	}
	if len(v.Rows) == 0 {
		return fmt.Sprintf("Nothing was counted from %s to %s.\n", v.From, v.To) + unknown
	}
	t := &table{header: []string{strings.ToUpper(v.By), "RUNS", "WARM", "WAITED", "BUSY", "BOOT", "IDLE", "DOLLARS", ""}, shrink: []int{0}}
	most := 0.0
	for _, r := range v.Rows {
		most = max(most, r.weight())
	}
	for _, r := range append(slices.Clone(v.Rows), v.Total) {
		s, bar := r.Spent.spent(), ""
		if r.Name != v.Total.Name {
			bar = strings.Repeat("█", int(r.weight()/most*costsBar+0.5))
		}
		t.add(cmp.Or(r.Name, "(no run)"), fmt.Sprint(r.Requests), shareText(r.Warm, r.Warm+r.Cold), waitedText(r), machineTime(s.Busy), machineTime(s.Booting), machineTime(s.Idle),
			dollarsText(s), bar)
	}
	text := t.String(width)
	text += fmt.Sprintf("\nEstimates by list prices of machines alone, from %s to %s (UTC).\n", v.From, v.To)
	text += fmt.Sprintf("Counted through %s.\n", v.Through.Time.Format(time.RFC3339))
	if u := v.Total.Spent.Unpriced; u > 0 {
		text += fmt.Sprintf("Not in them: %s of machines whose price is not known (costs.prices).\n", machineTime(u))
	}
	return text + unknown
}

// costsBar is how many columns the longest bar has: with the other columns it fits a line of 80.
const costsBar = 12

// shareText is a part of all, in whole per cent.
func shareText(part, all int) string {
	if all == 0 {
		return none
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(all))
}

// waitedText is what a request waited on average.
func waitedText(r costsRow) string {
	if r.Requests == 0 {
		return none
	}
	return fmt.Sprintf("%.1fs", float64(r.WaitedSeconds)/float64(r.Requests))
}

func dollarsText(s store.Spent) string {
	if !s.Priced() {
		return none
	}
	return fmt.Sprintf("%.2f", s.Dollars())
}
