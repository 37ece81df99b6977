package advisor

import (
	"math"
	"slices"
	"time"
)

// Figures are about the requests that came in the time that counts, and about the machines' time within it.
type Figures struct {
	Requests int             // that became Ready
	Failed   int             // that did not
	Machines int             // that they got
	Warm     int             // of the pool
	Waits    []time.Duration // of the requests
	Booting  time.Duration   // of machines, until they were ready
	Busy     time.Duration   // from a claim or from ready until they were given back
	Idle     time.Duration   // unowned
}

// Really sums up what the demand tells by class. It tells nothing of instances' time.
func Really(d Demand) map[string]*Figures {
	out := map[string]*Figures{}
	for _, p := range d.Requests {
		if !d.counts(p) {
			continue
		}
		if out[p.Class] == nil {
			out[p.Class] = &Figures{}
		}
		if p.Failed {
			out[p.Class].Failed++
		} else {
			out[p.Class].add(p.Count, p.Warm, p.Waited)
		}
	}
	return out
}

func (f *Figures) add(machines, warm int, waited time.Duration) {
	f.Requests++
	f.Machines += machines
	f.Warm += warm
	f.Waits = append(f.Waits, waited)
}

// HitRate is the share of machines that were of the pool; 0 if there were none.
func (f *Figures) HitRate() float64 {
	if f.Machines == 0 {
		return 0
	}
	return float64(f.Warm) / float64(f.Machines)
}

// Waited is the wait of all requests together.
func (f *Figures) Waited() time.Duration {
	var sum time.Duration
	for _, w := range f.Waits {
		sum += w
	}
	return sum
}

// Quantile is the wait that a share of the requests did not exceed; 0 if there were none.
func (f *Figures) Quantile(share float64) time.Duration {
	if len(f.Waits) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.Waits))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// MachineTime is how long all machines lived together: what is paid for.
func (f *Figures) MachineTime() time.Duration { return f.Booting + f.Busy + f.Idle }

// Agreement is how far a replay may be from what happened.
const Agreement = 0.05

// Agrees reports whether the replayed hit rate and the time waited differ from what happened by no more than Agreement: the rate
// by so much of itself or of a hundred, the waiting by so much of itself.
func (f *Figures) Agrees(really *Figures) bool {
	return math.Abs(f.HitRate()-really.HitRate()) <= Agreement && Off(f.Waited().Seconds(), really.Waited().Seconds()) <= Agreement
}

// Off is how far a figure is from another, as a share of that one.
func Off(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / math.Max(want, math.SmallestNonzeroFloat64)
}
