package githubsim_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// ask makes one request with a credential and, unless it is "", the tag of an earlier answer.
func (s *site) ask(t *testing.T, method, path, token, tag string, in any) (*http.Response, string) {
	t.Helper()
	raw, err := json.Marshal(in)
	check(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, s.Server.URL+path, strings.NewReader(string(raw)))
	check(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := s.Client().Do(req)
	check(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	return resp, string(body)
}

// signature is a JSON web token of the App's.
func signature(t *testing.T) string {
	t.Helper()
	now := time.Now()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: "5", IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(time.Minute)),
	}).SignedString(appKey())
	check(t, err)
	return signed
}

// installationToken installs an App and returns a token of it.
func (s *site) installationToken(t *testing.T) string {
	t.Helper()
	s.app(t, "/octo/repo")
	var out struct {
		Token string `json:"token"`
	}
	_, body := s.ask(t, http.MethodPost, "/app/installations/77/access_tokens", signature(t), "", nil)
	check(t, json.Unmarshal([]byte(body), &out))
	return out.Token
}

const runsPath = "/api/v3/repos/octo/repo/actions/runs"

func TestRESTRuns_Lists(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	for i := range 5 {
		j := githubsim.JobSpec{Key: "a", Label: "42"}
		if i%2 == 1 {
			j = githubsim.JobSpec{Key: "a", Hosted: true, Held: true}
		}
		check(t, errorOf(s.Workflows().Start(githubsim.RunSpec{ID: int64(i + 1), Jobs: []githubsim.JobSpec{j}})))
	}
	check(t, s.Workflows().Cancel(1))
	for _, tt := range []struct {
		query string
		total int
		ids   []int64
		next  string
	}{
		{"", 5, []int64{5, 4, 3, 2, 1}, ""},
		{"?per_page=2", 5, []int64{5, 4}, "page=2&per_page=2"},
		{"?per_page=2&page=3", 5, []int64{1}, ""},
		{"?status=queued&per_page=100", 2, []int64{5, 3}, ""},
		{"?status=in_progress", 2, []int64{4, 2}, ""},
		{"?status=completed", 1, []int64{1}, ""},
		{"?status=cancelled", 1, []int64{1}, ""},
		{"?status=waiting", 0, nil, ""},
	} {
		var got struct {
			Total int `json:"total_count"`
			Runs  []struct {
				ID int64 `json:"id"`
			} `json:"workflow_runs"`
		}
		resp := s.do(t, "GET", runsPath+tt.query, nil, &got)
		var ids []int64
		for _, r := range got.Runs {
			ids = append(ids, r.ID)
		}
		if !cmp.Equal(ids, tt.ids) || got.Total != tt.total || resp.StatusCode != 200 {
			t.Errorf("GET runs%s = %d %v of %d, want %v of %d", tt.query, resp.StatusCode, ids, got.Total, tt.ids, tt.total)
		}
		want := ""
		if tt.next != "" {
			want = fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.Server.URL, runsPath, tt.next)
		}
		if link := resp.Header.Get("Link"); link != want {
			t.Errorf("GET runs%s: Link = %s, want %s", tt.query, link, want)
		}
	}
}

func TestRESTRuns_OneRunAndItsJobs(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	_, err := s.Workflows().Start(githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{
		{Key: "plan", Hosted: true, Conclusion: githubsim.Failure}, {Key: "test", Label: "42"},
	}})
	check(t, err)
	type run struct {
		ID         int64
		Status     string
		Conclusion *string
		Attempt    int    `json:"run_attempt"`
		SHA        string `json:"head_sha"`
	}
	type jobs struct {
		Total int `json:"total_count"`
		Jobs  []struct {
			ID          int64
			Name        string
			Status      string
			Conclusion  *string
			Labels      []string
			Attempt     int        `json:"run_attempt"`
			RunnerName  *string    `json:"runner_name"`
			CompletedAt *time.Time `json:"completed_at"`
		}
	}
	var one run
	if s.do(t, "GET", runsPath+"/7", nil, &one); one.Status != "queued" || one.Conclusion != nil || one.Attempt != 1 || len(one.SHA) != 40 {
		t.Errorf("GET runs/7 = %+v, want it queued", one)
	}
	var of jobs
	if s.do(t, "GET", runsPath+"/7/jobs?filter=latest", nil, &of); of.Total != 2 || *of.Jobs[0].RunnerName != "GitHub Actions" ||
		*of.Jobs[0].Conclusion != "failure" || of.Jobs[0].CompletedAt == nil || of.Jobs[1].RunnerName != nil || of.Jobs[1].CompletedAt != nil ||
		of.Jobs[1].Conclusion != nil || of.Jobs[1].Labels[0] != "42" {
		t.Errorf("GET runs/7/jobs = %+v, want a failed one and a queued one", of)
	}
	for _, tt := range []struct {
		method, path string
		want         int
		message      string
	}{
		{"POST", "/runs/7/rerun", 403, "This workflow is already running"},
		{"POST", "/runs/7/rerun-failed-jobs", 403, "This workflow is already running"},
		{"POST", fmt.Sprintf("/jobs/%d/rerun", of.Jobs[0].ID), 403, "This workflow is already running"},
		{"POST", "/runs/7/cancel", 202, ""},
		{"POST", "/runs/7/cancel", 409, "Cannot cancel a workflow run that is completed."},
		{"POST", "/runs/7/rerun-failed-jobs", 201, ""},
		{"POST", "/runs/7/cancel", 202, ""},
		{"POST", "/runs/7/rerun", 201, ""},
		{"POST", "/runs/7/cancel", 202, ""},
		{"POST", fmt.Sprintf("/jobs/%d/rerun", of.Jobs[0].ID), 403, "This workflow run cannot be retried"},
		{"POST", "/runs/8/cancel", 404, "Not Found"},
		{"POST", "/runs/8/rerun", 404, "Not Found"},
		{"POST", "/runs/8/rerun-failed-jobs", 404, "Not Found"},
		{"POST", "/jobs/8/rerun", 404, "Not Found"},
		{"GET", "/runs/8", 404, "Not Found"},
		{"GET", "/runs/x", 404, "Not Found"},
		{"GET", "/runs/8/jobs", 404, "Not Found"},
		{"GET", "/runs/7/attempts/3/jobs", 200, ""},
		{"GET", "/runs/7/attempts/4/jobs", 404, "Not Found"},
		{"GET", "/runs/7/attempts/0/jobs", 404, "Not Found"},
	} {
		var body struct {
			Message string `json:"message"`
		}
		if resp := s.do(t, tt.method, "/api/v3/repos/octo/repo/actions"+tt.path, nil, &body); resp.StatusCode != tt.want || body.Message != tt.message {
			t.Errorf("%s %s = %d %q, want %d %q", tt.method, tt.path, resp.StatusCode, body.Message, tt.want, tt.message)
		}
	}
	for path, want := range map[string]string{
		"/7/jobs": "3 3", "/7/jobs?filter=all": "3 3 2 2 1 1", "/7/attempts/1/jobs": "1 1", "/7/jobs?filter=all&per_page=2&page=2": "2 2",
	} {
		var got []string
		s.do(t, "GET", runsPath+path, nil, &of)
		for _, j := range of.Jobs {
			got = append(got, strconv.Itoa(j.Attempt))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("GET runs%s has jobs of attempts %v, want %s", path, got, want)
		}
	}
}

func TestREST_ETagsAreOfATokenAndWhatItSees(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	check(t, errorOf(s.Workflows().Start(githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{{Key: "a", Hosted: true, Held: true}}})))
	s.SetRateLimit(githubsim.ResourceCore, githubsim.RateLimit{Limit: 100, Window: time.Hour})
	app := s.installationToken(t)
	get := func(token, tag string) (status int, etag, left string) {
		t.Helper()
		resp, body := s.ask(t, "GET", runsPath+"/7", token, tag, nil)
		if (resp.StatusCode == 304) != (body == "") {
			t.Errorf("answer = %d with body %q", resp.StatusCode, body)
		}
		return resp.StatusCode, resp.Header.Get("ETag"), resp.Header.Get("X-RateLimit-Remaining")
	}
	want := func(what string, token, tag string, status int, left string) string {
		t.Helper()
		got, etag, rest := get(token, tag)
		if got != status || rest != left || !strings.HasPrefix(etag, `W/"`) {
			t.Errorf("%s = %d %s with %s calls left, want %d with %s", what, got, etag, rest, status, left)
		}
		return etag
	}
	first := want("first GET", app, "", 200, "99")
	if again := want("second GET", app, first, 304, "99"); again != first {
		t.Errorf("ETag became %s from %s though nothing changed", again, first)
	}
	want("GET with two tags", app, `"x", `+first, 304, "99")
	want("GET with a tag of another token", credential, first, 200, "98")
	check(t, s.Workflows().Cancel(7))
	changed := want("GET after a change", app, first, 200, "97")
	want("GET after it", app, changed, 304, "97")
	if got := s.Unchanged()[githubsim.CallRun]; got != 3 {
		t.Errorf("Unchanged() has %d, want 3", got)
	}
	check(t, s.Workflows().SetView(githubsim.View{Frozen: time.Hour}))
	frozen := want("GET once it is frozen", app, changed, 304, "97")
	check(t, s.Workflows().Rerun(7, githubsim.Again{}))
	want("GET after a change that is not shown", app, frozen, 304, "97")
}

func TestREST_SecondaryLimit(t *testing.T) {
	for _, status := range []int{0, 429} {
		s := newSite(t, githubsim.Options{})
		check(t, errorOf(s.Workflows().Start(githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{{Key: "a", Label: "42"}}})))
		tag := ""
		s.SetSecondaryLimit(5+2, status)
		for range 2 { // an answer of 304 costs a point too
			resp, _ := s.ask(t, "GET", runsPath, credential, tag, nil)
			tag = resp.Header.Get("ETag")
		}
		s.answers(t, "POST", runsPath+"/7/cancel", nil, 202)
		resp := s.do(t, "GET", runsPath, nil, nil)
		want := max(status, 403)
		after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != want || err != nil || after < 1 || after > 60 || resp.Header.Get("X-RateLimit-Remaining") != "" {
			t.Errorf("answer = %d %v, want %d and Retry-After within a minute", resp.StatusCode, resp.Header, want)
		}
		s.SetSecondaryLimit(0, 0)
		s.answers(t, "GET", runsPath, nil, 200)
	}
}

func TestRESTCheckRuns_OnlyByApps(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	r, err := s.Workflows().Start(githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{{Key: "a", Label: "42"}}})
	check(t, err)
	const path = "/repos/octo/repo/check-runs"
	note := map[string]any{
		"name": "remuda", "head_sha": r.HeadSHA, "external_id": "7", "status": "completed", "conclusion": "failure",
		"output": map[string]string{"title": "No machines", "summary": "why"},
	}
	if resp, body := s.ask(t, "POST", path, credential, "", note); resp.StatusCode != 403 || !strings.Contains(body, "You must authenticate via a GitHub App.") {
		t.Errorf("POST with a personal token = %d %s, want 403", resp.StatusCode, body)
	}
	app := s.installationToken(t)
	for _, field := range []string{"name", "head_sha", "conclusion"} {
		bad := map[string]any{}
		for k, v := range note {
			if k != field {
				bad[k] = v
			}
		}
		if resp, body := s.ask(t, "POST", path, app, "", bad); resp.StatusCode != 422 || !strings.Contains(body, field) {
			t.Errorf("POST without %s = %d %s, want 422 that names it", field, resp.StatusCode, body)
		}
	}
	for _, id := range []string{"6", "7"} {
		note["external_id"] = id
		if resp, body := s.ask(t, "POST", path, app, "", note); resp.StatusCode != 201 {
			t.Errorf("POST = %d %s, want 201", resp.StatusCode, body)
		}
	}
	for query, want := range map[string]int{"": 1, "?check_name=remuda": 1, "?check_name=other": 0, "?filter=all": 2, "?filter=all&check_name=remuda": 2} {
		var got struct {
			Total int `json:"total_count"`
			Runs  []struct {
				ExternalID string `json:"external_id"`
				Output     struct{ Title string }
			} `json:"check_runs"`
		}
		s.do(t, "GET", "/repos/octo/repo/commits/"+r.HeadSHA+"/check-runs"+query, nil, &got)
		if got.Total != want || want == 1 && (got.Runs[0].ExternalID != "7" || got.Runs[0].Output.Title != "No machines") {
			t.Errorf("GET check-runs%s = %+v, want %d", query, got, want)
		}
	}
	check(t, s.Workflows().SetPermissions(repository, githubsim.Permissions{Actions: githubsim.AccessWrite, Checks: githubsim.AccessNone}))
	if resp, _ := s.ask(t, "POST", path, app, "", note); resp.StatusCode != 403 {
		t.Errorf("POST without the permission = %d, want 403", resp.StatusCode)
	}
}

func TestControl_Runs(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	spec := githubsim.RunSpec{ID: 7, Jobs: []githubsim.JobSpec{
		{Key: "a", Hosted: true, Held: true}, {Key: "b", Hosted: true, Needs: []string{"a"}, Approval: true},
	}}
	var r githubsim.RunRecord
	if resp := s.do(t, "POST", "/_sim/runs", spec, &r); resp.StatusCode != 201 || line(r) != "#1 in_progress; a in_progress" {
		t.Errorf("POST runs = %d %s", resp.StatusCode, line(r))
	}
	for _, tt := range []struct {
		method, path string
		in           any
		want         int
		state        string
	}{
		{"POST", "/runs", spec, 422, "#1 in_progress; a in_progress"},
		{"POST", fmt.Sprintf("/runs/jobs/%d/finish", r.Jobs[0].ID), map[string]string{"conclusion": "well"}, 422, "#1 in_progress; a in_progress"},
		{"POST", "/runs/jobs/1/finish", map[string]string{"conclusion": "success"}, 404, "#1 in_progress; a in_progress"},
		{"POST", fmt.Sprintf("/runs/jobs/%d/finish", r.Jobs[0].ID), map[string]string{"conclusion": "success"}, 204, "#1 waiting; a success; b waiting"},
		{"POST", "/runs/7/approve", nil, 204, "#1 success; a success; b success"},
		{"POST", "/runs/7/approve", nil, 422, "#1 success; a success; b success"},
		{"POST", "/runs/7/cancel", nil, 409, "#1 success; a success; b success"},
		{"POST", "/runs/7/rerun", githubsim.Again{Failed: true}, 403, "#1 success; a success; b success"},
		{"POST", "/runs/7/rerun", githubsim.Again{}, 204, "#2 in_progress; a in_progress"},
		{"POST", "/runs/7/cancel", nil, 204, "#2 cancelled; a cancelled; b skipped"},
		{"POST", "/runs/8/cancel", nil, 404, "#2 cancelled; a cancelled; b skipped"},
		{"GET", "/runs/8", nil, 404, "#2 cancelled; a cancelled; b skipped"},
		{"GET", "/runs/8/attempts", nil, 404, "#2 cancelled; a cancelled; b skipped"},
		{"PUT", "/secondary", map[string]int{"points": 900, "status": 200}, 422, "#2 cancelled; a cancelled; b skipped"},
		{"PUT", "/secondary", map[string]int{"points": 900, "status": 429}, 204, "#2 cancelled; a cancelled; b skipped"},
		{"PUT", "/view", map[string]float64{"lagSeconds": -1}, 422, "#2 cancelled; a cancelled; b skipped"},
		{"PUT", "/view", map[string]float64{"lagSeconds": 60}, 204, "#2 cancelled; a cancelled; b skipped"},
		{"PUT", "/permissions/octo/repo", githubsim.Permissions{Actions: "all"}, 422, "#2 cancelled; a cancelled; b skipped"},
	} {
		s.answers(t, tt.method, "/_sim"+tt.path, tt.in, tt.want)
		expectState(t, s.Hub, 7, tt.state)
	}
	s.answers(t, "GET", runsPath+"/7", nil, 404) // a minute late
	s.answers(t, "PUT", "/_sim/permissions/octo/repo", githubsim.Permissions{Actions: githubsim.AccessNone, Checks: githubsim.AccessNone}, 204)
	s.answers(t, "GET", runsPath, nil, 403)
	var list, attempts []githubsim.RunRecord
	s.do(t, "GET", "/_sim/runs", nil, &list)
	s.do(t, "GET", "/_sim/runs/7/attempts", nil, &attempts)
	if s.do(t, "GET", "/_sim/runs/7?wait=1", nil, &r); len(list) != 1 || len(attempts) != 2 || !cmp.Equal(list[0], r) || !cmp.Equal(attempts[1], r) {
		t.Errorf("GET runs = %+v, attempts %+v, run %+v", list, attempts, r)
	}
	var checks []githubsim.CheckRunRecord
	var unchanged map[githubsim.Call]int
	s.do(t, "GET", "/_sim/check-runs", nil, &checks)
	if s.do(t, "GET", "/_sim/unchanged", nil, &unchanged); len(checks) != 0 || len(unchanged) != 0 {
		t.Errorf("GET check-runs, unchanged = %+v, %v, want none", checks, unchanged)
	}
}
