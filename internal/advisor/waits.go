package advisor

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

// What is taken where a class has no such start in the record (docs/goals.md: GitHub takes 2.7 s, a launch with its boot 30 s).
const (
	usualClaim = 3 * time.Second
	usualBoot  = 30 * time.Second
)

// waits are how long the starts of a class took, in order, and which machines it had.
type waits struct {
	warm, cold []time.Duration
	types      map[string][]string // machines' types by the patterns that were allowed
	common     string              // the type that most had
}

// waitsOf reads them from what was wanted.
func waitsOf(wanted []store.Wanted) map[string]waits {
	out := map[string]waits{}
	for _, w := range wanted {
		c := out[w.Class]
		if c.types == nil {
			c.types = map[string][]string{}
		}
		switch {
		case w.Failed:
		case w.Warm == w.Count:
			c.warm = append(c.warm, w.Waited)
		default:
			c.cold = append(c.cold, w.Waited)
		}
		if key := strings.Join(w.Types, ","); w.Type != "" && !slices.Contains(c.types[key], w.Type) {
			c.types[key] = append(c.types[key], w.Type)
		}
		out[w.Class] = c
	}
	for name, c := range out {
		slices.Sort(c.warm)
		slices.Sort(c.cold)
		c.common = commonest(wanted, name)
		out[name] = c
	}
	return out
}

// claim is how long a machine of the pool takes until a request has it: as long as this request's really took if they were all of
// the pool and were there when it came, or else as long as one of the class's did.
func (c waits) claim(w store.Wanted, late bool) time.Duration {
	if !late && w.Warm == w.Count && !w.Failed {
		return w.Waited
	}
	return drawn(c.warm, w, usualClaim)
}

// boot is the same of a machine that is launched.
func (c waits) boot(w store.Wanted, late bool) time.Duration {
	if !late && w.Warm < w.Count && !w.Failed {
		return w.Waited
	}
	return drawn(c.cold, w, usualBoot)
}

// drawn returns one of what was measured, always the same for one request.
func drawn(from []time.Duration, w store.Wanted, usual time.Duration) time.Duration {
	if len(from) == 0 {
		return usual
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(w.ID())) // never fails
	return from[int(h.Sum32()%uint32(len(from)))]
}

// machine is the type of the machine that is launched for a request: the one it had, or one that requests of its kind had. Where
// none is known its first pattern stands for it.
func (c waits) machine(w store.Wanted) string {
	if w.Type != "" {
		return w.Type
	}
	if known := c.types[strings.Join(w.Types, ",")]; len(known) > 0 {
		return known[0]
	}
	if len(w.Types) > 0 {
		return w.Types[0]
	}
	return "-"
}

// allowed are the types that a request takes. Of patterns that were too long to be kept, all that were given for them are known.
func (c waits) allowed(w store.Wanted) []string {
	if key := strings.Join(w.Types, ","); strings.HasPrefix(key, "#") {
		return append([]string{key}, c.types[key]...)
	}
	return w.Types
}
