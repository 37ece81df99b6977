package githubsim

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// View is how far what the API shows of runs is from what is so. The zero value is not at all.
type View struct {
	// Lag is how late it is.
	Lag time.Duration
	// Swings makes every other answer late by Lag, the first one of all too, and those between not: what was newer
	// is followed by what was before it, as when machines that are not equally far answer in turn.
	Swings bool
	// Frozen is for how long the answer to a question stays as it was when it was first given: a client that asks
	// with its ETag is told 304 meanwhile, whatever has changed.
	Frozen time.Duration
	// Shuffled lists runs and jobs in an order that means nothing, always the same one.
	Shuffled bool
	// Lists restricts the view to lists of runs and jobs; the read of a single run is current.
	Lists bool
}

// Valid returns ErrInvalid if something of it is negative.
func (v View) Valid() error {
	if v.Lag < 0 || v.Frozen < 0 {
		return fmt.Errorf("lag, frozen: must not be negative, got %s, %s: %w", v.Lag, v.Frozen, ErrInvalid)
	}
	return nil
}

// view is a View and what was shown through it.
type view struct {
	View
	answers  int
	instants map[string]time.Time // by question: when a frozen answer was first given
}

// instant returns the instant at which what a question is answered with was so.
func (v *view) instant(question string, now time.Time) time.Time {
	v.answers++
	if v.Frozen > 0 {
		first, ok := v.instants[question]
		if !ok || !now.Before(first.Add(v.Frozen)) {
			first = now
			v.instants[question] = now
		}
		now = first
	}
	if v.Swings && v.answers%2 == 0 {
		return now
	}
	return now.Add(-v.Lag)
}

// sorted lists what was made later first, as GitHub does for runs, or as Shuffled says.
func sorted[T any](v *view, all []T, id func(T) int64, made func(T) time.Time) {
	slices.SortStableFunc(all, func(a, b T) int {
		if v.Shuffled {
			return cmp.Compare(scattered(id(a)), scattered(id(b)))
		}
		return cmp.Or(made(b).Compare(made(a)), cmp.Compare(id(b), id(a)))
	})
}

func scattered(id int64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, id)
	return h.Sum64()
}
