package store

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/remuda-run/remuda/statemachine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// now is the clock reading of all tests that need only one.
var now = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// stubTable is a Table made of functions; a call of one that is nil panics.
type stubTable struct {
	Table
	putFunc    func(Item, int64) error
	getFunc    func(...Key) ([]Item, error)
	notifyFunc func(...Key) error
}

func (t stubTable) Put(_ context.Context, item Item, expect int64) error {
	return t.putFunc(item, expect)
}
func (t stubTable) Get(_ context.Context, _ Consistency, keys ...Key) ([]Item, error) {
	return t.getFunc(keys...)
}
func (t stubTable) Notify(_ context.Context, keys ...Key) error { return t.notifyFunc(keys...) }

// instanceIn returns a legal record in s, with every attribute set that s allows.
func instanceIn(s statemachine.State) Instance {
	in := Instance{
		Principal: "i-1", ID: "i-1", State: s, Assignment: 3, Since: At(now.Add(-time.Minute)),
		ResourceClass: "large", UsageClass: Spot, InstanceType: "c7i.large", CPU: 2, Mem: 4096, Zone: "zone-a",
		LaunchToken: "l-1", TemplateVersion: "7", CreatedAt: At(now.Add(-time.Hour)), ChangedAt: At(now.Add(-time.Minute)),
		Registration: Registration{Serial: 4, Assignment: 3, Mode: JIT, Name: "i-1-4", RunnerID: 9, URL: "https://github.com/o/r"},
		Release:      ReleaseDrain, Version: 11,
	}
	switch {
	case s.Owned():
		in.RunID, in.Attempt, in.Registration.Secret = "run-1", 2, "secret"
	case s == statemachine.Idle:
		in.PooledAt = At(now.Add(-time.Second))
	}
	if s != statemachine.Terminated && s != statemachine.None {
		in.Threshold = At(now.Add(time.Minute))
	}
	return in
}

// transition returns what any event could want to know.
func transition(e statemachine.Event) Transition {
	return Transition{
		Event: e, Now: now, Limit: 7 * time.Minute, RunID: "run-2", Attempt: 5, Release: ReleaseNow,
		Reason: "because", Detail: "last lines",
	}
}
