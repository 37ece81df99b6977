package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// tokenMode is the setting under which a listener stays for more jobs.
const tokenMode = "REMUDA_GITHUB_REGISTRATION=token"

// fenced runs a test on an installation whose jobs are the agent's user, on one where they are another, and on
// one whose listeners stay for more jobs.
func fenced(t *testing.T, test func(t *testing.T, s *installation, traces string)) {
	for _, kind := range []string{"AgentsUser", "RunnerUser", "Token"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var s *installation
			var traces string
			switch kind {
			case "RunnerUser":
				s, traces = unprivileged(t, `{small: {cpu: 2, mem: 4096}}`)
			default:
				env := crowdLimits
				if kind == "Token" {
					env = append(slices.Clone(env), tokenMode)
				}
				s = install(t, env...)
				s.controls()
				traces = t.TempDir()
			}
			s.Check(os.Chmod(traces, 0o777))
			test(t, s, traces)
		})
	}
}

// steps returns a job of which every kind of step leaves a trace.
func steps(id, label, run, traces string) githubsim.Job {
	trace := func(step string) string { return fmt.Sprintf("touch '%s/%s-%s'\n", traces, id, step) }
	return githubsim.Job{
		ID: id, Name: id, Label: label, RunID: run,
		Pre: trace("pre"), Script: trace("step"), Always: trace("always"), Post: trace("post"),
	}
}

// traced returns the steps of a job that ran.
func (s *installation) traced(traces, id string) []string {
	s.Helper()
	ran, err := filepath.Glob(filepath.Join(traces, id+"-*"))
	s.Check(err)
	return ran
}

// job submits a job. ended waits for its end.
func (s *installation) job(j githubsim.Job) {
	s.Helper()
	s.Check(s.sim(http.MethodPost, "/jobs", j, &githubsim.JobRecord{}))
}

func (s *installation) ended(id string) (rec githubsim.JobRecord) {
	s.Helper()
	s.Check(s.sim(http.MethodGet, "/jobs/"+id+"?wait=1", nil, &rec))
	return rec
}

// S15 S86: no step of a foreign job runs, whatever its condition. People read why on the job's page, and the
// machine goes on serving its own run, whose jobs run every step.
func TestForeignJob_S15_S86_NoStepRuns(t *testing.T) {
	t.Parallel()
	fenced(t, func(t *testing.T, s *installation, traces string) {
		got := s.request("100", 1)
		for _, id := range []string{"first", "second"} {
			s.job(steps(id, "100", "999", traces))
			rec := s.ended(id)
			if ran := s.traced(traces, id); len(ran) > 0 {
				t.Errorf("steps of a foreign job ran: %v", ran)
			}
			if rec.Conclusion != githubsim.Failure || !strings.Contains(rec.Annotation, `remuda refused this job: run "999"`) {
				t.Errorf("foreign job = %+v, want its failure to say why", rec)
			}
		}
		s.job(steps("own", "100", "100", traces))
		if rec := s.ended("own"); rec.Conclusion != githubsim.Success || len(s.traced(traces, "own")) != 4 || rec.InstanceID != got.ids()[0] {
			t.Errorf("own job = %+v, ran %v; want success of all steps on %v", rec, s.traced(traces, "own"), got.ids())
		}
		s.Check(s.release("100"))
		s.Check(s.notEnded())
		s.end(1, "100")
	})
}

// S15 S86: nor does one that GitHub cancels, at whatever moment between its assignment and its end that meets
// it. Then the machine serves its own run, or another one does in its place. A listener that stays for more jobs
// may take one of its own run before its agent knows: it ends with the machine, and has to be run again
// (docs/security.md, "Whose jobs run").
func TestForeignJob_S15_S86_CancelledAtEveryMoment(t *testing.T) {
	program.Long(t, "cancels thirty jobs")
	t.Parallel()
	fenced(t, func(t *testing.T, s *installation, traces string) {
		// A worker takes some 30 ms here to begin, a hook 100 ms to judge, and 200 ms more to refuse.
		const moments, last = 30, 450 * time.Millisecond
		run := 100
		s.request(fmt.Sprint(run), 1)
		var runs []string
		lost := 0
		outcomes := map[githubsim.Conclusion]int{}
		for i := range moments {
			label := fmt.Sprint(run)
			if !slices.Contains(runs, label) {
				runs = append(runs, label)
			}
			id := fmt.Sprintf("foreign%d", i)
			s.job(steps(id, label, "999", traces))
			time.Sleep(time.Duration(i*i) * last / (moments * moments)) // the moment, of which the early ones are closer
			s.Check(s.sim(http.MethodPost, "/jobs/"+id+"/cancel", nil, &githubsim.JobRecord{}))
			outcomes[s.ended(id).Conclusion]++
			own := fmt.Sprintf("own%d", i)
			s.job(steps(own, label, label, traces))
			rec := s.ended(own)
			if slices.Contains(s.environ(), tokenMode) && rec.Conclusion == githubsim.Failure && s.lost() > lost {
				own += "-again"
				s.job(steps(own, label, label, traces))
				rec = s.ended(own)
			}
			if rec.Conclusion != githubsim.Success || len(s.traced(traces, own)) != 4 {
				t.Errorf("own job after moment %d = %+v, ran %v", i, rec, s.traced(traces, own))
			}
			if n := s.lost(); n > lost { // a machine for each of these: a new run has a new launch budget
				lost = n
				s.Check(s.release(label))
				run++
				s.request(fmt.Sprint(run), 1)
			}
		}
		for i := range moments {
			if ran := s.traced(traces, fmt.Sprintf("foreign%d", i)); len(ran) > 0 {
				t.Errorf("cancelled at moment %d, steps of a foreign job ran: %v", i, ran)
			}
		}
		t.Logf("conclusions: %v; machines lost: %d", outcomes, lost)
		s.Check(s.release(fmt.Sprint(run)))
		s.Check(s.drain())
		s.Check(s.close(append(runs, fmt.Sprint(run))...))
	})
}

// lost counts the machines that were ended because a job ended on them that nobody had judged.
func (s *installation) lost() (n int) {
	s.Helper()
	s.Check(s.witness.Look(s.Context()))
	for _, in := range s.witness.Instances() {
		if in.State == statemachine.Terminated && strings.Contains(in.Detail, "did not judge") {
			n++
		}
	}
	return n
}

// S15 S84: a machine on which a job ran that the hook neither let in nor refused takes no further job. It is
// ended, its record says why, and the run gets another one.
func TestUnjudgedJob_S15_S84_MachineReplaced(t *testing.T) {
	t.Parallel()
	fenced(t, func(t *testing.T, s *installation, traces string) {
		got := s.request("100", 1)
		hook := filepath.Join(s.Machine(got.ids()[0]), agent.HookFile)
		s.Check(os.Remove(hook)) // the runner takes it for a step that failed
		s.job(steps("unjudged", "100", "100", traces))
		if rec := s.ended("unjudged"); len(s.traced(traces, "unjudged")) == 0 {
			t.Fatalf("no step ran without the hook, so there is nothing to notice: %+v", rec)
		}
		s.Check(s.expect(1, "instance is gone", func(in store.Instance) bool {
			return string(in.ID) == got.ids()[0] && in.State == statemachine.Terminated && strings.Contains(in.Detail, "did not judge")
		}))
		s.job(steps("own", "100", "100", traces))
		if rec := s.ended("own"); rec.Conclusion != githubsim.Success || rec.InstanceID == got.ids()[0] {
			t.Errorf("own job = %+v, want success on another machine than %v", rec, got.ids())
		}
		s.Check(s.release("100"))
		s.end(2, "100")
	})
}

// S15: a job is refused where the hook cannot read what the machine works for.
func TestForeignJob_S15_StateUnreadable(t *testing.T) {
	t.Parallel()
	s := serving(t, crowdLimits...)
	got := s.request("100", 1)
	state := filepath.Join(s.Machine(got.ids()[0]), "agent-state.json")
	aside := state + ".aside"
	s.Check(s.expect(1, "record that its agent knows", func(in store.Instance) bool { // else it would write state once more
		raw, err := os.ReadFile(state)
		s.Check(err)
		var known agent.State
		s.Check(json.Unmarshal(raw, &known))
		return in.State == statemachine.Running && in.Version == known.Version
	}))
	s.Check(os.Rename(state, aside))
	traces := t.TempDir()
	s.job(steps("own", "100", "100", traces))
	rec := s.ended("own")
	if ran := s.traced(traces, "own"); len(ran) > 0 || rec.Conclusion != githubsim.Failure || !strings.Contains(rec.Annotation, "read state") {
		t.Errorf("job = %+v, ran %v; want it refused", rec, ran)
	}
	s.Check(s.release("100"))
	s.end(1, "100")
}
