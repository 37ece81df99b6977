package action

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// half brings a provision of four to the middle: two warm machines claimed, two new ones on their way, no
// runner online yet.
func (w *world) half(grace step.Grace) (*step.Job, *step.Step) {
	w.Helper()
	w.provisioned(w.run("1", 1, inputs{"instance-count": "2"}), "1", 2, 0)
	w.released(w.run("1", 1, inputs{"mode": "release"}), "1")
	w.awaitPooled(2)
	w.sim("PUT", "outage", githubsim.Outage{Mode: githubsim.Hangs, Calls: []githubsim.Call{githubsim.CallConnect}}, nil)
	j := w.job("4711", 1)
	j.Grace = grace
	s, err := j.Start(w.action, w.with(inputs{"instance-count": "4"}))
	w.Check(err)
	shows := regexp.MustCompile(`^4711  Pending  ready 0/4  warm 2  cold 2 `)
	w.until("two are claimed, two created, and the step says so", func() bool {
		return w.witness.Count(func(in store.Instance) bool { return in.RunID == "4711" && in.State == statemachine.Claimed }) == 2 &&
			w.witness.Count(func(in store.Instance) bool { return in.RunID == "4711" && in.State == statemachine.Created }) == 2 &&
			slices.ContainsFunc(s.Result().Log, shows.MatchString)
	})
	return j, s
}

// freed waits until the request has ended in phase, wants everything back in the pool or gone, and serves
// the next run.
func (w *world) freed(phase statemachine.Phase) {
	w.Helper()
	w.until("the cancelled request is over", func() bool {
		st := w.records("4711").Status
		return st != nil && st.Phase == phase && w.owned("4711") == 0
	})
	w.sim("PUT", "outage", githubsim.Outage{}, nil)
	w.until("nothing is held, everything is pooled or gone", func() bool {
		return w.witness.Count(func(in store.Instance) bool { return !witness.Pooled(in) && in.State != statemachine.Terminated }) == 0
	})
	next := w.run("4712", 1, inputs{"instance-count": "2"})
	w.succeeds(next)
	w.released(w.run("4712", 1, inputs{"mode": "release"}), "4712")
	w.close()
}

// A job that is cancelled in the middle of provisioning gives back at the first signal (H30, S79). That it
// does so within the runner's seconds is action/test's matter, where time is its own: on a busy machine
// the step may leave it to its post step.
func TestCancel_GivesBack_H30(t *testing.T) {
	t.Parallel()
	w := install(t).control()
	j, s := w.half(step.Grace{Interrupt: patience})
	j.Cancel(s)
	r := s.Wait()
	if diff := cmp.Diff([]syscall.Signal{syscall.SIGINT}, r.Signals); diff != "" || r.Conclusion != step.Cancelled {
		w.Errorf("%s; signals (-want +got):\n%s", r.Conclusion, diff)
	}
	says(w, r, `^##\[error\]request 4711 attempt 1: cancelled after \d+\.\d s \(last: .*\); (what was asked for was given back|giving back failed: .*)$`)
	if slices.ContainsFunc(r.Log, regexp.MustCompile("giving back failed").MatchString) {
		w.postGivesBack(j)
	} else {
		w.post(j) // has nothing to do
	}
	if got := w.records("4711").Request; got == nil || !got.Released() || got.Release != store.ReleaseNow {
		w.Errorf("request = %+v, want it given back at once", got)
	}
	w.freed(statemachine.PhaseReleased)
}

// One that is cancelled as soon as its step has been started, at whatever point that meets it, asks for
// nothing that is not given back; and its post step, which GitHub has registered before, is no second
// provision (H30, S79).
func TestCancel_AtOnce_H30(t *testing.T) {
	t.Parallel()
	w := install(t).control()
	for run := range 5 {
		id := strconv.Itoa(1 + run)
		j := w.job(id, 1)
		j.Grace = step.Grace{Interrupt: patience}
		s, err := j.Start(w.action, w.with(inputs{"instance-count": "2"}))
		w.Check(err)
		if run > 2 {
			w.until("the step has begun", func() bool { return len(s.Result().Log) > 0 })
		}
		j.Cancel(s)
		if r := s.Wait(); r.Conclusion != step.Cancelled {
			w.Errorf("run %s: %s, log %q", id, r.Conclusion, r.Log)
		}
		posts, err := j.Post()
		w.Check(err)
		if len(posts) != 1 || posts[0].Conclusion != step.Success || len(posts[0].Outputs) > 0 || slices.ContainsFunc(posts[0].Log, regexp.MustCompile("asking for").MatchString) {
			w.Errorf("run %s: post steps = %+v, want one that asks for nothing", id, posts)
		}
		if got := w.records(id).Request; got != nil && !got.Released() {
			w.Errorf("run %s: request = %+v, want none, or one that was given back; logs of step %q, post %q", id, got, s.Result().Log, posts[0].Log)
		}
	}
	w.close()
}

// The runner of a step dies, so that nothing is ever given back: the controller misses its sign of life (H30, S79).
func TestCancel_KilledWithoutPost_H30(t *testing.T) {
	program.Long(t, "waits until a client has been silent for long")
	t.Parallel()
	w := install(t, "REMUDA_REQUESTS_CLIENT_SILENCE=25s").control()
	_, s := w.half(step.Grace{})
	w.Check(syscall.Kill(s.Pid(), syscall.SIGKILL))
	if r := s.Wait(); r.ExitCode != -1 {
		w.Errorf("exit code %d, want the end by a signal", r.ExitCode)
	}
	w.freed(statemachine.Failed)
	if st := w.records("4711").Status; st.Reason != "client_gone" {
		w.Errorf("reason %s: %s, want client_gone", st.Reason, st.Message)
	}
}

// postGivesBack runs the post step of a step that could not give back.
func (w *world) postGivesBack(j *step.Job) {
	w.Helper()
	posts, err := j.Post()
	w.Check(err)
	if len(posts) != 1 || posts[0].Conclusion != step.Success || !strings.Contains(strings.Join(posts[0].Log, "\n"), "4711  given back") {
		w.Errorf("post steps = %+v, want one that gives back", posts)
	}
}

// One that is killed before it could, because it hangs, leaves that to its post step (H30, S79).
func TestCancel_KilledThePostGivesBack_H30(t *testing.T) {
	t.Parallel()
	w := install(t).control()
	j, s := w.half(step.Grace{Interrupt: 200 * time.Millisecond, Terminate: 100 * time.Millisecond})
	w.Check(syscall.Kill(s.Pid(), syscall.SIGSTOP))
	j.Cancel(s)
	r := s.Wait()
	if diff := cmp.Diff([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}, r.Signals); diff != "" || r.Conclusion != step.Cancelled {
		w.Errorf("%s; signals (-want +got):\n%s", r.Conclusion, diff)
	}
	if got := w.records("4711").Request; got == nil || got.Released() {
		w.Fatalf("request = %+v, want it as the killed step left it", got)
	}
	w.postGivesBack(j)
	if got := w.records("4711").Request; got == nil || !got.Released() {
		w.Errorf("request = %+v, want it given back", got)
	}
	w.freed(statemachine.PhaseReleased)
}
