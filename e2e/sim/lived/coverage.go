package lived

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/e2e/sim"
)

// Coverage is what all stories of a campaign covered.
type Coverage struct {
	Sites  map[string]int `json:"sites"`
	Edges  map[string]int `json:"edges"`
	Orders map[string]int `json:"orders"`
	Events map[string]int `json:"events"`
	Faults []string       `json:"faults"` // at sites, in the order of their first time
	// Beside has a row of bits for each of Faults: which of those up to itself fired in a story with it.
	Beside [][]byte `json:"beside"`

	at map[string]int // of Faults
}

// Add adds what some stories covered.
func (c *Coverage) Add(p Part) {
	c.Sites, c.Edges, c.Orders, c.Events = plus(c.Sites, p.Sites), plus(c.Edges, p.Edges), plus(c.Orders, p.Orders), plus(c.Events, p.Events)
	for _, names := range p.Together {
		at := make([]int, len(names))
		for i, name := range names {
			at[i] = c.index(name)
		}
		slices.Sort(at)
		for i, a := range at {
			for _, b := range at[:i] {
				c.mark(a, b)
			}
		}
	}
}

// index returns the place of a fault in Faults.
func (c *Coverage) index(name string) int {
	if c.at == nil {
		c.at = map[string]int{}
		for i, f := range c.Faults { // read from a file
			c.at[f] = i
		}
	}
	i, known := c.at[name]
	if !known {
		i = len(c.Faults)
		c.at[name] = i
		c.Faults, c.Beside = append(c.Faults, name), append(c.Beside, nil)
	}
	return i
}

// mark notes that two faults fired in one story: a is behind b in Faults.
func (c *Coverage) mark(a, b int) {
	for len(c.Beside[a]) <= b/8 {
		c.Beside[a] = append(c.Beside[a], 0)
	}
	c.Beside[a][b/8] |= 1 << (b % 8)
}

// Pairs counts the pairs of faults at sites that fired in one story.
func (c *Coverage) Pairs() int {
	n := 0
	for _, row := range c.Beside {
		for _, b := range row {
			n += bits.OnesCount8(b)
		}
	}
	return n
}

// Both counts the pairs of writes that took effect in both orders.
func (c *Coverage) Both() int {
	n := 0
	for order := range c.Orders {
		first, then, _ := strings.Cut(order, ", ")
		if back := then + ", " + first; order < back && c.Orders[back] > 0 {
			n++
		}
	}
	return n
}

// Possible lists the faults that the contracts allow at sites.
func Possible(sites map[string]int) []string {
	var out []string
	for site := range sites {
		call, err := sim.ParseCall(site + "/")
		if err != nil {
			continue // from another version's file; it is counted as a site
		}
		for _, kind := range call.Kinds() {
			out = append(out, faultAt(site, kind))
		}
	}
	slices.Sort(out)
	return out
}

// Missed lists the edges of the tables that were never gone.
func (c *Coverage) Missed() []string {
	var out []string
	for _, e := range sim.Edges() {
		if c.Edges[e.String()] == 0 {
			out = append(out, e.String())
		}
	}
	return out
}
