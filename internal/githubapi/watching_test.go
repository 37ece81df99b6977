package githubapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubapi"
)

const repo = "octo/app"

// nextPage adds the link to a list's next page.
func nextPage(w http.ResponseWriter, r *http.Request, page int) {
	w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d&per_page=100>; rel="next"`, r.Host, r.URL.Path, page))
}

// Whatever runners belong to, runs are asked for below their repository, of which each list has pages of its own; a run that
// starts between the two lists, or moves to the next page, is there once, as it was seen last.
func TestActiveRuns_BothLists_AllPages_EachOnce(t *testing.T) {
	for _, scope := range []string{"/octo/app", "/octo/other", "/octo", "/enterprises/acme"} {
		f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch q := r.URL.Query(); {
			case q.Get("status") == "in_progress":
				answer(200, `{"total_count":2,"workflow_runs":[{"id":11,"run_attempt":2,"status":"in_progress","conclusion":null,"head_sha":"b1"},
					{"id":13,"run_attempt":1,"status":"in_progress","conclusion":null,"head_sha":"b3"}]}`)(w, r)
			case q.Get("page") == "1":
				nextPage(w, r, 2)
				answer(200, `{"total_count":3,"workflow_runs":[{"id":10,"run_attempt":1,"status":"queued","conclusion":null,"head_sha":"b0"},
					{"id":11,"run_attempt":2,"status":"queued","conclusion":null,"head_sha":"b1"}]}`)(w, r)
			default:
				answer(200, `{"total_count":3,"workflow_runs":[{"id":11,"run_attempt":2,"status":"queued","head_sha":"b1"},
					{"id":12,"run_attempt":1,"status":"queued","head_sha":"b2"}]}`)(w, r)
			}
		})
		got, err := client(t, f, scope).ActiveRuns(t.Context(), repo)
		want := []githubapi.WorkflowRun{
			{ID: 10, Attempt: 1, Status: "queued", HeadSHA: "b0"},
			{ID: 11, Attempt: 2, Status: "in_progress", HeadSHA: "b1"},
			{ID: 12, Attempt: 1, Status: "queued", HeadSHA: "b2"},
			{ID: 13, Attempt: 1, Status: "in_progress", HeadSHA: "b3"},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: ActiveRuns() error = %v, diff (-want +got):\n%s", scope, err, diff)
		}
		list := "GET /api/v3/repos/octo/app/actions/runs?page="
		calls := []string{list + "1&per_page=100&status=queued", list + "2&per_page=100&status=queued", list + "1&per_page=100&status=in_progress"}
		if diff := cmp.Diff(calls, f.calls()); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", scope, diff)
		}
	}
}

// GitHub shows 1,000 runs of a list, whatever its links say.
func TestActiveRuns_EndsWhereGitHubDoes(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		nextPage(w, r, 2)
		answer(200, `{"workflow_runs":[]}`)(w, r)
	})
	got, err := client(t, f, "/octo").ActiveRuns(t.Context(), repo)
	if err != nil || len(got) != 0 || len(f.calls()) != 20 {
		t.Errorf("ActiveRuns() = %v, %v after %d calls, want none after 10 of each list", got, err, len(f.calls()))
	}
}

// However many runs are completed, what became of the newest takes one call.
func TestCompletedRuns_OnePage(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		nextPage(w, r, 2)
		answer(200, `{"total_count":812,"workflow_runs":[{"id":12,"run_attempt":1,"status":"completed","conclusion":"failure","head_sha":"b2"},
			{"id":11,"run_attempt":2,"status":"completed","conclusion":"success","head_sha":"b1"}]}`)(w, r)
	})
	got, err := client(t, f, "/octo").CompletedRuns(t.Context(), repo)
	want := []githubapi.WorkflowRun{
		{ID: 12, Attempt: 1, Status: "completed", Conclusion: "failure", HeadSHA: "b2"},
		{ID: 11, Attempt: 2, Status: "completed", Conclusion: "success", HeadSHA: "b1"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("CompletedRuns() error = %v, diff (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"GET /api/v3/repos/octo/app/actions/runs?page=1&per_page=100&status=completed"}, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestWorkflowRun_OneCall_404IsNone(t *testing.T) {
	status, body := 200, `{"id":4711,"run_attempt":3,"status":"completed","conclusion":"cancelled","head_sha":"c0ffee","name":"Build"}`
	f := serve(t, func(w http.ResponseWriter, r *http.Request) { answer(status, body)(w, r) })
	c := client(t, f, "/octo")
	got, ok, err := c.WorkflowRun(t.Context(), repo, 4711)
	want := githubapi.WorkflowRun{ID: 4711, Attempt: 3, Status: "completed", Conclusion: "cancelled", HeadSHA: "c0ffee"}
	if err != nil || !ok || got != want || !got.Completed() {
		t.Errorf("WorkflowRun() = %+v, %v, %v, want %+v", got, ok, err, want)
	}
	status, body = 404, `{"message":"Not Found"}`
	if got, ok, err := c.WorkflowRun(t.Context(), repo, 4712); err != nil || ok {
		t.Errorf("WorkflowRun() of none = %+v, %v, %v, want false", got, ok, err)
	}
	status, body = 200, `{"id":5,"run_attempt":1}`
	_, _, err = c.WorkflowRun(t.Context(), repo, 4713)
	checkKind(t, err, githubapi.ErrUnavailable) // that is another run
	calls := []string{
		"GET /api/v3/repos/octo/app/actions/runs/4711", "GET /api/v3/repos/octo/app/actions/runs/4712", "GET /api/v3/repos/octo/app/actions/runs/4713",
	}
	if diff := cmp.Diff(calls, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestWorkflowJobs_OfOneAttempt_AllPages(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "2" {
			answer(200, `{"total_count":2,"jobs":[{"id":1,"name":"build","status":"completed","conclusion":"failure","labels":["4711"],
				"runner_name":"i-1-4","started_at":"2026-01-02T03:00:00Z","completed_at":"2026-01-02T03:04:05Z",
				"steps":[{"name":"Set up job","started_at":"2026-01-02T03:01:00Z"},{"name":"x","started_at":"2026-01-02T03:02:00Z"}]},
				{"id":3,"name":"lint","status":"in_progress","labels":["4711"],"runner_name":"i-2-1","started_at":"2026-01-02T03:03:00Z","steps":[]}]}`)(w, r)
			return
		}
		nextPage(w, r, 2)
		answer(200, `{"total_count":2,"jobs":[{"id":1,"name":"build","status":"in_progress","conclusion":null,"labels":["4711"],"runner_name":"i-1-4",
				"completed_at":null},
			{"id":2,"name":"test (1)","status":"queued","conclusion":null,"labels":["self-hosted","x"],"runner_name":null,
				"started_at":"2026-01-02T02:00:00Z","completed_at":null}]}`)(w, r)
	})
	got, err := client(t, f, "/octo/app").WorkflowJobs(t.Context(), repo, 4711, 2)
	want := []githubapi.WorkflowJob{
		{ID: 1, Name: "build", Status: "completed", Conclusion: "failure", Labels: []string{"4711"}, RunnerName: "i-1-4",
			StartedAt: time.Date(2026, 1, 2, 3, 1, 0, 0, time.UTC), CompletedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		{ID: 2, Name: "test (1)", Status: "queued", Labels: []string{"self-hosted", "x"}},
		{ID: 3, Name: "lint", Status: "in_progress", Labels: []string{"4711"}, RunnerName: "i-2-1", StartedAt: time.Date(2026, 1, 2, 3, 3, 0, 0, time.UTC)},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("WorkflowJobs() error = %v, diff (-want +got):\n%s", err, diff)
	}
	jobs := "GET /api/v3/repos/octo/app/actions/runs/4711/attempts/2/jobs?page="
	if diff := cmp.Diff([]string{jobs + "1&per_page=100", jobs + "2&per_page=100"}, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestWatching_WhatIsIncompleteIsNoAnswer(t *testing.T) {
	for _, body := range []string{`{"workflow_runs":[null],"jobs":[null]}`, `{"workflow_runs":[{"id":1}],"jobs":[{"name":"x"}]}`, `{"workflow_runs":`, `[]`} {
		f := serve(t, answer(200, body))
		c := client(t, f, "/octo")
		_, err := c.ActiveRuns(t.Context(), repo)
		checkKind(t, err, githubapi.ErrUnavailable)
		_, err = c.CompletedRuns(t.Context(), repo)
		checkKind(t, err, githubapi.ErrUnavailable)
		_, err = c.WorkflowJobs(t.Context(), repo, 1, 1)
		checkKind(t, err, githubapi.ErrUnavailable)
		_, _, err = c.WorkflowRun(t.Context(), repo, 1)
		checkKind(t, err, githubapi.ErrUnavailable)
	}
}

func TestRuns_ARepositoryThatIsNoneIsRefusedUnasked(t *testing.T) {
	f := serve(t, answer(200, `{}`))
	c := client(t, f, "/octo")
	for _, name := range []string{"", "octo", "octo/", "/app", "octo/app/x", "octo/..", "../app", "octo/a b", "octo/a%2fb", "octo/a?b", "o\nc/to"} {
		_, list := c.ActiveRuns(t.Context(), name)
		_, completed := c.CompletedRuns(t.Context(), name)
		_, _, run := c.WorkflowRun(t.Context(), name, 1)
		_, jobs := c.WorkflowJobs(t.Context(), name, 1, 1)
		for call, err := range map[string]error{
			"ActiveRuns": list, "CompletedRuns": completed, "WorkflowRun": run, "WorkflowJobs": jobs,
			"CancelRun": c.CancelRun(t.Context(), name, 1), "RerunFailedJobs": c.RerunFailedJobs(t.Context(), name, 1),
			"RerunJob": c.RerunJob(t.Context(), name, 1), "LeaveCheckRun": c.LeaveCheckRun(t.Context(), name, note()),
		} {
			if text := fmt.Sprint(err); !errors.Is(err, githubapi.ErrRefused) || !strings.Contains(text, "want owner/name") || strings.Contains(text, "\n") {
				t.Errorf("%s of %q error = %v, want it to ask for owner/name in one line", call, name, err)
			}
		}
	}
	if calls := f.calls(); len(calls) != 0 {
		t.Errorf("made calls: %v", calls)
	}
}
