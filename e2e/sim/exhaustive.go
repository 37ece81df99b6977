package sim

import (
	"cmp"
	"slices"
)

// Singles returns every single fault that can befall the story whose calls made tells: for each site the
// first call from it, with each kind that its contract allows. Sites are what the contracts offer and
// the story used; nobody lists them.
func Singles(made map[Call]int) []Fault {
	first := map[Site]Call{}
	for c := range made {
		if have, ok := first[c.Site]; !ok || c.About < have.About {
			first[c.Site] = c
		}
	}
	var out []Fault
	for _, c := range first {
		for _, kind := range c.Kinds() {
			out = append(out, Fault{c, 1, kind})
		}
	}
	slices.SortFunc(out, func(a, b Fault) int { return cmp.Compare(a.String(), b.String()) })
	return out
}
