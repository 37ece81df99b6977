package bench

import (
	"math"
	"slices"
	"time"
)

// Times are the durations of one thing.
type Times []time.Duration

// Quantile returns the smallest duration that at least the part q of all do not exceed, q in (0,1].
// Of no durations it is 0.
func (t Times) Quantile(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
