package reconciler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Invariant 4: the runner of a machine that is certainly gone is deleted when a leader first sees it: a second look at it is
// due after ten minutes, and leaders may die sooner than that.
func TestRunnersOfTheGone_NeedNoSecondLook(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		w.submit(spec("100", 1))
		st := w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
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
		w.release("100", 1, store.Drain)
	})
}
