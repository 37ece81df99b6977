package advisor

import (
	"math"
	"slices"
	"time"
)

// Figures are the totals of a class between From and To of its demand.
type Figures struct {
	Requests int             // that became Ready
	Failed   int             // that did not
	Machines int             // of these requests
	Warm     int             // machines from the pool
	Waits    []time.Duration // of the requests, and of those that a replay did not serve
	Booting  time.Duration   // of machines, until they were ready
	Busy     time.Duration   // from a claim or from ready until the release
	Idle     time.Duration   // without a request
}

// Really sums up the demand by class. The demand does not contain the time of instances.
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

// HitRate is the share of machines from the pool, or 0 without machines.
func (f *Figures) HitRate() float64 {
	if f.Machines == 0 {
		return 0
	}
	return float64(f.Warm) / float64(f.Machines)
}

// Waited is the total wait of all requests.
func (f *Figures) Waited() time.Duration {
	var sum time.Duration
	for _, w := range f.Waits {
		sum += w
	}
	return sum
}

// Quantile is the wait that a share of the requests did not exceed, or 0 without requests.
func (f *Figures) Quantile(share float64) time.Duration {
	if len(f.Waits) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.Waits))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// MachineTime is the total time of all machines, which is what EC2 bills.
func (f *Figures) MachineTime() time.Duration { return f.Booting + f.Busy + f.Idle }

// Agreement is how far a replay may be from what happened.
const Agreement = 0.05

// Agrees reports whether a replay differs from what happened by at most Agreement. The hit rate may differ by so many points, and the
// time waited by this share.
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
