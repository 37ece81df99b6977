package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// Money holds the prices of instances and the budget of a month. The zero value switches prices and budget off.
type Money struct {
	Price  float64       `script:"price"`        // dollars an hour of a small on-demand instance; 0: no price is ever known
	Late   time.Duration `script:"prices-after"` // the price source answers nothing before this time of the story
	Budget float64       `script:"budget"`       // dollars a month; 0: none
	Steps  []string      `script:"budget-steps"` // what is off from a share of the budget on: floors@0.5, on-demand@0.8, caps-3@0.9
}

func (m Money) check() error {
	for _, text := range m.Steps {
		if _, err := parseStep(text); err != nil {
			return fmt.Errorf("with: budget-steps: %w", err)
		}
	}
	if m.Price == 0 && (m.Budget > 0 || m.Late > 0) || m.Budget == 0 && len(m.Steps) > 0 {
		return errors.New("with: price, budget: a budget needs a price, and steps need a budget")
	}
	return nil
}

// parseStep reads a step of a budget: <what>@<share>.
func parseStep(text string) (reconciler.Degradation, error) {
	what, at, _ := strings.Cut(text, "@")
	share, err := strconv.ParseFloat(at, 64)
	kind, n, capped := strings.Cut(what, "caps-")
	d := reconciler.Degradation{At: share, Do: reconciler.Degrade(kind)}
	if capped && kind == "" {
		d.Do = reconciler.DegradeCaps
		d.To, err = strconv.Atoi(n)
	}
	if err != nil || !(share > 0) || !slices.Contains(reconciler.Degrades(), d.Do) || d.Do == reconciler.DegradeCaps != capped {
		return d, fmt.Errorf("got %q, must be floors@<share>, on-demand@<share> or caps-<instances>@<share>", text)
	}
	return d, nil
}

// budget is that of a controller's configuration.
func (m Money) budget() reconciler.Budget {
	b := reconciler.Budget{Monthly: m.Budget, WarnAt: 0.3}
	for _, text := range m.Steps {
		step, _ := parseStep(text) // it was checked
		b.Degrade = append(b.Degrade, step)
	}
	return b
}

// prices is the price source of all controllers.
type prices struct {
	w *World

	mu    sync.Mutex
	gone  int            // for how many reasons no price is known
	lacks map[string]int // the same, of instances whose type begins so
}

func newPrices(w *World) *prices { return &prices{w: w, lacks: map[string]int{}} }

// PerHour implements reconciler.Prices.
func (p *prices) PerHour(usageClass, instanceType, _ string) (float64, bool) {
	if p.w.o.Money.Price == 0 || p.w.since() < p.w.o.Money.Late {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone > 0 {
		return 0, false
	}
	for prefix, n := range p.lacks {
		if n > 0 && strings.HasPrefix(instanceType, prefix) {
			return 0, false
		}
	}
	return p.list(usageClass, instanceType), true
}

// list is the list price, known or not.
func (p *prices) list(usageClass, instanceType string) float64 {
	dollars := p.w.o.Money.Price
	if strings.HasSuffix(instanceType, ".xlarge") {
		dollars *= 2
	}
	if usageClass == store.Spot {
		dollars *= 0.4
	}
	return dollars
}

// noPrices keeps the price source from knowing a price: of any instance, or of instances whose type begins so.
type noPrices struct {
	span

	Type string `script:"type"`
}

func (a noPrices) do(w *World) {
	change := func(by int) {
		w.prices.mu.Lock()
		defer w.prices.mu.Unlock()
		if a.Type == "" {
			w.prices.gone += by
		} else {
			w.prices.lacks[a.Type] += by
		}
	}
	a.until(w, func() { change(1) }, func() { change(-1) })
}
