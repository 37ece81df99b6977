package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// sheet is what a picture is drawn on. Zero columns or lines are as many as it takes.
type sheet struct {
	columns, lines int
	colour         bool
}

// paint makes text red, for what failed (ECMA-48 SGR).
func (s sheet) paint(text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[31m" + text + "\x1b[0m"
}

// line is one line, cut to fit.
func (s sheet) line(text string) string {
	text = line(text, len(text))
	if s.columns > 0 {
		text = cut(text, s.columns)
	}
	return text + "\n"
}

// alarm is the line of something that failed.
func (s sheet) alarm(text string) string {
	return s.paint(strings.TrimSuffix(s.line(text), "\n")) + "\n"
}

// renderFleet draws the fleet for people: what decides first, so that a short sheet cuts off instances alone.
func renderFleet(v fleetView, wide bool, s sheet) string {
	var b strings.Builder
	b.WriteString(summary(v) + v.Controller.render(v.Now, s))
	for _, key := range v.Unread {
		b.WriteString(s.alarm("unreadable record: " + key))
	}
	if v.MoreUnread > 0 {
		b.WriteString(s.alarm(fmt.Sprintf("unreadable records: %d more", v.MoreUnread)))
	}
	for _, f := range v.Floors {
		b.WriteString(s.line(f.text(v.Now)))
	}
	if v.Reuse.Lost > 0 {
		b.WriteString(s.alarm(v.Reuse.String()))
	}
	requests, more, instances := requestTable(v), "", instanceTable(v, wide)
	if len(v.hidden) > 0 {
		more = s.line(requestCounts(v.hidden))
	}
	room := s.lines - strings.Count(b.String(), "\n")
	tooLong := func() bool { return !wide && s.lines > 0 && requests.height()+instances.height() > room }
	if tooLong() {
		instances = classTable(v)
	}
	if tooLong() {
		fit := max(1, room-instances.height()-3) // below an empty line and the header, above what is left out
		v.Requests = slices.SortedStableFunc(slices.Values(v.Requests), byUrgency)
		requests, more = requestTable(v), s.line(requestCounts(slices.Concat(v.Requests[min(fit, len(v.Requests)):], v.hidden)))
		requests.rows, requests.failed = requests.rows[:min(fit, len(requests.rows))], requests.failed[:min(fit, len(requests.failed))]
	}
	if len(requests.rows) > 0 {
		b.WriteString("\n" + requests.on(s) + more)
	}
	if len(instances.rows) > 0 {
		b.WriteString("\n" + instances.on(s))
	}
	return b.String()
}

// text is the floor in one line.
func (f floorView) text(now store.Time) string {
	out := fmt.Sprintf("floor of %s: %d of %d idle", f.Class, f.Have, f.Wanted)
	if f.Reason != "" {
		out += fmt.Sprintf(", %s for %s", f.Reason, short(now.Sub(f.Since.Time)))
	}
	if f.Detail != "" {
		out += ": " + f.Detail
	}
	return out
}

// classTable counts the instances of each class, for sheets that are too short to list them.
func classTable(v fleetView) *table {
	states := slices.DeleteFunc(statemachine.States(), func(s statemachine.State) bool {
		return !slices.ContainsFunc(v.Instances, func(in instanceView) bool { return in.State == s })
	})
	t := &table{header: []string{"CLASS", "INSTANCES"}, shrink: []int{0}}
	for _, s := range states {
		t.header = append(t.header, strings.ToUpper(string(s)))
	}
	t.header = append(t.header, "SILENT", "LEAST LEFT")
	byClass := map[string][]instanceView{}
	for _, in := range v.Instances {
		byClass[in.ResourceClass] = append(byClass[in.ResourceClass], in)
	}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		counts, silent, least := map[statemachine.State]int{}, 0, none
		var soonest store.Time
		for _, in := range byClass[class] {
			counts[in.State]++
			if in.silent() {
				silent++
			}
			if at := in.Threshold; !at.IsZero() && (soonest.IsZero() || soonest.After(at.Time)) {
				soonest, least = at, short(in.left())
			}
		}
		row := []string{class, fmt.Sprint(len(byClass[class]))}
		for _, s := range states {
			row = append(row, fmt.Sprint(counts[s]))
		}
		t.mark(silent > 0)
		t.add(append(row, fmt.Sprint(silent), least)...)
	}
	return t
}

func instanceTable(v fleetView, wide bool) *table {
	t := &table{header: []string{"INSTANCE", "STATE", "RUN", "CLASS", "TYPE", "USAGE", "LEFT", "BEAT"}, shrink: []int{2, 4, 0, 3}}
	if wide {
		t.header = append(t.header, "RUNNER", "CPU/MEM", "ZONE", "ASSIGNED", "AGE", "POOLED", "TEMPLATE")
		t.shrink = nil
	}
	for _, in := range v.Instances {
		row := []string{
			string(in.ID), string(in.State), orNone(string(in.RunID)), in.ResourceClass, in.InstanceType, in.UsageClass,
			ifSet(in.Threshold, short(in.left())), beatText(in.Heartbeat),
		}
		if wide {
			row = append(row, runnerText(in.Heartbeat), fmt.Sprintf("%d/%d", in.CPU, in.Mem), orNone(in.Zone),
				fmt.Sprint(in.Assignment), ageText(in.CreatedAt, v.Now), ageText(in.PooledAt, v.Now), orNone(in.TemplateVersion))
		}
		t.mark(in.silent())
		t.add(row...)
	}
	return t
}

// summary counts instances that live, and requests that are not over. Failed ones hold nothing, or
// will soon: they are listed for their reason.
func summary(v fleetView) string {
	states, total := map[statemachine.State]int{}, 0
	for _, in := range v.Instances {
		if in.State != statemachine.Terminated {
			states[in.State]++
			total++
		}
	}
	open, failed := 0, 0
	for _, r := range slices.Concat(v.Requests, v.hidden) {
		switch {
		case r.over():
		case r.failed():
			failed++
		default:
			open++
		}
	}
	text := plural(total, "instance") + stateCounts(states) + "; " + plural(open, "open request")
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text + "\n"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ifSet returns text, or the sign for nothing if there is no instant.
func ifSet(at store.Time, text string) string {
	if at.IsZero() {
		return none
	}
	return text
}

// beatText is the age of the heartbeat, with a mark once it is too old to be healthy.
func beatText(hb *heartbeatView) string {
	if hb == nil {
		return none
	}
	age := short(time.Duration(hb.AgeSeconds * float64(time.Second)))
	if !hb.Healthy {
		return age + "!"
	}
	return age
}

func runnerText(hb *heartbeatView) string {
	switch {
	case hb == nil:
		return none
	case hb.Busy && hb.Runner != "busy":
		return orNone(hb.Runner) + " busy"
	default:
		return orNone(hb.Runner)
	}
}

func ageText(at, now store.Time) string { return ifSet(at, short(max(0, now.Sub(at.Time)))) }

// renderInstance draws everything about one instance.
func renderInstance(v instanceView, now store.Time) string {
	heartbeat, signal := none, none
	if hb := v.Heartbeat; hb != nil {
		heartbeat = fmt.Sprintf("%s ago, assignment %d, runner %s, agent %s", beatText(hb), hb.Assignment, runnerText(hb), orNone(hb.AgentVersion))
		if hb.Interrupted {
			heartbeat += ", interruption notice received"
		}
	}
	if s := v.Signal; s != nil {
		signal = fmt.Sprintf("%s %s ago for run %s assignment %d", s.Signal, ageText(s.UpdatedAt, now), orNone(string(s.RunID)), s.Assignment)
		for _, more := range []struct{ separator, text string }{{": ", s.Cause}, {"\n", s.Detail}} {
			if more.text != "" {
				signal += more.separator + more.text
			}
		}
	}
	registration := none
	if r := v.Registration; r.Serial > 0 {
		registration = fmt.Sprintf("%s (%s, assignment %d, runner id %d) at %s", r.Name, r.Mode, r.Assignment, r.RunnerID, orNone(r.URL))
	}
	run := none
	if v.RunID != "" {
		run = fmt.Sprintf("%s attempt %d", v.RunID, v.Attempt)
	}
	return fields(
		[2]string{"instance", string(v.ID)},
		[2]string{"state", fmt.Sprintf("%s for %s", v.State, ageText(v.Since, now))},
		[2]string{"run", run},
		[2]string{"assignment", fmt.Sprint(v.Assignment)},
		[2]string{"threshold", ifSet(v.Threshold, fmt.Sprintf("%s, %s left", v.Threshold.Time.Format(time.RFC3339), short(v.left())))},
		[2]string{"pooled", ageText(v.PooledAt, now)},
		[2]string{"class", fmt.Sprintf("%s: %s, %s, %d vCPUs, %d MiB", v.ResourceClass, v.InstanceType, v.UsageClass, v.CPU, v.Mem)},
		[2]string{"zone", orNone(v.Zone)},
		[2]string{"launch", fmt.Sprintf("%s, template %s", orNone(v.LaunchToken), orNone(v.TemplateVersion))},
		[2]string{"created", instantText(v.CreatedAt, now)},
		[2]string{"changed", instantText(v.ChangedAt, now)},
		[2]string{"registration", registration},
		[2]string{"heartbeat", heartbeat},
		[2]string{"signal", signal},
		[2]string{"last release", string(v.Release)},
		[2]string{"reason", v.Reason},
		[2]string{"detail", v.Detail},
	)
}

func instantText(at, now store.Time) string {
	return ifSet(at, fmt.Sprintf("%s, %s ago", at.Time.Format(time.RFC3339), ageText(at, now)))
}

// renderRequest draws everything about one request.
func renderRequest(v requestView, now store.Time, cfg config.Config, s sheet) string {
	reason := strings.Trim(fmt.Sprintf("%s: %s", v.Reason, v.Message), ": ")
	if waits := v.waitsFor(v.Controller, now); waits != "" {
		reason = waits
	}
	ready := fmt.Sprintf("%d of %d", v.Counts.Ready, v.Count)
	if v.over() {
		ready = fmt.Sprintf("was %s; %d launched in all", ready, v.Counts.Launched)
	} else {
		ready += fmt.Sprintf(" (%d claimed, %d created, %d launching; %d launched in all)", v.Counts.Claimed, v.Counts.Created, v.Counts.Launching, v.Counts.Launched)
	}
	text := fields(
		[2]string{"request", fmt.Sprintf("%s attempt %d", v.ID, v.Attempt)},
		[2]string{"run", v.run},
		[2]string{"watch", watchLines(v.Watch)},
		[2]string{"phase", v.phaseText()},
		[2]string{"reason", reason},
		[2]string{"asked", line(fmt.Sprintf("%d × %s, %s, types %s", v.Count, v.ResourceClass,
			strings.Join(v.UsageClasses, " then "), strings.Join(v.AllowedInstanceTypes, " ")), store.MaxForeign)},
		[2]string{"limits", fmt.Sprintf("max runtime %s, timeout %s",
			limitText(v.MaxRuntimeSeconds, cfg.UsualRuntime(), "limits.running"), limitText(v.TimeoutSeconds, cfg.Requests.Timeout, "requests.timeout"))},
		[2]string{"ready", ready},
		[2]string{"phases", phasesText(v.PhaseSeconds)},
		[2]string{"created", instantText(v.CreatedAt, now)},
		[2]string{"client seen", clientText(v, now)},
		[2]string{"released", releasedText(v)},
		[2]string{"cost", v.Spent.text()},
	)
	if len(v.Instances) == 0 {
		return text
	}
	return text + "\n" + seatTable(v.Instances).on(s)
}

// limitText is a limit that the request names, or the setting that applies to one that names none.
func limitText(named store.Seconds, usual time.Duration, key string) string {
	if named > 0 {
		return config.DurationText(named.Duration())
	}
	return fmt.Sprintf("%s (%s)", config.DurationText(usual), key)
}

func phasesText(list []phaseSeconds) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = fmt.Sprintf("%s %.1f s", p.Phase, p.Seconds)
		if !p.Over {
			parts[i] += " so far"
		}
	}
	return orNone(strings.Join(parts, ", "))
}

func releasedText(v requestView) string {
	if v.ReleasedAttempt == 0 {
		return ""
	}
	text := fmt.Sprintf("attempt %d, %s", v.ReleasedAttempt, v.Release)
	if v.ReleaseReason != "" {
		text += ", by the controller: " + string(v.ReleaseReason)
	}
	return line(text, maxCell)
}

func clientText(v requestView, now store.Time) string {
	switch {
	case v.ByController:
		return "none: the controller asks, since the run goes on"
	case v.NoWait:
		return "none: it does not wait"
	default:
		return instantText(v.SeenAt, now)
	}
}

// watchLines says what became of the run: whether it is watched, what was done to it, and why not more.
func watchLines(w watchView) string {
	text := watchText(w.State)
	if w.Cancel != "" {
		text += "; cancel " + string(w.Cancel)
	}
	if w.Rerun != "" {
		text += fmt.Sprintf("; re-run of attempt %d %s", w.RerunAttempt, w.Rerun)
	}
	if w.Detail != "" {
		text += "\n" + w.Detail
	}
	if w.Waits != "" {
		text += "\n" + w.waitsText()
	}
	return strings.TrimPrefix(text, "; ")
}

// waitsText returns the text about jobs that no runner takes, or "".
func (w watchView) waitsText() string {
	if w.Waits == "" {
		return ""
	}
	return "no runner takes: " + w.Waits
}
