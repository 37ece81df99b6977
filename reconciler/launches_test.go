package reconciler_test

import (
	"context"
	"encoding/json"
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

// Invariant 8: what was launched for a run counts as long as the run lasts, be it longer than a day. Once its budget is used
// up it stays short of a seat.
func TestBudget_LastsAsLongAsItsRun(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxRuntime = 48 * time.Hour })
		stop := w.controller("c1", nil)
		done := w.submit(spec("100", 1, lasting(30*time.Hour)))
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		done()
		for w.Fleet.Launched() < 4 {
			for _, id := range w.Fleet.Alive() {
				w.Crash(store.InstanceID(id))
			}
			n := w.Fleet.Launched()
			w.await(10*time.Minute, "a lost seat is filled again", func() bool { return w.Fleet.Launched() > n })
		}
		for _, id := range w.Fleet.Alive() {
			w.Crash(store.InstanceID(id))
		}
		time.Sleep(25 * time.Hour)
		stop()
		w.controller("c2", nil) // which knows what the table says
		time.Sleep(time.Hour)
		if st, n := w.status("100"), w.Fleet.Launched(); st.Phase != statemachine.Ready || n != 4 {
			t.Errorf("%s with %d machines launched for one seat, want Ready with 4", st.Phase, n)
		}
		w.give("100", 1, store.ReleaseDrain, time.Minute)
	})
}

// room bounds what each zone holds: n machines in the first, none in the others.
func (w *world) room(n int) {
	for i, zone := range []string{"local-a", "local-b"} {
		if i > 0 {
			n = min(n, 0)
		}
		w.Fleet.SetCapacity(fleet.Slot{Zone: zone}, n)
	}
}

// short asks for three machines where there is room for n, and returns how the request fails and after how long.
func (w *world) short(n int, patience time.Duration) (store.RunStatus, time.Duration) {
	w.room(n)
	began := w.Clock.Now()
	w.submit(spec("100", 3, within(10*time.Minute)))
	st := w.awaitPhase("100", 1, statemachine.Failed, patience)
	return st, w.Clock.Since(began)
}

// S75: with no retry, capacity that is missing everywhere fails a request at once, in the fleet's own words for each
// place; what came is pooled, and nothing more is launched for it.
func TestLaunchRetry_None_FailsAtOnce_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.LaunchRetry = 0 })
		defer w.controller("c1", nil)()
		st, _ := w.short(1, 5*time.Second)
		if st.Reason != reconciler.ReasonCapacity || strings.Count(st.Message, "InsufficientInstanceCapacity") < 2 {
			t.Errorf("failed for %q: %q, want %q and the code of more than one place", st.Reason, st.Message, reconciler.ReasonCapacity)
		}
		w.room(fleettest.Unlimited)
		w.await(2*time.Minute, "what came is pooled, or ended unready", func() bool { return len(w.Fleet.Alive()) == w.pooled() })
		time.Sleep(5 * time.Minute)
		w.launched(1) // the one there was room for
	})
}

// S75: no retry is no reason for asking half of the places: on-demand serves what spot cannot.
func TestLaunchRetry_None_EveryPlaceIsAsked_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.LaunchRetry = 0 })
		w.Fleet.SetCapacity(fleet.Slot{UsageClass: store.Spot}, 1)
		defer w.controller("c1", nil)()
		w.serve(spec("100", 3, ofUsage(store.Spot, store.OnDemand)), 2*time.Minute)
	})
}

// S75: with a retry of four minutes, and places that are left alone for three, there is one more try and no other.
func TestLaunchRetry_Bounded_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.LaunchRetry = 4 * time.Minute })
		defer w.controller("c1", nil)()
		if st, took := w.short(0, 4*time.Minute); st.Reason != reconciler.ReasonCapacity || took < 3*time.Minute {
			t.Errorf("failed for %q after %s, want %q after the second try, in 3m", st.Reason, took, reconciler.ReasonCapacity)
		}
		w.submit(spec("200", 1))
		time.Sleep(time.Minute)
		w.room(fleettest.Unlimited)
		w.awaitPhase("200", 1, statemachine.Ready, 4*time.Minute)
	})
}

// S75: by default it is tried again until the deadline, and then with the fleet's own words.
func TestLaunchRetry_Default_UntilTheDeadline_S75(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st, took := w.short(0, 11*time.Minute)
		if st.Reason != reconciler.ReasonTimeout || took < 10*time.Minute || !strings.Contains(st.Message, "InsufficientInstanceCapacity") {
			t.Errorf("failed for %q after %s: %q, want %q after 10m with the code", st.Reason, took, st.Message, reconciler.ReasonTimeout)
		}
	})
}

// S75: a run that lost a machine goes on without it, and gets another when there is room: no retry is about requests.
func TestLaunchRetry_None_RefillsGoOn_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.LaunchRetry = 0 })
		defer w.controller("c1", nil)()
		lost := w.serve(spec("100", 1), time.Minute).Instances[0].InstanceID
		w.room(0)
		w.Crash(lost)
		time.Sleep(2 * time.Minute)
		if st := w.status("100"); st.Phase != statemachine.Ready {
			t.Errorf("%s: %q without its machine, want Ready", st.Phase, st.Message)
		}
		w.room(fleettest.Unlimited)
		w.await(10*time.Minute, "refilled", func() bool { return w.in(statemachine.Running) == 1 })
	})
}

// H29: a seat of a Ready request that cannot be filled again is not asked for all the time.
func TestRefill_Refused_PausesLonger(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.serve(spec("100", 1), time.Minute)
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		w.Crash(st.Instances[0].InstanceID)
		before := w.Fleet.Calls(fleettest.CallPlan)
		time.Sleep(10 * time.Minute)
		if n := w.Fleet.Calls(fleettest.CallPlan) - before; n > 60 {
			t.Errorf("%d plans in 10 minutes without capacity, want few", n)
		}
	})
}

// forgetful launches, loses the answer, and answers the second call otherwise.
type forgetful struct {
	fleet.Fleet
	second error
	calls  atomic.Int64
}

func (f *forgetful) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	switch f.calls.Add(1) {
	case 1:
		_, err := f.Fleet.Launch(ctx, p)
		return fleet.Outcome{}, errors.Join(err, errors.New("connection reset"))
	case 2:
		return fleet.Outcome{}, f.second
	}
	return f.Fleet.Launch(ctx, p)
}

// H01 H13 invariant 4 invariant 6: that a repeated call is refused, or throttled, says nothing of the first. What that one
// brought gets its records and is kept, and nothing is launched in its place.
func TestLaunch_RefusedWhenRepeated_H13(t *testing.T) {
	for name, second := range map[string]error{
		"Refused": fmt.Errorf("%w: not allowed any more", fleet.ErrRefused), "Throttled": fleet.ErrThrottled,
	} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.controllerWith("c1", reconciler.Options{Fleet: &forgetful{Fleet: w.Fleet, second: second}})
			w.serve(spec("100", 2), time.Minute)
			if n := len(w.Fleet.Alive()); n != 2 || w.Fleet.Launched() != 2 {
				t.Errorf("%d of %d machines live, want both", n, w.Fleet.Launched())
			}
			w.release("100", 1, store.ReleaseDrain)
		}))
	}
}

// forbidden is a fleet that is refused for a while: its permission is being edited.
type forbidden struct {
	fleet.Fleet
	calls, until int64
}

func (f *forbidden) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	if f.calls++; f.calls <= f.until {
		return fleet.Outcome{}, fmt.Errorf("%w: allow ec2:CreateFleet", fleet.ErrRefused)
	}
	return f.Fleet.Launch(ctx, p)
}

// H53: a permission that is missing for seconds costs seconds; one that stays away is answered soon.
func TestLaunch_RefusedForAWhile_H53(t *testing.T) {
	for name, tc := range map[string]struct {
		refusals int64
		want     statemachine.Phase
	}{"Seconds": {4, statemachine.Ready}, "ForGood": {1000, statemachine.Failed}} {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.controllerWith("c1", reconciler.Options{Fleet: &forbidden{Fleet: w.Fleet, until: tc.refusals}})
			w.submit(spec("100", 1))
			st := w.awaitPhase("100", 1, tc.want, time.Minute)
			if tc.want == statemachine.Failed && (st.Reason != reconciler.ReasonRefused || !strings.Contains(st.Message, "allow ec2:CreateFleet")) {
				t.Errorf("failed with %q: %q, want that the fleet refuses, and why", st.Reason, st.Message)
			}
			w.release("100", 1, store.ReleaseDrain)
		}))
	}
}

// H63: a request that no place has room for says at its end what the fleet said, though by then every place
// was left alone and nothing more was asked.
func TestLaunch_NoRoomIsToldInTheFleetsWords_H63(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Fleet.SetCapacity(fleet.Slot{}, 0)
		w.controller("c1", nil)
		w.submit(spec("100", 1, within(40*time.Second)))
		st := w.awaitPhase("100", 1, statemachine.Failed, time.Minute)
		if st.Reason != reconciler.ReasonTimeout || !strings.Contains(st.Message, "refused last: spot: InstanceLimitExceeded") {
			t.Errorf("failed with %q: %q, want the fleet's code in it", st.Reason, st.Message)
		}
	})
}

// S75: missing capacity is answered with the fleet's code for each place, in the launch's record and to the requester, whether
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
		t.Run(name, story(func(t *testing.T, w *world) {
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
			w.submit(spec("100", 2, ofTypes("c6i.large", "m5.large"), within(40*time.Second)))
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
		}))
	}
}

// H02 S03: the records of what a launch brought are refused at first. The launch is not over, and no request is
// answered for it, before all of them are.
func TestLaunch_OverOnceAllIsRecorded_S03_H02(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		var over atomic.Int64
		table := &refusing{Table: w.Table, match: ofState(statemachine.Created), seen: func(item store.Item) {
			var l store.Launch
			if item.Key.Sort != store.KindLaunch || json.Unmarshal(item.Attributes, &l) != nil || !l.Done {
				return
			}
			for _, seat := range l.Seats {
				over.Add(int64(len(seat.Instances)))
				for _, id := range seat.Instances {
					if w.instance(id).ID != id {
						t.Errorf("launch %s is over, and %s has no record", l.Token, id)
					}
				}
			}
		}}
		table.on.Store(true)
		defer w.controller("c1", table)()
		w.submit(spec("100", 3))
		time.Sleep(time.Minute)
		if n := w.Fleet.Launched(); n != 3 || over.Load() != 0 || len(w.Instances()) != 0 {
			t.Fatalf("%d machines launched, %d answered, %d recorded; want 3 of which nothing is written", n, over.Load(), len(w.Instances()))
		}
		table.on.Store(false)
		w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		if n := w.Fleet.Launched(); n != 3 || over.Load() != 3 {
			t.Errorf("%d launched, %d answered, want 3 and 3", n, over.Load())
		}
	})
}

// mumbling takes the first record of a launch, does not say so, and refuses new ones for a while then.
type mumbling struct {
	store.Table
	since atomic.Int64 // when the first came, in ns; 0: none did
	lasts time.Duration
}

func (m *mumbling) Put(ctx context.Context, item store.Item, expect int64) error {
	switch now := time.Now().UnixNano(); {
	case item.Key.Sort != store.KindLaunch, expect != 0:
	case m.since.CompareAndSwap(0, now):
		if err := m.Table.Put(ctx, item, expect); err != nil {
			return err
		}
		return fmt.Errorf("put: no answer: %w", store.ErrUnavailable)
	case time.Duration(now-m.since.Load()) < m.lasts:
		return fmt.Errorf("put: credentials have expired: %w", store.ErrRefused)
	}
	return m.Table.Put(ctx, item, expect)
}

// H32: the intent of a launch that may have been written is written again as it was: another would be another launch.
func TestLaunch_IntentOfUnknownOutcome_IsTheSameLaunch_H32(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		table := &mumbling{Table: w.Table, lasts: time.Second}
		defer w.controller("c1", table)()
		w.serve(spec("100", 2), time.Minute)
		time.Sleep(2 * w.Config().Scan) // which finds the records of all launches
		if n := w.Fleet.Launched(); n != 2 || table.since.Load() == 0 {
			t.Errorf("%d machines launched for 2 seats", n)
		}
	})
}

// H32 H36: a scan that finds the intent first lets it be carried out, and nothing waits for it to be written any more.
func TestLaunch_IntentOfUnknownOutcome_FoundByAScan_H32(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Scan = time.Minute })
		defer w.controller("c1", &mumbling{Table: w.Table, lasts: 5 * time.Minute})()
		w.serve(spec("100", 2), 3*time.Minute)
		time.Sleep(10 * time.Minute)
		w.launched(2)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
	})
}
