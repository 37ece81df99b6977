package githubsim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

var _ watching = (*githubapi.Client)(nil)

// The client that is shipped and the hub's own methods tell the same of a run through its whole life.
func TestClient_SeesAndDoesWhatTheHubTells(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	c, w := s.app(t, "/octo"), s.Workflows()
	r, err := w.Start(githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{
		{Key: "build", Hosted: true, Held: true}, {Key: "lint", Hosted: true, Held: true}, {Key: "test", Label: "7", Needs: []string{"build"}},
	}})
	check(t, err)
	agree := func(when string) {
		t.Helper()
		for range 2 { // the second time what has not changed is answered by 304
			for name, ask := range map[string]func(watching) (any, error){
				"ActiveRuns":    func(of watching) (any, error) { return of.ActiveRuns(t.Context(), repository) },
				"CompletedRuns": func(of watching) (any, error) { return of.CompletedRuns(t.Context(), repository) },
				"WorkflowRun": func(of watching) (any, error) {
					run, found, err := of.WorkflowRun(t.Context(), repository, 7)
					return fmt.Sprint(run, found), err
				},
				"WorkflowJobs": func(of watching) (any, error) { return of.WorkflowJobs(t.Context(), repository, 7, 1) },
			} {
				want, errWant := ask(w)
				got, errGot := ask(c)
				if diff := cmp.Diff(want, got); errWant != nil || errGot != nil || diff != "" {
					t.Errorf("%s: %s errors %v and %v, of hub and client (-hub +client):\n%s", when, name, errWant, errGot, diff)
				}
			}
		}
	}
	agree("started")
	check(t, w.Finish(r.Jobs[0].ID, githubsim.Failure))
	agree("a job failed")
	if err := c.RerunFailedJobs(t.Context(), repository, 7); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("RerunFailedJobs() of a run that runs error = %v, want the service's words", err)
	}
	check(t, w.Finish(r.Jobs[1].ID, githubsim.Failure))
	agree("completed")
	check(t, c.CancelRun(t.Context(), repository, 7)) // which is no error of a completed run
	check(t, c.RerunJob(t.Context(), repository, r.Jobs[1].ID))
	agree("one job again")
	check(t, c.CancelRun(t.Context(), repository, 7))
	agree("cancelled")
	check(t, c.RerunFailedJobs(t.Context(), repository, 7))
	expectState(t, s.Hub, 7, "#3 in_progress; build in_progress; lint in_progress")
	note := githubapi.CheckRun{HeadSHA: r.HeadSHA, Name: "remuda", Key: "7/1", Title: "No machines", Summary: "why"}
	for range 2 {
		check(t, c.LeaveCheckRun(t.Context(), repository, note))
	}
	if got := w.CheckRuns(); len(got) != 1 || got[0].ExternalID != note.Key {
		t.Errorf("CheckRuns() = %+v, want one", got)
	}
	check(t, w.SetPermissions(repository, githubsim.Permissions{Actions: githubsim.AccessNone, Checks: githubsim.AccessNone}))
	_, err = c.ActiveRuns(t.Context(), repository)
	expect(t, "ActiveRuns() without the permission", err, githubapi.ErrRefused)
	if !strings.Contains(fmt.Sprint(err), `"Actions: read" on octo/repo`) {
		t.Errorf("error = %v, want it to name the permission", err)
	}
}
