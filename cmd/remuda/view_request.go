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
	ID                   store.RequestID    `json:"requestId"`
	Attempt              int                `json:"attempt"`
	Count                int                `json:"count"`
	UsageClasses         []string           `json:"usageClass"`
	AllowedInstanceTypes []string           `json:"allowedInstanceTypes"`
	ResourceClass        string             `json:"resourceClass"`
	MaxRuntimeSeconds    store.Seconds      `json:"maxRuntimeSeconds"`
	TimeoutSeconds       store.Seconds      `json:"timeoutSeconds"`
	ReleasedAttempt      int                `json:"releasedAttempt"`
	Release              store.ReleaseMode  `json:"release"`
	CreatedAt            store.Time         `json:"createdAt"`
	SeenAt               store.Time         `json:"seenAt"` // of a waiting client
	StatusAttempt        int                `json:"statusAttempt"`
	Phase                statemachine.Phase `json:"phase"` // "": no controller has taken it up
	Deadline             store.Time         `json:"deadline"`
	Reason               string             `json:"reason"`
	Message              string             `json:"message"`
	Counts               store.Counts       `json:"counts"`
	Instances            []store.Seat       `json:"instances"`
	PendingAt            store.Time         `json:"pendingAt"`
	ReadyAt              store.Time         `json:"readyAt"`
	FailedAt             store.Time         `json:"failedAt"`
	ReleasedAt           store.Time         `json:"releasedAt"`
	PhaseSeconds         []phaseSeconds     `json:"phaseSeconds"`
}

// phaseSeconds says how long a phase lasted, or has lasted so far.
type phaseSeconds struct {
	Phase   statemachine.Phase `json:"phase"`
	Seconds float64            `json:"seconds"`
	Over    bool               `json:"over"`
}

func newRequestView(id store.RequestID, records store.RunRecords, now time.Time) requestView {
	v := requestView{ID: id, UsageClasses: []string{}, AllowedInstanceTypes: []string{}, Instances: []store.Seat{}, PhaseSeconds: []phaseSeconds{}}
	if r := records.Request; r != nil {
		v.Attempt, v.Count, v.ResourceClass = r.Attempt, r.Count, r.ResourceClass
		v.UsageClasses = append(v.UsageClasses, r.UsageClasses...)
		v.AllowedInstanceTypes = append(v.AllowedInstanceTypes, r.AllowedInstanceTypes...)
		v.MaxRuntimeSeconds, v.TimeoutSeconds = r.MaxRuntime, r.Timeout
		v.ReleasedAttempt, v.Release, v.CreatedAt = r.ReleasedAttempt, r.Release, r.CreatedAt
	}
	if c := records.Client; c != nil {
		v.SeenAt = c.SeenAt
	}
	if s := records.Status; s != nil {
		v.StatusAttempt, v.Phase, v.Deadline, v.Reason, v.Message = s.Attempt, s.Phase, s.Deadline, s.Reason, s.Message
		v.Counts, v.Instances = s.Counts, append(v.Instances, s.Instances...)
		v.PendingAt, v.ReadyAt, v.FailedAt, v.ReleasedAt = s.PendingAt, s.ReadyAt, s.FailedAt, s.ReleasedAt
		v.PhaseSeconds = phases(*s, now)
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
		return requestView{}, fmt.Errorf("request %s: %w", id, store.ErrNotFound)
	}
	return newRequestView(store.RequestID(id), records, now), nil
}
