package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/store"
)

// waterfall is the phases of one seat, drawn one after the other.
type waterfall struct {
	Seat    store.InstanceID // "" while there is none
	Bars    []bar
	Longest timeline.Phase
	Whole   time.Duration
}

// bar is one phase; X and Width are thousandths of the whole.
type bar struct {
	timeline.Phase
	X, Width int
}

// Looks are classes of the style sheet.
func (b bar) Looks() string {
	name, _, _ := strings.Cut(string(b.Name), "+") // of phases that are one: the first
	return "p-" + name + " " + string(b.Outcome)
}

// Text names the phase, and how long it took.
func (b bar) Text() string { return string(b.Name) + " " + timeline.Took(b.Duration()) }

// draw gives each phase its share; none is nil.
func draw(seat store.InstanceID, phases []timeline.Phase) *waterfall {
	if len(phases) == 0 {
		return nil
	}
	from := phases[0].From.Time
	whole := phases[len(phases)-1].To.Sub(from)
	w := &waterfall{Seat: seat, Whole: whole}
	thousandths := func(d time.Duration) int { return int(1000 * d / max(whole, 1)) }
	for _, p := range phases {
		x := thousandths(p.From.Sub(from))
		w.Bars = append(w.Bars, bar{p, x, max(thousandths(p.To.Sub(from))-x, 4)}) // as wide as can be seen
		if p.Duration() > w.Longest.Duration() || w.Longest.Name == "" {
			w.Longest = p
		}
	}
	return w
}

// waterfall draws the seat that decides when a request is ready: the one that was ready last, or is furthest behind.
func (m *model) waterfall(r request) *waterfall {
	st := r.Status
	if st == nil || st.Attempt != r.Attempt {
		return nil
	}
	var slowest *store.Instance
	if r.State == waits {
		for _, in := range m.held[r.ID] {
			if in.Attempt == r.Attempt && (slowest == nil || in.Since.After(slowest.Since.Time)) {
				slowest = in
			}
		}
	} else if len(st.Instances) > 0 {
		last := slices.MaxFunc(st.Instances, func(a, b store.Seat) int { return cmp.Compare(a.Seconds, b.Seconds) }).InstanceID
		for _, e := range st.History.Entries(st.PendingAt) {
			if e.Code == store.CodePhases {
				id, _, _ := strings.Cut(e.Detail, " ")
				last = store.InstanceID(id)
			}
		}
		slowest = m.instances[last]
	}
	if slowest != nil {
		if w := draw(slowest.ID, timeline.Phases(*st, m.reported(slowest), m.Now)); w != nil {
			return w
		}
	}
	if r.State != waits {
		return nil
	}
	return draw("", []timeline.Phase{{Name: timeline.Accepted, From: st.PendingAt, To: store.At(m.Now), Outcome: timeline.Open}})
}

// maxStarts is how many starts a page draws: the one that decided, and those with the longest phases.
const maxStarts = 20

// start is how one machine came to one request.
type start struct {
	timeline.Start
	Drawn    *waterfall
	Decisive bool // it was ready last
}

// starts draws those of a timeline: of a machine in their order.
func starts(t timeline.Timeline) list[start] {
	var all []start
	for _, s := range t.Starts {
		if w := draw(s.InstanceID, s.Phases); w != nil {
			all = append(all, start{s, w, t.Kind == timeline.KindRequest && s.InstanceID == t.Decisive})
		}
	}
	if t.Kind == timeline.KindRequest {
		slices.SortStableFunc(all, func(a, b start) int {
			return cmp.Or(trueFirst(a.Decisive, b.Decisive), cmp.Compare(b.Drawn.Longest.Duration(), a.Drawn.Longest.Duration()))
		})
	}
	return first(all, maxStarts)
}
