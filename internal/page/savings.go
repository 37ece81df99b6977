package page

import (
	"maps"
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// lookBack is for how long the statuses of what is over are kept.
const lookBack = 24 * time.Hour

// savings are what warm machines gave the requests that were answered in the last day.
type savings struct {
	Class  string // "all" for those of all classes
	Ready  int    // requests that got what they asked for
	Failed int
	Seats  int
	Hits   int   // seats that a warm machine took
	Warm   times // of requests whose seats were all warm, from Pending to Ready
	Cold   times // of the others
}

// HitRate is the share of warm seats in percent; it counts only if there are seats.
func (s savings) HitRate() float64 { return 100 * float64(s.Hits) / float64(max(1, s.Seats)) }

func (s *savings) count(st store.RunStatus, since time.Time) {
	switch {
	case st.ReadyAt.After(since):
		s.Ready++
		warm := 0
		for _, seat := range st.Instances {
			if seat.Warm {
				warm++
			}
		}
		s.Seats, s.Hits = s.Seats+len(st.Instances), s.Hits+warm
		took := st.ReadyAt.Sub(st.PendingAt.Time)
		if warm == len(st.Instances) {
			s.Warm = append(s.Warm, took)
		} else {
			s.Cold = append(s.Cold, took)
		}
	case st.Phase == statemachine.Failed && st.FailedAt.After(since):
		s.Failed++
	}
}

// times are durations, the shortest first.
type times []time.Duration

// At returns the value that p percent do not exceed (nearest rank). There must be one.
func (t times) At(p int) time.Duration { return t[(len(t)*p+99)/100-1] }

// save counts the answers of the last day: of all classes, and of each if there are several.
func (m *model) save() []savings {
	total, by := savings{Class: "all"}, map[string]*savings{}
	since := m.Now.Add(-lookBack)
	for _, records := range m.Runs {
		if records.Status == nil {
			continue
		}
		total.count(*records.Status, since)
		if q := records.Request; q != nil {
			if by[q.ResourceClass] == nil {
				by[q.ResourceClass] = &savings{Class: q.ResourceClass}
			}
			by[q.ResourceClass].count(*records.Status, since)
		}
	}
	out := []savings{total}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if s := *by[name]; len(by) > 1 && s.Ready+s.Failed > 0 {
			out = append(out, s)
		}
	}
	for _, s := range out {
		slices.Sort(s.Warm)
		slices.Sort(s.Cold)
	}
	return out
}
