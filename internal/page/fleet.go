package page

import (
	"cmp"
	"maps"
	"slices"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// How many machines are shown one by one: some 60 rows at 390 px, of which each group has its share, and at least a row or
// two. The rest is counted.
const (
	maxTiles = 240
	minTiles = 8
)

// class is the machines of one resource class, by state.
type class struct {
	Name   string
	Count  int
	Groups []group
}

// group is the machines of a class that are in one state.
type group struct {
	State string        // for people
	Tiles list[machine] // by id; of too many those that are silent, and those whose time is over next
}

// machine is one machine as lists show it.
type machine struct {
	*store.Instance
	Silent bool // its heartbeat is older than a healthy one's
	Busy   bool
}

// Of an idle machine that cannot be claimed yet.
const cleaned = "being cleaned"

// shownStates are the groups in their order. One of another version comes last.
var shownStates = []string{
	string(statemachine.Running), string(statemachine.Claimed), string(statemachine.Created), string(statemachine.Idle), cleaned,
}

// Look is the state for the style sheet.
func (g group) Look() string {
	if g.State == cleaned {
		return "cleaned"
	}
	return g.State
}

// buildFleet sorts the machines that live into groups, and lists those that ended last.
func (m *model) buildFleet() {
	groups := map[string]map[string][]machine{}
	living := make([]machine, 0, len(m.Instances))
	var ended []machine
	for i := range m.Instances {
		one := m.machine(&m.Instances[i])
		if one.State == statemachine.Terminated {
			ended = append(ended, one)
			continue
		}
		living = append(living, one)
	}
	m.Living = len(living)
	slices.SortFunc(ended, func(a, b machine) int { return cmp.Or(b.Since.Time.Compare(a.Since.Time), cmp.Compare(a.ID, b.ID)) })
	m.Ended = first(ended, maxEnded)
	for _, one := range living {
		state := string(one.State)
		if one.State == statemachine.Idle && one.PooledAt.IsZero() {
			state = cleaned
		}
		if groups[one.ResourceClass] == nil {
			groups[one.ResourceClass] = map[string][]machine{}
		}
		groups[one.ResourceClass][state] = append(groups[one.ResourceClass][state], one)
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		c := class{Name: name}
		for _, state := range slices.SortedFunc(maps.Keys(groups[name]), byShown) {
			all := groups[name][state]
			c.Count += len(all)
			c.Groups = append(c.Groups, group{State: state, Tiles: tiles(all, m.Living)})
		}
		m.Classes = append(m.Classes, c)
	}
}

func byShown(a, b string) int {
	place := func(state string) int {
		if i := slices.Index(shownStates, state); i >= 0 {
			return i
		}
		return len(shownStates)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// tiles chooses the machines of a group that are shown, of so many in all.
func tiles(all []machine, living int) list[machine] {
	room := len(all)
	if living > maxTiles {
		room = max(minTiles, maxTiles*len(all)/living)
	}
	if room < len(all) {
		slices.SortFunc(all, func(a, b machine) int {
			return cmp.Or(trueFirst(a.Silent, b.Silent), a.Threshold.Time.Compare(b.Threshold.Time), cmp.Compare(a.ID, b.ID))
		})
	}
	out := first(all, room)
	slices.SortFunc(out.Rows, func(a, b machine) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// machine adds the report of the instance's agent. It compares two clocks, as `remuda status` does. The controller reads some heartbeats
// less often than they are written, so their age does not prove silence.
func (m *model) machine(in *store.Instance) machine {
	beat := m.Vitals[in.Principal].Heartbeat
	age := m.readAt.Sub(beat.UpdatedAt.Time)
	return machine{Instance: in, Silent: !beat.UpdatedAt.IsZero() && age > m.stale+beat.Beat.Window(in.Limits.Over(m.limits)), Busy: beat.Beat.Busy}
}
