// Package fleettest checks that a back end keeps the contract of package fleet, and holds Memory, a
// fleet for the tests of those who use one.
//
// The suite is written for the weakest back end: what was just launched may not be listed yet and
// ending takes its time, so it looks again until Subject.Settle has passed.
package fleettest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
)

// Subject is a fleet under test, without machines, and what the suite needs beside the contract. It
// must offer at least c6i.large and m5.large for both usage classes, and no type with 3 vCPUs.
type Subject struct {
	Fleet fleet.Fleet
	// Again returns another handle on the same machines, such as another process would have.
	Again func(t *testing.T) fleet.Fleet
	// Limit makes the fleet refuse whatever would let more than n machines live at once.
	Limit func(n int)
	// Foreign starts a machine beside the fleet that does not carry its mark.
	Foreign func(t *testing.T) (id string, alive func() bool)
	// Settle is the time within which List shows new machines and terminated ones end.
	Settle time.Duration
}

// Factory returns a new subject and registers its clean-up with t.
type Factory func(t *testing.T) Subject

// suite is the contract, one check per promise.
var suite = []struct {
	name  string
	check func(*testing.T, Subject)
}{
	{"Plan/ExactCPUMinimumMemoryAllowedTypes_S70", planFits},
	{"Plan/HasNoEffect", planNoEffect},
	{"Plan/NothingMatchesIsUnsatisfiable_S70", planUnsatisfiable},
	{"Plan/ExcludedSlotsAreNotUsed_S75", planExcluded},
	{"Plan/AllExcludedIsNoCapacity_S75", planAllExcluded},
	{"Plan/BadInputIsInvalid_H34", planInvalid},
	{"Template/IsThatOfPlanAndMachine", template},
	{"Launch/AnswersWithTheMachines_S71", launchAnswers},
	{"Launch/UsageClass_S73", launchUsage},
	{"Launch/RepeatedGivesTheSame_H32", launchRepeated},
	{"Launch/RepeatedAfterTheirEndLaunchesNone_H32", launchRepeatedEnded},
	{"Launch/ConcurrentGivesTheSame_H32", launchConcurrent},
	{"Launch/TwoTokensShareNothing_H32", launchTwoTokens},
	{"Launch/SameTokenOtherPlanIsInvalid_H32", launchOtherPlan},
	{"Launch/MalformedIsInvalid", launchMalformed},
	{"Launch/CancelledThenRepeated", launchCancelled},
	{"Launch/PartialKeepsWhatCame_S74_S75", launchPartial},
	{"Launch/NoneSaysWhy_S75", launchNone},
	{"List/ByToken", listByToken},
	{"List/AnotherHandleSeesTheSame", listAgain},
	{"Terminate/Ends_S12", terminateEnds},
	{"Terminate/FreesCapacity", terminateFrees},
	{"Terminate/UnknownIDStopsNoOther_H67", terminateUnknown},
	{"Terminate/ForeignMachineIsLeftAlone_H59", foreign},
	{"Close/MachinesLiveOn", closeKeeps},
}

// Run runs the suite. The checks run in parallel, each on a subject of its own.
func Run(t *testing.T, open Factory) {
	for _, c := range suite {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, open(t))
		})
	}
}

// poll is the time between two looks at a condition.
const poll = 5 * time.Millisecond

var wall clock.RealClock

// tokens makes every token of a test run another one: a back end may remember them for days.
var tokens atomic.Int64

func newToken() string {
	return fmt.Sprintf("l-%d-%d", wall.Now().UnixNano(), tokens.Add(1))
}

// spec returns one that c6i.large and m5.large satisfy.
func spec(count int) fleet.Spec {
	return fleet.Spec{
		Token: newToken(), Count: count, ResourceClass: "small", UsageClass: "spot",
		CPU: 2, Mem: 4096, AllowedTypes: []string{"c6i.large", "m5.large"},
	}
}

func plan(t *testing.T, f fleet.Fleet, s fleet.Spec) fleet.Plan {
	t.Helper()
	p, err := f.Plan(t.Context(), s)
	if err != nil {
		t.Fatalf("Plan(%+v) error = %v", s, err)
	}
	return p
}

func launched(t *testing.T, f fleet.Fleet, p fleet.Plan) fleet.Outcome {
	t.Helper()
	out, err := f.Launch(t.Context(), p)
	if err != nil {
		t.Fatalf("Launch(%s) error = %v", p.Token, err)
	}
	return out
}

// start launches count machines and checks that they came.
func start(t *testing.T, f fleet.Fleet, count int) (fleet.Plan, []string) {
	t.Helper()
	p := plan(t, f, spec(count))
	out := launched(t, f, p)
	if len(out.Machines) != count || len(out.Refused) != 0 {
		t.Fatalf("Launch(%s) of %d gave %d machines and refusals %+v", p.Token, count, len(out.Machines), out.Refused)
	}
	return p, ids(out.Machines)
}

func terminate(t *testing.T, f fleet.Fleet, ids ...string) {
	t.Helper()
	if err := f.Terminate(t.Context(), ids...); err != nil {
		t.Fatalf("Terminate(%q) error = %v", ids, err)
	}
}

func list(t *testing.T, f fleet.Fleet, token string) []fleet.Machine {
	t.Helper()
	all, err := f.List(t.Context(), token)
	if err != nil {
		t.Fatalf("List(%q) error = %v", token, err)
	}
	return all
}

func ids(machines []fleet.Machine) []string {
	var out []string
	for _, m := range machines {
		out = append(out, m.ID)
	}
	slices.Sort(out)
	return out
}

// living returns the machines of token that are neither Ending nor Ended.
func living(t *testing.T, f fleet.Fleet, token string) []string {
	t.Helper()
	return ids(slices.DeleteFunc(list(t, f, token), func(m fleet.Machine) bool {
		return m.State == fleet.Ending || m.State == fleet.Ended
	}))
}

// wantLiving waits until exactly want live.
func wantLiving(t *testing.T, s Subject, f fleet.Fleet, token string, want []string) {
	t.Helper()
	var got []string
	if !eventually(s, func() bool { got = living(t, f, token); return slices.Equal(got, want) }) {
		t.Fatalf("living machines of %q after %s = [%s], want [%s]", token, s.Settle, strings.Join(got, " "), strings.Join(want, " "))
	}
}

// wantEnded waits until each machine is Ended or no longer listed. They must have been seen listed:
// a new machine may be missing too.
func wantEnded(t *testing.T, s Subject, f fleet.Fleet, want ...string) {
	t.Helper()
	var left []string
	ended := eventually(s, func() bool {
		left = ids(slices.DeleteFunc(list(t, f, ""), func(m fleet.Machine) bool {
			return m.State == fleet.Ended || !slices.Contains(want, m.ID)
		}))
		return len(left) == 0
	})
	if !ended {
		t.Fatalf("not ended %s after Terminate: %v", s.Settle, left)
	}
}

func eventually(s Subject, ok func() bool) bool {
	for deadline := wall.Now().Add(s.Settle); ; wall.Sleep(poll) {
		if ok() {
			return true
		}
		if wall.Now().After(deadline) {
			return false
		}
	}
}
