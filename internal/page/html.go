package page

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/remuda-run/remuda/store"
)

// Every text and attribute is written by gomponents, which escapes it; nothing is written raw. Every URL is a path of this
// server, with ids as escaped elements of it.

// part is one part of a page that changes by itself: the id of its element, and what is in it.
type part struct {
	id   string
	show func(view) g.Node
}

// contents are the parts of each kind of page; every page has the verdict and the health before them.
var contents = map[kind][]part{
	overview: {
		{"waiting", showWaiting}, {"working", showWorking}, {"fleet", showFleet},
		{"pool", showPool}, {"costs", showCosts}, {"over", showOver}, {"ended", showEnded},
	},
	aRun:       {{"run", showRun}},
	anInstance: {{"instance", showInstance}},
}

// parts are all that changes by itself on a page of a kind.
func parts(of kind) []part {
	return slices.Concat([]part{{"verdict", showVerdict}, {"health", showHealth}}, contents[of])
}

// heading is that of a part. How many it lists is said once that is known.
func heading(v view, title string, n int) g.Node {
	if !v.Known() {
		return h.H2(g.Text(title))
	}
	return h.H2(g.Text(title+" "), count(n))
}

func count(n int) g.Node { return span("count", strconv.Itoa(n)) }

func span(class, text string) g.Node { return h.Span(h.Class(class), g.Text(text)) }

// none stands where there is nothing to list, or where nobody knows.
func none(v view, text string) g.Node {
	if !v.Known() {
		text = "Not known."
	}
	return h.P(h.Class("none"), g.Text(text))
}

// more says how much of a list is left out, if anything.
func more(n int, rest ...g.Node) g.Node {
	if n == 0 {
		return nil
	}
	return h.P(h.Class("more"), g.Textf("and %d more", n), g.Group(rest))
}

// table has one row for each of rows.
func table[T any](class string, columns []g.Node, rows []T, row func(T) g.Node) g.Node {
	return h.Table(h.Class(class), h.THead(h.Tr(columns...)), h.TBody(g.Map(rows, row)))
}

// columns are the heads of a table.
func columns(names ...string) []g.Node {
	return g.Map(names, func(name string) g.Node { return column(name) })
}

func column(name string, attributes ...g.Node) g.Node {
	return h.Th(h.Scope("col"), g.Group(attributes), g.Text(name))
}

// cell is one of a row; where there is no room for the head of its column, the style sheet shows the label.
func cell(label string, nodes ...g.Node) g.Node { return h.Td(h.Data("label", label), g.Group(nodes)) }

// fact is one of a list of facts.
func fact(name string, nodes ...g.Node) g.Node {
	return h.Div(h.Dt(g.Text(name)), h.Dd(nodes...))
}

func fact1(name, text string) g.Node { return fact(name, g.Text(text)) }

func toRun(id store.RequestID) g.Node { return h.Href("/run/" + url.PathEscape(string(id))) }

func toMachine(id store.InstanceID) g.Node {
	return h.Href("/instance/" + url.PathEscape(string(id)))
}

// machineLink shows the end of an id, and all of it on demand.
func machineLink(id store.InstanceID) g.Node {
	return h.A(toMachine(id), h.Title(string(id)), g.Text(tail(id)))
}

// ago is how long a time is past, and left how long it is ahead: the script counts on from there.
func ago(v view, t store.Time) g.Node  { return counted(t.Time, v.Now.Sub(t.Time), "ago") }
func left(v view, t store.Time) g.Node { return counted(t.Time, t.Sub(v.Now), "left") }

func counted(at time.Time, d time.Duration, direction string) g.Node {
	return h.Time(h.DateTime(stamp(at)), h.Data("count", direction), h.Title(day(at)), g.Text(short(d)))
}

// phrase is a node with words around it.
func phrase(before string, node g.Node, after string) g.Node {
	return g.Group{g.Text(before), node, g.Text(after)}
}
