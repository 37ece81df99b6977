package page

import (
	"net/url"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// showPage is a whole page.
func showPage(v view) g.Node {
	return h.Doctype(h.HTML(h.Lang("en"), head(v), h.Body(
		h.Data("events", "/events/"+string(v.Kind)+"/"+url.PathEscape(v.ID)),
		h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to the content")),
		h.Header(
			whereabouts(v),
			h.P(h.ID("live"), h.Class("live"), h.Role("status"),
				g.Text("as of "), h.Time(h.DateTime(stamp(v.asOf())), g.Text(timeOfDay(v.asOf()))), g.Text(" UTC")),
		),
		h.Div(h.ID("verdict"), h.Aria("live", "polite"), showVerdict(v)),
		h.Div(h.ID("health"), showHealth(v)),
		jump(v),
		h.Main(h.ID("main"), h.TabIndex("-1"), g.Map(contents[v.Kind], func(p part) g.Node {
			if v.Kind == overview {
				return h.Section(h.ID(p.id), p.show(v))
			}
			return h.Div(h.ID(p.id), p.show(v))
		})),
		h.Footer(h.P(g.Text("This page changes nothing. All times are UTC."))),
	)))
}

func head(v view) g.Node {
	title := "remuda"
	if v.ID != "" {
		title = v.ID + " · remuda"
	}
	return h.Head(
		h.Meta(h.Charset("utf-8")),
		h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.Meta(h.Name("color-scheme"), h.Content("light dark")),
		h.TitleEl(g.Text(title)),
		h.Link(h.Rel("icon"), h.Href("/assets/icon.svg"), h.Type("image/svg+xml")),
		h.Link(h.Rel("stylesheet"), h.Href("/assets/page.css")),
		h.Script(h.Src("/assets/page.js"), h.Defer()),
		h.NoScript(h.Meta(g.Attr("http-equiv", "refresh"), h.Content("5"))),
	)
}

// whereabouts leads back to the overview.
func whereabouts(v view) g.Node {
	if v.Kind == overview {
		return h.Nav(h.Aria("label", "Pages"), h.A(h.Class("brand"), h.Href("/"), h.Aria("current", "page"), g.Text("remuda")))
	}
	return h.Nav(h.Aria("label", "Pages"), h.A(h.Class("brand"), h.Href("/"), g.Text("remuda")),
		h.Span(h.Aria("hidden", "true"), g.Text("/")), span("crumb", string(v.Kind)+" "+v.ID))
}

// jump leads to the parts of the overview.
func jump(v view) g.Node {
	if v.Kind != overview {
		return nil
	}
	to := func(id, text string) g.Node { return h.A(h.Href("#"+id), g.Text(text)) }
	return h.Nav(h.Class("jump"), h.Aria("label", "Parts of this page"),
		to("waiting", "Waiting"), to("working", "At work"), to("fleet", "Machines"), to("pool", "Pool"), to("costs", "Costs"), to("over", "Over"), to("ended", "Ended machines"))
}
