package reconciler

import (
	"context"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store/storetest"
)

// countingHub is a GitHub that only counts what it registers.
type countingHub struct {
	GitHub
	names []string
}

func (m *countingHub) URL() string { return "https://github.example/octo/repo" }

func (m *countingHub) JITConfig(_ context.Context, name, _ string) (githubapi.JIT, error) {
	m.names = append(m.names, name)
	return githubapi.JIT{RunnerID: int64(len(m.names)), Config: "secret"}, nil
}

// H37: a look that began before the registration was delivered makes no second one, but looks again.
func TestRegister_AfterADelivery_MakesNoSecond_H37(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		hub := &countingHub{}
		term, _, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), hub)
		in, err := term.cache.store.Register(t.Context(), inState("i-1", 0, statemachine.Created, "100"), dawn, time.Minute)
		if err != nil {
			t.Fatalf("Register() error = %v", err)
		}
		term.cache.instances.apply(in)
		before, _ := term.cache.instances.get("i-1")
		for range 2 {
			if err := term.instances.runners.register(t.Context(), before); err != nil {
				t.Fatalf("register() error = %v", err)
			}
		}
		if len(hub.names) != 1 || hub.names[0] != "i-1-7.1" {
			t.Errorf("registered %v, want only i-1-7.1", hub.names)
		}
		// Nothing was learned of GitHub meanwhile: a gate that was held for it stays held.
		term.cache.instances.with("i-1", func(in *instance) { in.reg.githubDown = true })
		if err := term.instances.runners.register(t.Context(), before); err != nil {
			t.Fatalf("register() error = %v", err)
		}
		if s, _ := term.cache.instances.get("i-1"); !s.reg.githubDown || s.reg.requesting {
			t.Errorf("after a look that was late: blocked %v, requesting %v, want blocked still", s.reg.githubDown, s.reg.requesting)
		}
		if term.queues.instances.Len() != 1 {
			t.Errorf("%d looks are due, want another one", term.queues.instances.Len())
		}
	})
}
