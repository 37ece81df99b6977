package reconciler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// promptly is how soon a status says what its request waits for by now: a poll, and the pause between two writes.
const promptly = 5 * time.Second

// waitsFor expects a pending request to say that it waits for a reason, in words that contain all of says.
func (w *world) waitsFor(id, reason string, says ...string) store.RunStatus {
	w.t.Helper()
	var st store.RunStatus
	w.await(promptly, fmt.Sprintf("%s waits for %s", id, reason), func() bool {
		st = w.status(id)
		return st.Reason == reason
	})
	for _, want := range says {
		if !strings.Contains(st.Message, want) {
			w.t.Errorf("%s waits with %q, want %q in it", id, st.Message, want)
		}
	}
	if now := store.At(w.Clock.Now()); st.Phase != statemachine.Pending || st.ReasonSince.IsZero() || st.ReasonSince.After(now.Time) ||
		st.PendingAt.After(st.ReasonSince.Time) {
		w.t.Errorf("%s in phase %s waits since %s, taken up at %s, want an instant between that and %s", id, st.Phase, st.ReasonSince, st.PendingAt, now)
	}
	return st
}

// Over full caps a request says which, and who holds the instances; those behind it say how many are ahead, and who is
// first. A served one says nothing any more, and those behind it move up.
func TestWaits_ForTheCapAndInLine_S59(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 2 })
		defer w.controller("c1", nil)()
		w.submit(spec("100", 2))
		w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
		if st := w.status("100"); st.Reason != "" || st.Message != "" || !st.ReasonSince.IsZero() {
			t.Errorf("a Ready one says %q: %q since %s", st.Reason, st.Message, st.ReasonSince)
		}
		for i := range 12 {
			w.submit(spec(fmt.Sprint(101+i), 1, within(time.Hour)))
			time.Sleep(10 * time.Millisecond)
		}
		first := w.waitsFor("101", reconciler.ReasonCap, "caps.maxInstances is reached: it allows 2", "request 100 holds 2")
		w.waitsFor("102", reconciler.ReasonBehind, "it is in line behind older requests of its class; 1 ahead, the first is request 101")
		w.waitsFor("111", reconciler.ReasonBehind, "; 10 ahead, the first is request 101")
		w.waitsFor("112", reconciler.ReasonBehind, "; more than 10 ahead, the first is request 101")
		w.submit(spec("113", 1, within(20*time.Second)))
		if over := w.awaitPhase("113", 1, statemachine.Failed, time.Minute); !strings.Contains(over.Message, "0 of 1 ready after 20s; it is in line behind older requests") {
			t.Errorf("it failed with %q, want what it waited for in it", over.Message)
		}
		writes := w.status("112").Version
		time.Sleep(10 * time.Minute)
		if again := w.status("101"); again.ReasonSince != first.ReasonSince || again.Version != first.Version {
			t.Errorf("what did not change was written again: version %d since %s, then %d since %s", first.Version, first.ReasonSince, again.Version, again.ReasonSince)
		}
		if n := w.status("112").Version - writes; n != 0 {
			t.Errorf("%d writes of nothing new", n)
		}
		w.release("100", 1, store.ReleaseDrain)
		w.awaitPhase("101", 1, statemachine.Ready, 3*time.Minute)
		w.await(time.Minute, "112 has moved up", func() bool { return strings.Contains(w.status("112").Message, "; 9 ahead, the first is request 103") })
	})
}

// A class of its own cap names that.
func TestWaits_ForTheCapOfAClass(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.class("small", func(c *reconciler.Class) { c.Cap = 1 })
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
		w.submit(spec("101", 1))
		w.waitsFor("101", reconciler.ReasonCap, "classes.small.cap is reached: it allows 1", "request 100 holds 1")
	})
}

// S75: without capacity in two zones both are named, with the fleet's own code.
func TestWaits_ForCapacityInTwoZones_S75(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.room(0)
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		st := w.waitsFor("100", reconciler.ReasonCapacity, "local-a InsufficientInstanceCapacity", "local-b InsufficientInstanceCapacity")
		if told := fmt.Sprint(st.History.Entries(st.PendingAt)); !strings.Contains(told, "local-a InsufficientInstanceCapacity") {
			t.Errorf("the history does not say where it was refused: %s", told)
		}
	})
}

// What GitHub does to all calls is said of the request that waits for it, in each way GitHub can fail; when it serves
// again the request is Ready, and the log has said both once.
func TestWaits_ForGitHub_H53(t *testing.T) {
	for name, tt := range map[string]struct {
		begin  func(*githubsim.Hub)
		reason string
		says   string
	}{
		"Fails":     {outages[0].begin, reconciler.ReasonGitHubDown, "GitHub does not answer: "},
		"Revoked":   {outages[4].begin, reconciler.ReasonGitHubRefuses, "GitHub refuses: "},
		"Throttled": {outages[5].begin, reconciler.ReasonGitHubThrottled, "GitHub takes no calls for a while"},
	} {
		for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
			t.Run(name+"/"+string(mode), storyBeside(func(t *testing.T, w *world) {
				w.Configure(func(c *reconciler.Config) { c.Registration = mode })
				defer w.controller("c1", nil)()
				tt.begin(w.Hub)
				w.submit(patient("100", 1))
				w.await(3*time.Minute, "its machine has booted", func() bool { return w.status("100").Counts.Created == 1 })
				w.await(time.Minute, "it says so", func() bool { return w.status("100").Reason == tt.reason })
				w.waitsFor("100", tt.reason, tt.says)
				endOutage(w.Hub)
				w.awaitPhase("100", 1, statemachine.Ready, 2*time.Hour)
			}))
		}
	}
}

// A machine that boots is named, with since when.
func TestWaits_ForBoot(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Boot = 90 * time.Second
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		st := w.waitsFor("100", reconciler.ReasonBoot, "instance i-")
		if since := w.Clock.Since(st.ReasonSince.Time); since > promptly {
			t.Errorf("boots since %s, want since its launch", since)
		}
	})
}

// stuck is a script that does not end.
type stuck struct{}

func (stuck) Run(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// A script that hangs is named, with its machine and since when.
func TestWaits_ForAScriptThatHangs(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Script = stuck{}
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		w.await(2*time.Minute, "its machine has booted", func() bool { return w.status("100").Reason == reconciler.ReasonScript })
		st := w.waitsFor("100", reconciler.ReasonScript, "the script of instance i-")
		if told := fmt.Sprint(st.History.Entries(st.PendingAt)); !strings.Contains(told, "wait boot") || !strings.Contains(told, "came 1 after") {
			t.Errorf("its history is %s", told)
		}
		w.waitsFor("100", reconciler.ReasonScript)
	})
}

// hanging launches nothing until it is let.
type hanging struct {
	fleet.Fleet
	let chan struct{}
}

func (f *hanging) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	select {
	case <-f.let:
	case <-ctx.Done():
		return fleet.Outcome{}, ctx.Err()
	}
	return f.Fleet.Launch(ctx, p)
}

// A launch call that takes its time is named with since when.
func TestWaits_ForALaunch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		slow := &hanging{Fleet: w.Fleet, let: make(chan struct{})}
		defer w.controllerWith("c1", reconciler.Options{Fleet: slow})()
		w.submit(spec("100", 3))
		w.waitsFor("100", reconciler.ReasonLaunching, "a launch of 3 spot instances is under way")
		close(slow.let)
		w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
	})
}

// A new attempt says that the machines of the older one are in its way.
func TestWaits_ForItsOlderAttempt(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		defer w.controller("c1", nil)()
		w.submit(spec("100", 1))
		w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
		w.jobs("100", 1, 180)
		time.Sleep(10 * time.Second) // the job runs
		w.submit(spec("100", 1, asAttempt(2)))
		w.waitsFor("100", reconciler.ReasonOlderAttempt, "attempt 1")
		w.awaitPhase("100", 2, statemachine.Ready, 10*time.Minute)
	})
}
