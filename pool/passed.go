package pool

import "slices"

// Passed counts the candidates of a class that a query leaves alone, by why.
type Passed struct {
	Usage int // another usage class
	Type  int // another type or size
	Taken int // another request takes it at this moment
	Older int // left for an older request, or taken by this one too often
}

// Passed looks at the candidates of the query's class as Take does for who, and takes none: veto is as there.
func (p *Pickup) Passed(q Query, who string, veto func(Ticket) bool) (out Passed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	passedOver := p.passedOver(who, veto)
	for _, g := range p.index.classes[q.ResourceClass] {
		switch {
		case !slices.Contains(q.UsageClasses, g.key.usage):
			out.Usage += g.size
		case !q.fits(&g.key):
			out.Type += g.size
		default:
			out.Taken += g.size - len(g.ready)
			for _, e := range g.ready {
				if passedOver(e) {
					out.Older++
				}
			}
		}
	}
	return out
}
