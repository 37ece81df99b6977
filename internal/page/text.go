package page

import (
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/store"
)

// Instants as they are written: for programs, for a glance, and in full.
func stamp(t time.Time) string     { return t.UTC().Format(time.RFC3339) }
func timeOfDay(t time.Time) string { return t.UTC().Format("15:04:05") }
func day(t time.Time) string       { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// short writes a duration in whole seconds, as `remuda status` does and as the script goes on.
func short(d time.Duration) string {
	switch d = max(0, d).Truncate(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	}
}

// offset is an instant as the time since a beginning.
func offset(begun, at store.Time) string {
	if d := at.Sub(begun.Time); d < 0 {
		return "−" + timeline.Took(-d)
	}
	return "+" + timeline.Took(at.Sub(begun.Time))
}

// tail is the end of an id, which tells machines of one fleet apart.
func tail(id store.InstanceID) string {
	const most = 10
	if runes := []rune(id); len(runes) > most {
		return "…" + string(runes[len(runes)-most+1:])
	}
	return string(id)
}

const dash = "–" // of what there is not

func orNone(text string) string {
	if text == "" {
		return dash
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
