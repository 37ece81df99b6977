package sim

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// Two runs may hold one instance one after the other, as far as their clients can tell, and never at once.
func TestLockModel(t *testing.T) {
	a := hold{run: "100", attempt: 1, asked: 0, from: 10, to: 20}
	tests := []struct {
		name, reason string
		holds        []hold
		want         bool
	}{
		{"OneAfterTheOther", "asked back before the other one learnt of it", []hold{a, {run: "200", attempt: 1, asked: 5, from: 30, to: 40}}, true},
		{"SameInstant", "an instant is long enough to pass it on", []hold{a, {run: "200", attempt: 1, asked: 5, from: 20, to: 40}}, true},
		{"AtOnce", "the other one learnt of it before it was asked back", []hold{a, {run: "200", attempt: 1, asked: 5, from: 19, to: 40}}, false},
		{"NeverGivenBack", "nobody asked for it back", []hold{{run: "100", attempt: 1, from: 10, to: never}, {run: "200", attempt: 1, from: 30, to: never}}, false},
		{"NextAttempt", "another attempt is another holder", []hold{{run: "100", attempt: 1, from: 10, to: never}, {run: "100", attempt: 2, from: 30, to: never}}, false},
		{"Back", "the first one may have it again", []hold{a, {run: "200", attempt: 1, from: 25, to: 30}, {run: "100", attempt: 2, asked: 28, from: 35, to: 50}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := porcupine.CheckOperations(lockModel, lockOperations(tt.holds)); got != tt.want {
				t.Errorf("explained = %t, want %t: %s", got, tt.want, tt.reason)
			}
		})
	}
}

// A write without an answer explains what came of it, whenever that was, and explains nothing else.
func TestInstanceModel(t *testing.T) {
	v1, v2, other := register{version: 1, content: 1}, register{version: 2, content: 2}, register{version: 2, content: 3}
	create := &access{from: 0, to: 1, write: true, value: v1, outcome: applied, sent: 1}
	lost := &access{from: 2, to: never, write: true, expect: 1, value: v2, sent: 1}
	v40 := register{version: 1, expires: 40}
	expiring := &access{from: 0, to: 1, write: true, value: v40, outcome: applied, sent: 1}
	read := func(at int64, found register) *access { return &access{from: at, to: at + 1, found: found} }
	tests := []struct {
		name, reason string
		accesses     []*access
		want         bool
	}{
		{"AppliedLate", "seen long after", []*access{create, lost, read(50, v1), read(60, v2)}, true},
		{"NeverApplied", "never seen", []*access{create, lost, read(50, v1), read(60, v1)}, true},
		{"TakenBack", "seen and then not", []*access{create, lost, read(50, v2), read(60, v1)}, false},
		{"NeverWritten", "nobody wrote that", []*access{create, lost, read(50, other)}, false},
		{"NotSent", "what never went out has no effect", []*access{create, {from: 2, to: never, write: true, expect: 1, value: v2}, read(50, v2)}, false},
		{"TwoWinners", "both over the same version", []*access{
			create, {from: 2, to: 4, write: true, expect: 1, value: v2, outcome: applied, sent: 1},
			{from: 3, to: 5, write: true, expect: 1, value: other, outcome: applied, sent: 1},
		}, false},
		{"OneWinner", "the other one was refused and told why", []*access{
			create, {from: 2, to: 4, write: true, expect: 1, value: v2, outcome: applied, sent: 1},
			{from: 3, to: 5, write: true, expect: 1, value: other, outcome: refused, found: v2, sent: 1},
		}, true},
		{"RefusedForNothing", "its condition held", []*access{
			create, {from: 3, to: 5, write: true, expect: 1, value: other, outcome: refused, found: v1, sent: 1},
		}, false},
		{"Expired", "past its expiry it is absent", []*access{
			expiring, read(50, register{}),
		}, true},
		{"ExpiredByALateClock", "it is there for that one a while longer", []*access{expiring, {from: 50, to: 51, found: v40, aside: 11}}, true},
		{"ExpiredByAnEarlyClock", "it is absent a while before", []*access{expiring, {from: 30, to: 31, aside: 9}, {from: 32, to: 33, found: v40}}, true},
		{"OutlivedItsExpiry", "no clock is as late as that", []*access{expiring, {from: 50, to: 51, found: v40, aside: 10}}, false},
		{"Vanished", "it had no expiry", []*access{create, read(50, register{})}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := porcupine.CheckOperations(instanceModel, operations(tt.accesses, 0)); got != tt.want {
				t.Errorf("explained = %t, want %t: %s", got, tt.want, tt.reason)
			}
		})
	}
}

// Where a history is cut, what ended later tells nothing, and a write that ended later may have had an effect.
func TestOperations_CutHistory(t *testing.T) {
	v1, v3 := register{version: 1, content: 1}, register{version: 3, content: 3}
	create := &access{from: 0, to: 1, write: true, value: v1, outcome: applied, sent: 1}
	over := []*access{create, {from: 2, to: 30, found: v3}, {from: 3, to: 30, write: true, expect: 2, value: v3, outcome: applied, sent: 1}}
	if !porcupine.CheckOperations(instanceModel, operations(over, 20)) {
		t.Error("what was forgotten past the cut explains it, and it was refused")
	}
	if porcupine.CheckOperations(instanceModel, operations(over, 0)) {
		t.Error("nothing was forgotten, and it was explained")
	}
}
