package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/store"
)

// Outages are of a contract for everybody (down), or of the way of some programs to it (cut).

// agents and clients stand for every one of them.
const (
	agents  = "agents"
	clients = "clients"
)

// cut takes a contract from one program, however often that starts again, while all others reach it: wholly, or for
// calls with an effect alone. Of the controllers only one at a time is cut off from the store.
type cut struct {
	Who      string `script:"program,first"` // controller (the one that leads), controller-<n>, agents, clients
	Contract string `script:"contract,first"`
	span

	Writes bool `script:"writes"`
}

func (a cut) check() error {
	contracts := []string{"store", "pool", "fleet", "github"}
	if a.Who == agents || a.Who == clients {
		contracts = []string{"store"}
	}
	return errors.Join(checkProgram(a.Who), oneOf("contract", a.Contract, contracts...), a.span.check())
}

// checkProgram refuses what no process is of.
func checkProgram(who string) error {
	kind, n, _ := strings.Cut(who, "-")
	if who != agents && who != clients && who != string(Controller) && (kind != string(Controller) || n == "") {
		return fmt.Errorf("program: got %q, must be controller, controller-<n>, agents or clients", who)
	}
	return nil
}

func (a cut) do(w *World) {
	ok := false
	if a.Who, ok = w.programOf(a.Who); !ok {
		return
	}
	w.mu.Lock()
	_, taken := w.cutFromStore()
	w.mu.Unlock()
	if taken && a.Contract == "store" && strings.HasPrefix(a.Who, string(Controller)) {
		return
	}
	if a.Contract == "fleet" {
		w.noEnds(a.For)
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

// programOf names the program that who stands for; none if its process does not run.
func (w *World) programOf(who string) (string, bool) {
	if who == agents || who == clients {
		return who, true
	}
	p := w.find(who)
	if p == nil {
		return "", false
	}
	return p.program(), true
}

// cutFromStore returns the controller that is cut off from the store, if there is one. w.mu must be held.
func (w *World) cutFromStore() (cut, bool) {
	i := slices.IndexFunc(w.cuts, func(c cut) bool { return c.Contract == "store" && strings.HasPrefix(c.Who, string(Controller)) })
	if i < 0 {
		return cut{}, false
	}
	return w.cuts[i], true
}

// program is the name of a process without the number of its start.
func (p *process) program() string {
	switch p.role {
	case Agent:
		return agents
	case Client:
		return clients
	case Controller:
	}
	return p.name[:max(strings.LastIndexByte(p.name, '.'), 0)]
}

// isDown reports whether the contract of a site is out of order for p. Whose agent reaches no store is not healthy.
func (w *World) isDown(p *process, s Site) bool {
	contract, _, _ := strings.Cut(s.Method, ".")
	w.mu.Lock()
	down := w.down[contract] > 0 && contract != "github" // which has outages of its own
	cutOff := slices.ContainsFunc(w.cuts, func(c cut) bool {
		return c.Contract == contract && c.Who == p.program() && !(c.Writes && slices.Contains(reads, s.Method))
	})
	w.mu.Unlock()
	if cutOff && p.on != "" {
		w.disturbMachineFor(string(p.on), 0)
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
	for _, by := range w.slow {
		if by > 0 {
			return true
		}
	}
	if w.hot.Of > 0 || len(w.hidden) > 0 {
		return true
	}
	if !slices.ContainsFunc(w.controllers, w.mayLead) {
		return true
	}
	return slices.ContainsFunc(w.cuts, func(c cut) bool {
		return c.Contract != "store" || !strings.HasPrefix(c.Who, string(Controller)) || w.o.Controllers == 1
	})
}

// mayLead reports whether nobody has stopped a controller or cut it off from the store. w.mu must be held.
func (w *World) mayLead(s *supervised) bool {
	return s.wait == 0 && !slices.ContainsFunc(w.cuts, func(c cut) bool { return c.Contract == "store" && c.Who == s.name })
}

// storeIsDown reports whether nobody can write.
func (w *World) storeIsDown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down["store"] > 0
}

// nobodyLeads reports whether no controller can keep the lease: nobody can write, or calls may take longer than
// those about the lease may.
func (w *World) nobodyLeads() bool {
	down, patience := w.storeIsDown(), w.config().LeaseRequest
	w.mu.Lock()
	defer w.mu.Unlock()
	return down || w.slow["store"] > patience
}

// wasDown reports whether a contract was ever out of order for anybody.
func (w *World) wasDown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.down) > 0 || w.wasCut
}

// reached hands a notification on, unless p is cut off meanwhile: it is lost then.
func (p *process) reached(s Site, notify func(store.Key)) func(store.Key) {
	return func(k store.Key) {
		if p.alive() && !p.w.isDown(p, s) {
			notify(k)
		}
	}
}
