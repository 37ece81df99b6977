package page

import (
	"cmp"
	"fmt"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/store"
)

func showWaiting(v view) g.Node {
	head := append(columns("Request", "Class", "Machines", "Waits for"), column("Phases", h.Class("wide")), column("Waited"), column("Time left"))
	return showRequests(v, "Waiting", v.Waiting, "Nothing waits.", head, func(r request) g.Node {
		return h.Tr(h.ID("w-"+string(r.ID)),
			requestHead(r),
			cell("Class", g.Text(orNone(r.Class))),
			cell("Machines", h.Span(h.Class("seats"), g.Text(fmt.Sprint(r.Counts.Ready)), span("note", fmt.Sprintf(" of %d ready", r.Wanted)))),
			cell("Waits for", h.Class("why"), waitsFor(v, r)),
			cell("Phases", h.Class("wide"), showWaterfall(r.Waterfall)),
			cell("Waited", ago(v, r.Begun)),
			cell("Time left", timeLeft(v, r.Status)),
		)
	})
}

func showWorking(v view) g.Node {
	head := append(columns("Request", "Class", "Machines", "State"), column("Phases until ready", h.Class("wide")), column("Waited"), column("Ready"))
	return showRequests(v, "At work", v.Working, "No request has machines.", head, func(r request) g.Node {
		return h.Tr(h.ID("k-"+string(r.ID)),
			requestHead(r),
			cell("Class", g.Text(orNone(r.Class))),
			cell("Machines", g.Textf("%d ", len(r.Status.Instances)), span("note", fmt.Sprintf("of %d", r.Wanted))),
			cell("State", h.Class("why"), stateAndWhy(r)),
			cell("Phases", h.Class("wide"), showWaterfall(r.Waterfall)),
			cell("Waited", g.Text(waited(r.Status))),
			cell("Ready", agoOrNone(v, r.Status.ReadyAt)),
		)
	})
}

func showOver(v view) g.Node {
	head := columns("Request", "Class", "End", "Waited", "When")
	return showRequests(v, "Over", v.Over, "No request ended in the last day.", head, func(r request) g.Node {
		end := g.Group{stateAndWhy(r)}
		if r.Reason != "" {
			end = append(end, h.P(h.Class("note"), h.Code(g.Text(r.Reason))))
		}
		return h.Tr(h.ID("o-"+string(r.ID)),
			requestHead(r),
			cell("Class", g.Text(orNone(r.Class))),
			cell("End", h.Class("why"), end),
			cell("Waited", g.Text(waited(r.Status))),
			cell("When", phrase("", ago(v, r.Changed), " ago")),
		)
	})
}

func showRequests(v view, title string, l list[request], empty string, head []g.Node, row func(request) g.Node) g.Node {
	if len(l.Rows) == 0 {
		return g.Group{heading(v, title, 0), none(v, empty)}
	}
	return g.Group{heading(v, title, l.Len()), table("cards", head, l.Rows, row), more(l.More)}
}

func requestHead(r request) g.Node {
	link := h.A(toRun(r.ID), g.Text(string(r.ID)))
	if r.Attempt <= 1 {
		return h.Th(h.Scope("row"), link)
	}
	return h.Th(h.Scope("row"), link, g.Text(" "), span("note", fmt.Sprintf("attempt %d", r.Attempt)))
}

func waitsFor(v view, r request) g.Node {
	var why, note g.Group
	if r.Why != "" {
		why = append(why, h.P(g.Text(r.Why)))
	}
	if r.Reason != "" {
		note = append(note, h.Code(g.Text(r.Reason)))
	}
	if !r.Since.IsZero() {
		note = append(note, h.Span(phrase("for ", ago(v, r.Since), "")))
	}
	return append(why, h.P(h.Class("note"), note, progress(r.Counts)))
}

// progress is what becomes of the machines that a request lacks.
func progress(c store.Counts) g.Node {
	var out g.Group
	for _, one := range []struct {
		n    int
		what string
	}{{c.Launching, "being launched"}, {c.Created, "starting"}, {c.Claimed, "claimed"}} {
		if one.n > 0 {
			out = append(out, h.Span(g.Textf("%d %s", one.n, one.what)))
		}
	}
	return out
}

func stateAndWhy(r request) g.Node {
	if r.Why == "" {
		return h.P(stateOf(r))
	}
	return h.P(stateOf(r), g.Text(" "+r.Why))
}

func stateOf(r request) g.Node { return span("state "+r.Look(), string(r.State)) }

func waited(st *store.RunStatus) string {
	answered := cmp.Or(st.ReadyAt, st.FailedAt, st.ReleasedAt)
	if answered.IsZero() {
		return dash
	}
	return timeline.Took(answered.Sub(st.PendingAt.Time))
}

func timeLeft(v view, st *store.RunStatus) g.Node {
	if st == nil || st.Deadline.IsZero() {
		return g.Text(dash)
	}
	return left(v, st.Deadline)
}

// showWaterfall draws the phases of one seat, and names the longest.
func showWaterfall(w *waterfall) g.Node {
	if w == nil {
		return span("note", dash)
	}
	longest := fmt.Sprintf("%s %s of %s", w.Longest.Name, timeline.Took(w.Longest.Duration()), timeline.Took(w.Whole))
	return g.Group{showBars(w.Bars), span("longest", longest)}
}

func showBars(bars []bar) g.Node {
	var names []string
	for _, b := range bars {
		names = append(names, b.Text())
	}
	return h.SVG(h.Class("waterfall"), g.Attr("viewBox", "0 0 1000 10"), g.Attr("preserveAspectRatio", "none"), h.Role("img"),
		h.Aria("label", strings.Join(names, ", ")),
		g.Map(bars, func(b bar) g.Node {
			return rect(b.Width, 10, h.Class(b.Looks()), g.Attr("x", fmt.Sprint(b.X)), h.TitleEl(g.Textf("%s, %s", b.Text(), b.Outcome)))
		}))
}

func rect(width, height int, nodes ...g.Node) g.Node {
	return g.El("rect", h.Width(fmt.Sprint(width)), h.Height(fmt.Sprint(height)), g.Group(nodes))
}
