package pool

import (
	"slices"

	"github.com/remuda-run/remuda/internal/glob"
)

// Query is what a request needs of an instance.
type Query struct {
	ResourceClass string
	UsageClasses  []string // any of; all candidates of an earlier one are preferred
	AllowedTypes  []string // patterns of package internal/glob; none allows nothing
	CPU           int      // vCPUs, exactly
	Mem           int      // MiB, at least
}

// Matches reports whether t is what the request needs. It looks at attributes only, not at time.
func (q Query) Matches(t Ticket) bool {
	k := keyOf(t)
	return slices.Contains(q.UsageClasses, k.usage) && q.fits(&k)
}

// fits is Matches without the usage class. Cheap tests come first.
func (q *Query) fits(k *groupKey) bool {
	return k.class == q.ResourceClass && k.cpu == q.CPU && k.mem >= q.Mem && glob.Any(q.AllowedTypes, k.typ)
}

func (q Query) equal(o Query) bool {
	return q.ResourceClass == o.ResourceClass && q.CPU == o.CPU && q.Mem == o.Mem &&
		slices.Equal(q.UsageClasses, o.UsageClasses) && slices.Equal(q.AllowedTypes, o.AllowedTypes)
}

// clone returns a copy that shares no memory with q.
func (q Query) clone() Query {
	q.UsageClasses, q.AllowedTypes = slices.Clone(q.UsageClasses), slices.Clone(q.AllowedTypes)
	return q
}
