package page

import (
	"fmt"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/remuda-run/remuda/internal/timeline"
)

func showFleet(v view) g.Node {
	if len(v.Classes) == 0 {
		return g.Group{heading(v, "Machines", v.Living), none(v, "No machine is up.")}
	}
	return g.Group{heading(v, "Machines", v.Living), g.Map(v.Classes, func(c class) g.Node {
		return g.Group{
			h.H3(g.Text(orNone(c.Name)+" "), count(c.Count)),
			g.Map(c.Groups, func(of group) g.Node { return showGroup(v, of) }),
		}
	})}
}

func showGroup(v view, of group) g.Node {
	return h.Div(h.Class("group "+of.Look()),
		h.H4(h.Span(h.Class("dot"), h.Aria("hidden", "true")), g.Text(of.State+" "), count(of.Tiles.Len())),
		h.Ul(h.Class("tiles"), g.Map(of.Tiles.Rows, func(m machine) g.Node { return tile(v, m) })),
		more(of.Tiles.More))
}

func tile(v view, m machine) g.Node {
	title, owner := string(m.ID), g.Node(nil)
	if m.RunID != "" {
		title += ", run " + string(m.RunID)
		owner = g.Group{g.Text(" "), span("owner", string(m.RunID))}
	}
	return h.Li(h.ID("m-"+string(m.ID)), h.A(toMachine(m.ID), h.Title(title),
		span("id", tail(m.ID)), g.Text(" "), h.Span(h.Class("left"), left(v, m.Threshold), span("sr", " left")), owner, activity(m)))
}

// activity is what stands out of a machine.
func activity(m machine) g.Node {
	switch {
	case m.Silent:
		return g.Group{g.Text(" "), h.Strong(g.Text("silent"))}
	case m.Busy:
		return g.Group{g.Text(" "), h.Em(g.Text("job runs"))}
	}
	return nil
}

func showEnded(v view) g.Node {
	if len(v.Ended.Rows) == 0 {
		return g.Group{heading(v, "Ended machines", 0), none(v, "No machine ended in the last day.")}
	}
	row := func(m machine) g.Node {
		return h.Tr(h.ID("e-"+string(m.ID)),
			h.Th(h.Scope("row"), machineLink(m.ID)),
			cell("Class", g.Text(orNone(m.ResourceClass))),
			cell("Why", h.Class("why"), h.P(g.Text(orNone(m.Reason)))),
			cell("Lived", g.Text(short(m.Since.Sub(m.CreatedAt.Time)))),
			cell("When", phrase("", ago(v, m.Since), " ago")),
		)
	}
	return g.Group{
		heading(v, "Ended machines", v.Ended.Len()),
		table("cards", columns("Machine", "Class", "Why", "Lived", "When"), v.Ended.Rows, row),
		more(v.Ended.More),
	}
}

func showPool(v view) g.Node {
	title := h.H2(g.Text("Pool, last day"))
	if !v.Known() {
		return g.Group{title, none(v, "")}
	}
	return g.Group{title,
		table("cards numbers", columns("Class", "Ready", "Failed", "Hit rate", "Warm p50", "p95", "Cold p50", "p95"), v.Pool, showSavings),
		h.P(h.Class("note"), g.Text("Hit rate: machines that were warm, of all handed over. Warm: from taken up to ready where all were warm; cold: where one was not.")),
	}
}

func showSavings(s savings) g.Node {
	rate := g.Text(dash)
	if s.Seats > 0 {
		rate = g.Group{g.Textf("%.1f %%", s.HitRate()), span("note", fmt.Sprintf(" %d of %d", s.Hits, s.Seats))}
	}
	return h.Tr(
		h.Th(h.Scope("row"), g.Text(s.Class)),
		cell("Ready", g.Text(strconv.Itoa(s.Ready))),
		cell("Failed", g.Text(strconv.Itoa(s.Failed))),
		cell("Hit rate", rate),
		percentile("Warm p50", s.Warm, 50), percentile("Warm p95", s.Warm, 95),
		percentile("Cold p50", s.Cold, 50), percentile("Cold p95", s.Cold, 95),
	)
}

func percentile(label string, of times, p int) g.Node {
	if len(of) == 0 {
		return cell(label, g.Text(dash))
	}
	return cell(label, g.Text(timeline.Took(of.At(p))))
}
