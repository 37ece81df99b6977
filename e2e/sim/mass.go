package sim

import (
	"errors"
	"fmt"
	"slices"
	"sync"
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
			w.machines.reclaim(id)
		}
	}
}

// pauseAgents stops all agents at once, as a fault of the host under them does. Their machines are exempt for a while, as that
// of one agent is.
type pauseAgents struct{ span }

func (a pauseAgents) do(w *World) {
	alive := w.fleet.Alive()
	for _, id := range alive {
		w.machines.disturbFor(id, a.For)
		if m := w.machines.of(id); m != nil {
			w.machines.ofAgent(m, func(p *process) { p.pause(a.For) })
		}
	}
}

// listLoses takes a share of the machines out of the listings of the whole fleet. What a listing lacks twice is gone, but
// for so many that no fleet loses at once (docs/architecture.md, "Reconcilers").
type listLoses struct {
	share
	span
}

// listings are those of the whole fleet, as everybody gets them.
type listings struct {
	w *World

	mu     sync.Mutex
	hidden map[string]bool // machines; replaced as a whole
}

func (a listLoses) check() error { return errors.Join(a.share.check(), a.span.check()) }

func (a listLoses) do(w *World) {
	lost := map[string]bool{}
	for _, id := range w.fleet.Alive() {
		if a.covers(w.o.Seed, id, "list-loses") {
			lost[id] = true
		}
	}
	a.until(w, func() { w.listings.hide(lost) }, func() { w.listings.hide(nil) })
}

// tooMany reports whether a listing lacks more machines than a fleet loses at once: one that is lacking is not given up then.
// Few are, as they are the way machines die. What is launched while a listing loses machines may not be known to any.
func (l *listings) tooMany() bool {
	alive, hidden := l.w.fleet.Alive(), l.lack()
	lost := 0
	for _, id := range alive {
		m := l.w.machines.of(id) // none that the world does not run, as orphans are not
		if hidden[id] && m != nil && l.w.clock.Since(m.born) >= l.w.o.paced(oldEnough) {
			lost++
		}
	}
	return lost > 4 && 2*lost > len(alive)
}

// oldEnough is when every listing must show a machine, at pace 1.
const oldEnough = 5 * time.Minute

// lack returns what listings lack now.
func (l *listings) lack() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hidden
}

func (l *listings) hide(lost map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hidden = lost
}

// shown is what a listing of the whole fleet shows.
func (l *listings) shown(all []fleet.Machine) []fleet.Machine {
	hidden := l.lack()
	return slices.DeleteFunc(all, func(m fleet.Machine) bool { return hidden[m.ID] })
}

// missing reports whether listings lack a machine, and not so many at once that none may be given up.
func (l *listings) missing(id string) bool {
	return l.lack()[id] && !l.tooMany()
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
		w.outages.noEnds(a.For)
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
	a.until(w, func() { w.outages.slowDown(a.Contract, a.By) }, func() { w.outages.slowDown(a.Contract, -a.By) })
}

// throttle lets a share of the table's partitions refuse every call, as one that is asked too much does.
type throttle struct {
	share
	span
}

func (a throttle) check() error { return errors.Join(a.share.check(), a.span.check()) }

func (a throttle) do(w *World) {
	a.until(w, func() { w.outages.throttle(a.share, a.For) }, func() { w.outages.throttle(share{}, 0) })
}

// reboot starts a machine anew: its agent, its listener and its job end, and what is on its disk stays.
type reboot struct{ share }

func (a reboot) do(w *World) {
	w.machines.ofAlive(a.Of, func(m *machine) {
		w.machines.disturb(m.id) // its job is lost, and it may miss a gate
		m.runner.Reboot()
		w.machines.ofAgent(m, (*process).crash)
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
