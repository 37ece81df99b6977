package config

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/reconciler"
)

// Budget bounds what machines may cost in a month.
type Budget struct {
	Monthly float64       `yaml:"monthly" doc:"dollars in a month, by the prices of costs.prices; 0: no budget"`
	WarnAt  float64       `yaml:"warnAt" doc:"share of it from which log, status, page and metrics tell of it; 0: never"`
	Degrade []BudgetShare `yaml:"degrade" doc:"what is off from a share of it on: a list of {at: 0.8, do: floors}, {at: 0.95, do: on-demand} and {at: 1, do: caps, to: instances at once}; nothing that runs is ended for it; see docs/operating.md"`
}

// BudgetShare is what is off from a share of the budget on.
type BudgetShare struct {
	At Share  `yaml:"at" json:"at"`
	Do string `yaml:"do" json:"do"`
	To *int   `yaml:"to,omitempty" json:"to,omitempty"` // with caps
}

// Share is a part of a whole, 1 all of it.
type Share float64

// UnmarshalYAML implements yaml.Unmarshaler. The values of lists come as texts (plain), since the library takes a fraction for a whole number.
func (s *Share) UnmarshalYAML(n *yaml.Node) error {
	f, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || n.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: cannot unmarshal %s into float64", n.Line, n.ShortTag())}}
	}
	*s = Share(f)
	return nil
}

// Bounds of a budget: a slip of the keyboard is no budget.
const (
	mostMonthly = 1e9
	mostShare   = 10 // beyond the whole budget there is still something to turn off
)

// controller is what the reconcilers need of it.
func (b Budget) controller() reconciler.Budget {
	out := reconciler.Budget{Monthly: b.Monthly, WarnAt: b.WarnAt}
	for _, d := range b.Degrade {
		step := reconciler.Degradation{At: float64(d.At), Do: reconciler.Degrade(d.Do)}
		if d.To != nil {
			step.To = *d.To
		}
		out.Degrade = append(out.Degrade, step)
	}
	return out
}

func (c Config) validateBudget(p *problems) {
	b := c.Budget
	p.check(b.Monthly >= 0 && b.Monthly <= mostMonthly, "budget.monthly", fmt.Sprintf("0 to %.0f dollars", mostMonthly), b.Monthly)
	p.check(b.Monthly <= 0 || c.Costs.Prices != "", "budget.monthly", "0 without costs.prices, since nothing is known to cost anything", b.Monthly)
	p.check(b.Monthly != 0 || len(b.Degrade) == 0, "budget.monthly", "greater than 0 with budget.degrade", b.Monthly)
	p.check(b.WarnAt >= 0 && b.WarnAt <= mostShare, "budget.warnAt", fmt.Sprintf("a share of the budget, 0 to %d", mostShare), b.WarnAt)
	var names []string
	for _, d := range reconciler.Degrades() {
		names = append(names, string(d))
	}
	for i, d := range b.Degrade {
		at := fmt.Sprintf("budget.degrade[%d]", i)
		p.check(d.At > 0 && d.At <= mostShare, at+".at", fmt.Sprintf("a share of the budget, greater than 0 and at most %d", mostShare), d.At)
		p.oneOf(at+".do", d.Do, names...)
		caps := d.Do == string(reconciler.DegradeCaps)
		p.check(caps || d.To == nil, at+".to", "left out unless do is "+string(reconciler.DegradeCaps), shownTo(d.To))
		p.check(!caps || d.To != nil && *d.To >= 0 && *d.To <= c.Caps.MaxInstances, at+".to",
			fmt.Sprintf("0 to %d, which caps.maxInstances allows to live at once", c.Caps.MaxInstances), shownTo(d.To))
	}
}

// shownTo is a number that may be left out.
func shownTo(n *int) any {
	if n == nil {
		return word("nothing")
	}
	return *n
}
