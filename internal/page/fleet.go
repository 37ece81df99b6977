package page

import (
	"cmp"
	"maps"
	"slices"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// maxTiles is how many machines are shown one by one: some 60 rows at 390 px. More are counted.
const maxTiles = 240

// class is the machines of one resource class, by state.
type class struct {
	Name   string
	Count  int
	Groups []group
}

// group is the machines of a class that are in one state.
type group struct {
	State string // for people
	Look  string // a class of the style sheet
	Count int
	Next  store.Time // the first threshold among them
	Share int        // of all machines, in thousandths
	Tiles []machine  // none if there are too many machines
}

// machine is one machine as lists show it.
type machine struct {
	*store.Instance
	Silent bool // its heartbeat is older than a healthy one's
	Busy   bool
}

// Of an idle machine that cannot be claimed yet.
const cleaned = "being cleaned"

// shownStates are the groups in their order, each with its looks.
var shownStates = []struct{ state, look string }{
	{string(statemachine.Running), "running"}, {string(statemachine.Claimed), "claimed"}, {string(statemachine.Created), "created"},
	{string(statemachine.Idle), "idle"}, {cleaned, "cleaned"},
}

// buildFleet sorts the machines that live into groups, and lists those that ended last.
func (m *model) buildFleet() {
	groups := map[string]map[string]*group{}
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
	if m.Living <= maxTiles {
		slices.SortFunc(living, func(a, b machine) int { return cmp.Compare(a.ID, b.ID) })
	}
	for _, one := range living {
		state := string(one.State)
		if one.State == statemachine.Idle && one.PooledAt.IsZero() {
			state = cleaned
		}
		if groups[one.ResourceClass] == nil {
			groups[one.ResourceClass] = map[string]*group{}
		}
		g := groups[one.ResourceClass][state]
		if g == nil {
			g = &group{Next: one.Threshold}
			groups[one.ResourceClass][state] = g
		}
		g.Count++
		if one.Threshold.Time.Before(g.Next.Time) {
			g.Next = one.Threshold
		}
		if m.Living <= maxTiles {
			g.Tiles = append(g.Tiles, one)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		c := class{Name: name}
		for _, s := range shownStates {
			if g := groups[name][s.state]; g != nil {
				g.State, g.Look = s.state, s.look
				c.Count += g.Count
				g.Share = 1000 * g.Count / m.Living
				c.Groups = append(c.Groups, *g)
			}
		}
		m.Classes = append(m.Classes, c)
	}
}

// machine adds what the agent of an instance says. Two clocks are compared, as in `remuda status`.
func (m *model) machine(in *store.Instance) machine {
	beat := m.Vitals[in.Principal].Heartbeat
	age := m.readAt.Sub(beat.UpdatedAt.Time)
	return machine{Instance: in, Silent: !beat.UpdatedAt.IsZero() && age > m.window, Busy: beat.Beat.Busy}
}
