package reconciler

import (
	"context"
	"log/slog"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/pool/pooltest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// newTestTerm returns a tenure at dawn that trusts itself, over table and what else is needed, all in memory.
func newTestTerm(t *testing.T, table store.Table, hub GitHub) (*manager, *clocktesting.FakeClock, *fleettest.Memory) {
	t.Helper()
	clk := clocktesting.NewFakeClock(dawn)
	machines := fleettest.NewMemory(clk)
	cfg := Defaults()
	cfg.Classes = map[string]Class{"small": {CPU: 2, Mem: 4096}}
	o := Options{
		Config: cfg, Table: table, Pool: pooltest.NewMemory(clk), Fleet: machines, GitHub: hub, Clock: clk, Offset: func() time.Duration { return 0 },
		Log: slog.New(slog.DiscardHandler),
	}
	term := newManager(o, 7, 0, fence{clock: clk, until: func() time.Time { return clk.Now().Add(time.Hour) }, margin: time.Second}, clk.Now)
	t.Cleanup(term.queues.shutDown)
	return term, clk, machines
}

// notifying is a table whose notification comes while it answers a read, after it has looked.
type notifying struct {
	store.Table
	meanwhile func()
}

func (r *notifying) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	items, err := r.Table.Get(ctx, c, keys...)
	if once := r.meanwhile; once != nil {
		r.meanwhile = nil
		once()
	}
	return items, err
}

// H03: a notification that comes between the table's answer and its arrival is not lost: the request is read again.
func TestReadRun_NotifiedDuringTheRead(t *testing.T) {
	clk := clocktesting.NewFakeClock(dawn)
	table := &notifying{Table: storetest.NewMemory(clk)}
	term, _, _ := newTestTerm(t, table, nil)
	client := store.New(table.Table)
	r := store.RunRequest{ID: "100", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small", Timeout: 60}
	if _, err := client.Submit(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	term.cache.requests.changed("100", dawn)
	table.meanwhile = func() {
		if _, err := client.Release(t.Context(), "100", 1, store.ReleaseDrain); err != nil {
			t.Error(err)
		}
		term.notifications.notified(store.RequestKey("100", store.KindRunRequest))
	}
	first, err := term.requests.readRun(t.Context(), "100")
	if err != nil || first.request == nil || first.request.Released() {
		t.Fatalf("first read = %+v, %v, want the request before its release", first, err)
	}
	second, err := term.requests.readRun(t.Context(), "100")
	if err != nil || !second.request.Released() {
		t.Errorf("the look that the notification asked for: released %v, %v, want it read again", second.request.Released(), err)
	}
}

// An instance that expired although it lives, because its agent or somebody let it, leaves every index: the caps, what
// its run holds, what comes back.
func TestCache_ForgetsALivingOne(t *testing.T) {
	for _, state := range []statemachine.State{statemachine.Created, statemachine.Running, statemachine.Idle} {
		v := newRecords()
		in := inState("i-1", 1, state, "100")
		in.ExpiresAt = dawn.Add(time.Minute)
		v.instances.apply(in)
		v.forget(dawn.Add(time.Minute))
		if n, _ := v.instances.live(""); n != 0 || len(v.instances.heldBy("100")) != 0 || len(v.returns()) != 0 || len(v.unfinished()) != 0 {
			t.Errorf("%s: %d live, held %v, returning %v after the expiry", state, n, v.instances.heldBy("100"), v.returns())
		}
		if _, known := v.instances.id("p-i-1"); known {
			t.Errorf("%s: its principal is still known", state)
		}
	}
}

// What an attempt looked at in the pool is forgotten when another takes its place.
func TestAccept_ForgetsTheLooksOfTheAttemptBefore(t *testing.T) {
	term, _, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), nil)
	request := store.RunRequest{
		ID: "100", Attempt: 2, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small",
		Timeout: 60, ReleasedAttempt: 2, Version: 2,
	}
	status, err := term.cache.store.PutStatus(t.Context(), store.RunStatus{ID: "100", Attempt: 1, Deadline: store.At(dawn.Add(time.Minute))}, statemachine.Accept, dawn)
	if err != nil {
		t.Fatal(err)
	}
	term.cache.requests.applyRun("100", store.RunRecords{Request: &request, Status: &status}, dawn)
	r, _ := term.cache.requests.getRun("100")
	q, err := term.cfg.query(request)
	if err != nil {
		t.Fatal(err)
	}
	term.cache.index.pickup.Put(ticketOf(inState("i-1", 1, statemachine.Idle, "")))
	looks := 0
	for ; looks < 100; looks++ {
		ticket, ok := term.cache.index.pickup.Take(q, attemptKey(r), nil)
		if !ok {
			break
		}
		term.cache.index.pickup.Return(ticket.InstanceID)
	}
	if looks == 0 || looks == 100 {
		t.Fatalf("%d looks, want some and not for ever", looks)
	}
	if err := term.requests.accept(t.Context(), r, false); err != nil {
		t.Fatal(err)
	}
	if _, ok := term.cache.index.pickup.Take(q, attemptKey(r), nil); !ok {
		t.Error("the looks of the attempt before are still counted")
	}
}

// A client that asks takes over what the controller asked for. One that gives it back does not, although a role under an
// earlier policy drops the controller's mark with that write. S40
func TestTakenOver_NotByARelease_S40(t *testing.T) {
	answered := store.RunStatus{Attempt: 1, Phase: statemachine.Ready, OriginalCount: 2}
	for name, tt := range map[string]struct {
		request store.RunRequest
		want    bool
	}{
		"TheControllers":        {store.RunRequest{Attempt: 1, OriginalCount: 2, NoWait: true}, false},
		"AClientAsks":           {store.RunRequest{Attempt: 1}, true},
		"AClientGivesBack":      {store.RunRequest{Attempt: 1, ReleasedAttempt: 1, Release: store.ReleaseDrain}, false},
		"AClientAsksAnotherOne": {store.RunRequest{Attempt: 2}, false},
	} {
		if got := (run{request: &tt.request, status: &answered}).takenOver(); got != tt.want {
			t.Errorf("%s: takenOver() = %t, want %t", name, got, tt.want)
		}
	}
}
