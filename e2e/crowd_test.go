package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

const (
	crowd     = 20              // runs at once
	crowdRoom = 12              // instances that may live, caps.maxInstances of testdata/remuda.yaml
	crowdWait = 6 * time.Minute // for one step of a run: it waits for the others' machines
)

// crowdLimits make machines start sooner. No other limit is below those of testdata/remuda.yaml: here no machine may
// end for being slow.
var crowdLimits = []string{"REMUDA_PROCESS_BOOT_DELAY=50ms"}

// Twenty runs share twelve machines. Every job runs on a machine of its own run, a job of another run
// that names this run's label is refused by the hook before it did anything, no runner name serves twice,
// and in the end GitHub knows no runner of ours (S15, S49, S60, S86, H37, H41, H42).
func TestCrowd_S15_S86_H37(t *testing.T) {
	program.Long(t, "plays twenty runs")
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			s := serving(t, append([]string{"REMUDA_GITHUB_REGISTRATION=" + string(mode)}, crowdLimits...)...)
			runs := make([]crowdRun, crowd)
			var g errgroup.Group
			for i := range runs {
				runs[i] = crowdRun{id: fmt.Sprint(4700 + i), foreign: fmt.Sprint(4700 + (i+1)%crowd), count: 1 + i%3}
				runs[i].label = runs[i].id
				if i%4 == 0 { // a second request of its run
					runs[i].label += "-more"
				}
				g.Go(func() error { return runs[i].live(s) })
			}
			s.Check(g.Wait())
			s.Check(s.drain())
			s.judgeCrowd(runs)
		})
	}
}

// crowdRun is one of many runs.
type crowdRun struct {
	id, label, foreign string
	count              int
	held               []string
}

// live asks for runners, has two jobs for each and one that belongs to another run, and gives back.
func (r *crowdRun) live(s *installation) error {
	a, err := s.requestWithin(crowdWait, r.label, r.count, "--timeout", "5m30s")
	if err != nil {
		return err
	}
	r.held = a.ids()
	// The machine has to be free for the foreign job at some time before the release, and not to take it
	// before the release is no proof: so it is waited for, beside the others.
	var g errgroup.Group
	g.Go(func() error {
		_, err := s.remuda(crowdWait, "dev", "submit", "--run", r.label, "--run-id", r.id, "--count", fmt.Sprint(2*r.count), "--seconds", "0.1", "--wait")
		return err
	})
	g.Go(func() error {
		out, err := s.remuda(crowdWait, "dev", "submit", "--run", r.label, "--run-id", r.foreign, "--script", "touch "+r.trace(s), "--wait")
		if err == nil {
			return fmt.Errorf("job of run %s under label %s ran: %s", r.foreign, r.label, out)
		}
		if !strings.Contains(err.Error(), "exit status 6") {
			return fmt.Errorf("job of run %s under label %s: %w, want its failure", r.foreign, r.label, err)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	_, err = s.remuda(crowdWait, "release", "--id", r.label)
	return err
}

// trace is the file that the foreign job makes if it runs.
func (r *crowdRun) trace(s *installation) string { return filepath.Join(s.dir, "foreign-"+r.label) }

// judgeCrowd holds the records of the simulated GitHub and of the store to the rules.
func (s *installation) judgeCrowd(runs []crowdRun) {
	s.Helper()
	var jobs []githubsim.JobRecord
	registrations, err := s.gitHub.Unregistered(s.Context(), patience)
	s.Check(err)
	s.Check(s.sim(http.MethodGet, "/jobs", nil, &jobs))
	byID := map[int64]githubsim.Registration{}
	names := map[string]bool{}
	for _, r := range registrations {
		byID[r.ID] = r
		if names[strings.ToLower(r.Name)] {
			s.Errorf("runner name %s was used twice", r.Name)
		}
		names[strings.ToLower(r.Name)] = true
	}
	var labels []string
	want := 0
	for _, r := range runs {
		labels = append(labels, r.label)
		want += 2*r.count + 1
		if _, err := os.Stat(r.trace(s)); !os.IsNotExist(err) {
			s.Errorf("a job of run %s ran on a machine of %s: %v", r.foreign, r.label, err)
		}
	}
	if len(jobs) != want {
		s.Errorf("%d jobs, want %d", len(jobs), want)
	}
	for _, j := range jobs {
		r := runs[slices.Index(labels, j.Label)]
		if j.RunID == r.id && j.Conclusion != githubsim.Success || j.RunID != r.id && j.Conclusion != githubsim.Failure {
			s.Errorf("job %s of run %s under label %s: %s %s", j.ID, j.RunID, j.Label, j.Conclusion, j.Detail)
		}
		if !slices.Contains(r.held, j.InstanceID) {
			s.Errorf("job %s ran on %s, want one of %v, which %s was given", j.ID, j.InstanceID, r.held, r.label)
		}
		if got := byID[j.RunnerID].Labels; !slices.Equal(got, []string{j.Label}) {
			s.Errorf("job %s under %s ran on a runner with labels %v", j.ID, j.Label, got)
		}
	}
	if n := len(s.witness.Instances()); n > crowdRoom {
		s.Errorf("%d machines were launched, there is room for %d and none had to go", n, crowdRoom)
	}
	s.Check(s.close(labels...)) // the foreign jobs were refused, which is said above; everything else holds
}
