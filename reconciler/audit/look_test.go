package audit_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory returns a table in memory.
func memory(t *testing.T) store.Table {
	t.Helper()
	table, err := sqlitestore.OpenMemory(t.Context(), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

type lister struct {
	machines []fleet.Machine
	err      error
}

func (l lister) List(context.Context, string) ([]fleet.Machine, error) { return l.machines, l.err }

type runners struct {
	runners []githubapi.Runner
	err     error
}

func (r runners) Runners(context.Context) ([]githubapi.Runner, error) { return r.runners, r.err }

// fill stores one record of each kind, and one that cannot be read (H70).
func fill(t *testing.T, table store.Table) {
	t.Helper()
	st, at, ctx := store.New(table), time.Now(), t.Context()
	_, err := st.Submit(ctx, store.RunRequest{ID: "7", Attempt: 1, Count: 1, CreatedAt: store.At(at)})
	errs := []error{err, st.Seen(ctx, "7", 1, at)}
	_, err = st.PutStatus(ctx, store.RunStatus{ID: "7", Attempt: 1, Deadline: store.At(at.Add(time.Minute))}, statemachine.Accept, at)
	errs = append(errs, err)
	for _, id := range []store.InstanceID{"i-2", "i-1"} {
		_, err = st.Register(ctx, store.Instance{Principal: store.Principal(id), ID: id, RunID: "7", Attempt: 1, LaunchToken: "l"}, at, time.Minute)
		errs = append(errs, err)
	}
	_, err = st.PutLaunch(ctx, store.Launch{Token: "l", Count: 2, CreatedAt: store.At(at)})
	errs = append(errs, err, st.Beat(ctx, "i-1", store.Beat{Assignment: 1, Runner: "online"}, at),
		st.Signal(ctx, "i-1", store.SignalValue{Signal: store.ScriptOK, RunID: "7", Assignment: 1}, at))
	_, err = st.PutLease(ctx, store.Lease{Holder: "one", Term: 1, Renewed: store.At(at)})
	bad := store.Item{Key: store.InstanceKey("i-3", store.KindInstance), Version: 1, Attributes: []byte(`{"instanceId":"i-3","state":"claimed"}`)}
	if err := errors.Join(append(errs, err, table.Put(ctx, bad, 0))...); err != nil {
		t.Fatal(err)
	}
}

func TestLook_ReadsEverything(t *testing.T) {
	table := memory(t)
	fill(t, table)
	s, err := audit.Look(t.Context(), audit.Sources{
		Store: store.New(table), Fleet: lister{machines: []fleet.Machine{{ID: "i-2"}, {ID: "i-1"}}},
		GitHub: runners{runners: []githubapi.Runner{{Name: "i-2-1.1"}, {Name: "build-7"}, {Name: "i-1-1.1"}}},
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Instances) != 2 || s.Instances[0].ID != "i-1" || s.Instances[0].Heartbeat.Beat.Runner != "online" ||
		s.Instances[0].Signal.Value.Signal != store.ScriptOK || !s.Instances[1].Heartbeat.UpdatedAt.IsZero() {
		t.Errorf("instances = %+v, want i-1 with what its agent said, and i-2", s.Instances)
	}
	if len(s.Runs) != 1 || s.Runs[0].ID != "7" || s.Runs[0].Request == nil || s.Runs[0].Client == nil || s.Runs[0].Status == nil {
		t.Errorf("runs = %+v, want 7 with its three records", s.Runs)
	}
	if len(s.Launches) != 1 || s.Lease.Holder != "one" || !s.At.Equal(now) {
		t.Errorf("launches = %+v, lease %+v, at %s", s.Launches, s.Lease, s.At)
	}
	if !s.FleetRead || s.Machines[0].ID != "i-1" || !s.GitHubRead || len(s.Runners) != 2 || s.Runners[0].Name != "i-1-1.1" {
		t.Errorf("machines = %+v, runners %+v, want both read and sorted, without runners of other fleets", s.Machines, s.Runners)
	}
	if len(s.Bad) != 1 || s.Bad[0].Key.Partition != "INSTANCE#i-3" {
		t.Errorf("bad = %+v, want the record of i-3", s.Bad)
	}
	found := audit.Check(s, options())
	if !slices.ContainsFunc(found, func(v audit.Violation) bool {
		return v.Resource == "record INSTANCE#i-3 TYPE#Instance" && strings.Contains(v.Problem, "runId") && !strings.Contains(v.Problem, "INSTANCE")
	}) {
		t.Errorf("Check = %+v, want what is wrong with i-3, whose name the resource is", found)
	}
}

// What cannot be read is missing, is said, and hides nothing else.
func TestLook_Unread(t *testing.T) {
	table := memory(t)
	fill(t, table)
	refused := errors.New("refused")
	s, err := audit.Look(t.Context(), audit.Sources{Store: store.New(table), Fleet: lister{err: refused}, GitHub: runners{}}, now)
	if err != nil || s.FleetRead || !s.GitHubRead || len(s.Instances) != 2 {
		t.Fatalf("Look = %+v, %v, want everything but the fleet", s, err)
	}
	if len(s.Unread) != 1 || s.Unread[0].Part != audit.Fleet || !errors.Is(s.Unread[0].Cause, refused) {
		t.Errorf("Look: %v unread, want the fleet", s.Unread)
	}
	for _, v := range audit.Check(s, options()) {
		if strings.Contains(v.Problem, "machine") {
			t.Errorf("%+v, and the fleet was not read", v)
		}
	}
	s, err = audit.Look(t.Context(), audit.Sources{Store: store.New(table)}, now)
	if err != nil || s.FleetRead || s.GitHubRead {
		t.Errorf("Look of the store alone = %+v, %v", s, err)
	}
	closed, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := audit.Look(closed, audit.Sources{Store: store.New(table)}, now); s != nil || err == nil {
		t.Errorf("Look without a store = %+v, %v, want its error and nothing else", s, err)
	}
}

// An operator who reads the name of an invariant finds what it means.
func TestInvariants_AreExplained(t *testing.T) {
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	laws, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for n, inv := range audit.Invariants() {
		if inv.ID != n+1 || inv.Says == "" {
			t.Errorf("invariant %d: %+v, want the next number and what it says", n+1, inv)
		}
		if !strings.Contains(string(text), "| "+strconv.Itoa(inv.ID)+" `"+inv.Name+"` |") {
			t.Errorf("docs/operating.md does not explain %d `%s`", inv.ID, inv.Name)
		}
		if inv.ID <= 10 && !strings.Contains(string(laws), "\n"+strconv.Itoa(inv.ID)+". ") {
			t.Errorf("docs/architecture.md has no line %d", inv.ID)
		}
	}
}
