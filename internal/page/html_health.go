package page

import (
	"fmt"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/remuda-run/remuda/store"
)

func showVerdict(v view) g.Node {
	return h.Div(h.Class("verdict "+v.Verdict.Look()),
		h.P(h.Class("word"), h.Span(h.Class("mark"), h.Aria("hidden", "true")), g.Text(v.Verdict.Word())),
		h.Ul(g.Map(v.Verdict.Points, func(p point) g.Node { return showPoint(v, p) }), howManyWait(v)),
	)
}

func showPoint(v view, p point) g.Node {
	since := timeOfDay(p.Since)
	switch {
	case p.Since.IsZero():
		return h.Li(g.Text(p.Text))
	case v.Now.Sub(p.Since) > 12*time.Hour: // which could be yesterday's
		since = day(p.Since)
	}
	return h.Li(g.Text(p.Text+" "), span("since", "since "+since))
}

func howManyWait(v view) g.Node {
	switch n := v.Waiting.Len(); {
	case !v.Known():
		return nil
	case n == 0:
		return h.Li(g.Text("No request waits."))
	case n == 1:
		return h.Li(g.Text("1 request waits."))
	default:
		return h.Li(g.Text(plural(n, "request") + " wait."))
	}
}

func showHealth(v view) g.Node {
	health := v.Lease.Health
	term, calls := dash, dash
	if v.Known() {
		term = strconv.FormatInt(v.Lease.Term, 10)
	}
	if b := health.GitHub; b.Limit > 0 {
		calls = fmt.Sprintf("%d of %d", b.Remaining, b.Limit)
	}
	return h.Dl(h.Class("strip"),
		fact1("Leader", leader(v)),
		fact1("Term", term),
		fact1("Version", orNone(health.ControllerVersion)),
		fact("Last scan", agoOrNone(v, health.ScannedAt)),
		fact("Last sweep", agoOrNone(v, health.SweptAt)),
		fact1("GitHub calls left", calls),
		fact1("Held back", heldBack(v)),
	)
}

// leader is who leads, or who led last.
func leader(v view) string {
	if v.vacancy == "" || v.Lease.Holder == "" {
		return orNone(v.Lease.Holder)
	}
	return "none, last " + v.Lease.Holder
}

func agoOrNone(v view, t store.Time) g.Node {
	if t.IsZero() {
		return g.Text(dash)
	}
	return phrase("", ago(v, t), " ago")
}

func heldBack(v view) string {
	breaker, listing := !v.Lease.Health.BreakerOpenAt.IsZero(), !v.Lease.Health.ListingIncompleteAt.IsZero()
	switch {
	case !v.Known():
		return dash
	case breaker && listing:
		return "circuit breaker, listing not believed"
	case breaker:
		return "circuit breaker"
	case listing:
		return "listing not believed"
	}
	return "nothing"
}
