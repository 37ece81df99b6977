package githubapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// acts are the calls that change what becomes of a run.
var acts = map[string]func(context.Context, *githubapi.Client) error{
	"POST /api/v3/repos/octo/app/actions/runs/7/cancel": func(ctx context.Context, c *githubapi.Client) error { return c.CancelRun(ctx, repo, 7) },
	"POST /api/v3/repos/octo/app/actions/runs/7/rerun-failed-jobs": func(ctx context.Context, c *githubapi.Client) error {
		return c.RerunFailedJobs(ctx, repo, 7)
	},
	"POST /api/v3/repos/octo/app/actions/jobs/9000000000000/rerun": func(ctx context.Context, c *githubapi.Client) error { return c.RerunJob(ctx, repo, 9e12) },
}

func TestActs_OneCallEach(t *testing.T) {
	for call, do := range acts {
		code := 201
		if strings.HasSuffix(call, "cancel") {
			code = 202 // which the library takes for a failure
		}
		f := serve(t, answer(code, `{}`))
		if err := do(t.Context(), client(t, f, "/octo")); err != nil {
			t.Errorf("%s error = %v", call, err)
		}
		if diff := cmp.Diff([]string{call}, f.calls()); diff != "" || f.body[0] != "" {
			t.Errorf("calls (-want +got):\n%s body %q, want none", diff, f.body[0])
		}
	}
}

// That a run that runs is answered with 403 shows cli/cli#9221, that there are two kinds of 409 calcom/cal.diy#29584.
func TestActs_Kinds(t *testing.T) {
	for _, tt := range []struct {
		name, act, message string
		code               int
		want               error
		says               string
	}{
		{"CancelCompleted", "cancel", "Cannot cancel a workflow run that is completed.", 409, nil, ""},
		{"CancelTooEarly", "cancel", "Cannot cancel a workflow re-run that has not yet queued.", 409, githubapi.ErrUnavailable, "not yet queued"},
		{"RerunConflict", "rerun-failed-jobs", "odd", 409, githubapi.ErrRefused, "odd"},
		{"RerunRunning", "rerun-failed-jobs", "This workflow is already running", 403, githubapi.ErrRefused,
			"403 This workflow is already running; unless GitHub says"},
		{"RerunReusable", "rerun", "This job is of a reusable workflow", 403, githubapi.ErrRefused, "403 This job is of a reusable workflow"},
		{"Gone", "cancel", "Not Found", 404, githubapi.ErrRefused, "it must be in octo/app"},
		{"Accepted", "rerun", "", 202, githubapi.ErrUnavailable, ""},
		{"Secondary", "rerun", "You have exceeded a secondary rate limit", 429, githubapi.ErrThrottled, "secondary rate limit"},
		{"Down", "rerun-failed-jobs", "", 502, githubapi.ErrUnavailable, "502"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, answer(tt.code, fmt.Sprintf(`{"message":%q}`, tt.message)))
			for call, do := range acts {
				if !strings.HasSuffix(call, "/"+tt.act) {
					continue
				}
				err := do(t.Context(), client(t, f, "/octo"))
				checkKind(t, err, tt.want)
				if (err == nil) != (tt.want == nil) || err != nil && !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error = %v, want %v that says %q", err, tt.want, tt.says)
				}
			}
			if n := len(f.calls()); n != 1 {
				t.Errorf("made %d calls, want 1: the client repeats nothing", n)
			}
		})
	}
}

func TestErrors_NameThePermissionAboutRuns(t *testing.T) {
	list := func(c *githubapi.Client) error { _, err := c.ActiveRuns(t.Context(), repo); return err }
	cancel := func(c *githubapi.Client) error { return c.CancelRun(t.Context(), repo, 7) }
	leave := func(c *githubapi.Client) error { return c.LeaveCheckRun(t.Context(), repo, note()) }
	for _, tt := range []struct {
		name, token string
		code        int
		do          func(*githubapi.Client) error
		says        []string
	}{
		{"Installation", "ghs_1", 403, list, []string{`the App needs the repository permission "Actions: read" on octo/app`, "accepted it and include octo/app"}},
		{"FineGrained", "github_pat_1", 404, list, []string{
			"it must be in octo/app", `the fine-grained token needs the repository permission "Actions: read" on octo/app`}},
		{"Classic", "ghp_1", 404, list, []string{"the classic token needs the scope repo (it has gist)", `"Actions: read"`}},
		{"Unknown", "x", 403, list, []string{`"Actions: read"`, "scope repo"}},
		{"Revoked", "ghp_1", 401, list, []string{"wrong, expired or revoked"}},
		{"Cancel", "ghs_1", 403, cancel, []string{`"Actions: write" on octo/app`}},
		{"CancelClassic", "ghp_1", 404, cancel, []string{"scope repo", `"Actions: write" on octo/app`}},
		{"CheckRun", "ghs_1", 403, leave, []string{`the App needs the repository permission "Checks: write" on octo/app`}},
		{"CheckRunWithoutApp", "github_pat_1", 403, leave, []string{"from an App only", `"Checks: write" on octo/app`}},
		{"Invalid", "ghs_1", 422, leave, []string{"check what octo/app has"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, answer(tt.code, `{"message":"Resource not accessible"}`, "X-OAuth-Scopes", "gist"))
			err := tt.do(client(t, f, "/octo", withToken(tt.token)))
			checkKind(t, err, githubapi.ErrRefused)
			for _, s := range append(tt.says, "Resource not accessible") {
				if !strings.Contains(fmt.Sprint(err), s) {
					t.Errorf("error = %v, want it to say %q", err, s)
				}
			}
		})
	}
}

// Many acts at once would pass a secondary limit, which holds every call: those above 40 a minute come later.
func TestActs_AreSpread_RegistrationsAreNot(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := offline(t, func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/generate-jitconfig") {
				return reply(201, jitBody, nil), nil
			}
			return reply(202, `{}`, nil), nil
		}, 1500)
		start := time.Now()
		for i := range 40 {
			if err := c.CancelRun(t.Context(), repo, int64(i+1)); err != nil {
				t.Fatalf("CancelRun() #%d error = %v", i, err)
			}
		}
		err := c.CancelRun(t.Context(), repo, 41)
		checkKind(t, err, githubapi.ErrThrottled)
		if at, ok := githubapi.RetryAt(err); !ok || !at.Equal(start.Add(time.Minute)) {
			t.Errorf("RetryAt() = %s, %v, want a minute after the first", at, ok)
		}
		if _, err := c.JITConfig(t.Context(), "i-1-1", "1"); err != nil {
			t.Errorf("JITConfig() meanwhile error = %v", err)
		}
		time.Sleep(time.Minute)
		if err := c.CancelRun(t.Context(), repo, 41); err != nil {
			t.Errorf("CancelRun() a minute later error = %v", err)
		}
	})
}

func note() githubapi.CheckRun {
	return githubapi.CheckRun{HeadSHA: "c0ffee", Name: "remuda", Key: "4711-gpu", Title: "No runners", Summary: "no capacity in eu-west-1"}
}

// A check run is left once, even if the reply to it was lost, and beside those of other requests.
func TestLeaveCheckRun_OnceForEachKey(t *testing.T) {
	type run struct{ Name, Key string }
	left := []run{{"remuda", "4711"}, {"lint", "4711-gpu"}}
	lose := true
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if r.URL.Query().Get("page") == "1" {
				nextPage(w, r, 2)
				answer(200, `{"total_count":3,"check_runs":[{"id":1,"name":"remuda","external_id":null}]}`)(w, r)
				return
			}
			out := []string{}
			for _, c := range left {
				out = append(out, fmt.Sprintf(`{"id":2,"name":%q,"external_id":%q}`, c.Name, c.Key))
			}
			answer(200, `{"check_runs":[`+strings.Join(out, ",")+`]}`)(w, r)
			return
		}
		var in struct {
			Name string `json:"name"`
			Key  string `json:"external_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Errorf("body: %v", err)
		}
		left = append(left, run(in))
		if lose {
			answer(502, "")(w, r)
			return
		}
		answer(201, `{"id":3}`)(w, r)
	})
	c := client(t, f, "/octo", withToken("ghs_1"))
	checkKind(t, c.LeaveCheckRun(t.Context(), repo, note()), githubapi.ErrUnavailable)
	lose = false
	if err := c.LeaveCheckRun(t.Context(), repo, note()); err != nil {
		t.Errorf("LeaveCheckRun() again error = %v", err)
	}
	other := note()
	other.Key = "4711-arm"
	if err := c.LeaveCheckRun(t.Context(), repo, other); err != nil {
		t.Errorf("LeaveCheckRun() of another request error = %v", err)
	}
	list := "GET /api/v3/repos/octo/app/commits/c0ffee/check-runs?check_name=remuda&filter=all&page="
	look := []string{list + "1&per_page=100", list + "2&per_page=100"}
	leave := "POST /api/v3/repos/octo/app/check-runs"
	want := append(append(append(append(append([]string{}, look...), leave), look...), look...), leave)
	if diff := cmp.Diff(want, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(f.body[2]), &body); err != nil {
		t.Fatal(err)
	}
	wantBody := map[string]any{
		"name": "remuda", "head_sha": "c0ffee", "external_id": "4711-gpu", "status": "completed", "conclusion": "failure",
		"output": map[string]any{"title": "No runners", "summary": "no capacity in eu-west-1"},
	}
	if diff := cmp.Diff(wantBody, body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestLeaveCheckRun_AFieldThatIsMissingIsNamed(t *testing.T) {
	f := serve(t, answer(201, `{}`))
	for field, without := range map[string]func(*githubapi.CheckRun){
		"head sha": func(c *githubapi.CheckRun) { c.HeadSHA = "" },
		"name":     func(c *githubapi.CheckRun) { c.Name = "" },
		"key":      func(c *githubapi.CheckRun) { c.Key = "" },
		"title":    func(c *githubapi.CheckRun) { c.Title = "" },
		"summary":  func(c *githubapi.CheckRun) { c.Summary = "" },
	} {
		run := note()
		without(&run)
		err := client(t, f, "/octo").LeaveCheckRun(t.Context(), repo, run)
		checkKind(t, err, githubapi.ErrRefused)
		if !strings.Contains(fmt.Sprint(err), field+` ""`) {
			t.Errorf("error = %v, want it to name %s", err, field)
		}
	}
	if calls := f.calls(); len(calls) != 0 {
		t.Errorf("made calls: %v", calls)
	}
}
