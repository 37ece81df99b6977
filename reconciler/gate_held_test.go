package reconciler

import (
	"testing"
	"time"

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
			known: known{vitals: vitals{signal: store.Signal{Value: tt.signal}, readAt: late, changed: late}},
		}
		d := statemachine.Decide(factsOf(s, limits, since, false, false, false), late)
		if ended := d.Event == statemachine.Rejected; ended != tt.ended {
			t.Errorf("%s: decision at the gate = %+v, want it ended: %v", tt.name, d, tt.ended)
		}
	}
}

// An agent that asks for another registration, since the answer to the last one was lost, does not say why: a request
// that fails meanwhile does, until a listener was online, and for no other assignment (S33, H53).
func TestWaitsForGitHub_WhileAnotherRegistrationIsAwaited_H53(t *testing.T) {
	lost := saying(store.RegFailed, store.CauseUnavailable)
	lost.Detail = "no answer"
	earlier := lost
	earlier.Assignment = 1
	own := saying(store.RegFailed, store.CauseMachine)
	for _, tt := range []struct {
		name string
		said []store.SignalValue
		want string
	}{
		{"Failed", []store.SignalValue{lost}, "github unavailable: no answer"},
		{"Asked", []store.SignalValue{lost, saying(store.RegNext, "")}, "github unavailable: no answer"},
		{"OnlineBetween", []store.SignalValue{lost, saying(store.RegOK, ""), saying(store.RegNext, "")}, ""},
		{"Online", []store.SignalValue{lost, saying(store.RegOK, "")}, ""},
		{"OfAnotherAssignment", []store.SignalValue{earlier, saying(store.RegNext, "")}, ""},
		{"ItsOwnFault", []store.SignalValue{own, saying(store.RegNext, "")}, ""},
	} {
		s := claimedBy("100", store.SignalValue{})
		for i, v := range tt.said {
			s.vitals.observe(store.Vitals{Signal: store.Signal{Value: v}}, dawn.Add(time.Duration(i)*time.Second), statemachine.DefaultLimits(), &s.Instance)
		}
		if got := waitsForGitHub(s); got != tt.want {
			t.Errorf("%s: waitsForGitHub() = %q, want %q", tt.name, got, tt.want)
		}
	}
}
