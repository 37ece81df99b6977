package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// Invariant 4: the runner of a machine that is certainly gone is deleted when a leader first sees it: a second look at it is
// due after ten minutes, and leaders may die sooner than that.
func TestRunnersOfTheGone_NeedNoSecondLook(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		st := w.serve(spec("100", 1), time.Minute)
		id := st.Instances[0].InstanceID
		left := func() bool {
			return slices.ContainsFunc(w.runners(), func(name string) bool { return strings.HasPrefix(name, string(id)+"-") })
		}
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: clientCalls})
		w.Crash(id)
		w.await(10*time.Minute, "confirmed gone", func() bool { return !w.instance(id).ExpiresAt.IsZero() })
		stop()
		time.Sleep(2 * time.Minute) // GitHub notices that its runner is offline
		if !left() {
			t.Fatalf("no runner of %s is left to be deleted", id)
		}
		w.Hub.SetOutage(githubsim.Outage{})
		w.controller("c2", nil)
		w.await(time.Minute, "its runner deleted", func() bool { return !left() })
		w.release("100", 1, store.ReleaseDrain)
	})
}

// H51 invariant 3 invariant 4: a machine whose record is taken away, and whose agent no longer ends it, is ended by
// the controller that knew it; its seat is filled again.
func TestErasedRecord_TheMachineIsEnded_H51(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.serve(spec("100", 2), time.Minute)
		victim := w.Instances()[st.Instances[0].InstanceID]
		w.Hang(victim.ID)
		w.Waive(sim.Needed) // which counts what was last written of it
		w.Under.(*storetest.Memory).Erase(store.InstanceKey(victim.Principal, store.KindInstance))
		limits := w.Config().Limits
		w.await(limits.RunningSilence+w.Config().Orphan+2*w.Config().Sweep, "the machine ended", func() bool {
			return !slices.Contains(w.Fleet.Alive(), string(victim.ID))
		})
		w.await(limits.Visibility+2*w.Config().Sweep, "its seat is filled again", func() bool {
			return w.in(statemachine.Running) == 2+1 // what was last written of the erased one counts too
		})
		w.release("100", 1, store.ReleaseDrain)
	})
}

// S29: the sweep comes at its period, with no request and no operator: a machine that ended behind the
// system's back is noticed within it.
func TestSweep_ComesAtItsPeriod_S29(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.warm("100", 1)
		before := w.Fleet.Calls(fleettest.CallList)
		time.Sleep(2 * time.Minute)
		if n := w.Fleet.Calls(fleettest.CallList) - before; n < 4 {
			t.Errorf("%d listings in two minutes, want one in %s", n, w.Config().Sweep)
		}
		w.Crash(st.Instances[0].InstanceID)
		w.await(w.Config().Sweep+time.Second, "noticed", func() bool { return w.in(statemachine.Terminated) == 1 })
	})
}

// blind is a fleet whose listings show nothing at times, or lack one machine.
type blind struct {
	fleet.Fleet

	eyes  atomic.Bool // closed
	lacks atomic.Pointer[store.InstanceID]
}

func (b *blind) List(ctx context.Context, token string) ([]fleet.Machine, error) {
	if b.eyes.Load() && token == "" {
		return nil, nil
	}
	all, err := b.Fleet.List(ctx, token)
	return slices.DeleteFunc(all, func(m fleet.Machine) bool {
		one := b.lacks.Load()
		return one != nil && m.ID == string(*one)
	}), err
}

// H07: a listing that lacks every machine costs none: not those that are old enough to be listed, and not the young, one by
// one as they come of age.
func TestListing_LacksAll_CostsNone_H07(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		fleet := &blind{Fleet: w.Fleet}
		defer w.controllerWith("c1", reconciler.Options{Fleet: fleet})()
		for n := range 6 { // one every minute: some are old, some are not
			id := fmt.Sprint(100 + n)
			w.serve(spec(id, 1), time.Minute)
			w.jobs(id, 1, (25 * time.Minute).Seconds())
			time.Sleep(time.Minute)
		}
		fleet.eyes.Store(true)
		time.Sleep(3 * w.Config().Limits.Visibility)
		if lost := w.in(statemachine.Terminated); lost > 0 {
			t.Errorf("%d of 6 machines were ended because listings lacked all of them", lost)
		}
	})
}

// H07: what listings lacked that were not believed is lacking for the first time in the next one.
func TestListing_LacksAll_IsNoFirstSight_H07(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		fleet := &blind{Fleet: w.Fleet}
		defer w.controllerWith("c1", reconciler.Options{Fleet: fleet})()
		one := w.serve(spec("100", 6), time.Minute).Instances[0].InstanceID
		w.jobs("100", 6, (25 * time.Minute).Seconds())
		time.Sleep(w.Config().Limits.Visibility)
		fleet.eyes.Store(true)
		time.Sleep(3 * w.Config().Sweep)
		fleet.lacks.Store(&one)
		fleet.eyes.Store(false)
		time.Sleep(w.Config().Sweep)
		fleet.lacks.Store(nil)
		time.Sleep(w.Config().Sweep)
		if lost := w.in(statemachine.Terminated); lost > 0 {
			t.Errorf("%d machines were ended because one listing lacked one, after some that lacked all", lost)
		}
	})
}

// H06: while listings lack most machines, one whose end is refused is not taken for gone: its record stays, and its end is asked
// for until it is carried out.
func TestListing_LacksAll_NoRecordGoesBeforeItsMachine_H06(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		fleet := &blind{Fleet: w.Fleet}
		defer w.controllerWith("c1", reconciler.Options{Fleet: fleet})()
		st := w.serve(spec("100", 6), time.Minute)
		w.jobs("100", 6, time.Hour.Seconds())
		ill := st.Instances[0].InstanceID
		time.Sleep(w.Config().Limits.Visibility)
		fleet.eyes.Store(true)
		time.Sleep(2 * w.Config().Sweep)
		w.Fleet.RefuseTerminate(string(ill), errors.New("not now"))
		w.Hang(ill)
		w.await(w.Config().Limits.RunningSilence+time.Minute, "given up", func() bool { return w.instance(ill).State == statemachine.Terminated })
		time.Sleep(3 * w.Config().Sweep)
		if !w.instance(ill).ExpiresAt.IsZero() {
			t.Errorf("the record of %s is given up, and its machine lives", ill)
		}
		w.Fleet.RefuseTerminate(string(ill), nil)
		w.await(2*time.Minute, "ended", func() bool {
			return !slices.Contains(w.Fleet.Alive(), string(ill)) && !w.instance(ill).ExpiresAt.IsZero()
		})
	})
}

// S11 H07 H62: a machine ends that runs a run, whose silence would count after five minutes: the fleet says so, and its record
// follows within a sweep, whenever it ends between two.
func TestEnded_FollowedWithinASweep_S11_H07(t *testing.T) {
	const phases = 6
	for phase := range phases {
		led(t, func(t *testing.T, w *world) {
			id := w.serve(spec("100", 1), time.Minute).Instances[0].InstanceID
			time.Sleep(time.Duration(phase) * w.Config().Sweep / phases)
			w.Crash(id)
			w.await(w.Config().Sweep+time.Second, "the record follows", func() bool { return w.instance(id).State == statemachine.Terminated })
			if why := w.instance(id).Reason; why != statemachine.ReasonGone {
				t.Errorf("ended for %q, want %q", why, statemachine.ReasonGone)
			}
			w.await(time.Minute, "its seat is filled again", func() bool { return w.in(statemachine.Running) == 1 })
		})
	}
}

// telling is a fleet that says when machines ended.
type telling struct {
	fleet.Fleet
	ended chan struct{}
}

func (f telling) Ended() <-chan struct{} { return f.ended }

// S11: a fleet that says at once that a machine ended is looked at then, and not at the next sweep.
func TestEnded_FleetSaysSo_FollowedAtOnce_S11(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ended := make(chan struct{}, 1)
		defer w.controllerWith("c1", reconciler.Options{Fleet: telling{w.Fleet, ended}})()
		id := w.serve(spec("100", 1), time.Minute).Instances[0].InstanceID
		time.Sleep(w.Config().Sweep / 2)
		w.Crash(id)
		ended <- struct{}{}
		w.await(time.Second, "the record follows", func() bool { return w.instance(id).State == statemachine.Terminated })
	})
}

// H07: so does the record of one that no listing shows any more, within two sweeps: one listing may lack what lives.
func TestVanished_FollowedWithinTwoSweeps_H07(t *testing.T) {
	const phases = 6
	for phase := range phases {
		run(t, func(t *testing.T, w *world) {
			fleet := &blind{Fleet: w.Fleet}
			defer w.controllerWith("c1", reconciler.Options{Fleet: fleet})()
			id := w.serve(spec("100", 1), time.Minute).Instances[0].InstanceID
			time.Sleep(w.Config().Limits.Visibility + time.Duration(phase)*w.Config().Sweep/phases)
			fleet.lacks.Store(&id)
			w.Hang(id)
			w.await(2*w.Config().Sweep+time.Second, "the record follows", func() bool { return w.instance(id).State == statemachine.Terminated })
			if why := w.instance(id).Reason; why != statemachine.ReasonGone {
				t.Errorf("ended for %q, want %q", why, statemachine.ReasonGone)
			}
		})
	}
}
