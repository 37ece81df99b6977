package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// requestView is one request with the controller's answer to its newest attempt.
type requestView struct {
	ID                   store.RequestID     `json:"requestId"`
	Attempt              int                 `json:"attempt"`
	Count                int                 `json:"count"`
	UsageClasses         []string            `json:"usageClass"`
	AllowedInstanceTypes []string            `json:"allowedInstanceTypes"`
	ResourceClass        string              `json:"resourceClass"`
	MaxRuntimeSeconds    store.Seconds       `json:"maxRuntimeSeconds"`
	TimeoutSeconds       store.Seconds       `json:"timeoutSeconds"`
	ReleasedAttempt      int                 `json:"releasedAttempt"`
	Release              store.ReleaseMode   `json:"release"`
	ReleaseReason        store.ReleaseReason `json:"releaseReason"` // "": a client gave it back
	Repository           string              `json:"repository"`    // owner/name of its run at GitHub
	WorkflowRun          int64               `json:"workflowRun"`
	WorkflowAttempt      int                 `json:"workflowAttempt"`
	NoWait               bool                `json:"noWait"`
	ByController         bool                `json:"byController"` // no client asked: the run goes on
	CreatedAt            store.Time          `json:"createdAt"`
	SeenAt               store.Time          `json:"seenAt"` // of a waiting client
	StatusAttempt        int                 `json:"statusAttempt"`
	Phase                statemachine.Phase  `json:"phase"` // "": no controller has taken it up
	Deadline             store.Time          `json:"deadline"`
	Reason               string              `json:"reason"`
	Message              string              `json:"message"`
	ReasonSince          store.Time          `json:"reasonSince"` // since when a pending one waits for that
	Counts               store.Counts        `json:"counts"`
	Instances            []store.Seat        `json:"instances"`
	PendingAt            store.Time          `json:"pendingAt"`
	ReadyAt              store.Time          `json:"readyAt"`
	FailedAt             store.Time          `json:"failedAt"`
	ReleasedAt           store.Time          `json:"releasedAt"`
	PhaseSeconds         []phaseSeconds      `json:"phaseSeconds"`
	Watch                watchView           `json:"watch"`
	Spent                spentView           `json:"spent"`                // by its machines, once it is over
	Controller           *controllerView     `json:"controller,omitempty"` // of one request alone
	run                  string              // for people; "" if it names none
	settled              bool                // no controller has anything left to do for it
}

// watchView is store.Watch, with every key.
type watchView struct {
	State        store.WatchState `json:"state"`
	Cancel       store.Doing      `json:"cancel"`
	Rerun        store.Doing      `json:"rerun"`
	RerunAttempt int              `json:"rerunAttempt"`
	Detail       string           `json:"detail"`
	Waits        string           `json:"waits"` // queued jobs that no runner takes
	WaitsSince   store.Time       `json:"waitsSince"`
}

// phaseSeconds says how long a phase lasted, or has lasted so far.
type phaseSeconds struct {
	Phase   statemachine.Phase `json:"phase"`
	Seconds float64            `json:"seconds"`
	Over    bool               `json:"over"`
}

func newRequestView(id store.RequestID, records store.RunRecords, now time.Time) requestView {
	v := requestView{ID: id, settled: records.Settled(), UsageClasses: []string{}, AllowedInstanceTypes: []string{}, Instances: []store.Seat{}, PhaseSeconds: []phaseSeconds{}}
	if r := records.Request; r != nil {
		v.Attempt, v.Count, v.ResourceClass = r.Attempt, r.Count, r.ResourceClass
		v.UsageClasses = append(v.UsageClasses, r.UsageClasses...)
		v.AllowedInstanceTypes = append(v.AllowedInstanceTypes, r.AllowedInstanceTypes...)
		v.MaxRuntimeSeconds, v.TimeoutSeconds = r.MaxRuntime, r.Timeout
		v.ReleasedAttempt, v.Release, v.ReleaseReason, v.CreatedAt = r.ReleasedAttempt, r.Release, r.ReleaseReason, r.CreatedAt
		v.Repository, v.WorkflowRun, v.WorkflowAttempt = r.Repository, r.WorkflowRun, r.WorkflowAttempt
		v.NoWait, v.ByController = r.NoWait, r.ByController()
		if w, named := r.Workflow(); named {
			v.run = fmt.Sprintf("%d attempt %d of %s", w.Run, w.Attempt, w.Repository)
		}
	}
	if c := records.Client; c != nil {
		v.SeenAt = c.SeenAt
	}
	if s := records.Status; s != nil {
		v.StatusAttempt, v.Phase, v.Deadline, v.Reason, v.Message = s.Attempt, s.Phase, s.Deadline, s.Reason, s.Message
		v.ReasonSince = s.ReasonSince
		v.Counts, v.Instances = s.Counts, append(v.Instances, s.Instances...)
		v.PendingAt, v.ReadyAt, v.FailedAt, v.ReleasedAt = s.PendingAt, s.ReadyAt, s.FailedAt, s.ReleasedAt
		v.PhaseSeconds, v.Watch, v.Spent = phases(*s, now), watchView(s.Watch), newSpentView(s.Spent)
	}
	return v
}

// phases lists the phases that s went through. Released lasts for ever and is not among them.
func phases(s store.RunStatus, now time.Time) []phaseSeconds {
	entered := []struct {
		phase statemachine.Phase
		at    store.Time
	}{
		{statemachine.Pending, s.PendingAt}, {statemachine.Ready, s.ReadyAt},
		{statemachine.Failed, s.FailedAt}, {statemachine.PhaseReleased, s.ReleasedAt},
	}
	out := []phaseSeconds{}
	end, over := now, false
	for _, e := range slices.Backward(entered) {
		if e.at.IsZero() {
			continue
		}
		if e.phase != statemachine.PhaseReleased {
			out = append(out, phaseSeconds{e.phase, max(0, end.Sub(e.at.Time)).Seconds(), over})
		}
		end, over = e.at.Time, true
	}
	slices.Reverse(out)
	return out
}

// over reports whether the newest attempt is released.
func (v requestView) over() bool {
	return v.StatusAttempt == v.Attempt && v.Phase == statemachine.PhaseReleased
}

// failed reports whether the newest attempt has failed and was not released.
func (v requestView) failed() bool {
	return v.StatusAttempt == v.Attempt && v.Phase == statemachine.Failed
}

// readRequest reads one request.
func readRequest(ctx context.Context, st *store.Store, id string, now time.Time) (requestView, error) {
	records, err := st.Run(ctx, store.Consistent, store.RequestID(id))
	if err != nil {
		return requestView{}, err
	}
	if records.Request == nil && records.Status == nil {
		return requestView{}, notFound("request %s: not found", id)
	}
	return newRequestView(store.RequestID(id), records, now), nil
}
