package githubsim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// watching is what the reconciler asks of a client about runs; a hub's must do as well.
type watching interface {
	ActiveRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error)
	CompletedRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error)
	WorkflowRun(ctx context.Context, repository string, id int64) (githubapi.WorkflowRun, bool, error)
	WorkflowJobs(ctx context.Context, repository string, id int64, attempt int) ([]githubapi.WorkflowJob, error)
	CancelRun(ctx context.Context, repository string, id int64) error
	RerunFailedJobs(ctx context.Context, repository string, id int64) error
	RerunJob(ctx context.Context, repository string, job int64) error
	LeaveCheckRun(ctx context.Context, repository string, c githubapi.CheckRun) error
}

var _ watching = (*githubsim.Workflows)(nil)

const repository = "octo/repo"

// start starts a run and returns its id.
func start(t rapid.TB, h *githubsim.Hub, jobs ...githubsim.JobSpec) int64 {
	t.Helper()
	r, err := h.Workflows().Start(githubsim.RunSpec{Jobs: jobs})
	check(t, err)
	return r.ID
}

// state is a run in one line: attempt, status and conclusion, and the same of each job.
func state(t rapid.TB, h *githubsim.Hub, id int64) string {
	t.Helper()
	r, err := h.Workflows().Run(id)
	check(t, err)
	return line(r)
}

func line(r githubsim.RunRecord) string {
	out := []string{fmt.Sprintf("#%d %s", r.Attempt, ended(r.Status, r.Conclusion))}
	for _, j := range r.Jobs {
		out = append(out, j.Name+" "+ended(j.Status, j.Conclusion))
	}
	return strings.Join(out, "; ")
}

func ended(status, conclusion string) string {
	if conclusion != "" {
		return conclusion
	}
	return status
}

func expectState(t rapid.TB, h *githubsim.Hub, id int64, want string) {
	t.Helper()
	if got := state(t, h, id); got != want {
		t.Errorf("run is %q, want %q", got, want)
	}
}

// crew attaches lasting runners of a label, on which the jobs whose name and attempt fails names fail after a second.
func crew(t *testing.T, h *githubsim.Hub, label string, n int, fails ...string) {
	t.Helper()
	for i := range n {
		c := lasting(t, h, fmt.Sprintf("i-%s-%d", label, i+1), label)
		attach(t, h, c, func(ctx context.Context, j githubsim.Job) githubsim.Conclusion {
			select {
			case <-ctx.Done():
				return githubsim.Cancelled
			case <-time.After(time.Second):
			}
			if slices.Contains(fails, fmt.Sprintf("%s#%d", j.Name, j.RunAttempt)) {
				return githubsim.Failure
			}
			return githubsim.Success
		})
	}
	synctest.Wait()
}

// job ids of a run's latest attempt, by name.
func jobIDs(t *testing.T, h *githubsim.Hub, id int64) map[string]int64 {
	t.Helper()
	r, err := h.Workflows().Run(id)
	check(t, err)
	out := map[string]int64{}
	for _, j := range r.Jobs {
		out[j.Name] = j.ID
	}
	return out
}

func TestRun_OneJobFirst_ThenTheLegsThatNeedIt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		crew(t, h, "42", 1)
		id := start(t, h,
			githubsim.JobSpec{Key: "plan", Hosted: true, Seconds: 5},
			githubsim.JobSpec{Key: "test", Label: "42", Needs: []string{"plan"}, Matrix: []string{"a", "b"}, Script: "make ${{ matrix.leg }}"},
			githubsim.JobSpec{Key: "deploy", Hosted: true, Needs: []string{"test"}, Approval: true},
		)
		expectState(t, h, id, "#1 in_progress; plan in_progress")
		time.Sleep(5*time.Second + 1)
		synctest.Wait() // nobody has looked at the hub meanwhile but its runner's poll
		expectState(t, h, id, "#1 queued; plan success; test (a) in_progress; test (b) queued")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		expectState(t, h, id, "#1 waiting; plan success; test (a) success; test (b) success; deploy waiting")
		time.Sleep(time.Hour)
		expectState(t, h, id, "#1 waiting; plan success; test (a) success; test (b) success; deploy waiting")
		check(t, h.Workflows().Approve(id))
		r, err := h.Workflows().Wait(t.Context(), id)
		check(t, err)
		if got, want := line(r), "#1 success; plan success; test (a) success; test (b) success; deploy success"; got != want {
			t.Errorf("run is %q, want %q", got, want)
		}
		if legs := r.Jobs[1:3]; !legs[0].StartedAt.Equal(r.Jobs[0].FinishedAt) || legs[0].Runner != "i-42-1" || legs[0].InstanceID != "i-42" {
			t.Errorf("leg = %+v, want it on the runner at once", legs[0])
		}
		if jobs := h.Jobs(); jobs[0].Script != "make a" || jobs[1].Script != "make b" || jobs[0].RunID != fmt.Sprint(id) || jobs[0].RunAttempt != 1 {
			t.Errorf("jobs = %+v, want each to know its leg and run", jobs)
		}
		expect(t, "second Approve()", h.Workflows().Approve(id), githubsim.ErrInvalid)
	})
}

func TestRun_ANeedFails_DependantsAreSkipped(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		id := start(t, h,
			githubsim.JobSpec{Key: "build", Hosted: true, Conclusion: githubsim.Failure},
			githubsim.JobSpec{Key: "test", Label: "42", Needs: []string{"build"}, Matrix: []string{"a", "b"}},
			githubsim.JobSpec{Key: "publish", Label: "42", Needs: []string{"test"}},
			githubsim.JobSpec{Key: "report", Hosted: true, Needs: []string{"publish"}, Always: true},
		)
		check(t, errorOf(h.Workflows().Wait(t.Context(), id)))
		expectState(t, h, id, "#1 failure; build failure; test skipped; publish skipped; report success")
		if got := h.Jobs(); len(got) != 0 {
			t.Errorf("jobs = %+v, want none in the queue", got)
		}
	})
}

func TestRun_ReRunFailedJobs(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		crew(t, h, "42", 3, "test (b)#1")
		w := h.Workflows()
		id := start(t, h,
			githubsim.JobSpec{Key: "plan", Hosted: true},
			githubsim.JobSpec{Key: "test", Label: "42", Needs: []string{"plan"}, Matrix: []string{"a", "b"}},
			githubsim.JobSpec{Key: "publish", Label: "42", Needs: []string{"test"}},
		)
		expect(t, "RerunFailedJobs() of a run that runs", w.RerunFailedJobs(t.Context(), repository, id), githubapi.ErrRefused)
		check(t, errorOf(w.Wait(t.Context(), id)))
		expectState(t, h, id, "#1 failure; plan success; test (a) success; test (b) failure; publish skipped")
		first := jobIDs(t, h, id)
		check(t, w.RerunFailedJobs(t.Context(), repository, id))
		expectState(t, h, id, "#2 in_progress; plan success; test (a) success; test (b) in_progress")
		check(t, errorOf(w.Wait(t.Context(), id)))
		expectState(t, h, id, "#2 success; plan success; test (a) success; test (b) success; publish success")
		for name, job := range jobIDs(t, h, id) {
			if first[name] == job {
				t.Errorf("job %s has the id of the attempt before, %d", name, job)
			}
		}
		expect(t, "RerunFailedJobs() where none failed", w.RerunFailedJobs(t.Context(), repository, id), githubapi.ErrRefused)
		attempts, err := w.Attempts(id)
		if err != nil || len(attempts) != 2 || attempts[0].Conclusion != githubapi.ConclusionFailure {
			t.Errorf("Attempts() = %+v, %v, want two, the first failed", attempts, err)
		}
		jobs, err := w.WorkflowJobs(t.Context(), repository, id, 1)
		if err != nil || len(jobs) != 4 || jobs[2].ID != first["test (b)"] || jobs[2].Conclusion != githubapi.ConclusionFailure {
			t.Errorf("WorkflowJobs() of attempt 1 = %+v, %v, want them as they were", jobs, err)
		}
		ran := map[string]int{}
		for _, j := range h.Jobs() {
			ran[j.Name]++
		}
		if diff := cmp.Diff(map[string]int{"test (a)": 1, "test (b)": 2, "publish": 1}, ran); diff != "" {
			t.Errorf("how often jobs ran (-want +got):\n%s", diff)
		}
	})
}

func TestRun_ReRunOneJobOrAll(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		crew(t, h, "42", 2)
		w := h.Workflows()
		id := start(t, h,
			githubsim.JobSpec{Key: "a", Label: "42"},
			githubsim.JobSpec{Key: "b", Label: "42"},
			githubsim.JobSpec{Key: "c", Label: "42", Needs: []string{"a"}},
		)
		check(t, errorOf(w.Wait(t.Context(), id)))
		check(t, w.RerunJob(t.Context(), repository, jobIDs(t, h, id)["a"]))
		expectState(t, h, id, "#2 in_progress; a in_progress; b success")
		check(t, errorOf(w.Wait(t.Context(), id)))
		check(t, w.Rerun(id, githubsim.Again{}))
		expectState(t, h, id, "#3 in_progress; a in_progress; b in_progress")
		check(t, errorOf(w.Wait(t.Context(), id)))
		expectState(t, h, id, "#3 success; a success; b success; c success")

		expect(t, "Rerun() of both kinds", w.Rerun(id, githubsim.Again{Failed: true, Job: 1}), githubsim.ErrInvalid)
		expect(t, "Rerun() of no job of it", w.Rerun(id, githubsim.Again{Job: 1}), githubapi.ErrRefused)
		expect(t, "RerunJob() of no job", w.RerunJob(t.Context(), repository, 1), githubapi.ErrRefused)
		time.Sleep(30 * 24 * time.Hour)
		expect(t, "Rerun() after 30 days", w.Rerun(id, githubsim.Again{}), githubapi.ErrRefused)
	})
}

func TestRun_Cancelled(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := newHub(githubsim.Options{})
		crew(t, h, "42", 1)
		w := h.Workflows()
		id := start(t, h,
			githubsim.JobSpec{Key: "runs", Label: "42"},
			githubsim.JobSpec{Key: "queued", Label: "42"},
			githubsim.JobSpec{Key: "held", Hosted: true, Held: true},
			githubsim.JobSpec{Key: "waits", Label: "42", Approval: true},
			githubsim.JobSpec{Key: "later", Label: "42", Needs: []string{"runs"}},
			githubsim.JobSpec{Key: "cleanup", Hosted: true, Seconds: 7, Needs: []string{"queued"}, Always: true},
		)
		check(t, w.CancelRun(t.Context(), repository, id))
		synctest.Wait()
		expectState(t, h, id, "#1 in_progress; runs cancelled; queued cancelled; held cancelled; waits cancelled; later skipped; cleanup in_progress")
		check(t, errorOf(w.Wait(t.Context(), id)))
		expectState(t, h, id, "#1 cancelled; runs cancelled; queued cancelled; held cancelled; waits cancelled; later skipped; cleanup success")
		check(t, w.CancelRun(t.Context(), repository, id)) // it is what was wanted
		expect(t, "Cancel() of a completed run", w.Cancel(id), githubapi.ErrRefused)
	})
}

func TestRun_JobsOfHosted_EndByTheOperator(t *testing.T) {
	h := newHub(githubsim.Options{})
	w := h.Workflows()
	id := start(t, h, githubsim.JobSpec{Key: "held", Hosted: true, Held: true}, githubsim.JobSpec{Key: "own", Label: "42"})
	jobs := jobIDs(t, h, id)
	expect(t, "Finish() of a self-hosted job", w.Finish(jobs["own"], githubsim.Success), githubsim.ErrInvalid)
	expect(t, "Finish() of no job", w.Finish(1, githubsim.Success), githubsim.ErrNoJob)
	expect(t, "Finish() as skipped", w.Finish(jobs["held"], githubsim.Skipped), githubsim.ErrInvalid)
	check(t, w.Finish(jobs["held"], githubsim.Failure))
	check(t, h.Cancel(fmt.Sprint(jobs["own"])))
	expectState(t, h, id, "#1 failure; held failure; own cancelled")
}

func manyJobs(n int) []githubsim.JobSpec {
	out := make([]githubsim.JobSpec, n)
	for i := range out {
		out[i].Key = fmt.Sprint(i)
	}
	return out
}

func TestStart_RefusesWhatNoWorkflowIs(t *testing.T) {
	h := newHub(githubsim.Options{})
	w := h.Workflows()
	one := githubsim.JobSpec{Key: "a", Label: "42"}
	for name, s := range map[string]githubsim.RunSpec{
		"no jobs":       {},
		"id":            {ID: -1, Jobs: []githubsim.JobSpec{one}},
		"repository":    {Repository: "octo", Jobs: []githubsim.JobSpec{one}},
		"key":           {Jobs: []githubsim.JobSpec{{Label: "42"}}},
		"same key":      {Jobs: []githubsim.JobSpec{one, one}},
		"unknown need":  {Jobs: []githubsim.JobSpec{{Key: "a", Label: "42", Needs: []string{"b"}}}},
		"seconds":       {Jobs: []githubsim.JobSpec{{Key: "a", Label: "42", Seconds: -1}}},
		"many legs":     {Jobs: []githubsim.JobSpec{{Key: "a", Matrix: slices.Repeat([]string{"x"}, 257)}}},
		"many jobs":     {Jobs: manyJobs(1001)},
		"leg":           {Jobs: []githubsim.JobSpec{{Key: "a", Label: "42", Matrix: []string{""}}}},
		"held":          {Jobs: []githubsim.JobSpec{{Key: "a", Label: "42", Held: true}}},
		"hosted script": {Jobs: []githubsim.JobSpec{{Key: "a", Hosted: true, Script: "true"}}},
		"conclusion":    {Jobs: []githubsim.JobSpec{{Key: "a", Hosted: true, Conclusion: githubsim.Skipped}}},
	} {
		expect(t, "Start() with bad "+name, errorOf(w.Start(s)), githubsim.ErrInvalid)
	}
	if got := w.List(); len(got) != 0 {
		t.Errorf("List() = %+v, want none", got)
	}
	s := githubsim.RunSpec{ID: 7, Repository: "Octo/Other", Jobs: []githubsim.JobSpec{one}}
	check(t, errorOf(w.Start(s)))
	expect(t, "Start() of a taken id", errorOf(w.Start(s)), githubsim.ErrInvalid)
	expect(t, "Run() of none", errorOf(w.Run(8)), githubsim.ErrNoRun)
}

func TestRuns_ShowWhatTheirRepositoryHas(t *testing.T) {
	h := newHub(githubsim.Options{})
	w := h.Workflows()
	r, err := w.Start(githubsim.RunSpec{ID: 7, Repository: "Octo/Other", Jobs: []githubsim.JobSpec{{Key: "a"}, {Key: "b", Hosted: true, Held: true}}})
	check(t, err)
	want := githubapi.WorkflowRun{ID: 7, Attempt: 1, Status: githubapi.StatusQueued, HeadSHA: r.HeadSHA}
	active, err := w.ActiveRuns(t.Context(), "octo/other")
	if diff := cmp.Diff([]githubapi.WorkflowRun{want}, active); err != nil || diff != "" {
		t.Errorf("ActiveRuns(): error %v, diff (-want +got):\n%s", err, diff)
	}
	jobs, err := w.WorkflowJobs(t.Context(), "octo/other", 7, 1)
	wantJobs := []githubapi.WorkflowJob{
		{ID: r.Jobs[0].ID, Name: "a", Status: githubapi.StatusQueued, Labels: []string{"7"}, CreatedAt: r.Jobs[0].CreatedAt.Truncate(time.Second)},
		{ID: r.Jobs[1].ID, Name: "b", Status: githubapi.StatusInProgress, Labels: []string{"ubuntu-latest"}, RunnerName: "GitHub Actions", CreatedAt: r.Jobs[1].CreatedAt.Truncate(time.Second), StartedAt: r.Jobs[1].StartedAt.Truncate(time.Second)},
	}
	if diff := cmp.Diff(wantJobs, jobs); err != nil || diff != "" {
		t.Errorf("WorkflowJobs(): error %v, diff (-want +got):\n%s", err, diff)
	}
	if active, err := w.ActiveRuns(t.Context(), repository); err != nil || len(active) != 0 {
		t.Errorf("ActiveRuns() of another repository = %v, %v, want none", active, err)
	}
	if _, found, err := w.WorkflowRun(t.Context(), repository, 7); err != nil || found {
		t.Errorf("WorkflowRun() of another repository = %v, %v, want none", found, err)
	}
	expect(t, "WorkflowJobs() of another repository", errorOf(w.WorkflowJobs(t.Context(), repository, 7, 1)), githubapi.ErrRefused)
	expect(t, "WorkflowJobs() of an attempt to come", errorOf(w.WorkflowJobs(t.Context(), "octo/other", 7, 2)), githubapi.ErrRefused)
	expect(t, "CancelRun() in another repository", w.CancelRun(t.Context(), repository, 7), githubapi.ErrRefused)
	check(t, w.CancelRun(t.Context(), "octo/other", 7))
	if got, found, err := w.WorkflowRun(t.Context(), "octo/other", 7); err != nil || !found || !got.Completed() || got.Conclusion != githubapi.ConclusionCancelled {
		t.Errorf("WorkflowRun() = %+v, %v, %v, want it cancelled", got, found, err)
	}
	wantCalls := map[githubsim.Call]int{githubsim.CallRuns: 4, githubsim.CallRunJobs: 3, githubsim.CallRun: 2, githubsim.CallCancelRun: 2}
	if diff := cmp.Diff(wantCalls, h.Calls()); diff != "" {
		t.Errorf("Calls() (-want +got):\n%s", diff)
	}
}

func TestPermissions_TakenAway(t *testing.T) {
	h := newHub(githubsim.Options{})
	w := h.Workflows()
	r, err := w.Start(githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{{Key: "a", Hosted: true, Held: true}}})
	check(t, err)
	calls := map[string]func() error{
		"read": func() error {
			return errors.Join(errorOf(w.ActiveRuns(t.Context(), repository)), errorOf(w.WorkflowJobs(t.Context(), repository, 7, 1)))
		},
		"write": func() error { return w.CancelRun(t.Context(), repository, 7) },
		"check": func() error {
			return w.LeaveCheckRun(t.Context(), repository, githubapi.CheckRun{HeadSHA: r.HeadSHA, Name: "n", Key: "k"})
		},
	}
	for _, tt := range []struct {
		name string
		p    githubsim.Permissions
		may  []string
	}{
		{"all", githubsim.Permissions{Actions: githubsim.AccessWrite, Checks: githubsim.AccessWrite}, []string{"read", "write", "check"}},
		{"watch", githubsim.Permissions{Actions: githubsim.AccessRead, Checks: githubsim.AccessNone}, []string{"read"}},
		{"notes", githubsim.Permissions{Actions: githubsim.AccessNone, Checks: githubsim.AccessWrite}, []string{"check"}},
		{"hidden", githubsim.Permissions{Actions: githubsim.AccessWrite, Checks: githubsim.AccessWrite, Hidden: true}, nil},
	} {
		check(t, w.SetPermissions("OCTO/repo", tt.p))
		for name, call := range calls {
			if err := call(); errors.Is(err, githubapi.ErrRefused) == slices.Contains(tt.may, name) {
				t.Errorf("%s: %s = %v, want it refused unless in %v", tt.name, name, err, tt.may)
			}
		}
	}
	expect(t, "SetPermissions()", w.SetPermissions(repository, githubsim.Permissions{Actions: "all", Checks: githubsim.AccessNone}), githubsim.ErrInvalid)
}

func TestCheckRun_LeftOnce(t *testing.T) {
	h := newHub(githubsim.Options{})
	w := h.Workflows()
	r, err := w.Start(githubsim.RunSpec{Jobs: []githubsim.JobSpec{{Key: "a", Hosted: true}}})
	check(t, err)
	note := githubapi.CheckRun{HeadSHA: r.HeadSHA, Name: "remuda", Key: "7", Title: "No machines", Summary: "why"}
	for range 2 {
		check(t, w.LeaveCheckRun(t.Context(), repository, note))
	}
	other := note
	other.Key = "8"
	check(t, w.LeaveCheckRun(t.Context(), repository, other))
	got := w.CheckRuns()
	if len(got) != 2 || got[0].Title != "No machines" || got[0].Conclusion != githubapi.ConclusionFailure || got[1].ExternalID != "8" {
		t.Errorf("CheckRuns() = %+v, want one of each key", got)
	}
	note.HeadSHA = "0000"
	expect(t, "LeaveCheckRun() on no commit", w.LeaveCheckRun(t.Context(), repository, note), githubapi.ErrRefused)
}
