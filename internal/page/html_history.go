package page

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/remuda-run/remuda/internal/timeline"
)

// showStarts draws how machines came to a run, or one machine to its runs.
func showStarts(v view) g.Node {
	if len(v.Starts.Rows) == 0 {
		return nil
	}
	title, first := "How it came to its runs ", "Run"
	if v.ofRequest() {
		title, first = "How its machines came ", "Machine"
	}
	head := append(columns(first, "Start", "From"), column("Phases", h.Class("most")), column("In all"))
	return g.Group{
		h.H2(g.Text(title), count(v.Starts.Len())),
		table("cards", head, v.Starts.Rows, func(s start) g.Node { return showStart(v, s) }),
		more(v.Starts.More, g.Text(": "), h.Code(g.Text("remuda explain -o json")), g.Text(" has them all")),
	}
}

func (v view) ofRequest() bool { return v.Told.Kind == timeline.KindRequest }

func showStart(v view, s start) g.Node {
	var who g.Node
	switch {
	case !v.ofRequest():
		who = owner(s.RequestID)
	case s.Decisive:
		who = g.Group{machineLink(s.InstanceID), g.Text(" "), span("note", "was ready last")}
	default:
		who = machineLink(s.InstanceID)
	}
	warmth := "cold"
	if s.Warm {
		warmth = "warm"
	}
	return h.Tr(
		h.Th(h.Scope("row"), who),
		cell("Start", g.Text(warmth)),
		cell("From", g.Text(offset(v.Told.Begun, s.Phases[0].From))),
		cell("Phases", h.Class("most"), showBars(s.Drawn.Bars),
			h.Ul(h.Class("key"), g.Map(s.Drawn.Bars, func(b bar) g.Node { return key(b, b.Name == s.Longest) }))),
		cell("In all", g.Text(timeline.Took(s.Drawn.Whole))),
	)
}

// key says what a bar means.
func key(b bar, longest bool) g.Node {
	text := b.Text()
	switch b.Outcome {
	case timeline.Open:
		text += " so far"
	case timeline.Failed:
		text += ", ended in it"
	case timeline.Done:
	}
	if longest {
		text += ", longest"
	}
	return h.Li(g.If(longest, h.Class("top")), h.Span(h.Class("swatch "+b.Looks()), h.Aria("hidden", "true")), g.Text(text))
}

func showEvents(v view) g.Node {
	if len(v.Events.Rows) == 0 {
		return nil
	}
	head := columns("When", "After", "What")
	if v.ofRequest() {
		head = columns("When", "After", "Machine", "What")
	}
	return g.Group{
		h.H2(g.Text("What happened, the newest first "), count(v.Events.Len())),
		table("events", head, v.Events.Rows, func(e timeline.Event) g.Node { return showEvent(v, e) }),
		more(v.Events.More, g.Text(" before")),
	}
}

func showEvent(v view, e timeline.Event) g.Node {
	at := h.Time(h.DateTime(stamp(e.At.Time)), h.Title(day(e.At.Time)), g.Text(timeOfDay(e.At.Time)))
	row := []g.Node{h.Td(at), h.Td(g.Text(offset(v.Told.Begun, e.At)))}
	switch {
	case !v.ofRequest():
	case e.InstanceID == "":
		row = append(row, h.Td(g.Text(dash)))
	default:
		row = append(row, h.Td(machineLink(e.InstanceID)))
	}
	return h.Tr(append(row, h.Td(g.Text(e.Text)))...)
}
