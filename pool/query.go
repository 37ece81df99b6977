package pool

import (
	"encoding/binary"
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

// clone returns a copy that shares no memory with q.
func (q Query) clone() Query {
	q.UsageClasses = slices.Clone(q.UsageClasses)
	q.AllowedTypes = slices.Clone(q.AllowedTypes)
	return q
}

// appendKey appends an encoding of q that no other query has. Two spellings of one meaning (order
// or case of the patterns) differ, which costs a plan more and nothing else.
func (q Query) appendKey(b []byte) []byte {
	b = appendText(b, q.ResourceClass)
	b = binary.AppendVarint(b, int64(q.CPU))
	b = binary.AppendVarint(b, int64(q.Mem))
	b = binary.AppendUvarint(b, uint64(len(q.UsageClasses)))
	for _, s := range q.UsageClasses {
		b = appendText(b, s)
	}
	for _, s := range q.AllowedTypes {
		b = appendText(b, s)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
