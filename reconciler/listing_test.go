package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

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
	run(t, func(t *testing.T, w *world) {
		fleet := &blind{Fleet: w.Fleet}
		defer w.controllerWith("c1", reconciler.Options{Fleet: fleet})()
		for n := range 6 { // one every minute: some are old, some are not
			id := fmt.Sprint(100 + n)
			w.submit(spec(id, 1))
			w.awaitPhase(id, 1, statemachine.Ready, time.Minute)
			w.jobs(id, 1, (25 * time.Minute).Seconds())
			time.Sleep(time.Minute)
		}
		fleet.eyes.Store(true)
		time.Sleep(3 * w.Config.Limits.Visibility)
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
		w.submit(spec("100", 6))
		one := w.awaitPhase("100", 1, statemachine.Ready, time.Minute).Instances[0].InstanceID
		w.jobs("100", 6, (25 * time.Minute).Seconds())
		time.Sleep(w.Config.Limits.Visibility)
		fleet.eyes.Store(true)
		time.Sleep(3 * w.Config.Sweep)
		fleet.lacks.Store(&one)
		fleet.eyes.Store(false)
		time.Sleep(w.Config.Sweep)
		fleet.lacks.Store(nil)
		time.Sleep(w.Config.Sweep)
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
		w.submit(spec("100", 6))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
		w.jobs("100", 6, time.Hour.Seconds())
		ill := st.Instances[0].InstanceID
		time.Sleep(w.Config.Limits.Visibility)
		fleet.eyes.Store(true)
		time.Sleep(2 * w.Config.Sweep)
		w.Fleet.RefuseTerminate(string(ill), errors.New("not now"))
		w.Hang(ill)
		w.await(w.Config.Limits.RunningSilence+time.Minute, "given up", func() bool { return w.instance(ill).State == statemachine.Terminated })
		time.Sleep(3 * w.Config.Sweep)
		if !w.instance(ill).ExpiresAt.IsZero() {
			t.Errorf("the record of %s is given up, and its machine lives", ill)
		}
		w.Fleet.RefuseTerminate(string(ill), nil)
		w.await(2*time.Minute, "ended", func() bool {
			return !slices.Contains(w.Fleet.Alive(), string(ill)) && !w.instance(ill).ExpiresAt.IsZero()
		})
	})
}

// drowsy is a table whose first scan takes its time.
type drowsy struct {
	store.Table

	takes time.Duration
	done  atomic.Bool
}

func (d *drowsy) Scan(ctx context.Context, yield func(store.Item) error) error {
	if !d.done.Swap(true) {
		time.Sleep(d.takes)
	}
	return d.Table.Scan(ctx, yield)
}

// H27: a machine whose claim still waits for its registration, since GitHub was down and the leader died, is not blamed for
// it by the next leader, however long that one reads before its first look.
func TestClaim_WithoutRegistration_IsNotBlamedForALongFirstScan_H27(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		id := w.warm("100", 1, nil).Instances[0].InstanceID
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallJIT}})
		w.submit(spec("200", 1))
		w.await(time.Second, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		stop()
		w.Hub.SetOutage(githubsim.Outage{})
		defer w.controller("c2", &drowsy{Table: w.Table, takes: 2 * w.Config.Limits.ClaimGate})()
		if st := w.awaitPhase("200", 1, statemachine.Ready, 3*w.Config.Limits.ClaimGate); !ids(st)[id] {
			t.Errorf("run 200 was given %v, want %s, which it had claimed", ids(st), id)
		}
	})
}
