package schedule

import (
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"
)

func place(t interface{ Fatal(...any) }, name string) *time.Location {
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func clock(t *testing.T, text string) Clock {
	t.Helper()
	c, err := ParseClock(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What is wanted at the edges of entries, also where the wall clock is changed: Berlin's went from 02:00 to 03:00 on 29 March
// 2026 and from 03:00 to 02:00 on 25 October 2026, both Sundays.
func TestSchedule_Min(t *testing.T) {
	berlin := place(t, "Europe/Berlin")
	week := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	s := Schedule{Base: 1, Entries: []Entry{
		{Days: week, From: clock(t, "08:00"), To: clock(t, "18:00"), Location: berlin, Min: 5},
		{Days: []time.Weekday{time.Friday}, From: clock(t, "17:00"), To: clock(t, "01:00"), Location: berlin, Min: 7},
		{Days: []time.Weekday{time.Sunday}, From: clock(t, "02:15"), To: clock(t, "02:45"), Location: berlin, Min: 3},
		{Days: []time.Weekday{time.Saturday}, From: clock(t, "12:00"), To: clock(t, "24:00"), Min: 0},
	}}
	for at, want := range map[string]int{
		"2026-03-27T06:59:59Z": 1, "2026-03-27T07:00:00Z": 5, // winter, Friday
		"2026-03-27T15:59:59Z": 5, "2026-03-27T16:00:00Z": 7, "2026-03-27T17:00:00Z": 7,
		"2026-03-27T23:59:59Z": 7, "2026-03-28T00:00:00Z": 1, // past midnight it is still Friday's
		"2026-03-28T11:59:59Z": 1, "2026-03-28T12:00:00Z": 0, "2026-03-28T23:59:59Z": 0, "2026-03-29T00:00:00Z": 1,
		"2026-03-29T00:59:59Z": 1, "2026-03-29T01:00:00Z": 1, "2026-03-29T01:20:00Z": 1, // 02:15 does not come
		"2026-03-30T05:59:59Z": 1, "2026-03-30T06:00:00Z": 5, // summer
		"2026-10-25T00:15:00Z": 3, "2026-10-25T00:45:00Z": 1, "2026-10-25T01:15:00Z": 3, "2026-10-25T01:45:00Z": 1, // it comes twice
		"2026-10-26T06:59:59Z": 1, "2026-10-26T07:00:00Z": 5,
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Min(now); got != want {
			t.Errorf("Min(%s) = %d, want %d", at, got, want)
		}
	}
	if s.Most() != 7 {
		t.Errorf("Most() = %d, want 7", s.Most())
	}
}

// Next is the first minute at which the number is another, as a walk over the minutes finds it.
func TestSchedule_NextIsTheFirstChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := []*time.Location{
			nil, place(t, "Europe/Berlin"), place(t, "America/New_York"), place(t, "Australia/Lord_Howe"), place(t, "Asia/Kolkata"), place(t, "Africa/Casablanca"),
		}
		minute := rapid.OneOf(rapid.IntRange(0, day-1), rapid.SampledFrom([]int{0, 60, 90, 120, 150, 180, day - 1}))
		entry := rapid.Custom(func(t *rapid.T) Entry {
			return Entry{
				Days: rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 6), func(d int) time.Weekday { return time.Weekday(d) }), 0, 3).Draw(t, "days"),
				From: Clock(minute.Draw(t, "from")), To: Clock(minute.Draw(t, "to") + 1),
				Location: rapid.SampledFrom(places).Draw(t, "place"), Min: rapid.IntRange(0, 3).Draw(t, "min"),
			}
		})
		s := Schedule{Base: rapid.IntRange(0, 2).Draw(t, "base"), Entries: rapid.SliceOfN(entry, 0, 4).Draw(t, "entries")}
		changes := []string{"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-03-08T07:00:00Z", "2026-04-04T15:00:00Z", "2026-02-15T02:00:00Z", "2026-07-01T00:00:00Z"}
		now, err := time.Parse(time.RFC3339, rapid.SampledFrom(changes).Draw(t, "near"))
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Duration(rapid.IntRange(-3*day, day).Draw(t, "minutes")) * time.Minute).Add(time.Duration(rapid.IntRange(0, 59).Draw(t, "seconds")) * time.Second)

		next := s.Next(now)
		for at := now.Truncate(time.Minute).Add(time.Minute); at.Before(now.Add(8 * day * time.Minute)); at = at.Add(time.Minute) {
			if s.Min(at) == s.Min(now) {
				continue
			}
			if !next.Equal(at) {
				t.Fatalf("Next(%s) = %s, but from %s on it is %d instead of %d", now, next, at, s.Min(at), s.Min(now))
			}
			return
		}
		if !next.IsZero() && next.Before(now.Add(8*day*time.Minute)) {
			t.Fatalf("Next(%s) = %s, where nothing changes", now, next)
		}
	})
}

// What is no time and no day is refused with what was given.
func TestParse_WrongOnes(t *testing.T) {
	for text, want := range map[string]string{
		"8:00": `must be a time of day such as 08:00, at most 24:00, got "8:00"`, "24:01": `must be a time of day such as 08:00, at most 24:00, got "24:01"`,
		"": `must be a time of day such as 08:00, at most 24:00, got ""`, "08:00 ": `must be a time of day such as 08:00, at most 24:00, got "08:00 "`,
	} {
		if _, err := ParseClock(text); err == nil || err.Error() != want {
			t.Errorf("ParseClock(%q) = %v, want %s", text, err, want)
		}
	}
	if _, err := ParseDay("monday"); err == nil || err.Error() != `must be one of mon, tue, wed, thu, fri, sat, sun, got "monday"` {
		t.Errorf("ParseDay(monday) = %v", err)
	}
	for i, name := range Days() {
		if d, err := ParseDay(name); err != nil || d != time.Weekday((i+1)%7) {
			t.Errorf("ParseDay(%s) = %s, %v", name, d, err)
		}
	}
}
