package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
)

// Invariant 3 H53: a machine whose listener is refused, and that dies, is ended for its silence though GitHub's API is down as
// well by then: what keeps a registration from it keeps it from no end.
func TestGitHubHalfDown_ThenWholly_TheDeadEnd_H53(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.warm("100", 2, nil)
		w.Hub.SetTrouble(githubsim.OAuth, githubsim.Answer403, 0)
		w.submit(patient("200", 2))
		time.Sleep(20 * time.Second)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails})
		for id := range w.Instances() {
			w.Hang(id)
		}
		w.await(5*time.Minute, "both are ended", func() bool { return w.in(statemachine.Terminated) == 2 })
		w.Hub.SetOutage(githubsim.Outage{})
		w.Hub.SetTrouble(githubsim.OAuth, githubsim.NoTrouble, 0)
	})
}
