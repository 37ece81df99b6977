package fleettest

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
)

// OnLaunch sets what is called with each new machine, in the launching goroutine. The hook may call
// m.
func (m *Memory) OnLaunch(f func(fleet.Machine)) { m.set(func() { m.onLaunch = f }) }

// OnTerminate sets what is called once for each machine that ends, by Terminate or End. The hook may
// call m.
func (m *Memory) OnTerminate(f func(id string)) { m.set(func() { m.onTerminate = f }) }

// SetCapacity bounds how many machines may live at once in the places that slot covers, in which an
// empty field stands for any. It ends none. Unlimited lifts the bound.
func (m *Memory) SetCapacity(slot fleet.Slot, n int) {
	m.set(func() {
		m.limits = slices.DeleteFunc(m.limits, func(l limit) bool { return l.slot == slot })
		if n >= 0 {
			m.limits = append(m.limits, limit{slot, n})
		}
	})
}

// Unbounded reports whether some place of a spec has no bound at all.
func (m *Memory) Unbounded(s fleet.Spec) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(slots(s, fits(s)), func(slot fleet.Slot) bool {
		return !slices.ContainsFunc(m.limits, func(l limit) bool { return covers(l.slot, slot) })
	})
}

// SetTemplate sets the version that Plan and Templates return, for a class alone or, of none, for all.
func (m *Memory) SetTemplate(version string, classes ...string) {
	m.set(func() {
		if len(classes) == 0 {
			m.templates = map[string]string{"": version}
		}
		for _, class := range classes {
			m.templates[class] = version
		}
	})
}

// SetListLag sets for how long after its launch a machine is missing from List.
func (m *Memory) SetListLag(d time.Duration) { m.set(func() { m.listLag = d }) }

// SetEndDelay sets for how long a machine is Ending before it is Ended.
func (m *Memory) SetEndDelay(d time.Duration) { m.set(func() { m.endDelay = d }) }

// RefuseTerminate makes Terminate fail with cause for one machine, until cause is nil.
func (m *Memory) RefuseTerminate(id string, cause error) {
	m.set(func() {
		if fm, ok := m.machines[id]; ok {
			fm.refuse = cause
		}
	})
}

// End ends a machine as if it had powered off or died. It reports whether it lived.
func (m *Memory) End(id string) bool {
	m.mu.Lock()
	fm, ok := m.machines[id]
	lived := ok && m.end(fm)
	hook := m.onTerminate
	m.mu.Unlock()
	if lived {
		hook(id)
	}
	return lived
}

// FailStarts makes every machine of later launches end immediately, for reason. An empty reason stops this.
func (m *Memory) FailStarts(reason fleet.StateReason) { m.set(func() { m.atStart = reason }) }

// EndFor is End with the fleet's reason.
func (m *Memory) EndFor(id string, reason fleet.StateReason) bool {
	m.set(func() {
		if fm, ok := m.machines[id]; ok {
			fm.StateReason = reason
		}
	})
	return m.End(id)
}

// Add puts a machine into the fleet that no call to Launch made, such as one whose launch is no
// longer known. An empty id, principal or launch time is filled in; the hooks treat it as any other
// but OnLaunch is not called.
func (m *Memory) Add(fm fleet.Machine) (id string) {
	m.set(func() { id = m.add(fm) })
	return id
}

// Calls returns how often c was called, failed calls included.
func (m *Memory) Calls(c Call) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[c]
}

// Launched returns how many machines there ever were.
func (m *Memory) Launched() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.order)
}

// Alive returns the ids of the machines that live, in the order of their launch, whatever List says.
func (m *Memory) Alive() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for _, id := range m.order {
		if m.machines[id].endedAt.IsZero() {
			ids = append(ids, id)
		}
	}
	return ids
}

// Machine returns one machine, whatever List says.
func (m *Memory) Machine(id string) (fleet.Machine, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fm, ok := m.machines[id]
	if !ok {
		return fleet.Machine{}, false
	}
	return m.view(fm, m.clock.Now()), true
}

func (m *Memory) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}
