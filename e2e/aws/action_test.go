package aws

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/story"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// Two workflows that use the built action, on machines that EC2 launches: five runners, jobs on exactly
// these, given back; the next workflow gets the same five (S15, S16, S17, S47, S71, S80, S85). e2e/action
// tells everything else that the action may meet, on machines that come quicker.
func TestAction_EC2(t *testing.T) {
	t.Parallel()
	step.RequireNode(t)
	w := newWorld(t, nil)
	w.install()
	w.begin()
	first := w.workflow("4711", 5, "0")
	if second := w.workflow("4712", 5, "5"); !slices.Equal(first, second) {
		t.Errorf("the second workflow got %v, want %v", second, first)
	}
	w.emptied(5)
}

// workflow asks for runners, has two jobs for each, gives back, and returns the machines.
func (w *world) workflow(run string, count int, warm string) []string {
	w.Helper()
	got := w.step(run, map[string]string{"instance-count": strconv.Itoa(count), "resource-class": "small", "usage-class": "spot", "allowed-instance-types": "c*"})
	if got["label"] != run || got["ready-count"] != strconv.Itoa(count) || got["warm-count"] != warm {
		w.Fatalf("run %s: outputs %v, want %d runners, %s of them warm", run, got, count, warm)
	}
	var held []string
	w.Check(json.Unmarshal([]byte(got["instance-ids"]), &held))
	jobs, err := program.JSON[[]githubsim.JobRecord](
		w.Remuda(w.Context(), "dev", "submit", "--run", run, "--count", strconv.Itoa(2*count), "--seconds", "0.5", "--wait", "-o", "json"))
	w.Check(err)
	for _, j := range jobs {
		if !slices.Contains(held, j.InstanceID) {
			w.Errorf("job %s ran on %s, want one of %v", j.ID, j.InstanceID, held)
		}
	}
	w.step(run, map[string]string{"mode": "release"})
	slices.Sort(held)
	return held
}

// step runs a job with one step, which must succeed, and returns its outputs.
func (w *world) step(run string, with map[string]string) map[string]string {
	w.Helper()
	a, err := step.Load(cmp.Or(w.action, "../.."))
	w.Check(err)
	dir, err := os.MkdirTemp(w.dir, "job-")
	w.Check(err)
	j := &step.Job{Dir: dir, Env: map[string]string{"HOME": dir}, Context: map[string]string{"run_id": run, "run_attempt": "1", "repository": "octo/remuda"}}
	for _, e := range awstest.Env(w.parts.client) {
		name, value, _ := strings.Cut(e, "=")
		j.Env[name] = value
	}
	with["name"], with["timeout"] = w.name, patience.String()
	r, err := j.Run(a, with)
	w.Check(err)
	posts, err := j.Post()
	w.Check(err)
	said, err := json.Marshal(append(posts, r))
	w.Check(err)
	w.Check(os.WriteFile(filepath.Join(dir, "step.json"), said, 0o600)) // TestSecrets looks into it
	if r.Conclusion != step.Success || len(r.Complaints())+len(r.Problems) > 0 || len(posts) != 1 || len(posts[0].Log) > 0 {
		w.Fatalf("step of run %s: %+v; post %+v", run, r, posts)
	}
	return r.Outputs
}

// emptied drains the fleet of so many machines and holds everything to the rules.
func (w *world) emptied(count int) {
	w.Helper()
	s := story.New(story.Options{Site: w, Witness: w.witness, GitHub: w.github.Root, Out: w.Output(), Patience: patience, Drain: true})
	w.Check(s.Tell(w.Context(), []story.Step{story.Drained}))
	jobs, err := program.JSON[[]githubsim.JobRecord](w.Remuda(w.Context(), "dev", "jobs", "-o", "json"))
	w.Check(err)
	w.Check(w.witness.Look(w.Context()))
	w.witness.Jobs(jobs)
	for _, v := range w.witness.Violations() {
		w.Errorf("violated %s", v)
	}
	if n := len(w.machines.Machines()); n != count {
		w.Errorf("%d machines were launched, want %d", n, count)
	}
	w.left()
}
