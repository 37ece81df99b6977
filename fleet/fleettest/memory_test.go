package fleettest_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/bubbletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory_KeepsTheContract(t *testing.T) {
	fleettest.Run(t, func(t *testing.T) fleettest.Subject { return subject(fleettest.NewMemory(clock.RealClock{})) })
}

// S70 S71 S73 S74 S75 H32 H59 H67 hold also when new machines are listed late and ending takes time.
func TestMemory_AsWeakAsAllowed_KeepsTheContract(t *testing.T) {
	fleettest.Run(t, func(t *testing.T) fleettest.Subject {
		m := fleettest.NewMemory(clock.RealClock{})
		m.SetListLag(20 * time.Millisecond)
		m.SetEndDelay(20 * time.Millisecond)
		return subject(m)
	})
}

// subject gives Memory a foreign machine: one of another installation, that is, of another Memory.
func subject(m *fleettest.Memory) fleettest.Subject {
	return fleettest.Subject{
		Fleet: m,
		Again: func(*testing.T) fleet.Fleet { return m },
		Limit: func(n int) { m.SetCapacity(fleet.Slot{}, n) },
		Foreign: func(*testing.T) (string, func() bool) {
			other := fleettest.NewMemory(clock.RealClock{})
			id := other.Add(fleet.Machine{ID: "i-foreign"})
			return id, func() bool { return len(other.Alive()) == 1 }
		},
		Settle: time.Minute,
	}
}

var small = fleet.Spec{
	Token: "l-1", Count: 2, ResourceClass: "small", UsageClass: "spot", CPU: 2, Mem: 4096,
	AllowedTypes: []string{"c6i.large", "m5.large"},
}

func launch(t *testing.T, m *fleettest.Memory, sp fleet.Spec) (fleet.Plan, fleet.Outcome) {
	t.Helper()
	p, err := m.Plan(t.Context(), sp)
	if err != nil {
		t.Fatalf("Plan error = %v", err)
	}
	out, err := m.Launch(t.Context(), p)
	if err != nil {
		t.Fatalf("Launch error = %v", err)
	}
	return p, out
}

func TestMemory_StatesFollowTheClock(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		m := fleettest.NewMemory(clock.RealClock{})
		m.SetListLag(20 * time.Second)
		m.SetEndDelay(time.Minute)
		_, out := launch(t, m, small)
		id := out.Machines[0].ID
		want := func(at string, listed int, state fleet.State) {
			t.Helper()
			all, err := m.List(t.Context(), "")
			if err != nil || len(all) != listed {
				t.Errorf("%s: List = %d machines, %v, want %d", at, len(all), err, listed)
			}
			if fm, ok := m.Machine(id); !ok || fm.State != state {
				t.Errorf("%s: state = %q, want %q", at, fm.State, state)
			}
		}
		want("at once", 0, fleet.Up)
		time.Sleep(20*time.Second - 1)
		want("one tick before the lag ends", 0, fleet.Up)
		time.Sleep(1)
		want("at the end of the lag", 2, fleet.Up)
		if err := m.Terminate(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		want("terminated", 2, fleet.Ending)
		time.Sleep(time.Minute)
		want("after the end delay", 2, fleet.Ended)
	})
}

func TestMemory_HooksRunOncePerMachine(t *testing.T) {
	m := fleettest.NewMemory(clock.RealClock{})
	var up, down []string
	m.OnLaunch(func(fm fleet.Machine) { up = append(up, fm.ID) })
	m.OnTerminate(func(id string) { down = append(down, id) })
	p, out := launch(t, m, small)
	if _, err := m.Launch(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	a, b := out.Machines[0].ID, out.Machines[1].ID
	if want := []string{a, b}; !slices.Equal(up, want) {
		t.Errorf("OnLaunch saw %v, want %v", up, want)
	}
	if !m.End(a) || m.End(a) || m.End("i-unknown") {
		t.Error("End did not report exactly the one machine that lived")
	}
	for range 2 {
		if err := m.Terminate(t.Context(), a, b); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{a, b}; !slices.Equal(down, want) {
		t.Errorf("OnTerminate saw %v, want %v", down, want)
	}
	if got := m.Alive(); len(got) != 0 || m.Launched() != 2 {
		t.Errorf("Alive = %v, Launched = %d, want none and 2", got, m.Launched())
	}
}

func TestMemory_RefuseTerminate_StopsNoOther_H67(t *testing.T) {
	m := fleettest.NewMemory(clock.RealClock{})
	_, out := launch(t, m, small)
	stuck, other := out.Machines[0].ID, out.Machines[1].ID
	m.RefuseTerminate(stuck, fleet.ErrThrottled)
	err := m.Terminate(t.Context(), stuck, other)
	var te *fleet.TerminateError
	if !errors.As(err, &te) || te.ID != stuck || !errors.Is(err, fleet.ErrThrottled) {
		t.Errorf("Terminate error = %v, want a TerminateError for %s", err, stuck)
	}
	if got := m.Alive(); !slices.Equal(got, []string{stuck}) {
		t.Errorf("Alive = %v, want only %s", got, stuck)
	}
	m.RefuseTerminate(stuck, nil)
	if err := m.Terminate(t.Context(), stuck); err != nil || len(m.Alive()) != 0 {
		t.Errorf("Terminate = %v, alive %v, want none left", err, m.Alive())
	}
}

func TestMemory_CapacityPerPlace_S75(t *testing.T) {
	for _, tt := range []struct {
		name    string
		slot    fleet.Slot
		n       int
		want    int
		refused fleet.Slot
		code    string
	}{
		{"Total", fleet.Slot{}, 1, 1, fleet.Slot{UsageClass: "spot"}, "InstanceLimitExceeded"},
		{"UsageClass", fleet.Slot{UsageClass: "spot"}, 0, 0, fleet.Slot{UsageClass: "spot"}, "InsufficientInstanceCapacity"},
		{"OtherUsageClass", fleet.Slot{UsageClass: "on-demand"}, 0, 4, fleet.Slot{}, ""},
		{"Type", fleet.Slot{InstanceType: "c6i.large"}, 1, 4, fleet.Slot{UsageClass: "spot", InstanceType: "c6i.large"}, "InsufficientInstanceCapacity"},
		{"Zone", fleet.Slot{Zone: "local-a"}, 1, 4, fleet.Slot{UsageClass: "spot", Zone: "local-a"}, "InsufficientInstanceCapacity"},
		{"Unlimited", fleet.Slot{}, fleettest.Unlimited, 4, fleet.Slot{}, ""},
	} {
		m := fleettest.NewMemory(clock.RealClock{})
		m.SetCapacity(tt.slot, tt.n)
		sp := small
		sp.Count = 4
		_, out := launch(t, m, sp)
		if len(out.Machines) != tt.want {
			t.Errorf("%s: launched %d, want %d", tt.name, len(out.Machines), tt.want)
		}
		if tt.code == "" && len(out.Refused) > 0 || tt.code != "" && (len(out.Refused) != 1 || out.Refused[0].Slot != tt.refused || out.Refused[0].Code != tt.code) {
			t.Errorf("%s: refused %+v, want %+v %s", tt.name, out.Refused, tt.refused, tt.code)
		}
	}
}
