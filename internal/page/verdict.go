package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// The levels of a verdict, the worst last.
const (
	fine = iota
	worthALook
	broken
)

// verdict is whether all works, in a word, and what there is to say to that, the worst first.
type verdict struct {
	Level  int
	Points []point
}

// point is one thing to know.
type point struct {
	Level int
	Text  string
	Since time.Time // zero: it is not said
}

// Word is the level for people.
func (v verdict) Word() string { return [...]string{"Works", "Needs a look", "Broken"}[v.Level] }

// Look is the level for the style sheet.
func (v verdict) Look() string { return [...]string{"fine", "look", "broken"}[v.Level] }

// lately is how long a failed request counts as news.
const lately = time.Hour

// late is how many times its period a task of the controller may take until it is worth a look, as in the alert rules.
const late = 5

// lowBudget is the share of GitHub's calls, one in so many, from which on it is worth a look: registrations wait when
// there are none left.
const lowBudget = 10

// judge says whether all works.
func (m *model) judge(o Options, over []request) verdict {
	var v verdict
	say := func(level int, since time.Time, format string, args ...any) {
		v.Level = max(v.Level, level)
		v.Points = append(v.Points, point{level, fmt.Sprintf(format, args...), since})
	}
	h := m.Lease.Health
	unled := worthALook
	if m.Living > 0 || m.Waiting.Len() > 0 || m.Working.Len() > 0 {
		unled = broken
	}
	switch {
	case m.Problem != "":
		say(broken, m.readAt, "The records cannot be read: %s", m.Problem)
	case m.vacancy == "":
		for _, last := range []struct {
			what string
			at   store.Time
			each time.Duration
		}{{"read all records", h.ScannedAt, o.Scan}, {"compared the fleet with the records", h.SweptAt, o.Sweep}} {
			if !last.at.IsZero() && m.Now.Sub(last.at.Time) > late*last.each {
				say(worthALook, last.at.Time, "The controller has not %s, which it does every %s.", last.what, short(last.each))
			}
		}
	case m.Lease.Version == 0:
		say(unled, time.Time{}, "No controller ever led: nothing is answered.")
	default:
		say(unled, m.Lease.Renewed.Time, "No controller leads: nothing is answered, and machines end by their thresholds alone.")
	}
	if m.Standby {
		say(fine, time.Time{}, "This controller is a standby: %s leads.", orNone(m.Lease.Holder))
	}
	for _, out := range []store.Outage{h.GitHubOutage, h.FleetOutage} {
		if out.Reason != "" {
			say(worthALook, out.Since.Time, "Outage: %s.", reconciler.OutageText(out))
		}
	}
	if h.ConfigRefused != "" {
		say(worthALook, h.ConfigRefusedAt.Time, "The configuration is refused, and an earlier one stays in force: %s.", h.ConfigRefused)
	}
	if b := h.Budget; b.Warns || b.Off != "" || !b.UnknownSince.IsZero() {
		off := ""
		if b.Off != "" {
			off = ", and until it ends these are off: " + b.Off
		}
		switch {
		case b.UnknownSince.IsZero():
			say(worthALook, time.Time{}, "$%.2f of the budget of $%.2f for %s are used%s.", b.Spent, b.Monthly, b.Month, off)
		default:
			say(worthALook, b.UnknownSince.Time, "The cost of the month is unknown: %s. The last known value applies: $%.2f of $%.2f for %s%s.",
				b.Unknown, b.Spent, b.Monthly, b.Month, off)
		}
	}
	if !h.BreakerOpenAt.IsZero() {
		say(worthALook, h.BreakerOpenAt.Time, "The circuit breaker is open: too many machines went silent at once, and none is given up.")
	}
	if !h.ListingIncompleteAt.IsZero() {
		say(worthALook, h.ListingIncompleteAt.Time, "The fleet's listing lacks too many machines at once, and is not believed.")
	}
	if b := h.GitHub; b.Limit > 0 && b.Remaining < b.Limit/lowBudget && b.ResetAt.After(m.Now) {
		say(worthALook, time.Time{}, "GitHub allows %d more calls of %d until %s.", b.Remaining, b.Limit, b.ResetAt.Time.Format("15:04 UTC"))
	}
	news := 0
	for _, r := range over {
		if r.State == failed && r.Changed.After(m.Now.Add(-lately)) {
			news++
		}
	}
	if news > 0 {
		say(worthALook, time.Time{}, "%s failed in the last hour.", plural(news, "request"))
	}
	for i, key := range slices.SortedFunc(maps.Keys(m.Bad), byKey) {
		if i == maxBad {
			say(worthALook, time.Time{}, "%d more records cannot be read.", len(m.Bad)-maxBad)
			break
		}
		say(worthALook, time.Time{}, "A record cannot be read: %v", m.Bad[key])
	}
	slices.SortStableFunc(v.Points, func(a, b point) int { return b.Level - a.Level })
	return v
}

// maxBad is how many records that cannot be read are named.
const maxBad = 5

func byKey(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Sort, b.Sort))
}
