package reconciler

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// S79 H01 H70 invariant 6: a machine that the cache lacks is ended only if the table has no record of it either. One that cannot be
// decoded is a record; the fleet's sweep then neither ends its machine nor looks again at once, also where a request it
// was launched for lives.
func TestUnknownMachine_ItsKeyIsRead_H01_H70(t *testing.T) {
	for name, tc := range map[string]struct {
		record func(t *testing.T, table store.Table, m fleet.Machine)
		live   bool // the request of its launch
		ended  bool
		known  bool
	}{
		"NoRecord":       {record: nil, ended: true},
		"Wanted":         {record: nil, live: true, known: true},
		"Readable":       {record: readable, known: true},
		"ReadableWanted": {record: readable, live: true, known: true},
		"Broken":         {record: broken},
		"BrokenWanted":   {record: broken, live: true},
	} {
		t.Run(name, func(t *testing.T) {
			table := storetest.NewMemory(clocktesting.NewFakeClock(dawn))
			term, clk, machines := newTestTerm(t, table, nil)
			id := machines.Add(fleet.Machine{LaunchToken: "l-1", ResourceClass: "small", UsageClass: store.Spot, InstanceType: "c6i.large", CPU: 2, Mem: 4096})
			m, _ := machines.Machine(id)
			if tc.record != nil {
				tc.record(t, table, m)
			}
			if tc.live {
				launchedFor100(term)
			}
			for range 10 {
				if err := term.fleetSweep.sweepFleet(t.Context()); err != nil {
					t.Fatalf("sweepFleet() error = %v", err)
				}
				clk.Step(term.cfg.Sweep)
			}
			if alive := len(machines.Alive()) == 1; alive == tc.ended {
				t.Errorf("the machine lives: %v, want %v", alive, !tc.ended)
			}
			if _, known := term.cache.instances.get(store.InstanceID(id)); known != tc.known {
				t.Errorf("known: %v, want %v", known, tc.known)
			}
			if n := machines.Calls(fleettest.CallList); n != 10 {
				t.Errorf("%d listings in 10 sweeps", n)
			}
		})
	}
}

func readable(t *testing.T, table store.Table, m fleet.Machine) {
	t.Helper()
	in := inState(m.ID, 0, statemachine.Running, "100")
	in.Principal = store.Principal(m.Principal)
	if _, err := store.New(table).Register(t.Context(), in, dawn, time.Hour); err != nil {
		t.Fatal(err)
	}
}

func broken(t *testing.T, table store.Table, m fleet.Machine) {
	t.Helper()
	key := store.InstanceKey(store.Principal(m.Principal), store.KindInstance)
	if err := table.Put(t.Context(), store.Item{Key: key, Version: 1, Attributes: []byte(`{"assignment":"three"}`)}, 0); err != nil {
		t.Fatal(err)
	}
}

// launchedFor100 lets a request live for which launch l-1 was made.
func launchedFor100(t *manager) {
	const id = store.RequestID("100")
	t.cache.requests.applyRun(id, store.RunRecords{
		Request: &store.RunRequest{ID: id, Attempt: 1, Count: 1, Version: 1},
		Status:  &store.RunStatus{ID: id, Attempt: 1, Phase: statemachine.Pending, Version: 1},
	}, dawn)
	t.cache.launches.applyLaunch(store.Launch{Token: "l-1", Done: true, Version: 1, Seats: []store.LaunchSeat{{RequestID: id, Attempt: 1, Count: 1}}})
}

// H07 invariant 6: one listing that lacks machines which live ends none of them; two, a sweep apart, mean that they are gone.
func TestCompare_OneListingLacksSome_H07(t *testing.T) {
	term, clk, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), nil)
	for _, id := range []string{"i-1", "i-2", "i-3"} {
		in := inState(id, 1, statemachine.Idle, "")
		in.CreatedAt = store.At(dawn.Add(-time.Hour))
		term.cache.instances.apply(in)
	}
	all := map[store.InstanceID]fleet.State{"i-1": fleet.Up, "i-2": fleet.Up, "i-3": fleet.Up}
	gone := func() (n int) {
		term.cache.instances.each(func(in *instance) {
			if in.machine.cloud == statemachine.Gone {
				n++
			}
		})
		return n
	}
	for range 3 { // each second listing is short
		term.fleetSweep.compare(all, clk.Now())
		clk.Step(term.cfg.Sweep)
		term.fleetSweep.compare(map[store.InstanceID]fleet.State{}, clk.Now())
		if n := gone(); n != 0 {
			t.Errorf("%d are gone by one listing", n)
		}
		clk.Step(term.cfg.Sweep)
	}
	term.fleetSweep.compare(all, clk.Now())
	term.fleetSweep.compare(map[store.InstanceID]fleet.State{"i-1": fleet.Up}, clk.Now())
	clk.Step(2 * time.Second) // repeated, for an error
	term.fleetSweep.compare(map[store.InstanceID]fleet.State{"i-1": fleet.Up}, clk.Now())
	if n := gone(); n != 0 {
		t.Errorf("%d are gone by two listings within seconds", n)
	}
	clk.Step(term.cfg.Sweep)
	term.fleetSweep.compare(map[store.InstanceID]fleet.State{"i-1": fleet.Up}, clk.Now())
	if n := gone(); n != 2 {
		t.Errorf("%d are gone by two listings a sweep apart, want 2", n)
	}
	if term.reaper.gone("i-1", nil, clk.Now()) || term.reaper.gone("i-1", nil, clk.Now().Add(2*time.Second)) {
		t.Error("a terminated one is retired by listings within seconds")
	}
	if !term.reaper.gone("i-1", nil, clk.Now().Add(term.cfg.Sweep)) || !term.reaper.gone("i-1", map[store.InstanceID]fleet.State{"i-1": fleet.Ended}, clk.Now()) {
		t.Error("a terminated one is never retired")
	}
}

// orphanHub has runners, of which the first cannot be deleted, and the third has a job.
type orphanHub struct {
	GitHub
	runners []githubapi.Runner
	deleted []int64
}

func (h *orphanHub) Runners(context.Context) ([]githubapi.Runner, error) { return h.runners, nil }
func (h *orphanHub) DeleteRunner(_ context.Context, id int64) error {
	switch id {
	case 1:
		return githubapi.ErrUnavailable
	case 3:
		return githubapi.ErrBusy
	}
	h.deleted = append(h.deleted, id)
	return nil
}

// A runner that is being registered has no owner yet. That one orphan cannot be deleted, so that the sweep comes back
// after seconds, makes no second sight of it. Nobody is told that one was deleted which GitHub keeps for its job.
func TestSweepRunners_SecondSightIsMinutesLater(t *testing.T) {
	hub := &orphanHub{runners: []githubapi.Runner{{ID: 1, Name: "i-1-7.1"}, {ID: 2, Name: "i-1-7.2"}, {ID: 3, Name: "i-1-7.3"}}}
	term, clk, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), hub)
	var log strings.Builder
	term.log = slog.New(slog.NewTextHandler(&log, nil))
	term.cache.instances.apply(inState("i-1", 3, statemachine.Idle, ""))
	runners := &runnerSweep{tenure: term.tenure, cache: term.cache, github: hub, orphanRunners: firstSeen{}}
	sweep := func() {
		t.Helper()
		if err := runners.sweepRunners(t.Context()); err != nil && !errors.Is(err, githubapi.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	sweep()
	for range int(term.cfg.Runners / 2 / (2 * time.Second)) {
		if len(hub.deleted) > 0 {
			t.Fatalf("deleted %v after %s", hub.deleted, clk.Now().Sub(dawn))
		}
		clk.Step(2 * time.Second)
		sweep()
	}
	if len(hub.deleted) != 1 || hub.deleted[0] != 2 {
		t.Errorf("deleted %v after %s, want the runner that is still without an owner", hub.deleted, clk.Now().Sub(dawn))
	}
	if told := log.String(); !strings.Contains(told, "runner=i-1-7.2") || strings.Contains(told, "runner=i-1-7.3") {
		t.Errorf("log:\n%s\nwant the runner named that was deleted, and no other", told)
	}
}
