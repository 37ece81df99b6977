package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/store"
)

// Outages are of a contract for everybody (down), or of the way of some programs to it (cut).

// agents stands for every agent in a cut.
const agents = "agents"

// cut takes a contract from one program, however often that starts again, while all others reach it: wholly, or for
// calls with an effect alone. Of the controllers only one at a time is cut off from the store.
type cut struct {
	Who      string `script:"program,first"` // controller (the one that leads), controller-<n>, agents
	Contract string `script:"contract,first"`
	span

	Writes bool `script:"writes"`
}

func (a cut) check() error {
	contracts := []string{"store", "pool", "fleet", "github"}
	kind, n, _ := strings.Cut(a.Who, "-")
	switch {
	case a.Who == agents:
		contracts = []string{"store"}
	case a.Who != string(Controller) && (kind != string(Controller) || n == ""):
		return fmt.Errorf("program: got %q, must be controller, controller-<n> or agents", a.Who)
	}
	return errors.Join(oneOf("contract", a.Contract, contracts...), a.span.check())
}

func (a cut) do(w *World) {
	if a.Who != agents {
		p := w.find(a.Who)
		if p == nil {
			return
		}
		a.Who = p.program()
	}
	w.mu.Lock()
	_, taken := w.cutFromStore()
	w.mu.Unlock()
	if taken && a.Contract == "store" && a.Who != agents {
		return
	}
	a.until(w, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cuts = append(w.cuts, a)
		w.wasCut = true
	}, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		i := slices.Index(w.cuts, a)
		w.cuts = slices.Delete(w.cuts, i, i+1)
	})
}

// cutFromStore returns the controller that is cut off from the store, if there is one. w.mu must be held.
func (w *World) cutFromStore() (cut, bool) {
	i := slices.IndexFunc(w.cuts, func(c cut) bool { return c.Contract == "store" && c.Who != agents })
	if i < 0 {
		return cut{}, false
	}
	return w.cuts[i], true
}

// program is the name of a process without the number of its start.
func (p *process) program() string {
	if p.role == Agent {
		return agents
	}
	return p.name[:max(strings.LastIndexByte(p.name, '.'), 0)]
}

// isDown reports whether the contract of a site is out of order for p. Whose agent reaches no store is not healthy.
func (w *World) isDown(p *process, s Site) bool {
	contract, _, _ := strings.Cut(s.Method, ".")
	w.mu.Lock()
	down := w.down[contract] > 0
	cutOff := slices.ContainsFunc(w.cuts, func(c cut) bool {
		return c.Contract == contract && c.Who == p.program() && !(c.Writes && slices.Contains(reads, s.Method))
	})
	w.mu.Unlock()
	if cutOff && p.on != "" {
		w.harm(string(p.on))
	}
	return down || cutOff
}

// anyDown reports whether any contract is out of order for all who could use it. A leader that is cut off from the
// store is no reason: the other follows.
func (w *World) anyDown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, outages := range w.down {
		if outages > 0 {
			return true
		}
	}
	return slices.ContainsFunc(w.cuts, func(c cut) bool {
		return c.Contract != "store" || c.Who == agents || w.o.Controllers == 1
	})
}

// wasDown reports whether a contract was ever out of order for anybody.
func (w *World) wasDown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.down) > 0 || w.wasCut
}

// reached hands a notification on, unless p is cut off meanwhile: it is lost then.
func (p *process) reached(s Site, ring func(store.Key)) func(store.Key) {
	return func(k store.Key) {
		if p.alive() && !p.w.isDown(p, s) {
			ring(k)
		}
	}
}
