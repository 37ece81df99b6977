package reconciler_test

import (
	"context"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// slowly is a script that takes its time.
type slowly time.Duration

func (s slowly) Run(ctx context.Context) error {
	select {
	case <-time.After(time.Duration(s)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// explained returns the start for which a request that is Ready waited.
func (w *world) explained(id string) timeline.Start {
	w.t.Helper()
	st := w.status(id)
	var instances []store.Instance
	for _, in := range w.Instances() {
		instances = append(instances, in)
	}
	t := timeline.Request(st.ID, store.RunRecords{Status: &st}, instances, "", w.Clock.Now())
	for _, s := range t.Starts {
		if s.InstanceID == t.Decisive {
			w.t.Log(t.Conclusion)
			return s
		}
	}
	w.t.Fatalf("request %s waited for no instance: %+v", id, t)
	return timeline.Start{}
}

// What the world takes longest for is what the timeline names, and its phases add up to the wait.
func TestExplain_NamesTheLongestPhase(t *testing.T) {
	tests := map[string]struct {
		boot, script, github time.Duration
		cold, warm           timeline.Name
	}{
		"Boot":   {60 * time.Second, 5 * time.Second, 0, timeline.Boot, timeline.Registration},
		"Script": {5 * time.Second, 60 * time.Second, 0, timeline.Script, timeline.Registration},
		"GitHub": {5 * time.Second, 5 * time.Second, 8 * time.Second, timeline.Registration, timeline.Registration},
	}
	for name, test := range tests {
		t.Run(name, story(func(t *testing.T, w *world) {
			w.Boot, w.Script = test.boot, slowly(test.script)
			defer w.controller("c1", nil)()
			w.Hub.SetLatency(githubsim.Latency{Session: test.github})
			starts := func(id string, warm bool, longest timeline.Name) {
				t.Helper()
				w.submit(spec(id, 1))
				st := w.awaitPhase(id, 1, statemachine.Ready, 3*time.Minute)
				s := w.explained(id)
				if s.Warm != warm || s.Longest != longest {
					t.Errorf("request %s started warm: %t, longest %q, want %t, %q: %+v", id, s.Warm, s.Longest, warm, longest, s.Phases)
				}
				last := s.Phases[len(s.Phases)-1]
				if off := st.ReadyAt.Sub(last.To.Time); off < 0 || off > time.Second || !s.Phases[0].From.Equal(st.PendingAt) {
					t.Errorf("request %s waited from %s to %s, its phases are from %s to %s", id, st.PendingAt, st.ReadyAt, s.Phases[0].From, last.To)
				}
			}
			starts("100", false, test.cold)
			w.give("100", 1, store.ReleaseDrain, 3*time.Minute)
			w.await(3*time.Minute, "it is pooled", func() bool { return w.pooled() == 1 })
			starts("101", true, test.warm)
		}))
	}
}
