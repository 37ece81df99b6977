package advisor

import (
	"maps"
	"slices"
	"time"
)

// Hours are when most requests of a class come, on the wall clock of a place, and how many machines they have at once.
type Hours struct {
	Days     []time.Weekday // from Monday on; each has at least a quarter of the busiest day's requests
	From, To int            // minutes of the day, in half hours, 0 to 1440: all but the earliest and the latest twentieth
	Peak     int            // machines, at most
}

const (
	half   = 30
	bootIn = 2 // minutes that an instance needs to boot before the first request
)

// HoursOf returns the hours of a class.
func HoursOf(d Demand, class string, place *time.Location) Hours {
	var out Hours
	var counts [7]int
	var minutes []int
	change := map[time.Time]int{} // instances more, or fewer
	for _, p := range d.Requests {
		if p.Class == class && d.counts(p) {
			local := p.At.In(place)
			counts[local.Weekday()]++
			minutes = append(minutes, local.Hour()*60+local.Minute())
			change[p.At] += p.Count
			change[p.End()] -= p.Count
		}
	}
	if len(minutes) == 0 {
		return out
	}
	for i := range counts {
		if day := (i + 1) % 7; 4*counts[day] >= slices.Max(counts[:]) {
			out.Days = append(out.Days, time.Weekday(day))
		}
	}
	slices.Sort(minutes)
	out.From, out.To = max(0, minutes[len(minutes)/20]-bootIn)/half*half, minutes[len(minutes)-1-len(minutes)/20]/half*half+half
	living := 0
	for _, at := range slices.SortedFunc(maps.Keys(change), time.Time.Compare) {
		living += change[at]
		out.Peak = max(out.Peak, living)
	}
	return out
}
