package page

import (
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/store"
)

// view is what one page shows of a model.
type view struct {
	*model
	Kind    kind
	ID      string
	Run     *request // of a page of a run; nil if there is no such request
	Machine *machine // of a page of an instance; nil if there is no such instance
	Held    []machine
	Told    timeline.Timeline // of either
	Starts  list[start]
	Events  list[timeline.Event] // the newest
}

func (l *look) view(s subject) view {
	v := view{model: l.model, Kind: s.kind, ID: s.id}
	switch s.kind {
	case overview:
	case aRun:
		if records := l.Runs[store.RequestID(s.id)]; records.Request != nil || records.Status != nil {
			r := newRequest(store.RequestID(s.id), records)
			v.Run = &r
			v.tell(timeline.Request(r.ID, records, l.served(r.ID), l.vacancy, l.Now))
			for _, in := range l.held[r.ID] {
				v.Held = append(v.Held, l.machine(in))
			}
		}
	case anInstance:
		if in := l.instances[store.InstanceID(s.id)]; in != nil {
			one := l.machine(in)
			v.Machine = &one
			v.tell(timeline.Instance(l.reported(in), l.Now))
		}
	}
	return v
}

// maxEvents is how many events a page lists; a history alone has at most store.MaxHistory.
const maxEvents = 200

func (v *view) tell(t timeline.Timeline) {
	v.Told, v.Starts = t, starts(t)
	slices.Reverse(t.Events)
	v.Events = first(t.Events, maxEvents)
}

// served returns copies of the instances that a request has or had. Most histories are not read for that: one names the
// request where it was launched or claimed for it.
func (m *model) served(id store.RequestID) []store.Instance {
	var out []store.Instance
	name := " " + store.Head(string(id), 60)
	for i := range m.Instances {
		if in := &m.Instances[i]; in.RunID == id || strings.Contains(string(in.History), name) {
			out = append(out, m.reported(in))
		}
	}
	return out
}

// reported is an instance with what its agent says by now.
func (m *model) reported(in *store.Instance) store.Instance {
	return timeline.Reported(*in, m.Vitals[in.Principal])
}

// found reports whether there is what the page is about.
func (v view) found() bool {
	return v.Kind == overview || v.Kind == aRun && v.Run != nil || v.Kind == anInstance && v.Machine != nil
}

// asOf is when what is shown was so.
func (v view) asOf() time.Time {
	if v.Known() {
		return v.readAt
	}
	return v.Now
}

// Beat is the last heartbeat of the view's machine.
func (v view) Beat() store.Heartbeat { return v.Vitals[v.Machine.Principal].Heartbeat }

// Signal is its last signal.
func (v view) Signal() store.Signal { return v.Vitals[v.Machine.Principal].Signal }
