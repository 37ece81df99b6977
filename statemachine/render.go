package statemachine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Machine is one of the two tables as text, for people and for programs. Its JSON form is what
// `remuda fsm --format=json` prints.
type Machine struct {
	Name   string   `json:"name"`
	States []string `json:"states"`
	Events []string `json:"events"`
	Rules  []Row    `json:"rules"`
}

// Row is one rule of a Machine. From is empty where no record exists yet.
type Row struct {
	From string `json:"from"`
	On   string `json:"event"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// InstanceMachine returns the table of instances.
func InstanceMachine() Machine { return machine("instance", States(), Events(), rules) }

// RequestMachine returns the table of requests.
func RequestMachine() Machine { return machine("request", Phases(), RequestEvents(), requestRules) }

func machine[S, E ~string](name string, states []S, events []E, rules []row[S, E]) Machine {
	m := Machine{Name: name, States: texts(states), Events: texts(events)}
	for _, r := range rules {
		m.Rules = append(m.Rules, Row{string(r.From), string(r.On), string(r.To), r.Why})
	}
	return m
}

func texts[S ~string](in []S) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}

// JSON returns m indented, with a final newline.
func (m Machine) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s machine: %w", m.Name, err)
	}
	return append(b, '\n'), nil
}

// whenWidth keeps a plain table within 80 columns beside its three other columns.
const whenWidth = 44

// Table returns m as plain columns, one rule per row.
func (m Machine) Table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FROM\tEVENT\tTO\tWHEN")
	for _, r := range m.Rules {
		cells := []string{cmp.Or(r.From, "–"), r.On, r.To}
		for _, line := range wrap(r.Why, whenWidth) {
			fmt.Fprintf(w, "%s\t%s\n", strings.Join(cells, "\t"), line)
			cells = []string{"", "", ""}
		}
	}
	w.Flush() //nolint:errcheck // a strings.Builder never fails
	return b.String()
}

// wrap breaks text at spaces into lines of at most width bytes; a longer word gets its own line.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// Mermaid returns m as a stateDiagram-v2. Events between the same two states share an arrow.
func (m Machine) Mermaid() string {
	type arrow struct{ from, to string }
	var order []arrow
	events := map[arrow][]string{}
	leaves := map[string]bool{}
	for _, r := range m.Rules {
		a := arrow{r.From, r.To}
		if a.from == "" {
			a.from = "[*]"
		}
		if events[a] == nil {
			order = append(order, a)
		}
		events[a] = append(events[a], r.On)
		leaves[r.From] = true
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, a := range order {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", a.from, a.to, strings.Join(events[a], ", "))
	}
	for _, s := range m.States {
		if !leaves[s] {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	return b.String()
}

// markdownTable returns m as a Markdown table. Rules that differ only in From share a row.
func (m Machine) markdownTable() string {
	type group struct {
		Row
		from []string
	}
	var groups []group
	for _, r := range m.Rules {
		from, to := cmp.Or(r.From, "–"), r.To
		if r.From == r.To {
			to = "same"
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.On == r.On && g.To == to && g.Why == r.Why })
		if i < 0 {
			groups = append(groups, group{Row: Row{On: r.On, To: to, Why: r.Why}})
			i = len(groups) - 1
		}
		groups[i].from = append(groups[i].from, from)
	}
	var b strings.Builder
	b.WriteString("| from | event | to | when |\n|---|---|---|---|\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.Join(g.from, ", "), g.On, g.To, g.Why)
	}
	return b.String()
}

// Markdown returns docs/statemachine.md: both tables, both diagrams and the default limits.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# State machines

<!-- Generated from package statemachine by go generate. Do not edit. -->

Every change of state in remuda is a row of one of these tables. Nothing else may change a state; an
event without a row is an error. ` + "`remuda fsm`" + ` prints the same tables.

## Instance

Every transition except those to ` + "`terminated`" + ` also requires that the threshold has not passed.
Entering a state sets a new threshold.

`)
	b.WriteString(InstanceMachine().markdownTable())
	b.WriteString("\n```mermaid\n" + InstanceMachine().Mermaid() + "```\n")
	b.WriteString("\n| state | default limit |\n|---|---|\n")
	for _, s := range States() {
		if limit := DefaultLimits().For(s); limit > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", s, minutes(limit))
		}
	}
	b.WriteString("\nA request's max runtime replaces the limit of `running`.\n\n## Request\n\n")
	b.WriteString(RequestMachine().markdownTable())
	b.WriteString("\n```mermaid\n" + RequestMachine().Mermaid() + "```\n")
	return b.String()
}

// minutes writes a limit without the zero seconds that Duration.String appends to whole minutes.
func minutes(d time.Duration) string {
	return strings.Replace(d.String(), "m0s", "m", 1)
}
