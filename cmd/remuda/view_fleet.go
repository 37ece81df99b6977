package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// The types of this file are what `remuda status -o json` prints. Their shapes are documented in
// docs/cli.md and stay as they are; they hold no secret, whatever the records hold.

// fleetView is the fleet at one moment.
type fleetView struct {
	Now        store.Time      `json:"now"`
	Controller *controllerView `json:"controller"` // null: this role may not see it
	Instances  []instanceView  `json:"instances"`
	Requests   []requestView   `json:"requests"`
	Floors     []floorView     `json:"floors,omitempty"` // of classes that have one
	Reuse      timeline.Reuse  `json:"reuse"`            // of the last runs
	Unread     []string        `json:"unreadable"`       // keys of records that cannot be decoded; bound limits their number

	MoreUnread   int `json:"unreadableMore,omitempty"` // number of unreadable records that Unread leaves out
	MoreRequests int `json:"requestsMore,omitempty"`   // number of requests that Requests leaves out

	hidden []requestView // requests that Requests leaves out
	work   bool          // there is something for a controller to do
}

// floorView is how the floor of a class stands.
type floorView struct {
	Class string `json:"resourceClass"`
	store.Floor
}

// instanceView is one instance.
type instanceView struct {
	ID              store.InstanceID   `json:"instanceId"`
	Principal       store.Principal    `json:"principal"`
	State           statemachine.State `json:"state"`
	RunID           store.RequestID    `json:"runId"`
	Attempt         int                `json:"attempt"`
	Threshold       store.Time         `json:"threshold"`
	LeftSeconds     float64            `json:"leftSeconds"` // until the threshold; 0 when terminated
	Assignment      int64              `json:"assignment"`
	Since           store.Time         `json:"since"`
	PooledAt        store.Time         `json:"pooledAt"`
	Release         store.ReleaseMode  `json:"release"`
	ResourceClass   string             `json:"resourceClass"`
	UsageClass      string             `json:"usageClass"`
	InstanceType    string             `json:"instanceType"`
	CPU             int                `json:"cpu"`
	Mem             int                `json:"mem"`
	Zone            string             `json:"zone"`
	LaunchToken     string             `json:"launchToken"`
	TemplateVersion string             `json:"templateVersion"`
	Registration    registrationView   `json:"registration"`
	Reason          string             `json:"reason"`
	Detail          string             `json:"detail"`
	StateReason     string             `json:"stateReason,omitempty"`
	CreatedAt       store.Time         `json:"createdAt"`
	ChangedAt       store.Time         `json:"changedAt"`
	Version         int64              `json:"version"`
	Heartbeat       *heartbeatView     `json:"heartbeat"` // null: none yet
	Signal          *signalView        `json:"signal"`    // null: none yet
}

// registrationView is a registration without its secret.
type registrationView struct {
	Serial     int64                  `json:"serial"`
	Assignment int64                  `json:"assignment"`
	Mode       store.RegistrationMode `json:"mode"`
	Name       string                 `json:"name"`
	RunnerID   int64                  `json:"runnerId"`
	URL        string                 `json:"url"`
	MintedAt   store.Time             `json:"mintedAt"`
}

// heartbeatView is the last heartbeat. Its age compares two clocks when the agent runs elsewhere.
type heartbeatView struct {
	UpdatedAt  store.Time `json:"updatedAt"`
	AgeSeconds float64    `json:"ageSeconds"`
	Healthy    bool       `json:"healthy"` // no older than three periods
	store.Beat
}

// signalView is the last signal.
type signalView struct {
	UpdatedAt store.Time `json:"updatedAt"`
	store.SignalValue
}

func newInstanceView(in store.Instance, v store.Vitals, now time.Time, limits statemachine.Limits) instanceView {
	out := instanceView{
		ID: in.ID, Principal: in.Principal, State: in.State, RunID: in.RunID, Attempt: in.Attempt,
		Threshold: in.Threshold, Assignment: in.Assignment, Since: in.Since, PooledAt: in.PooledAt, Release: in.Release,
		ResourceClass: in.ResourceClass, UsageClass: in.UsageClass, InstanceType: in.InstanceType,
		CPU: in.CPU, Mem: in.Mem, Zone: in.Zone, LaunchToken: in.LaunchToken, TemplateVersion: in.TemplateVersion,
		Registration: registrationView{
			Serial: in.Registration.Serial, Assignment: in.Registration.Assignment, Mode: in.Registration.Mode,
			Name: in.Registration.Name, RunnerID: in.Registration.RunnerID, URL: in.Registration.URL, MintedAt: in.Registration.MintedAt,
		},
		Reason: in.Reason, Detail: in.Detail, StateReason: in.StateReason, CreatedAt: in.CreatedAt, ChangedAt: in.ChangedAt, Version: in.Version,
	}
	if !in.Threshold.IsZero() {
		out.LeftSeconds = in.Threshold.Sub(now).Seconds()
	}
	if hb := v.Heartbeat; !hb.UpdatedAt.IsZero() {
		age := max(0, now.Sub(hb.UpdatedAt.Time))
		out.Heartbeat = &heartbeatView{UpdatedAt: hb.UpdatedAt, AgeSeconds: age.Seconds(), Healthy: age <= hb.Beat.Window(in.Limits.Over(limits)), Beat: hb.Beat}
	}
	if s := v.Signal; !s.UpdatedAt.IsZero() {
		out.Signal = &signalView{UpdatedAt: s.UpdatedAt, SignalValue: s.Value}
	}
	return out
}

// silent reports whether its heartbeat is too old to be healthy, though it should live.
func (v instanceView) silent() bool {
	return v.Heartbeat != nil && !v.Heartbeat.Healthy && v.State != statemachine.Terminated
}

// left is the time until the threshold.
func (v instanceView) left() time.Duration {
	return time.Duration(v.LeftSeconds * float64(time.Second))
}

// readFleet reads everything once.
func readFleet(ctx context.Context, st *store.Store, now time.Time, limits statemachine.Limits) (fleetView, error) {
	view := fleetView{Now: store.At(now), Instances: []instanceView{}, Requests: []requestView{}, Unread: []string{}}
	var found store.Found
	records := found.Visitor()
	records.Launch, records.Drain = nil, nil // not shown, so neither is what is wrong with them
	if err := st.Scan(ctx, records); err != nil {
		return view, err
	}
	for key := range found.Bad {
		view.Unread = append(view.Unread, key.String())
	}
	view.MoreUnread = found.MoreBad
	for _, f := range found.Floors {
		if f.ExpiresAt.IsZero() { // else it is no longer configured
			view.Floors = append(view.Floors, floorView{f.Class, f})
		}
	}
	var all []store.Instance
	for _, in := range found.Instances {
		all = append(all, in)
		view.Instances = append(view.Instances, newInstanceView(in, found.Vitals[in.Principal], now, limits))
		view.work = view.work || !in.Gone()
	}
	for id, records := range found.Runs {
		if records.Request != nil || records.Status != nil {
			view.Requests = append(view.Requests, newRequestView(id, records, now))
			view.work = view.work || !records.Settled()
		}
	}
	view.Reuse = timeline.ReuseOf(all)
	view.sort()
	return view, nil
}

// sort orders instances by state and id, and requests by the time they came: reading the store
// gives no order.
func (v *fleetView) sort() {
	order := statemachine.States()
	slices.SortFunc(v.Instances, func(a, b instanceView) int {
		return cmp.Or(slices.Index(order, a.State)-slices.Index(order, b.State), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(v.Requests, func(a, b requestView) int {
		return cmp.Or(a.CreatedAt.Time.Compare(b.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(v.Floors, func(a, b floorView) int { return cmp.Compare(a.Class, b.Class) })
	slices.Sort(v.Unread)
}

// Bounds of the fleet's list. A workflow can write any number of requests and unreadable records.
const (
	maxUnread   = 20
	maxFailed   = 100 // requests
	maxOfRun    = 100 // requests of one run
	maxPatterns = 20  // of a request
)

// bound applies the bounds of the list and counts the records that it leaves out.
func (v *fleetView) bound() {
	n := min(maxUnread, len(v.Unread))
	v.Unread, v.MoreUnread = v.Unread[:n], v.MoreUnread+len(v.Unread)-n
	failed, ofRun, shown := 0, map[string]int{}, v.Requests[:0]
	for _, r := range v.Requests {
		run, _, _ := strings.Cut(string(r.ID), "-")
		if ofRun[run]++; r.failed() {
			failed++
		}
		if ofRun[run] > maxOfRun || r.failed() && failed > maxFailed {
			v.hidden = append(v.hidden, r)
			continue
		}
		if more := len(r.AllowedInstanceTypes) - maxPatterns; more > 0 {
			r.AllowedInstanceTypes = append(r.AllowedInstanceTypes[:maxPatterns:maxPatterns], fmt.Sprintf("… %d more", more))
		}
		shown = append(shown, r)
	}
	v.Requests, v.MoreRequests = shown, len(v.hidden)
}

// hideOver leaves out terminated instances and requests that are over.
func (v *fleetView) hideOver() {
	v.Instances = slices.DeleteFunc(v.Instances, func(in instanceView) bool { return in.State == statemachine.Terminated })
	v.Requests = slices.DeleteFunc(v.Requests, requestView.over)
}

// instance returns the view of one instance.
func (v *fleetView) instance(id string) (instanceView, error) {
	i := slices.IndexFunc(v.Instances, func(in instanceView) bool { return string(in.ID) == id })
	if i < 0 {
		return instanceView{}, notFound("instance %s: not found", id)
	}
	return v.Instances[i], nil
}
