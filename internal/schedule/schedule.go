// Package schedule says how many of something are wanted at an instant, by a timetable of a week.
//
// A timetable is read on the wall clock of its place: an hour that a change of daylight-saving time skips does not come that day,
// and one that comes twice counts twice. The package is a leaf; it reads no clock.
package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// day is as long as a wall clock shows it, in minutes.
const day = 24 * 60

// Clock is a time of day on a wall clock, in minutes from midnight, 0 to 1440.
type Clock int

// ParseClock reads a time such as 08:00; 24:00 is the end of a day.
func ParseClock(text string) (Clock, error) {
	at, err := time.Parse("15:04", text)
	switch {
	case text == "24:00":
		return day, nil
	case err != nil || len(text) != len("15:04"):
		return 0, fmt.Errorf("must be a time of day such as 08:00, at most 24:00, got %.40q", text)
	}
	return Clock(at.Hour()*60 + at.Minute()), nil
}

// Days are the names of the days of a week.
func Days() []string { return []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} }

// ParseDay reads the name of a day, one of Days.
func ParseDay(name string) (time.Weekday, error) {
	at := slices.Index(Days(), name)
	if at < 0 {
		return 0, fmt.Errorf("must be one of %s, got %.40q", strings.Join(Days(), ", "), name)
	}
	return time.Weekday((at + 1) % 7), nil
}

// Entry is in force from From to To, To excluded, on each of its days. One whose To is not after From ends on the next day, and
// belongs to the day on which it began.
type Entry struct {
	Days     []time.Weekday // none: every day
	From, To Clock
	Location *time.Location // nil: UTC
	Min      int
}

// Schedule is a number, and when it is another. The zero value is 0 for ever.
type Schedule struct {
	Base    int // while no entry is in force
	Entries []Entry
}

// Most is the highest number of all times.
func (s Schedule) Most() int {
	most := s.Base
	for _, e := range s.Entries {
		most = max(most, e.Min)
	}
	return most
}

// Min is the number at an instant: the highest of the entries that are in force, or else the base.
func (s Schedule) Min(now time.Time) int {
	least, any := 0, false
	for _, e := range s.Entries {
		if e.inForce(now) {
			least, any = max(least, e.Min), true
		}
	}
	if !any {
		return s.Base
	}
	return least
}

func (e Entry) location() *time.Location {
	if e.Location == nil {
		return time.UTC
	}
	return e.Location
}

// on reports whether the entry begins on a day.
func (e Entry) on(d time.Weekday) bool { return len(e.Days) == 0 || slices.Contains(e.Days, d) }

func (e Entry) inForce(now time.Time) bool {
	local := now.In(e.location())
	at, today := Clock(local.Hour()*60+local.Minute()), local.Weekday()
	if e.From < e.To {
		return e.on(today) && e.From <= at && at < e.To
	}
	return e.on(today) && at >= e.From || e.on((today+6)%7) && at < e.To
}

// horizon is how far Next looks: an entry that a change of daylight-saving time skips comes a week later, so two weeks and a day
// show all that a timetable ever does.
const horizon = 15 * day * time.Minute

// Next is the first instant after now at which the number is another; zero if there is none within two weeks.
func (s Schedule) Next(now time.Time) time.Time {
	var first time.Time
	is := s.Min(now)
	for _, e := range s.Entries {
		e.edges(now, func(at time.Time) {
			if at.After(now) && (first.IsZero() || at.Before(first)) && s.Min(at) != is {
				first = at
			}
		})
	}
	return first
}

// edges calls yield with every instant up to the horizon at which the entry may begin or end, and others besides.
func (e Entry) edges(now time.Time, yield func(time.Time)) {
	local := now.In(e.location())
	for from := local; ; { // one stretch of time with one offset after the other
		_, until := from.ZoneBounds()
		_, offset := from.Zone()
		for i := -1; i <= int(horizon/(day*time.Minute)); i++ {
			for _, at := range []Clock{e.From, e.To} {
				wall := time.Date(local.Year(), local.Month(), local.Day()+i, 0, int(at), 0, 0, time.UTC)
				yield(wall.Add(-time.Duration(offset) * time.Second))
			}
		}
		if until.IsZero() || until.After(now.Add(horizon)) {
			return
		}
		yield(until)
		from = until
	}
}
