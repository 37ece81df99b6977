package reconciler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// outage is a way in which GitHub does not serve its clients.
type outage struct {
	name  string
	begin func(*githubsim.Hub)
}

// outages is every way of githubapi's error kinds. All but the last leave runners alone, which have
// connections and credentials of their own.
var outages = []outage{
	{"Fails", func(h *githubsim.Hub) { h.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: clientCalls}) }},
	{"Hangs", func(h *githubsim.Hub) { h.SetOutage(githubsim.Outage{Mode: githubsim.Hangs, Calls: clientCalls}) }},
	{"RepliesLost", func(h *githubsim.Hub) { h.SetOutage(githubsim.Outage{Mode: githubsim.Lost, Calls: clientCalls}) }},
	{"TooSlow", func(h *githubsim.Hub) { h.SetLatency(githubsim.Latency{API: 20 * time.Second}) }},
	{"Revoked", func(h *githubsim.Hub) { h.SetOutage(githubsim.Outage{Mode: githubsim.Revoked}) }},
	{"PrimaryLimit", func(h *githubsim.Hub) { limit(h, githubsim.RateLimit{Window: time.Hour}) }},
	{"SecondaryLimit", func(h *githubsim.Hub) { limit(h, githubsim.RateLimit{Window: time.Hour, Secondary: true}) }},
	{"AllOfIt", func(h *githubsim.Hub) { h.SetOutage(githubsim.Outage{Mode: githubsim.Fails}) }},
}

func limit(h *githubsim.Hub, l githubsim.RateLimit) {
	h.SetRateLimit(githubsim.ResourceCore, l)
	h.SetRateLimit(githubsim.ResourceRegistration, l)
}

// endOutage ends any outage.
func endOutage(h *githubsim.Hub) {
	h.SetOutage(githubsim.Outage{})
	h.SetLatency(githubsim.Latency{})
	limit(h, githubsim.RateLimit{})
}

// tenMinutes is how long GitHub is out of order: the limits of every state but running are shorter, or
// as long.
const tenMinutes = 10 * time.Minute

// inOutage runs test under each trouble, which lasts from its call of begin to that of over.
func inOutage(t *testing.T, mode store.RegistrationMode, test func(t *testing.T, w *world, begin, over func())) {
	for _, tr := range outages {
		t.Run(string(mode)+"/"+tr.name, storyBeside(func(t *testing.T, w *world) {
			w.IdlePoll = time.Second
			w.Configure(func(c *reconciler.Config) { c.Registration = mode })
			defer w.controller("c1", nil)()
			test(t, w, func() { tr.begin(w.Hub) }, func() { endOutage(w.Hub) })
		}))
	}
}

// inEitherMode is inOutage with each kind of registration.
func inEitherMode(t *testing.T, test func(t *testing.T, w *world, begin, over func())) {
	inOutage(t, store.JIT, test)
	inOutage(t, store.Token, test)
}

// patient is a request whose time is longer than the outage.
func patient(id string, count int) store.RunRequest {
	return spec(id, count, within(20*time.Minute))
}

// outlast asks for three machines while GitHub is out of order: none ends, and they serve once it is back.
func (w *world) outlast(id string, begin, over func()) {
	w.t.Helper()
	begin()
	w.submit(patient(id, 3))
	time.Sleep(tenMinutes)
	w.checkNoneEnded()
	over()
	w.awaitPhase(id, 1, statemachine.Ready, time.Minute)
	w.launched(3)
	w.awaitJobs(w.jobs(id, 3, 10), 5*time.Minute)
	w.checkNoneEnded()
}

// Machines that boot meanwhile wait for their registration, and are handed over when GitHub is back. invariant 6
func TestGitHubTrouble_Cold_Waits(t *testing.T) {
	t.Parallel()
	inEitherMode(t, func(_ *testing.T, w *world, begin, over func()) { w.outlast("100", begin, over) })
}

// So do machines of the pool.
func TestGitHubTrouble_Warm_Waits(t *testing.T) {
	takesLong(t)
	t.Parallel()
	inEitherMode(t, func(_ *testing.T, w *world, begin, over func()) {
		w.warm("100", 3)
		w.outlast("200", begin, over)
	})
}

// A request whose time is shorter fails with the reason, and its machines serve the next one.
func TestGitHubTrouble_Deadline_SaysWhy(t *testing.T) {
	takesLong(t)
	t.Parallel()
	inOutage(t, store.JIT, func(t *testing.T, w *world, begin, over func()) {
		w.warm("100", 2)
		begin()
		w.submit(spec("200", 2, within(3*time.Minute)))
		st := w.awaitPhase("200", 1, statemachine.Failed, 3*time.Minute+5*time.Second)
		if st.Reason != reconciler.ReasonTimeout || !strings.Contains(st.Message, "; last problem: register i-") || !strings.Contains(st.Message, "github") {
			t.Errorf("status = %s: %s, want a timeout that says GitHub is the reason", st.Reason, st.Message)
		}
		w.await(2*time.Minute, "machines back in the pool", func() bool { return w.pooled() == 2 })
		over()
		w.serve(spec("300", 2), time.Minute)
		w.checkNoneEnded()
	})
}

// A release in progress waits, since GitHub could still hand a job to the runners; afterwards the
// machines are pooled.
func TestGitHubTrouble_Release_Waits(t *testing.T) {
	takesLong(t)
	t.Parallel()
	inEitherMode(t, func(t *testing.T, w *world, begin, over func()) {
		w.serve(spec("100", 3), time.Minute)
		begin()
		w.release("100", 1, store.ReleaseDrain)
		time.Sleep(tenMinutes)
		w.checkNoneEnded()
		over()
		w.awaitPhase("100", 1, statemachine.PhaseReleased, time.Minute)
		w.await(time.Minute, "all pooled", func() bool { return w.pooled() == 3 })
		w.checkNoneEnded()
	})
}

// A run whose runners are used up gets the next ones when GitHub is back, and its jobs run.
func TestGitHubTrouble_NextRegistration_Waits(t *testing.T) {
	takesLong(t)
	t.Parallel()
	inOutage(t, store.JIT, func(t *testing.T, w *world, begin, over func()) {
		w.serve(spec("100", 2), time.Minute)
		first := w.jobs("100", 2, 60)
		w.await(10*time.Second, "jobs running", func() bool { return w.jobsIn(githubsim.Running) == 2 })
		begin()
		more := w.jobs("100", 2, 30)
		time.Sleep(tenMinutes)
		w.checkNoneEnded()
		over()
		w.awaitJobs(append(first, more...), 5*time.Minute)
		w.checkNoneEnded()
		if strings.HasSuffix(t.Name(), "/AllOfIt") {
			w.Cut(first...) // whose runners could not tell GitHub in time that they were done
		}
	})
}

// A seat that is lost after Ready is refilled from the pool, and the machine waits for GitHub as long as the
// run lasts.
func TestGitHubTrouble_Refill_Waits(t *testing.T) {
	takesLong(t)
	t.Parallel()
	inEitherMode(t, func(t *testing.T, w *world, begin, over func()) {
		w.warm("100", 3)
		lost := w.serve(spec("200", 2), time.Minute).Instances[0].InstanceID
		begin()
		w.Crash(lost)
		time.Sleep(tenMinutes)
		over()
		w.await(time.Minute, "refilled", func() bool { return w.in(statemachine.Running) == 2 })
		w.launched(3)
		for _, in := range w.Instances() {
			if in.State == statemachine.Terminated && in.ID != lost {
				t.Errorf("%s was ended: %s", in.ID, in.Reason)
			}
		}
		w.awaitJobs(w.jobs("200", 2, 10), 5*time.Minute)
	})
}

// Machines that go meanwhile do not wait for GitHub; their runners are deleted once it is back.
func TestGitHubTrouble_Deletion_IsMadeUpFor(t *testing.T) {
	takesLong(t)
	t.Parallel()
	inEitherMode(t, func(t *testing.T, w *world, begin, over func()) {
		st := w.serve(spec("100", 2), time.Minute)
		begin()
		for _, seat := range st.Instances {
			w.Crash(seat.InstanceID)
		}
		w.release("100", 1, store.ReleaseNow)
		time.Sleep(tenMinutes)
		for _, seat := range st.Instances {
			if got := w.instance(seat.InstanceID).State; got != statemachine.Terminated {
				t.Errorf("%s is %s: GitHub kept the record of a lost machine", seat.InstanceID, got)
			}
		}
		over()
		w.await(25*time.Minute, "no runner left", func() bool { return len(w.runners()) == 0 })
	})
}

// H53: GitHub is down while an instance needs a registration: it is asked at the pace of the policy,
// nobody is rejected for it, and the request is served when GitHub is back.
func TestGitHubDown_IsAskedGently(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		w.warm("100", 1)
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails})
		before := w.Hub.Calls()[githubsim.CallJIT]
		w.submit(spec("200", 1))
		time.Sleep(time.Minute)
		if n := w.Hub.Calls()[githubsim.CallJIT] - before; n > 60 {
			t.Errorf("%d registrations were tried in a minute of outage, want about one in 2 s", n)
		}
		w.Hub.SetOutage(githubsim.Outage{})
		if st := w.awaitPhase("200", 1, statemachine.Ready, 30*time.Second); !st.Instances[0].Warm {
			t.Errorf("run 200 got %+v, want the warm one", st.Instances[0])
		}
	})
}

// H53: where GitHub does what it is asked and its answers are lost, or come too late, for long, no more than one runner
// for a machine is left of all that was tried, and none once it answers.
func TestGitHubDoesNotAnswer_LeavesNoRunners_H53(t *testing.T) {
	takesLong(t)
	for name, begin := range map[string]func(w *world){
		"Lost": func(w *world) { w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Lost, Calls: clientCalls}) },
		"Late": func(w *world) { w.Hub.SetLatency(githubsim.Latency{API: 12 * time.Second}) },
	} {
		t.Run(name, storyLed(func(t *testing.T, w *world) {
			begin(w)
			w.submit(spec("100", 2, within(time.Hour)))
			for range 30 {
				time.Sleep(time.Minute)
				if n := len(w.runners()); n > 2 {
					t.Fatalf("%d runners at GitHub for 2 machines", n)
				}
			}
			w.Hub.SetOutage(githubsim.Outage{})
			w.Hub.SetLatency(githubsim.Latency{})
			w.awaitPhase("100", 1, statemachine.Ready, time.Minute)
			if n := len(w.runners()); n != 2 {
				t.Errorf("%d runners at GitHub for 2 machines", n)
			}
			w.checkNoneEnded()
		}))
	}
}

// runners lists what is registered at GitHub, without a call that an outage fails.
func (w *world) runners() []string {
	var out []string
	for _, r := range w.Hub.Registrations() {
		if r.Removed == "" {
			out = append(out, r.Name)
		}
	}
	return out
}

// clientCalls are the calls of the controller: runners go on working.
var clientCalls = []githubsim.Call{githubsim.CallJIT, githubsim.CallToken, githubsim.CallList, githubsim.CallGet, githubsim.CallDelete}
