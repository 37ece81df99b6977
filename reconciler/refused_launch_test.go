package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// turncoat launches, loses the answer, and has lost the permission when it is asked again.
type turncoat struct {
	fleet.Fleet
	calls atomic.Int64
}

func (f *turncoat) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	if f.calls.Add(1) > 1 {
		return fleet.Outcome{}, fmt.Errorf("%w: not allowed any more", fleet.ErrInvalid)
	}
	_, err := f.Fleet.Launch(ctx, p)
	return fleet.Outcome{}, errors.Join(err, errors.New("connection reset"))
}

// H01 H13 invariant 4 invariant 6: a refusal of the repeated call says nothing of the first. What that one brought gets
// its records and is kept.
func TestLaunch_RefusedWhenRepeated_H13(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controllerWith("c1", reconciler.Options{Fleet: &turncoat{Fleet: w.Fleet}})
		w.submit(spec("100", 2))
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		if n := len(w.Fleet.Alive()); n != 2 || w.Fleet.Launched() != 2 {
			t.Errorf("%d of %d machines live, want both", n, w.Fleet.Launched())
		}
		w.release("100", 1, store.Drain)
	})
}

// stranger is refused for a while: its permission is being edited.
type stranger struct {
	fleet.Fleet
	calls, until int64
}

func (f *stranger) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	if f.calls++; f.calls <= f.until {
		return fleet.Outcome{}, fmt.Errorf("%w: allow ec2:CreateFleet", fleet.ErrInvalid)
	}
	return f.Fleet.Launch(ctx, p)
}

// H53: a permission that is missing for seconds costs seconds; one that stays away is told soon.
func TestLaunch_RefusedForAWhile_H53(t *testing.T) {
	for name, tc := range map[string]struct {
		refusals int64
		want     statemachine.Phase
	}{"Seconds": {4, statemachine.Ready}, "ForGood": {1000, statemachine.Failed}} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.controllerWith("c1", reconciler.Options{Fleet: &stranger{Fleet: w.Fleet, until: tc.refusals}})
				w.submit(spec("100", 1))
				st := w.awaitPhase("100", 1, tc.want, time.Minute)
				if tc.want == statemachine.Failed && !strings.Contains(st.Message, "allow ec2:CreateFleet") {
					t.Errorf("message = %q, want why", st.Message)
				}
				w.release("100", 1, store.Drain)
			})
		})
	}
}

// H63: a request that no place has room for says at its end what the fleet said, though by then every place
// was left alone and nothing more was asked.
func TestLaunch_NoRoomIsToldInTheFleetsWords_H63(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		w.controller("c1", nil)
		r := spec("100", 1)
		r.Timeout = store.SecondsOf(40 * time.Second)
		w.submit(r)
		st := w.awaitPhase("100", 1, statemachine.Failed, time.Minute)
		if st.Reason != reconciler.ReasonTimeout || !strings.Contains(st.Message, "refused last: spot: InstanceLimitExceeded") {
			t.Errorf("failed with %q: %q, want the fleet's code in it", st.Reason, st.Message)
		}
	})
}

// S75: missing capacity is told with the fleet's code for each place, in the launch's record and to the requester, whether
// there is no place left or the machines that came elsewhere are late.
func TestLaunch_ShortOfCapacity_TellsCodeAndPlace_S75(t *testing.T) {
	const code = ": InsufficientInstanceCapacity limit of "
	for name, tc := range map[string]struct {
		elsewhere int // machines that the last place has room for
		says      []string
	}{
		"NoPlaceLeft": {0, []string{"1 of 2 ready", "refused last: ", "spot c6i.large" + code + "1", "spot m5.large local-a" + code + "0", "spot m5.large local-b" + code + "0"}},
		"Elsewhere":   {fleettest.Unlimited, []string{"0 of 2 ready", "launch: ", "spot c6i.large" + code + "1", "spot m5.large local-b" + code + "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.Fleet.SetCapacity(fleet.Slot{UsageClass: store.Spot, InstanceType: "c6i.large"}, 1)
				w.Fleet.SetCapacity(fleet.Slot{UsageClass: store.Spot, InstanceType: "m5.large", Zone: "local-b"}, 0)
				w.Fleet.SetCapacity(fleet.Slot{UsageClass: store.Spot, InstanceType: "m5.large", Zone: "local-a"}, tc.elsewhere)
				places := []string{"spot c6i.large", "spot m5.large local-b"}
				if tc.elsewhere == 0 {
					places = append(places, "spot m5.large local-a")
				} else {
					w.Boot = time.Minute
				}
				w.controller("c1", nil)
				r := spec("100", 2)
				r.AllowedInstanceTypes = []string{"c6i.large", "m5.large"}
				r.Timeout = store.SecondsOf(40 * time.Second)
				w.submit(r)
				st := w.awaitPhase("100", 1, statemachine.Failed, time.Minute)
				for _, want := range tc.says {
					if !strings.Contains(st.Message, want) {
						t.Errorf("failed with %q, want %q in it", st.Message, want)
					}
				}
				launches := w.Launches()
				for token, l := range launches {
					for _, place := range places {
						if !strings.Contains(l.Error, place+code) {
							t.Errorf("launch %s fell short for %q, want the fleet's code for %s", token, l.Error, place)
						}
					}
				}
				if n := len(launches); n != 1 {
					t.Errorf("%d launches, want one", n)
				}
			})
		})
	}
}
