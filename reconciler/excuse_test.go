package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H53 invariant 6: GitHub answers nobody from just after the registration on, for minutes. Listeners wait and say nothing; no
// machine ends for it, be it warm or new, and each serves its run once GitHub answers.
func TestGitHubDoesNotAnswer_ListenersMayWait_H53(t *testing.T) {
	for name, warm := range map[string]bool{"Warm": true, "New": false} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				w.controller("c1", nil)
				if warm {
					w.warm("100", 2, nil)
				}
				r := spec("200", 2)
				r.Timeout = store.SecondsOf(time.Hour)
				registered := w.Hub.Calls()[githubsim.CallJIT]
				listening := w.Hub.Calls()[githubsim.CallConnect]
				w.submit(r)
				w.await(time.Minute, "registered", func() bool { return w.Hub.Calls()[githubsim.CallJIT] == registered+2 })
				w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Hangs})
				w.await(time.Minute, "listeners begin", func() bool { return w.Hub.Calls()[githubsim.CallConnect] >= listening+2 })
				time.Sleep(4 * time.Minute)
				w.Hub.SetOutage(githubsim.Outage{})
				w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
				w.checkNoneEnded()
				if n := w.Fleet.Launched(); n != 2 {
					t.Errorf("launched %d, want 2", n)
				}
				w.release("200", 1, store.Drain)
			})
		})
	}
}

// S65: a listener that says nothing and does not come online costs its machine while GitHub's API answers, alone after a
// minute; also after a time without GitHub.
func TestGitHubAnswers_ALateListenerIsNoneTheLess_S65(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.controller("c1", nil)
		w.warm("100", 1, nil)
		for _, id := range w.Fleet.Alive() {
			w.Harm(store.InstanceID(id)) // what keeps its listener from GitHub is nothing but its own
		}
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Hangs, Calls: []githubsim.Call{githubsim.CallConnect}})
		w.submit(spec("200", 1))
		began := w.Clock.Now()
		w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Hangs})
		time.Sleep(2 * time.Minute)
		if n := w.in(statemachine.Claimed); n != 1 {
			t.Fatalf("%d are claimed while nobody is answered, want 1", n)
		}
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Hangs, Calls: []githubsim.Call{githubsim.CallConnect}})
		took := w.await(time.Minute, "rejected", func() bool { return w.in(statemachine.Terminated) == 1 })
		if limit := 2*w.Config.Limits.ClaimGate + 5*time.Second; took > limit {
			t.Errorf("rejected %s after GitHub answers again (%s after the request), want at most %s", took, w.Clock.Since(began), limit)
		}
		w.Hub.SetOutage(githubsim.Outage{})
		w.awaitPhase("200", 1, statemachine.Ready, 2*time.Minute)
	})
}

// S64 S65 S66: one of several that are claimed at once says nothing, and the others come online: it costs its machine as soon
// as its gate closes.
func TestLateListener_BesideOthersThatCame_S65_S66(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Waive(statemachine.ReasonGate)
		w.controller("c1", nil)
		st := w.warm("100", 3, nil)
		mute := st.Instances[1].InstanceID
		w.Fall(mute, agenttest.Mute)
		w.submit(spec("200", 3))
		w.await(15*time.Second, "rejected", func() bool { return w.instance(mute).State == statemachine.Terminated })
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
		if n := w.in(statemachine.Terminated); n != 1 {
			t.Errorf("%d machines ended, want the mute one", n)
		}
	})
}

// Invariant 6 H25: a run is given back while GitHub does not answer in time, and so are its machines, late. A leader that comes
// meanwhile does not take them for machines that should be online.
func TestGiveBack_LateAndUnderAnotherLeader_EndsNoMachine_H25(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		stop := w.controller("c1", nil)
		w.warm("100", 2, nil)
		w.Hub.SetLatency(githubsim.Latency{API: 12 * time.Second})
		w.submit(spec("200", 2))
		w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 2 })
		w.release("200", 1, store.Drain)
		stop()
		w.controller("c2", nil)
		time.Sleep(2 * time.Minute)
		w.Hub.SetLatency(githubsim.Latency{})
		w.await(time.Minute, "pooled", func() bool { return w.pooled() == 2 })
		w.checkNoneEnded()
	})
}
