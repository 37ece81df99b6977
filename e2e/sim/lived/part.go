package lived

import (
	"maps"
	"slices"

	"github.com/remuda-run/remuda/e2e/sim"
)

// Part is what some stories covered: counts by name.
type Part struct {
	Sites    map[string]int `json:"sites,omitempty"`    // calls from each site
	Edges    map[string]int `json:"edges,omitempty"`    // of the tables
	Orders   map[string]int `json:"orders,omitempty"`   // of two writes by two processes; see sim.Order
	Events   map[string]int `json:"events,omitempty"`   // steps of the world by their word
	Together [][]string     `json:"together,omitempty"` // of each story the faults at sites that fired in it, each once
}

// Collector makes a Part of reports. The zero value has none.
type Collector struct {
	sites  map[sim.Site]int
	edges  map[sim.Edge]int
	orders map[sim.Order]int
	part   Part
}

// Add adds what became of a story.
func (c *Collector) Add(o sim.Script, r sim.Report) {
	if c.sites == nil {
		c.sites = map[sim.Site]int{}
	}
	for call, n := range r.Made {
		c.sites[call.Site] += n
	}
	c.edges, c.orders = plus(c.edges, r.Coverage.Edges), plus(c.orders, r.Coverage.Orders)
	c.part.Events = plus(c.part.Events, events(o))
	fired := map[string]bool{}
	for _, f := range r.Fired {
		fired[faultAt(f.Site.String(), f.Kind)] = true
	}
	if len(fired) > 0 {
		c.part.Together = append(c.part.Together, slices.Sorted(maps.Keys(fired)))
	}
}

// Part returns what was added since the last one.
func (c *Collector) Part() Part {
	p := c.part
	p.Sites, p.Edges, p.Orders = named(c.sites), named(c.edges), named(c.orders)
	*c = Collector{}
	return p
}

// named gives counts the names of their keys.
func named[K interface {
	comparable
	String() string
}](m map[K]int) map[string]int {
	out := make(map[string]int, len(m))
	for k, n := range m {
		out[k.String()] += n
	}
	return out
}

// faultAt names a kind of fault at a site.
func faultAt(site string, kind sim.Kind) string { return site + " " + string(kind) }
