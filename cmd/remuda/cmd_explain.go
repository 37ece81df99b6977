package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/store"
)

const explainLong = `Tells what became of a run's requests, of one request or of one instance: why it waits, why it took
so long, why it failed or ended, and what one that is over cost. Each phase stands there with its duration,
the longest marked, then all that happened, in order.

It works while a request waits, and for a day after it is over. ID is that of a workflow run, of a
request or of an instance. -o json prints the same with stable keys; docs/operating.md lists them.`

// explainOptions are the flags of `remuda explain`.
type explainOptions struct {
	*app
	output, id string
	audit      audit.Options // says when a lease is dead
}

// explanation is what `remuda explain -o json` prints. Its shape is documented in docs/operating.md.
type explanation struct {
	Now       store.Time  `json:"now"`
	Timelines []explained `json:"timelines"`
}

// explained is what became of one request or one instance, and what a request cost.
type explained struct {
	timeline.Timeline
	Spent spentView `json:"spent"` // by the machines of a request, once it is over
}

func newExplainCmd(a *app) *cobra.Command {
	o := &explainOptions{app: a}
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Tell why a run, a request or an instance waits, took so long or ended",
		Long:  explainLong,
		Example: `  remuda explain 4711
  remuda explain i-0123456789abcdef0 -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("ID: must be given, of a run, a request or an instance, and nothing else")
			}
			o.id = args[0]
			return nil
		},
		RunE: a.onStore(true, o.validate, o.run),

		ValidArgsFunction: completesIDs(a, true, true),
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", formatTable, "table or json")
	completes(cmd, "output", formatTable, formatJSON)
	return exits(cmd, exitNotFound, exitInterrupted)
}

func (o *explainOptions) validate(cfg config.Config) error {
	o.audit = auditConfig(cfg)
	return checkFormat(o.output, formatTable, formatJSON)
}

func (o *explainOptions) run(ctx context.Context, st *store.Store) error {
	var found store.Found
	records := found.Visitor() // principals, by which instances are stored, are in no other record: all are looked through
	records.Launch, records.Drain = nil, nil
	if err := st.Scan(ctx, records); err != nil {
		return err
	}
	now := o.clock.Now()
	controller, err := readController(ctx, st, now, o.audit)
	if err != nil {
		return err
	}
	v := explanation{Now: store.At(now), Timelines: explain(o.id, found, controller, now)}
	if len(v.Timelines) == 0 {
		if err := found.Bad[store.RequestKey(store.RequestID(o.id), store.KindRunStatus)]; err != nil {
			return err
		}
		return notFound("%s: neither a run, a request nor an instance of the last day", o.id)
	}
	width := 0
	if o.outTTY {
		width, _ = o.size()
	}
	return printAs(o.out, o.output, v, renderExplanation(v, width))
}

// explain tells every request of a run, or the request or the instance of that id.
func explain(id string, found store.Found, controller *controllerView, now time.Time) []explained {
	out, vacancy := []explained{}, ""
	if controller.vacant() {
		vacancy = controller.vacancy
	}
	for i, in := range found.Instances {
		found.Instances[i] = timeline.Reported(in, found.Vitals[in.Principal])
	}
	for request, r := range found.Runs {
		if (r.Request != nil || r.Status != nil) && belongs(request, r, id) {
			one := explained{Timeline: timeline.Request(request, r, found.Instances, vacancy, now)}
			if r.Status != nil && r.Status.Attempt == one.Attempt {
				one.Spent = newSpentView(r.Status.Spent)
			}
			out = append(out, one)
		}
	}
	for _, in := range found.Instances {
		if string(in.ID) == id {
			out = append(out, explained{Timeline: timeline.Instance(in, now)})
		}
	}
	slices.SortFunc(out, func(a, b explained) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// belongs reports whether id is a request's own or that of its run, from which the ids of a run's requests are made.
func belongs(request store.RequestID, r store.RunRecords, id string) bool {
	if string(request) == id || r.Request != nil && r.Request.WorkflowRun != 0 && strconv.FormatInt(r.Request.WorkflowRun, 10) == id {
		return true
	}
	rest, begins := strings.CutPrefix(string(request), id+"-")
	return begins && rest != "" && strings.Trim(id, "0123456789") == ""
}

// renderExplanation writes timelines for people.
func renderExplanation(v explanation, width int) string {
	var b strings.Builder
	for i, e := range v.Timelines {
		t := e.Timeline
		if i > 0 {
			b.WriteString("\n")
		}
		title := fmt.Sprintf("%s %s", t.Kind, t.ID)
		if t.Attempt > 0 {
			title += fmt.Sprintf(" attempt %d", t.Attempt)
		}
		fmt.Fprintf(&b, "%s: %s\n%s\n", printable(title), orNone(t.State), strings.ReplaceAll(printable(t.Conclusion), "\n", " "))
		if cost := e.Spent.text(); cost != "" {
			fmt.Fprintf(&b, "Its %s.\n", cost)
		}
		starts := told(t)
		for _, part := range []*table{startTable(t, starts), eventTable(t, starts)} {
			if len(part.rows) > 0 {
				b.WriteString("\n" + part.String(width))
			}
		}
		if n := len(t.Starts) - len(starts); n > 0 {
			fmt.Fprintf(&b, "and %d more: -o json has them all\n", n)
		}
	}
	return b.String()
}

// maxTold bounds the instances of a request of which people are told: the one it waited for longest, and those that took
// longest besides. A request may have thousands.
const maxTold = 4

func told(t timeline.Timeline) []timeline.Start {
	if t.Kind == timeline.KindInstance || len(t.Starts) <= maxTold {
		return t.Starts
	}
	starts := slices.Clone(t.Starts)
	slices.SortStableFunc(starts, func(a, b timeline.Start) int {
		switch {
		case (a.InstanceID == t.Decisive) != (b.InstanceID == t.Decisive):
			return map[bool]int{true: -1, false: 1}[a.InstanceID == t.Decisive]
		default:
			return int(b.Busiest().Duration() - a.Busiest().Duration())
		}
	})
	return starts[:maxTold]
}

func startTable(t timeline.Timeline, starts []timeline.Start) *table {
	t2 := &table{header: []string{"INSTANCE", "FOR", "START", "PHASE", "FROM", "TOOK", ""}, shrink: []int{1, 0}}
	for _, s := range starts {
		start := "cold"
		if s.Warm {
			start = "warm"
		}
		for _, p := range s.Phases {
			mark := ""
			switch {
			case p.Outcome == timeline.Failed && s.Lost == "":
				mark = "given back in it"
			case p.Outcome == timeline.Failed:
				mark = "lost in it"
			case p.Outcome == timeline.Open:
				mark = "so far"
			}
			if p.Name == s.Longest {
				mark = strings.TrimSuffix("← longest, "+mark, ", ")
			}
			t2.add(string(s.InstanceID), string(s.RequestID), start, string(p.Name), fromText(p.From.Sub(t.Begun.Time)), timeline.Took(p.Duration()), mark)
		}
	}
	return t2
}

// fromText is an instant as the time since a beginning.
func fromText(d time.Duration) string {
	if d < 0 {
		return "-" + timeline.Took(-d)
	}
	return "+" + timeline.Took(d)
}

func eventTable(t timeline.Timeline, starts []timeline.Start) *table {
	out := &table{header: []string{"AT", "AFTER", "INSTANCE", "EVENT"}, shrink: []int{3, 2}}
	for _, e := range t.Events {
		if e.InstanceID != "" && !slices.ContainsFunc(starts, func(s timeline.Start) bool { return s.InstanceID == e.InstanceID }) {
			continue
		}
		out.add(e.At.String(), fromText(e.At.Sub(t.Begun.Time)), orNone(string(e.InstanceID)), e.Text)
	}
	return out
}
