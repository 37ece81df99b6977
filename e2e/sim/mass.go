package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/store"
)

// What happens to much at once, and what makes everything slow.

// share is how much of something is meant, of 1.
type share struct {
	Of float64 `script:"of,first"`
}

func (a share) check() error {
	if !(a.Of > 0 && a.Of <= 1) {
		return fmt.Errorf("of: got %v, must be a fraction above 0, at most 1", a.Of)
	}
	return nil
}

// covers draws whether one thing is among those meant.
func (a share) covers(seed uint64, parts ...string) bool {
	return newKey(seed, parts...).float() < a.Of
}

// strikeAll loses a share of all machines at once, as the loss of a zone or a wave of reclaims does.
type strikeAll struct{ share }

func (a strikeAll) do(w *World) {
	for _, id := range w.fleet.Alive() {
		if a.covers(w.o.Seed, id, "strike-all") {
			w.reclaim(id)
		}
	}
}

// pauseAgents stops all agents at once, as a fault of the host under them does. Their machines are exempt for a while, as that
// of one agent is.
type pauseAgents struct{ span }

func (a pauseAgents) do(w *World) {
	alive := w.fleet.Alive()
	for _, id := range alive {
		w.disturbMachineFor(id, a.For)
		if m := w.machineOf(id); m != nil {
			w.ofAgent(m, func(p *process) { p.pause(a.For) })
		}
	}
}

// listLoses takes a share of the machines out of the listings of the whole fleet. What a listing lacks twice is gone, but
// for so many that no fleet loses at once (docs/architecture.md, "Reconcilers").
type listLoses struct {
	share
	span
}

func (a listLoses) check() error { return errors.Join(a.share.check(), a.span.check()) }

func (a listLoses) do(w *World) {
	lost := map[string]bool{}
	for _, id := range w.fleet.Alive() {
		if a.covers(w.o.Seed, id, "list-loses") {
			lost[id] = true
		}
	}
	a.until(w, func() { w.hide(lost) }, func() { w.hide(nil) })
}

// tooMany reports whether a listing lacks more machines than a fleet loses at once: one that is lacking is not given up then.
// Few are, as they are the way machines die. What is launched while a listing loses machines may not be known to any.
func (w *World) tooMany() bool {
	alive := w.fleet.Alive()
	w.mu.Lock()
	defer w.mu.Unlock()
	lost := 0
	for _, id := range alive {
		m := w.machines[id] // none that the world does not run, as orphans are not
		if w.hidden[id] && m != nil && w.clock.Since(m.born) >= w.o.paced(oldEnough) {
			lost++
		}
	}
	return lost > 4 && 2*lost > len(alive)
}

// oldEnough is when every listing must show a machine, at pace 1.
const oldEnough = 5 * time.Minute

func (w *World) hide(lost map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hidden = lost
}

// shown is what a listing of the whole fleet shows.
func (w *World) shown(all []fleet.Machine) []fleet.Machine {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(all, func(m fleet.Machine) bool { return w.hidden[m.ID] })
}

// missing reports whether listings lack a machine, and not so many at once that none may be given up.
func (w *World) missing(id string) bool {
	w.mu.Lock()
	hidden := w.hidden[id]
	w.mu.Unlock()
	return hidden && !w.tooMany()
}

// forgetOne takes out of a listing one machine that the last one showed.
func (p *process) forgetOne(all []fleet.Machine) []fleet.Machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, m := range all {
		if m.ID != p.forgot {
			p.forgot = m.ID
			return append(all[:i:i], all[i+1:]...)
		}
	}
	return all
}

// refuseEnd lets the fleet refuse to end machines that live now.
type refuseEnd struct{ span }

var errRefused = errors.New("simulated: UnauthorizedOperation")

func (a refuseEnd) do(w *World) {
	ids := w.fleet.Alive()
	a.until(w, func() {
		for _, id := range ids {
			w.fleet.RefuseTerminate(id, errRefused)
		}
		w.noEnds(a.For)
	}, func() {
		for _, id := range ids {
			w.fleet.RefuseTerminate(id, nil)
		}
	})
}

// slow makes the calls of a contract take longer, each up to so long.
type slow struct {
	Contract string        `script:"contract,first"`
	By       time.Duration `script:"by,first"`
	span
}

func (a slow) check() error {
	return errors.Join(oneOf("contract", a.Contract, "store", "pool", "fleet", "github"), a.span.check())
}

func (a slow) do(w *World) {
	set := func(by time.Duration) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.slow[a.Contract] += by
	}
	a.until(w, func() { set(a.By) }, func() { set(-a.By) })
}

// slowness is how much longer a call takes.
func (w *World) slowness(s Site, k key) time.Duration {
	contract, _, _ := strings.Cut(s.Method, ".")
	w.mu.Lock()
	most := w.slow[contract]
	w.mu.Unlock()
	return time.Duration(k.float() * float64(most))
}

// throttle lets a share of the table's partitions refuse every call, as one that is asked too much does.
type throttle struct {
	share
	span
}

func (a throttle) check() error { return errors.Join(a.share.check(), a.span.check()) }

func (a throttle) do(w *World) {
	set := func(of float64) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.hot.Of = of; of > 0 {
			w.hotUntil = max(w.hotUntil, w.since()+a.For)
		}
	}
	a.until(w, func() { set(a.Of) }, func() { set(0) })
}

// throttledUntil is until when the partition of a machine was refused, at the latest: nobody could end its record.
func (w *World) throttledUntil() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hotUntil
}

// overloaded reports whether the partition of a call refuses it. An agent that cannot report is not healthy.
func (w *World) overloaded(p *process, c Call) bool {
	w.mu.Lock()
	hot := w.hot
	w.mu.Unlock()
	if hot.Of == 0 || c.Method != "store.Get" && c.Method != "store.Put" {
		return false
	}
	for name := range strings.SplitSeq(c.About, "+") {
		_, id, found := strings.Cut(name, "#")
		if !found {
			id = name
		}
		if name != store.LeaseKey.Partition && hot.covers(w.o.Seed, id, "partition") {
			if p.on != "" {
				w.disturbMachineFor(string(p.on), 0)
			}
			return true
		}
	}
	return false
}

// reboot starts a machine anew: its agent, its listener and its job end, and what is on its disk stays.
type reboot struct{ share }

func (a reboot) do(w *World) {
	w.ofAlive(a.Of, func(m *machine) {
		w.disturbMachine(m.id) // its job is lost, and it may miss a gate
		m.runner.Reboot()
		w.ofAgent(m, (*process).crash)
	})
}

// orphanMachine is a machine that carries the installation's mark and that no launch of its records knows: somebody copied one, or an
// earlier installation left it.
type orphanMachine struct {
	Type string `script:"type,first"`
}

// ofNobody is the token of a launch that there never was.
const ofNobody = "l-of-nobody"

func (a orphanMachine) do(w *World) {
	w.fleet.Add(fleet.Machine{InstanceType: a.Type, UsageClass: store.Spot, ResourceClass: "small", CPU: 2, Mem: 4096, TemplateVersion: "1", LaunchToken: ofNobody})
}
