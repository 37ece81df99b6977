package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

func requestTable(v fleetView) *table {
	t := &table{header: []string{"REQUEST", "ATTEMPT", "PHASE", "READY", "CLASS", "AGE", "REASON"}, shrink: []int{6, 0, 4}}
	for _, r := range v.Requests {
		t.mark(r.failed())
		t.add(string(r.ID), fmt.Sprint(r.Attempt), r.phaseText(), fmt.Sprintf("%d/%d", r.Counts.Ready, r.Count),
			r.ResourceClass, ageText(r.CreatedAt, v.Now), cmp.Or(r.waitsFor(v.Controller, v.Now), r.Watch.waitsText(), r.Reason))
	}
	return t
}

// waitsFor says why the newest attempt is not ready yet, and since when; "" if it waits for nothing that is known.
func (v requestView) waitsFor(controller *controllerView, now store.Time) string {
	waits := v.StatusAttempt != v.Attempt || v.Phase == statemachine.Unseen || v.Phase == statemachine.Pending
	switch {
	case !waits || v.ReleasedAttempt >= v.Attempt:
		return ""
	case controller.vacant() && controller.RenewedAt.IsZero():
		return "no controller ever led"
	case controller.vacant():
		return "no controller leads" + lastedText(now.Sub(controller.RenewedAt.Time))
	case v.Phase != statemachine.Pending || v.Message == "":
		return ""
	case v.ReasonSince.IsZero():
		return v.Message
	}
	return v.Message + lastedText(now.Sub(v.ReasonSince.Time))
}

// phaseText is the phase of the newest attempt, or what it waits for.
func (v requestView) phaseText() string {
	switch {
	case v.over() || v.failed():
		return string(v.Phase)
	case v.ReleasedAttempt >= v.Attempt:
		return "releasing"
	case v.StatusAttempt != v.Attempt || v.Phase == statemachine.Unseen:
		return "waiting"
	default:
		return string(v.Phase)
	}
}

// byUrgency puts first what failed or waits: the rest works.
func byUrgency(a, b requestView) int {
	rank := func(v requestView) int {
		switch {
		case v.failed():
			return 0
		case v.phaseText() == string(statemachine.Ready):
			return 2
		}
		return 1
	}
	return rank(a) - rank(b)
}

// requestCounts counts requests that are not listed by class and phase.
func requestCounts(left []requestView) string {
	counts := map[string]map[string]int{}
	for _, r := range left {
		if counts[r.ResourceClass] == nil {
			counts[r.ResourceClass] = map[string]int{}
		}
		counts[r.ResourceClass][r.phaseText()]++
	}
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		for _, phase := range slices.Sorted(maps.Keys(counts[class])) {
			parts = append(parts, fmt.Sprintf("%d %s %s", counts[class][phase], class, phase))
		}
	}
	return line(fmt.Sprintf("… %d more: %s", len(left), strings.Join(parts, ", ")), maxCell)
}
