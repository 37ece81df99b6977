package statemachine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
)

// edges expands one row of design: to "same" stays where it was.
type edges struct {
	from []statemachine.State
	on   statemachine.Event
	to   statemachine.State
}

const same statemachine.State = "same"

var (
	owned   = []statemachine.State{statemachine.Created, statemachine.Claimed}
	living  = []statemachine.State{statemachine.Created, statemachine.Claimed, statemachine.Running, statemachine.Idle}
	idle    = []statemachine.State{statemachine.Idle}
	running = []statemachine.State{statemachine.Running}
)

// design is the table of instances, typed a second time and by hand: a slip in one of them shows.
var design = []edges{
	{[]statemachine.State{statemachine.None}, "launched", "created"},
	{owned, "handed over", "running"},
	{idle, "claimed", "claimed"},
	{owned, "unclaimed", "idle"},
	{running, "released", "idle"},
	{idle, "pooled", "idle"},
	{owned, "renewed", same},
	{idle, "renewed", same},
	{living, "expired", "terminated"},
	{living, "rejected", "terminated"},
	{living, "lost", "terminated"},
	{living, "dismissed", "terminated"},
}

type pair struct {
	From statemachine.State
	On   statemachine.Event
}

func wantEdges() map[pair]statemachine.State {
	want := map[pair]statemachine.State{}
	for _, row := range design {
		for _, from := range row.from {
			to := row.to
			if to == same {
				to = from
			}
			want[pair{from, row.on}] = to
		}
	}
	return want
}

// S01, S02: the stored states and the edges between them are those of the design, no more, no fewer.
func TestRules_S02_EqualTheDesign(t *testing.T) {
	got := map[pair]statemachine.State{}
	for _, r := range statemachine.Rules() {
		p := pair{r.From, r.On}
		if _, twice := got[p]; twice {
			t.Errorf("Rules() has two rows for %q on %q", r.From, r.On)
		}
		if r.Why == "" {
			t.Errorf("Rules() row %q on %q has no reason", r.From, r.On)
		}
		got[p] = r.To
	}
	if diff := cmp.Diff(wantEdges(), got); diff != "" {
		t.Errorf("Rules() differ from design (-want +got):\n%s", diff)
	}
}

// S02: every state × event is a row, or an error that says so.
func TestNext_S02_EveryStateTimesEvent(t *testing.T) {
	want := wantEdges()
	for _, from := range append([]statemachine.State{statemachine.None}, statemachine.States()...) {
		for _, on := range statemachine.Events() {
			got, err := statemachine.Next(from, on)
			if to, ok := want[pair{from, on}]; ok {
				if got != to || err != nil {
					t.Errorf("Next(%q, %q) = %q, %v, want %q, nil", from, on, got, err, to)
				}
				continue
			}
			if got != statemachine.None || !errors.Is(err, statemachine.ErrNoRule) {
				t.Errorf("Next(%q, %q) = %q, %v, want none and ErrNoRule", from, on, got, err)
				continue
			}
			if blamed := fmt.Sprintf("event %q in state %q: ", on, named(from)); !strings.HasPrefix(err.Error(), blamed) {
				t.Errorf("Next(%q, %q) error = %v, want it to begin with %s", from, on, err, blamed)
			}
		}
	}
}

// named is how an error calls a state.
func named(s statemachine.State) statemachine.State {
	if s == statemachine.None {
		return "(none)"
	}
	return s
}

func TestNext_UnknownStateOrEvent(t *testing.T) {
	for _, p := range []pair{{"stopped", statemachine.Expired}, {statemachine.Idle, "forced"}} {
		if _, err := statemachine.Next(p.From, p.On); !errors.Is(err, statemachine.ErrNoRule) {
			t.Errorf("Next(%q, %q) error = %v, want ErrNoRule", p.From, p.On, err)
		}
	}
}

// S01: exactly five states may be stored, and "" is none of them.
func TestState_S01_Valid(t *testing.T) {
	want := []statemachine.State{"created", "claimed", "running", "idle", "terminated"}
	if diff := cmp.Diff(want, statemachine.States()); diff != "" {
		t.Errorf("States() (-want +got):\n%s", diff)
	}
	for _, s := range want {
		if !s.Valid() {
			t.Errorf("%q.Valid() = false, want true", s)
		}
	}
	for _, s := range []statemachine.State{statemachine.None, "Idle", "stopped"} {
		if s.Valid() {
			t.Errorf("%q.Valid() = true, want false", s)
		}
	}
}

func TestState_Owned(t *testing.T) {
	want := []statemachine.State{statemachine.Created, statemachine.Claimed, statemachine.Running}
	for _, s := range append([]statemachine.State{statemachine.None}, statemachine.States()...) {
		if got := s.Owned(); got != slices.Contains(want, s) {
			t.Errorf("%q.Owned() = %v", s, got)
		}
	}
}

func TestRules_EveryStateReachable_NoneLeavesTerminated(t *testing.T) {
	reached := map[statemachine.State]bool{statemachine.None: true}
	for range statemachine.Rules() {
		for _, r := range statemachine.Rules() {
			if reached[r.From] {
				reached[r.To] = true
			}
		}
	}
	for _, s := range statemachine.States() {
		if !reached[s] {
			t.Errorf("state %q cannot be reached from a launch", s)
		}
	}
	for _, r := range statemachine.Rules() {
		if r.From == statemachine.Terminated {
			t.Errorf("%q leaves terminated", r.On)
		}
	}
}

// S09: idle is entered only by giving a run's instance back.
func TestRules_S09_IdleOnlyByRelease(t *testing.T) {
	for _, r := range statemachine.Rules() {
		if r.To == statemachine.Idle && r.From != statemachine.Idle &&
			r.On != statemachine.Released && r.On != statemachine.Unclaimed {
			t.Errorf("%q enters idle from %q", r.On, r.From)
		}
	}
}

// Callers get copies: no one can add a row.
func TestRules_AreCopies(t *testing.T) {
	statemachine.Rules()[0].To = statemachine.Idle
	statemachine.RequestRules()[0].To = statemachine.Failed
	if got := statemachine.Rules()[0].To; got != statemachine.Created {
		t.Errorf("Rules()[0].To = %q after a caller wrote to its copy, want created", got)
	}
	if got := statemachine.RequestRules()[0].To; got != statemachine.Pending {
		t.Errorf("RequestRules()[0].To = %q after a caller wrote to its copy, want Pending", got)
	}
}
