package advisor

import (
	"slices"
	"time"
)

// Hours are when most requests of a class come, on the wall clock of a place, and how many machines they have at once.
type Hours struct {
	Days     []time.Weekday // from Monday on; those with a quarter at least of the busiest day's requests
	From, To int            // minutes of the day, in half hours, 0 to 1440: all but the earliest and the latest twentieth
	Peak     int            // machines, at most
}

const (
	half   = 30
	bootIn = 2 // minutes before the first request in which a machine boots
)

// HoursOf returns those of a class.
func HoursOf(d Demand, class string, place *time.Location) Hours {
	var out Hours
	var counts [7]int
	var minutes []int
	var edges []edge
	for _, w := range d.Wanted {
		if w.Class != class || !d.counts(w) {
			continue
		}
		local := w.At.In(place)
		counts[local.Weekday()]++
		minutes = append(minutes, local.Hour()*60+local.Minute())
		edges = append(edges, edge{w.At, w.Count}, edge{w.At.Add(w.Waited + w.Held), -w.Count})
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
	slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	living := 0
	for _, e := range edges {
		living += e.machines
		out.Peak = max(out.Peak, living)
	}
	return out
}

// edge is when machines begin or end to be wanted.
type edge struct {
	at       time.Time
	machines int
}
