package page

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/store"
)

// funcs are what templates call. None returns markup.
var funcs = template.FuncMap{
	"path":    url.PathEscape,
	"short":   short,
	"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock":   func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"day":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"tail":    tail,
	"orNone":  func(v any) string { return orNone(fmt.Sprint(v)) },
	"plural":  plural,
	"join":    strings.Join,
	"seconds": func(s store.Seconds) string { return short(s.Duration()) },
	"took":    timeline.Took,
	"offset":  offset,
	"since":   func(now, t time.Time) span { return span{t, now.Sub(t), "ago"} },
	"until":   func(now, t time.Time) span { return span{t, t.Sub(now), "left"} },
}

// span is an instant, and how long it is ago or ahead: the script counts on from there.
type span struct {
	At    time.Time
	Is    time.Duration
	Count string // ago or left
}

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

func orNone(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
