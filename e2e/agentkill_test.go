package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Agents are killed with -9 at every stage of a machine's life. A request that needed the machine gets another,
// the machine is gone for good, and nobody else notices (S11, S48, S63, S66, S84, H07, H44).

func TestAgentKilled_S20_WhileItBoots(t *testing.T) {
	t.Parallel()
	script, letGo := held(t)
	s := serving(t, "REMUDA_AGENT_SCRIPT="+script)
	asked := s.asks("100", 2)
	victim := s.strike(func(in store.Instance) bool { return in.State == statemachine.Created })
	letGo()
	got := asked()
	if slices.Contains(got.ids(), victim) {
		t.Errorf("run 100 got %v, want it without %s", got.ids(), victim)
	}
	s.serve("100", 2)
	s.end(3)
}

func TestAgentKilled_S66_DuringAClaim(t *testing.T) {
	t.Parallel()
	s := serving(t)
	s.warms("100", 2)
	s.Check(s.sim(http.MethodPut, "/outage", githubsim.Outage{Mode: githubsim.Hangs, Calls: []githubsim.Call{githubsim.CallConnect}}, nil)) // the claim lasts until its end
	asked := s.asks("200", 2)
	victim := s.strike(func(in store.Instance) bool { return in.State == statemachine.Claimed })
	s.Check(s.sim(http.MethodPut, "/outage", githubsim.Outage{}, nil))
	got := asked()
	if slices.Contains(got.ids(), victim) || got.WarmCount != 1 {
		t.Errorf("run 200 got %v, %d of them warm, want one warm and not %s", got.ids(), got.WarmCount, victim)
	}
	s.serve("200", 2)
	s.end(3)
}

// The job is lost with its machine, as GitHub finds out; the run's seat is filled again.
func TestAgentKilled_H07_UnderARunningJob(t *testing.T) {
	program.Long(t, "waits until GitHub gives a job up")
	t.Parallel()
	s := serving(t)
	s.request("100", 1)
	lost := make(chan error, 1)
	go func() {
		_, err := s.remuda(patience, "dev", "submit", "--run", "100", "--seconds", "300", "--wait")
		lost <- err
	}()
	s.runsJob("100")
	victim := s.strike(func(in store.Instance) bool { return in.State == statemachine.Running })
	s.Check(s.expect(1, "other instance runs for 100", func(in store.Instance) bool {
		return in.State == statemachine.Running && in.RunID == "100" && string(in.ID) != victim
	}))
	if err := <-lost; err == nil || !strings.Contains(err.Error(), "exit status 6") {
		t.Errorf("remuda dev submit --wait: %v, want exit status 6: the job failed", err)
	}
	s.serve("100", 1)
	s.end(2, "100")
}

func TestAgentKilled_S48_IdleInThePool(t *testing.T) {
	t.Parallel()
	s := serving(t)
	s.warms("100", 1)
	victim := s.strike(witness.Pooled)
	s.Check(s.expect(1, "instance is gone", witness.Gone))
	got := s.request("200", 1)
	if got.WarmCount != 0 || slices.Contains(got.ids(), victim) {
		t.Errorf("run 200 got %v, want a cold one", got.ids())
	}
	s.Check(s.release("200"))
	s.end(2)
}

func TestAgentKilled_S84_WhileItScrubs(t *testing.T) {
	t.Parallel()
	script, letGo := held(t)
	s := serving(t, "REMUDA_AGENT_SCRUB="+script)
	s.request("100", 1)
	s.Check(s.release("100"))
	s.strike(func(in store.Instance) bool { return in.State == statemachine.Idle && in.PooledAt.IsZero() })
	letGo()
	s.Check(s.expect(1, "instance is gone", witness.Gone))
	if was := s.witness.Instances()[0]; was.Reason != statemachine.ReasonGone {
		t.Errorf("the instance went for %q, want %q", was.Reason, statemachine.ReasonGone)
	}
	got := s.request("200", 1)
	if got.WarmCount != 0 {
		t.Errorf("run 200 got %v, want a cold one: a machine that did not report clean is never pooled", got.ids())
	}
	s.Check(s.release("200"))
	s.end(2)
}

// held writes a script that lasts until letGo is called.
func held(t *testing.T) (path string, letGo func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "held.sh")
	script := "#!/bin/sh\nuntil test -e \"$0.end\"; do sleep 0.05; done\n"
	check := program.T{TB: t}.Check
	check(os.WriteFile(path, []byte(script), 0o700))
	return path, func() { check(os.WriteFile(path+".end", nil, 0o600)) }
}

// runsJob waits until a job of a run is running.
func (s *installation) runsJob(run string) {
	s.Helper()
	s.Check(program.Until(patience, "the job runs", func() bool {
		out, err := s.remuda(patience, "dev", "jobs", "--run", run)
		return err == nil && strings.Contains(string(out), "running")
	}))
}

// warms brings n instances into the pool, by a run of its own.
func (s *installation) warms(run string, n int) {
	s.Helper()
	s.request(run, n)
	s.Check(s.release(run))
	s.Check(s.expect(n, "instances are pooled", witness.Pooled))
}

// asks requests in the background and returns what waits for the answer.
func (s *installation) asks(run string, n int) func() answer {
	var got answer
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, err = s.requestWithin(patience, run, n, "--timeout", stepTimeout)
	}()
	return func() answer {
		s.Helper()
		<-done
		s.Check(err)
		return got
	}
}

// strike kills the agent of the first instance that want accepts, and returns its id. The instance's
// machine must be up: in the place of a process that ended before it was the agent, the fleet starts
// another.
func (s *installation) strike(want func(store.Instance) bool) string {
	s.Helper()
	victim := ""
	err := program.Until(patience, "an instance to strike", func() bool {
		for _, in := range s.witness.Instances() {
			if !want(in) {
				continue
			}
			if ref, state, err := s.Leader(string(in.ID)); err == nil && state == fleet.Up && ref.Alive() {
				victim = string(in.ID)
				return true
			}
		}
		return false
	})
	s.Check(err)
	s.Check(s.killAgent(victim))
	return victim
}

// end drains, closes and wants as many machines to have been launched as needed.
func (s *installation) end(launched int, cut ...string) {
	s.Helper()
	s.Check(s.drain())
	s.Check(s.close(cut...))
	machines, err := s.Machines()
	s.Check(err)
	if len(machines) != launched {
		s.Errorf("%d machines were launched, want %d", len(machines), launched)
	}
}

// sim speaks to the control API of the simulated GitHub. in and out may be nil.
func (s *installation) sim(method, path string, in, out any) error {
	return s.gitHub.Call(s.Context(), patience, method, path, in, out)
}
