package main

import (
	"fmt"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// runResult is what `remuda request -o json` prints. Its shape is documented in docs/cli.md.
type runResult struct {
	Label      string             `json:"label"`
	RequestID  store.RequestID    `json:"requestId"`
	Attempt    int                `json:"attempt"`
	Phase      statemachine.Phase `json:"phase"`
	Instances  []store.Seat       `json:"instances"`
	ReadyCount int                `json:"readyCount"`
	WarmCount  int                `json:"warmCount"`
	Seconds    float64            `json:"seconds"` // from Pending to Ready, on the controller's clock
}

func newRunResult(st store.RunStatus) runResult {
	r := runResult{
		Label: string(st.ID), RequestID: st.ID, Attempt: st.Attempt, Phase: st.Phase,
		Instances: append([]store.Seat{}, st.Instances...), ReadyCount: len(st.Instances),
	}
	if !st.ReadyAt.IsZero() {
		r.Seconds = st.ReadyAt.Sub(st.PendingAt.Time).Seconds()
	}
	for _, seat := range st.Instances {
		if seat.Warm {
			r.WarmCount++
		}
	}
	return r
}

// renderReady writes the answer to a request for people.
func renderReady(r runResult) string {
	return fmt.Sprintf("label %s: %d ready (%d warm, %d cold) after %.1f s\n%s",
		r.Label, r.ReadyCount, r.WarmCount, r.ReadyCount-r.WarmCount, r.Seconds, seatTable(r.Instances).String(0))
}

// seatTable lists the instances a request was given.
func seatTable(seats []store.Seat) *table {
	t := &table{header: []string{"INSTANCE", "TYPE", "USAGE", "START", "SECONDS"}, shrink: []int{0, 1}}
	for _, seat := range seats {
		start := "cold"
		if seat.Warm {
			start = "warm"
		}
		t.add(string(seat.InstanceID), seat.InstanceType, seat.UsageClass, start, fmt.Sprintf("%.1f", seat.Seconds))
	}
	return t
}
