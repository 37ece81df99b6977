package lived

import (
	"fmt"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/e2e/sim"
)

// some is how many names of faults that never fired are told.
const some = 8

// Tell says in a few lines what was covered. seen are the sites that any campaign has called so far.
func (c *Coverage) Tell(seen map[string]int) string {
	var b strings.Builder
	possible := Possible(seen)
	fmt.Fprintf(&b, "covered: %d of %d sites, %d of %d faults at sites, %d pairs of them in one story, %d of %d edges, %d orders of two writes, of these %d pairs in both\n",
		len(c.Sites), len(seen), len(c.Faults), len(possible), c.Pairs(), len(sim.Edges())-len(c.Missed()), len(sim.Edges()), len(c.Orders), c.Both())
	if missed := c.Missed(); len(missed) > 0 {
		fmt.Fprintf(&b, "  never gone: %s\n", strings.Join(missed, ", "))
	}
	if missed := slices.DeleteFunc(possible, func(f string) bool { return slices.Contains(c.Faults, f) }); len(missed) > 0 {
		more := ""
		if len(missed) > some {
			missed, more = missed[:some], fmt.Sprintf(", and %d more", len(missed)-some)
		}
		fmt.Fprintf(&b, "  never fired: %s%s\n", strings.Join(missed, ", "), more)
	}
	if len(c.Events) > 0 {
		fmt.Fprintf(&b, "  steps of the world:%s\n", counts(c.Events))
	}
	return b.String()
}

// Named is what one campaign covered.
type Named struct {
	Name string
	*Coverage
}

// Table has one row for each campaign, held to the sites that any of them has called.
func Table(all []Named) string {
	seen := Seen(all)
	var b strings.Builder
	row := func(cells ...any) { fmt.Fprintf(&b, "%-9s %9v %13v %9v %9v %9v %9v\n", cells...) }
	row("covered", "sites", "site x fault", "pairs", "edges", "orders", "events")
	for _, n := range all {
		events := 0
		for _, of := range n.Events {
			events += of
		}
		row(n.Name, len(n.Sites), len(n.Faults), n.Pairs(), len(sim.Edges())-len(n.Missed()), len(n.Orders), events)
	}
	row("of", len(seen), len(Possible(seen)), "", len(sim.Edges()), "", "")
	return b.String()
}

// Seen adds up the sites of campaigns.
func Seen(all []Named) map[string]int {
	seen := map[string]int{}
	for _, n := range all {
		plus(seen, n.Sites)
	}
	return seen
}
