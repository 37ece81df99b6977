package page

import (
	"fmt"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/remuda-run/remuda/store"
)

func showRun(v view) g.Node {
	r := v.Run
	if r == nil {
		return g.Group{h.H1(g.Text("Run " + v.ID)),
			none(v, "There is no record of it. Records are kept for a day after a run is over; one that comes appears here.")}
	}
	return g.Group{
		h.H1(g.Textf("Run %s ", r.ID), stateOf(*r)),
		h.P(h.Class("sentence"), g.Text(v.Told.Conclusion)),
		h.Dl(h.Class("facts"),
			fact1("Attempt", fmt.Sprint(r.Attempt)),
			fact("Machines", g.Textf("%d of %d ready ", r.Counts.Ready, r.Wanted), progress(r.Counts)),
			g.If(r.Reason != "", fact("Reason", h.Code(g.Text(r.Reason)))),
			g.If(!r.Since.IsZero(), fact("For", ago(v, r.Since))),
			wanted(r.Request),
			progressed(r.Status),
		),
		machinesOf(v),
		showStarts(v),
		showEvents(v),
	}
}

// wanted is what a client asked for, and whether it still wants that.
func wanted(q *store.RunRequest) g.Node {
	if q == nil {
		return nil
	}
	out := g.Group{
		fact1("Class", orNone(q.ResourceClass)+", "+strings.Join(q.UsageClasses, " then ")),
		fact1("Types", strings.Join(q.AllowedInstanceTypes, " ")),
		fact1("Limits", short(q.Timeout.Duration())+" to wait, "+short(q.MaxRuntime.Duration())+" to run"),
	}
	if q.WorkflowRun != 0 {
		out = append(out, fact1("At GitHub", fmt.Sprintf("%s run %d attempt %d", q.Repository, q.WorkflowRun, q.WorkflowAttempt)))
	}
	if q.ReleasedAttempt != 0 {
		text := fmt.Sprintf("attempt %d, %s", q.ReleasedAttempt, q.Release)
		if q.ReleaseReason != "" {
			text += ": " + string(q.ReleaseReason)
		}
		out = append(out, fact1("Given back", text))
	}
	return out
}

// progressed is what the controller made of a request, and when.
func progressed(st *store.RunStatus) g.Node {
	if st == nil {
		return nil
	}
	return g.Group{
		g.If(!st.PendingAt.IsZero(), fact1("Taken up", day(st.PendingAt.Time))),
		g.If(!st.ReadyAt.IsZero(), fact1("Ready", day(st.ReadyAt.Time)+", after "+waited(st))),
		g.If(!st.FailedAt.IsZero(), fact1("Failed", day(st.FailedAt.Time))),
		g.If(!st.ReleasedAt.IsZero(), fact1("Over", day(st.ReleasedAt.Time))),
		g.If(st.Watch.Detail != "", fact1("Watch", st.Watch.Detail)),
		g.If(st.Watch.Waits != "", fact1("No runner takes", st.Watch.Waits)),
	}
}

// machinesOf are those that a run has.
func machinesOf(v view) g.Node {
	if len(v.Held) == 0 {
		return nil
	}
	return g.Group{
		h.H2(g.Text("Machines it has "), count(len(v.Held))),
		h.Ul(h.Class("tiles"), g.Map(v.Held, func(m machine) g.Node {
			return h.Li(h.A(h.Class(string(m.State)), toMachine(m.ID), h.Title(string(m.ID)),
				span("id", tail(m.ID)), g.Text(" "),
				h.Span(h.Class("left"), phrase(string(m.State)+", ", left(v, m.Threshold), " left")), activity(m)))
		})),
	}
}

func showInstance(v view) g.Node {
	if v.Machine == nil {
		return g.Group{h.H1(g.Text("Machine " + v.ID)),
			none(v, "There is no record of it. Records are kept for a day after a machine is gone; one that comes appears here.")}
	}
	m := *v.Machine
	out := g.Group{
		h.H1(g.Textf("Machine %s ", m.ID), span("state plain", string(m.State))),
		h.P(h.Class("sentence"), g.Text(v.Told.Conclusion)),
		machineFacts(v, m),
	}
	if m.Detail != "" {
		out = append(out, h.H2(g.Text("Last lines")), h.Pre(h.TabIndex("0"), g.Text(m.Detail)))
	}
	return append(out, showStarts(v), showEvents(v))
}

func machineFacts(v view, m machine) g.Node {
	pooled := g.Text("not in it")
	if !m.PooledAt.IsZero() {
		pooled = phrase("for ", ago(v, m.PooledAt), "")
	}
	return h.Dl(h.Class("facts"),
		fact("In this state for", ago(v, m.Since)),
		g.If(!m.Threshold.IsZero(), fact("Time left", left(v, m.Threshold))),
		g.If(m.RunID != "", fact("Run", owner(m.RunID), g.Textf(" attempt %d", m.Attempt))),
		fact("Pool", pooled),
		fact1("Class", orNone(m.ResourceClass)),
		fact1("Type", fmt.Sprintf("%s, %s, %d vCPUs, %d MiB", orNone(m.InstanceType), m.UsageClass, m.CPU, m.Mem)),
		fact1("Zone", orNone(m.Zone)),
		fact1("Template", orNone(m.TemplateVersion)),
		fact1("Launch", orNone(m.LaunchToken)),
		fact("Made", phrase(day(m.CreatedAt.Time)+", ", ago(v, m.CreatedAt), " ago")),
		fact("Heartbeat", heartbeat(v), g.If(m.Silent, g.Group{g.Text(" "), h.Strong(g.Text("silent"))})),
		signal(v),
		g.If(m.Registration.Serial != 0, fact1("Runner", m.Registration.Name)),
	)
}

// owner returns a link to the run with this id. A floor has no page, so owner returns its name.
func owner(id store.RequestID) g.Node {
	if class, is := id.Floor(); is {
		return g.Text("minimum idle of " + class)
	}
	return h.A(toRun(id), g.Text(string(id)))
}

func heartbeat(v view) g.Node {
	last := v.Beat()
	if last.UpdatedAt.IsZero() {
		return g.Text("none yet")
	}
	text := " ago"
	if last.Beat.Busy {
		text += ", a job runs"
	}
	if last.Beat.Interrupted {
		text += ", interruption notice received"
	}
	return phrase("", ago(v, last.UpdatedAt), text+", runner "+orNone(last.Beat.Runner)+", agent "+orNone(last.Beat.AgentVersion))
}

func signal(v view) g.Node {
	s := v.Signal()
	if s.UpdatedAt.IsZero() {
		return nil
	}
	cause := ""
	if s.Value.Cause != "" {
		cause = " " + s.Value.Cause
	}
	return fact("Signal", h.Code(g.Text(string(s.Value.Signal))), phrase(cause+", ", ago(v, s.UpdatedAt), " ago"))
}
