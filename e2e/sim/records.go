package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// records are what the table holds, as it was last written, and what agents have ever reported. Their lock guards all that the
// laws know: a write is judged as one with its taking effect.
type records struct {
	mu        sync.Mutex
	instances map[store.InstanceID]store.Instance
	status    map[store.RequestID]store.RunStatus
	requests  map[store.RequestID]map[int]asked // by attempt
	launches  map[string]store.Launch
	lease     store.Lease
	signals   map[store.Principal]map[store.SignalValue]bool // ever reported, without serial and detail
	last      map[store.Principal]store.SignalValue          // reported, without serial and detail
	lastAt    map[store.Principal]time.Time
	listening map[store.Principal]int64 // serial that the last heartbeat names
	beats     map[store.Principal]store.Heartbeat
}

// asked is one attempt of a request, and when it was asked for. What the controller asked for may grow, and a client may
// take it over.
type asked struct {
	store.RunRequest

	at    time.Time // when it was asked for by who asks for it now
	first time.Time // when it was first asked for
	grown time.Time // when it was last asked for more
	most  int       // of all counts
}

// said is the attempt by which a client names one: the run's if it names its run, its own otherwise.
func (a asked) said(own int) int {
	if named, ok := a.Workflow(); ok {
		return named.Attempt
	}
	return own
}

// ask notes a write of a request.
func (r *records) ask(id store.RequestID, now store.RunRequest, at time.Time) {
	was, known := r.requests[id][now.Attempt]
	a := asked{now, at, at, at, now.Count}
	if known {
		a.first, a.most = was.first, max(was.most, now.Count)
		if was.ByController() == now.ByController() {
			a.at = was.at
		}
		if now.Count <= was.Count {
			a.grown = later(a.at, was.grown)
		}
	}
	in(r.requests, id)[now.Attempt] = a
}

func newRecords() *records {
	return &records{
		instances: map[store.InstanceID]store.Instance{}, status: map[store.RequestID]store.RunStatus{},
		requests: map[store.RequestID]map[int]asked{}, launches: map[string]store.Launch{},
		signals: map[store.Principal]map[store.SignalValue]bool{}, last: map[store.Principal]store.SignalValue{}, lastAt: map[store.Principal]time.Time{},
		listening: map[store.Principal]int64{}, beats: map[store.Principal]store.Heartbeat{},
	}
}

// latest returns the newest attempt of a request.
func (r *records) latest(id store.RequestID) asked {
	var newest asked
	for _, a := range r.requests[id] {
		if a.Attempt > newest.Attempt {
			newest = a
		}
	}
	return newest
}

// served reports whether a request holds anything or anything was launched for it.
func (r *records) served(id store.RequestID) bool {
	for _, in := range r.instances {
		if in.RunID == id {
			return true
		}
	}
	for _, l := range r.launches {
		if slices.ContainsFunc(l.Seats, func(s store.LaunchSeat) bool { return s.RequestID == id }) {
			return true
		}
	}
	return false
}

// hasReported reports whether the machine of in ever reported name for its present assignment.
func (r *records) hasReported(in store.Instance, name store.SignalName) bool {
	return r.signals[in.Principal][store.SignalValue{Signal: name, RunID: in.RunID, Assignment: in.Assignment}]
}

// listened reports whether the machine of in listened ahead under its present registration in its last heartbeat.
func (r *records) listened(in store.Instance) bool {
	return in.Ahead() && r.listening[in.Principal] == in.Registration.Serial
}

// claim is a signal without what the laws do not ask for.
func claim(v store.SignalValue) store.SignalValue {
	return store.SignalValue{Signal: v.Signal, RunID: v.RunID, Assignment: v.Assignment}
}

// state returns the state of an instance.
func (r *records) state(id store.InstanceID) statemachine.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.instances[id].State
}

// leader names the process that holds the lease.
func (r *records) leader() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lease.Holder
}

// describe says what a write is about, for its site.
func (r *records) describe(item store.Item) string {
	kind := strings.TrimPrefix(item.Key.Sort, "TYPE#")
	r.mu.Lock()
	defer r.mu.Unlock()
	switch item.Key.Sort {
	case store.KindInstance:
		var in store.Instance
		if json.Unmarshal(item.Attributes, &in) == nil {
			return kind + ":" + r.change(r.instances[in.ID], in, item.ExpiresAt)
		}
	case store.KindRunStatus:
		var st store.RunStatus
		id, _ := item.Key.RequestID()
		if json.Unmarshal(item.Attributes, &st) == nil {
			return fmt.Sprintf("%s:%s>%s", kind, r.status[id].Phase, st.Phase)
		}
	case store.KindSignal:
		var s store.Signal
		if json.Unmarshal(item.Attributes, &s) == nil {
			return kind + ":" + string(s.Value.Signal)
		}
	case store.KindLease:
		var l store.Lease
		switch err := json.Unmarshal(item.Attributes, &l); {
		case err == nil && l.Holder == "":
			return kind + ":given-up"
		case err == nil && l.Term == r.lease.Term:
			return kind + ":renewed"
		}
	case store.KindLaunch:
		var l store.Launch
		if json.Unmarshal(item.Attributes, &l) == nil && l.Done {
			return kind + ":done"
		}
	}
	return kind
}

// change names what a write does to an instance.
func (r *records) change(was, in store.Instance, expiresAt time.Time) string {
	switch {
	case was.State != in.State:
		return string(was.State) + ">" + string(in.State)
	case was.Registration.Serial != in.Registration.Serial:
		return string(in.State) + "+registration"
	case was.PooledAt.IsZero() && !in.PooledAt.IsZero():
		return string(in.State) + "+pooled"
	case was.ExpiresAt.IsZero() && !expiresAt.IsZero():
		return string(in.State) + "+retired"
	}
	return string(in.State)
}
