package statemachine_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
)

type phasePair struct {
	From statemachine.Phase
	On   statemachine.RequestEvent
}

// requestDesign is the request table, typed a second time and by hand:
// Pending → Ready | Failed, and Pending, Ready, Failed → Released.
var requestDesign = map[phasePair]statemachine.Phase{
	{"", "accepted"}:         "Pending",
	{"Pending", "observed"}:  "Pending",
	{"Pending", "fulfilled"}: "Ready",
	{"Pending", "failed"}:    "Failed",
	{"Ready", "observed"}:    "Ready",
	{"Pending", "finished"}:  "Released",
	{"Ready", "finished"}:    "Released",
	{"Failed", "finished"}:   "Released",
}

func TestNextPhase_EveryPhaseTimesEvent(t *testing.T) {
	for _, from := range append([]statemachine.Phase{statemachine.Unseen}, statemachine.Phases()...) {
		for _, on := range statemachine.RequestEvents() {
			got, err := statemachine.NextPhase(from, on)
			if to, ok := requestDesign[phasePair{from, on}]; ok {
				if got != to || err != nil {
					t.Errorf("NextPhase(%q, %q) = %q, %v, want %q, nil", from, on, got, err, to)
				}
				continue
			}
			if got != statemachine.Unseen || !errors.Is(err, statemachine.ErrNoRule) {
				t.Errorf("NextPhase(%q, %q) = %q, %v, want none and ErrNoRule", from, on, got, err)
			}
		}
	}
}

func TestRequestRules_EqualTheDesign(t *testing.T) {
	got := map[phasePair]statemachine.Phase{}
	for _, r := range statemachine.RequestRules() {
		got[phasePair{r.From, r.On}] = r.To
		if r.Why == "" {
			t.Errorf("RequestRules() row %q on %q has no reason", r.From, r.On)
		}
	}
	if len(got) != len(statemachine.RequestRules()) {
		t.Errorf("RequestRules() has %d rows for %d pairs", len(statemachine.RequestRules()), len(got))
	}
	if diff := cmp.Diff(requestDesign, got); diff != "" {
		t.Errorf("RequestRules() differ from requestDesign (-want +got):\n%s", diff)
	}
}

// After Ready a request never fails, and nothing leaves Released but a new attempt.
func TestRequestRules_ReadyNeverFails_ReleasedIsTheEnd(t *testing.T) {
	reached := map[statemachine.Phase]bool{statemachine.Unseen: true}
	for range statemachine.RequestRules() {
		for _, r := range statemachine.RequestRules() {
			if reached[r.From] {
				reached[r.To] = true
			}
		}
	}
	for _, p := range statemachine.Phases() {
		if !reached[p] {
			t.Errorf("phase %q cannot be reached", p)
		}
	}
	for _, r := range statemachine.RequestRules() {
		if r.From == statemachine.PhaseReleased || r.From == statemachine.Ready && r.To == statemachine.Failed {
			t.Errorf("rule %q leads from %q to %q", r.On, r.From, r.To)
		}
	}
}
