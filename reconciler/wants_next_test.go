package reconciler

import (
	"testing"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Who asked for the next registration waits for us: its gate is held until that is in the record, even if
// GitHub kept it from the last one for longer than a gate (H53). From then on it counts again.
func TestFacts_GateHeld_WhileTheNextRegistrationIsAwaited_H53(t *testing.T) {
	since := dawn
	limits := statemachine.DefaultLimits()
	late := since.Add(limits.ClaimGate)
	for _, tt := range []struct {
		name   string
		signal store.SignalValue
		ended  bool
	}{
		{"Asked", store.SignalValue{Signal: store.RegNext, RunID: "100", Assignment: 2, Serial: 3}, false},
		{"Served", store.SignalValue{Signal: store.RegNext, RunID: "100", Assignment: 2, Serial: 2}, true},
		{"OfAnotherAssignment", store.SignalValue{Signal: store.RegNext, RunID: "100", Assignment: 1, Serial: 3}, true},
		{"Silent", store.SignalValue{}, true},
	} {
		s := snapshot{
			Instance: store.Instance{
				State: statemachine.Claimed, RunID: "100", Assignment: 2, Since: store.At(since), Threshold: store.At(since.Add(limits.Claimed)),
				Registration: store.Registration{Serial: 3, Assignment: 2, MintedAt: store.At(since)},
			},
			vitals: vitals{signal: store.Signal{Value: tt.signal}, readAt: late, changed: late},
		}
		d := statemachine.Decide(s.facts(limits, since, false, false, false), late)
		if ended := d.Event == statemachine.Rejected; ended != tt.ended {
			t.Errorf("%s: decision at the gate = %+v, want it ended: %v", tt.name, d, tt.ended)
		}
	}
}
