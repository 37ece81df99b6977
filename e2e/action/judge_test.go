package action

import (
	"slices"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// jobs runs jobs with a label and holds GitHub's record of them to the machines that the run was given.
func (w *world) jobs(label string, count string, held []string) {
	w.Helper()
	jobs, err := program.JSON[[]githubsim.JobRecord](w.remuda("dev", "submit", "--run", label, "--count", count, "--seconds", "0.2", "--wait", "-o", "json"))
	w.Check(err)
	used := map[string]bool{}
	for _, j := range jobs {
		used[j.InstanceID] = true
		if j.Conclusion != githubsim.Success || !slices.Contains(held, j.InstanceID) {
			w.Errorf("job %s: %s on %s, want success on one of %v", j.ID, j.Conclusion, j.InstanceID, held)
		}
	}
	if len(used) < min(2, len(held)) {
		w.Errorf("%s jobs used %d of %d machines", count, len(used), len(held))
	}
}

// close drains the fleet, ends the controller, and holds the whole story to the rules. cut names the
// labels whose jobs were cut short on purpose.
func (w *world) close(cut ...string) {
	w.Helper()
	_, err := w.remuda("drain", "--all", "--timeout", "170s")
	w.Check(err)
	w.until("the fleet is gone", func() bool { return w.witness.Count(witness.Gone) == len(w.witness.Instances()) })
	runners, err := w.github.Unregistered(w.Context(), patience)
	w.Check(err)
	if code := w.controller.End(syscall.SIGTERM); code != 0 {
		w.Errorf("controller: exit code %d", code)
	}
	w.Check(w.witness.Look(w.Context()))
	var jobs []githubsim.JobRecord
	w.sim("GET", "jobs", nil, &jobs)
	w.witness.Jobs(jobs, cut...)
	for _, v := range w.witness.Violations() {
		w.Errorf("violated %s", v)
	}
	names := map[string]bool{}
	for _, r := range runners {
		if names[strings.ToLower(r.Name)] {
			w.Errorf("runner name %s was used twice", r.Name)
		}
		names[strings.ToLower(r.Name)] = true
	}
}
