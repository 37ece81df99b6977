package githubsim_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// unhurried gives a client all of the credential's budget: a test makes more calls in a second than watching.
func unhurried(o *githubapi.Options) { o.RunsShare = 1 }

// A hub's Workflows and a client of its server cannot be told apart.
func TestRunsSide_WorkflowsAndClientAreTheSame(t *testing.T) {
	for _, tt := range []struct {
		name string
		side func(t *testing.T, s *site) watching
		app  bool // may leave check runs
	}{
		{"Workflows", func(_ *testing.T, s *site) watching { return s.Workflows() }, true},
		{"ClientOfRepository", func(t *testing.T, s *site) watching { return s.client(t, "/octo/repo") }, false},
		{"ClientOfOrganisation", func(t *testing.T, s *site) watching { return s.client(t, "/octo") }, false},
		{"AppOfOrganisation", func(t *testing.T, s *site) watching { return s.app(t, "/octo", unhurried) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, githubsim.Options{})
			sameSide(t, s, tt.side(t, s), tt.app)
		})
	}
}

func (s *site) client(t *testing.T, path string) *githubapi.Client {
	t.Helper()
	o := githubapi.Options{
		URL: s.Server.URL + path, HTTPClient: s.Client(), Clock: clock.RealClock{},
		Token: func(context.Context) (string, error) { return credential, nil },
	}
	unhurried(&o)
	c, err := githubapi.New(o)
	check(t, err)
	return c
}

func sameSide(t *testing.T, s *site, side watching, app bool) {
	t.Helper()
	ctx := t.Context()
	w := s.Workflows()
	check(t, errorOf(w.Start(githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{
		{Key: "plan", Hosted: true, Conclusion: githubsim.Failure}, {Key: "test", Label: "Run-7"}, {Key: "last", Needs: []string{"plan"}},
	}})))
	r, err := w.Run(7) // once the hosted job is over
	check(t, err)
	want := githubapi.WorkflowRun{ID: 7, Attempt: 1, Status: githubapi.StatusQueued, HeadSHA: r.HeadSHA}
	active, err := side.ActiveRuns(ctx, repository)
	if diff := cmp.Diff([]githubapi.WorkflowRun{want}, active); err != nil || diff != "" {
		t.Errorf("ActiveRuns(): error %v, diff (-want +got):\n%s", err, diff)
	}
	second := func(at time.Time) time.Time { return at.Truncate(time.Second) }
	jobs, err := side.WorkflowJobs(ctx, repository, 7, 1)
	wantJobs := []githubapi.WorkflowJob{
		{
			ID: r.Jobs[0].ID, Name: "plan", Status: githubapi.StatusCompleted, Conclusion: githubapi.ConclusionFailure, Labels: []string{"ubuntu-latest"},
			RunnerName: "GitHub Actions", StartedAt: second(r.Jobs[0].StartedAt), CompletedAt: second(r.Jobs[0].FinishedAt),
		},
		{ID: r.Jobs[1].ID, Name: "test", Status: githubapi.StatusQueued, Labels: []string{"Run-7"}},
		{
			ID: r.Jobs[2].ID, Name: "last", Status: githubapi.StatusCompleted, Conclusion: githubapi.ConclusionSkipped, Labels: []string{"7"},
			CompletedAt: second(r.Jobs[2].FinishedAt),
		},
	}
	for i := range wantJobs {
		wantJobs[i].CreatedAt = second(r.Jobs[i].CreatedAt)
	}
	if diff := cmp.Diff(wantJobs, jobs); err != nil || diff != "" {
		t.Errorf("WorkflowJobs(): error %v, diff (-want +got):\n%s", err, diff)
	}
	expect(t, "WorkflowJobs() of an attempt to come", errorOf(side.WorkflowJobs(ctx, repository, 7, 2)), githubapi.ErrRefused)
	if _, found, err := side.WorkflowRun(ctx, repository, 8); err != nil || found {
		t.Errorf("WorkflowRun() of none = %v, %v", found, err)
	}

	refused := func(call string, err error, words string) {
		t.Helper()
		if !errors.Is(err, githubapi.ErrRefused) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s = %v, want it refused with %q", call, err, words)
		}
	}
	refused("RerunFailedJobs() while it runs", side.RerunFailedJobs(ctx, repository, 7), "This workflow is already running")
	refused("RerunJob() while it runs", side.RerunJob(ctx, repository, jobs[0].ID), "This workflow is already running")
	refused("CancelRun() of none", side.CancelRun(ctx, repository, 8), "Not Found")
	for range 2 {
		check(t, side.CancelRun(ctx, repository, 7))
	}
	want.Status, want.Conclusion = githubapi.StatusCompleted, githubapi.ConclusionCancelled
	if got, found, err := side.WorkflowRun(ctx, repository, 7); err != nil || !found || got != want {
		t.Errorf("WorkflowRun() = %+v, %v, %v, want %+v", got, found, err, want)
	}
	check(t, side.RerunFailedJobs(ctx, repository, 7))
	if got, _, err := side.WorkflowRun(ctx, repository, 7); err != nil || got.Attempt != 2 || got.Completed() {
		t.Errorf("WorkflowRun() after a re-run = %+v, %v, want attempt 2", got, err)
	}
	check(t, w.Cancel(7))
	jobs, err = side.WorkflowJobs(ctx, repository, 7, 2)
	check(t, err)
	check(t, side.RerunJob(ctx, repository, jobs[1].ID))
	expectState(t, s.Hub, 7, "#3 queued; plan failure; test queued; last skipped")

	note := githubapi.CheckRun{HeadSHA: r.HeadSHA, Name: "remuda", Key: "7", Title: "No machines", Summary: "why"}
	for range 2 {
		if err := side.LeaveCheckRun(ctx, repository, note); app {
			check(t, err)
		} else {
			refused("LeaveCheckRun()", err, "You must authenticate via a GitHub App.")
		}
	}
	if got := w.CheckRuns(); len(got) != map[bool]int{true: 1}[app] || app && (got[0].ExternalID != "7" || got[0].Summary != "why") {
		t.Errorf("CheckRuns() = %+v", got)
	}
	check(t, w.SetPermissions(repository, githubsim.Permissions{Actions: githubsim.AccessNone, Checks: githubsim.AccessNone}))
	refused("ActiveRuns() without permission", errorOf(side.ActiveRuns(ctx, repository)), "Resource not accessible")
	refused("LeaveCheckRun() without permission", side.LeaveCheckRun(ctx, repository, note), "Resource not accessible")
}

// What has not changed is no longer paid for, whichever of the two rate limits one looks at.
func TestRunsSide_UnchangedListsAreFree(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	s.SetRateLimit(githubsim.ResourceCore, githubsim.RateLimit{Limit: 1000, Window: time.Hour})
	check(t, errorOf(s.Workflows().Start(githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{{Key: "a"}}})))
	c := s.client(t, "/octo/repo")
	for range 5 {
		if runs, err := c.ActiveRuns(t.Context(), repository); err != nil || len(runs) != 1 {
			t.Fatalf("ActiveRuns() = %+v, %v", runs, err)
		}
	}
	resp := s.do(t, http.MethodGet, runsPath+"/7", nil, nil)
	if left, want := resp.Header.Get("X-RateLimit-Remaining"), fmt.Sprint(1000-2-1); left != want {
		t.Errorf("%s calls left, want %s: two lists once, and this one", left, want)
	}
	if calls, free := s.Calls()[githubsim.CallRuns], s.Unchanged()[githubsim.CallRuns]; calls != 10 || free != 8 {
		t.Errorf("%d lists, %d of them unchanged, want 10 and 8", calls, free)
	}
}
