package reconciler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H53 invariant 6: GitHub answers nobody from just after the registration on, for minutes. Listeners wait and say nothing; no
// machine ends for it, be it warm or new, and each serves its run once GitHub answers.
func TestGitHubDoesNotAnswer_ListenersMayWait_H53(t *testing.T) {
	for name, warm := range map[string]bool{"Warm": true, "New": false} {
		t.Run(name, storyLed(func(t *testing.T, w *world) {
			if warm {
				w.warm("100", 2)
			}
			registered := w.Hub.Calls()[githubsim.CallJIT]
			listening := w.Hub.Calls()[githubsim.CallConnect]
			w.submit(spec("200", 2, within(time.Hour)))
			w.await(time.Minute, "registered", func() bool { return w.Hub.Calls()[githubsim.CallJIT] == registered+2 })
			w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Hangs})
			w.await(time.Minute, "listeners begin", func() bool { return w.Hub.Calls()[githubsim.CallConnect] >= listening+2 })
			time.Sleep(4 * time.Minute)
			w.Hub.SetOutage(githubsim.Outage{})
			w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
			w.checkNoneEnded()
			w.launched(2)
			w.release("200", 1, store.ReleaseDrain)
		}))
	}
}

// S65: a listener that says nothing and does not come online costs its machine while GitHub's API answers, alone after a
// minute; also after a time without GitHub.
func TestGitHubAnswers_ALateListenerIsNoneTheLess_S65(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.warm("100", 1)
		for _, id := range w.Fleet.Alive() {
			w.Disturb(store.InstanceID(id)) // what keeps its listener from GitHub is nothing but its own
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
		if limit := 2*w.Config().Limits.ClaimGate + 5*time.Second; took > limit {
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
		st := w.warm("100", 3)
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

// disruption is a way in which GitHub keeps listeners from coming online while its API is up.
type disruption struct {
	name       string
	service    githubsim.Service
	trouble    githubsim.Trouble // "": it calls every version deprecated
	lasts      time.Duration
	ready      time.Duration // after its end, at most
	unanswered bool
}

// Ready follows within 10 s where a listener was refused, since somebody tries again every 5 s; within 35 s where the
// program itself tries again, every 30 s; and 100 s later where a call hangs and is never answered.
var disruptions = []disruption{
	{name: "BrokerHangs", service: githubsim.Broker, trouble: githubsim.Hang, lasts: 5 * time.Minute, ready: 10 * time.Second},
	{name: "BrokerHangsUnanswered", service: githubsim.Broker, trouble: githubsim.Hang, lasts: 5 * time.Minute, ready: 135 * time.Second, unanswered: true},
	{name: "BrokerRefuses", service: githubsim.Broker, trouble: githubsim.Refuse, lasts: 5 * time.Minute, ready: 35 * time.Second},
	{name: "BrokerDrops", service: githubsim.Broker, trouble: githubsim.Drop, lasts: 5 * time.Minute, ready: 35 * time.Second},
	{name: "Broker500", service: githubsim.Broker, trouble: githubsim.Answer500, lasts: 5 * time.Minute, ready: 35 * time.Second},
	{name: "Broker503", service: githubsim.Broker, trouble: githubsim.Answer503, lasts: 5 * time.Minute, ready: 35 * time.Second},
	{name: "Token403", service: githubsim.OAuth, trouble: githubsim.Answer403, lasts: 5 * time.Minute, ready: 10 * time.Second},
	{name: "Token503", service: githubsim.OAuth, trouble: githubsim.Answer503, lasts: 5 * time.Minute, ready: 35 * time.Second},
	{name: "Deprecated", lasts: time.Minute, ready: 10 * time.Second},
	{name: "Deprecated5m", lasts: 5 * time.Minute, ready: 10 * time.Second},
}

func (d disruption) begin(w *world) {
	if d.trouble == "" {
		w.Hub.SetDeprecated(true)
		return
	}
	w.Hub.SetTrouble(d.service, d.trouble, 0)
}

func (d disruption) end(w *world) {
	w.Hub.SetDeprecated(false)
	if d.service != "" {
		w.Hub.SetTrouble(d.service, githubsim.NoTrouble, 0)
	}
}

// disrupt runs test under each disruption, with either kind of registration.
func disrupt(t *testing.T, test func(t *testing.T, w *world, d disruption)) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		for _, d := range disruptions {
			t.Run(string(mode)+"/"+d.name, storyBeside(func(t *testing.T, w *world) {
				w.Unanswered = d.unanswered
				w.Configure(func(c *reconciler.Config) { c.Registration = mode })
				w.Hub.SetLatency(githubsim.Latency{Session: 700 * time.Millisecond})
				defer w.controller("c1", nil)()
				test(t, w, d)
			}))
		}
	}
}

// Invariant 6 H53 H28: GitHub's API is up, and one of the services that listeners need is not, while two requests wait and one
// runs: no machine ends, none is launched beyond what the requests lack, and all are served when it is over.
func TestGitHubHalfDown_BurnsNothing_H28_H53(t *testing.T) {
	takesLong(t)
	t.Parallel()
	disrupt(t, func(t *testing.T, w *world, d disruption) {
		w.warm("100", 5)
		w.serve(spec("200", 2), time.Minute)
		d.begin(w)
		w.submit(patient("300", 2))
		time.Sleep(3 * time.Second)
		w.submit(patient("400", 3)) // warm, warm and cold: the fifth is 400's
		time.Sleep(d.lasts - 3*time.Second)
		w.checkNoneEnded()
		if st := w.status("300"); !strings.Contains(st.Message, "github") {
			t.Errorf("request 300 is %s: %q, want it to say what GitHub says", st.Phase, st.Message)
		}
		d.end(w)
		over := w.Clock.Now()
		job := w.jobs("200", 1, 1)
		if st := w.awaitPhase("300", 1, statemachine.Ready, d.ready); st.Message != "" {
			t.Errorf("request 300 is Ready: %q", st.Message)
		}
		w.awaitPhase("400", 1, statemachine.Ready, d.ready-w.Clock.Since(over))
		w.await(65*time.Second-w.Clock.Since(over), "job begins", func() bool { j, _ := w.Hub.Job(job[0]); return j.State != githubsim.Queued })
		w.awaitJobs(append(w.jobs("300", 2, 5), w.jobs("400", 3, 5)...), time.Minute)
		w.checkNoneEnded()
		w.launched(7)
	})
}

// The same disruption begins while machines are on their way online: they were claimed, or boot.
func TestGitHubHalfDown_BeginsMidway_BurnsNothing_H28_H53(t *testing.T) {
	takesLong(t)
	t.Parallel()
	disrupt(t, func(t *testing.T, w *world, d disruption) {
		w.warm("100", 4)
		w.submit(patient("200", 2))
		w.submit(patient("300", 4))
		w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 4 })
		d.begin(w)
		time.Sleep(d.lasts)
		w.checkNoneEnded()
		d.end(w)
		over := w.Clock.Now()
		for _, id := range []string{"200", "300"} {
			w.awaitPhase(id, 1, statemachine.Ready, d.ready-w.Clock.Since(over))
		}
		w.checkNoneEnded()
		w.launched(6)
	})
}

// A machine that nobody can be compared with is replaced once, after a minute. That its replacement fares no better means
// GitHub, and the deadline says so in GitHub's words.
func TestGitHubHalfDown_AloneIsReplacedOnce_S66_H53(t *testing.T) {
	takesLong(t)
	t.Parallel()
	disrupt(t, func(t *testing.T, w *world, d disruption) {
		w.Waive(statemachine.ReasonRegistration, statemachine.ReasonGate)
		d.begin(w)
		began := w.Clock.Now()
		w.submit(spec("100", 1, within(8*time.Minute)))
		time.Sleep(time.Minute)
		w.checkNoneEnded()
		time.Sleep(6*time.Minute + 50*time.Second)
		lost := w.in(statemachine.Terminated)
		if n := w.Fleet.Launched(); n != 1+lost || lost > 1 {
			t.Errorf("launched %d, of which %d ended, within %s, want one replacement at most", n, lost, w.Clock.Since(began))
		}
		if d.trouble == "" && w.status("100").Phase == statemachine.Ready {
			return // it was handed over in the moment between its listener's word and GitHub's
		}
		st := w.awaitPhase("100", 1, statemachine.Failed, time.Minute)
		if st.Reason != reconciler.ReasonTimeout || !strings.Contains(st.Message, "github") {
			t.Errorf("failed for %s: %s, want a timeout that says GitHub is the reason", st.Reason, st.Message)
		}
		w.await(3*time.Minute, "pooled", func() bool { return w.pooled() == 1 })
		d.end(w)
		w.serve(spec("200", 1), 135*time.Second)
	})
}

// A leader that finds machines refused knows nothing of what was before, and replaces nobody for it.
func TestGitHubHalfDown_UnderManyLeaders_BurnsNothing_H53(t *testing.T) {
	takesLong(t)
	for _, d := range disruptions {
		t.Run(d.name, storyBeside(func(_ *testing.T, w *world) {
			w.Unanswered = d.unanswered
			stop := w.controller("c1", nil)
			w.warm("100", 1)
			d.begin(w)
			w.submit(patient("200", 1))
			time.Sleep(20 * time.Second)
			for range 3 {
				stop()
				stop = w.controller("c2", nil)
				time.Sleep(2 * time.Minute)
			}
			w.checkNoneEnded()
			d.end(w)
			w.awaitPhase("200", 1, statemachine.Ready, d.ready)
			w.launched(1)
			stop()
		}))
	}
}

// S66: a machine that is refused while others come online is ill, and replaced soon after the next one has shown it.
func TestIllMachine_ReplacedOnceOthersShowIt_S66(t *testing.T) {
	for _, cause := range []string{store.CauseRefused, store.CauseDeprecated} {
		t.Run(cause, story(func(t *testing.T, w *world) {
			w.Waive(statemachine.ReasonRegistration)
			defer w.controller("c1", nil)()
			st := w.warm("100", 2)
			ill := st.Instances[0].InstanceID
			w.Fall(ill, cause)
			w.submit(patient("200", 2))
			time.Sleep(10 * time.Second)
			w.checkNoneEnded()
			w.submit(spec("300", 1)) // its machine boots and comes online
			w.awaitPhase("300", 1, statemachine.Ready, time.Minute)
			w.await(15*time.Second, "the ill one ends", func() bool { return w.instance(ill).State == statemachine.Terminated })
			w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
			if n := w.in(statemachine.Terminated); n != 1 {
				t.Errorf("%d machines ended, want the ill one", n)
			}
		}))
	}
}

// A machine whose listener ends for its own certain fault is replaced at once.
func TestOwnFault_ReplacedAtOnce_S66(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Waive(statemachine.ReasonRegistration)
		defer w.controller("c1", nil)()
		st := w.warm("100", 1)
		w.submit(patient("200", 1))
		w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		in := w.instance(st.Instances[0].InstanceID)
		full := store.SignalValue{
			Signal: store.RegFailed, RunID: in.RunID, Assignment: in.Assignment, Cause: store.CauseMachine, Detail: "no space left on device",
		}
		if err := w.Store.Signal(t.Context(), in.Principal, full, w.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		w.await(5*time.Second, "it ends", func() bool { return w.instance(in.ID).State == statemachine.Terminated })
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
	})
}

// Where no machine can do what its class asks for, the first that says so fails the request with its words: another launch would
// be of no use. S-0
func TestHost_FailsTheRequest_Review_S0(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Waive(statemachine.ReasonRegistration)
		defer w.controller("c1", nil)()
		st := w.warm("100", 1)
		w.submit(patient("200", 1))
		w.await(time.Minute, "claimed", func() bool { return w.in(statemachine.Claimed) == 1 })
		in := w.instance(st.Instances[0].InstanceID)
		refused := store.SignalValue{
			Signal: store.RegFailed, RunID: in.RunID, Assignment: in.Assignment, Cause: store.CauseHost, Detail: "/etc/subuid gives ids to runner",
		}
		if err := w.Store.Signal(t.Context(), in.Principal, refused, w.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		st = w.awaitPhase("200", 1, statemachine.Failed, time.Minute)
		if st.Reason != reconciler.ReasonHost || !strings.Contains(st.Message, refused.Detail) {
			t.Errorf("it failed for %q: %s; want %q and what the machine said", st.Reason, st.Message, reconciler.ReasonHost)
		}
		if n := len(w.Instances()); n != 1 {
			t.Errorf("%d machines were launched, want that of run 100 alone", n)
		}
	})
}

// H37: probing makes few registrations: one machine every 5 s for ten minutes, then one every 30 s, however many wait.
func TestProbing_IsPaced_H37(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.IdlePoll = time.Second
		w.Configure(func(c *reconciler.Config) { c.MaxRuntime = 24 * time.Hour })
		defer w.controller("c1", nil)()
		w.Hub.SetTrouble(githubsim.OAuth, githubsim.Answer403, 0)
		w.submit(spec("100", 10, within(2*time.Hour)))
		count := func(d time.Duration) int {
			before := w.Hub.Calls()[githubsim.CallJIT]
			time.Sleep(d)
			return w.Hub.Calls()[githubsim.CallJIT] - before
		}
		time.Sleep(time.Minute)
		if n := count(8 * time.Minute); n < 90 || n > 97 {
			t.Errorf("%d registrations in 8 minutes, want one every 5 s", n)
		}
		time.Sleep(3 * time.Minute)
		if n := count(30 * time.Minute); n < 58 || n > 61 {
			t.Errorf("%d registrations in 30 minutes, want one every 30 s", n)
		}
		if left := w.runners(); len(left) > 11 {
			t.Errorf("%d runners are registered, want those that failed deleted", len(left))
		}
		w.Hub.SetTrouble(githubsim.OAuth, githubsim.NoTrouble, 0)
		w.awaitPhase("100", 1, statemachine.Ready, 35*time.Second)
		w.checkNoneEnded()
	})
}

// Invariant 3 H53: a machine whose listener is refused, and that dies, is ended for its silence though GitHub's API is down as
// well by then: what keeps a registration from it keeps it from no end.
func TestGitHubHalfDown_ThenWholly_TheDeadEnd_H53(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.warm("100", 2)
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
