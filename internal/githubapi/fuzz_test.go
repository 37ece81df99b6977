package githubapi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// material is what only an answer that was taken may give away.
const material = "material-of-a-registration"

// FuzzAnswer lets GitHub answer anything to every call: an error is of a kind that callers know, tells
// no secret, fits a log, and holds calls for an hour at most; without one the answer is whole.
func FuzzAnswer(f *testing.F) {
	for _, s := range []struct {
		status  int
		body    string
		headers string
	}{
		{200, `{"total_count":1,"runners":[{"id":1,"name":"a","status":"online","busy":true,"labels":[{"name":"x"}]}]}`, ""},
		{200, `{"runners":[null,{"labels":[null]}]}`, ""},
		{201, jitBody, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 99999999999999\nDate: Sat, 01 Jan 2000 00:00:00 GMT"},
		{201, `{"token":"` + material + `","expires_at":"2100-01-01T00:00:00Z"}`, ""},
		{403, `{"message":"slow down"}`, "Retry-After: 9223372036854775807"},
		{429, `null`, "Retry-After: -1\nX-RateLimit-Resource: core"},
		{302, "", "Location: https://elsewhere.example/" + material},
		{200, `{"runners":[]}`, `Link: <https://api.github.com/x?page=2>; rel="next"`},
		{200, `{"id":1,"run_attempt":1,"status":"queued","workflow_runs":[{"id":1,"run_attempt":1}],
			"jobs":[{"id":1,"labels":["x"],"completed_at":null,"steps":[null]}]}`,
			"ETag: W/\"1\"\nX-RateLimit-Limit: 1\nX-RateLimit-Remaining: 1\nX-RateLimit-Reset: 99999999999\nX-RateLimit-Resource: core"},
		{304, "", "ETag: x"},
		{409, `{"message":"Cannot cancel a workflow run that is completed."}`, ""},
		{200, `{"check_runs":[{"name":"remuda","external_id":null}]}`, "X-RateLimit-Limit: -1"},
	} {
		f.Add(s.status, s.body, s.headers)
	}
	f.Fuzz(func(t *testing.T, status int, body, headers string) {
		if status < 200 || status > 599 {
			return // net/http reads on after those below, and refuses those above
		}
		bubbletest.Run(t, func(t *testing.T) { checkAnswer(t, status, body, headersOf(headers)) })
	})
}

// headersOf reads what net/http would let through.
func headersOf(lines string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(lines, "\n") {
		name, value, _ := strings.Cut(line, ":")
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) || name == "" {
			continue
		}
		out[name] = strings.TrimSpace(value)
	}
	return out
}

func checkAnswer(t *testing.T, status int, body string, headers map[string]string) {
	var log strings.Builder
	gh := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		resp := reply(status, body, headers)
		resp.Request = r
		return resp, nil
	})}
	for what, do := range map[string]func(context.Context, *githubapi.Client) error{
		"JITConfig": func(ctx context.Context, c *githubapi.Client) error {
			jit, err := c.JITConfig(ctx, "i-1-1", "1")
			if err == nil && (jit.RunnerID == 0 || jit.Config == "") {
				t.Errorf("JITConfig = %+v without an error", jit)
			}
			return err
		},
		"RegistrationToken": func(ctx context.Context, c *githubapi.Client) error {
			token, err := c.RegistrationToken(ctx)
			if err == nil && (token.Value == "" || token.Expires.IsZero()) {
				t.Errorf("RegistrationToken = %+v without an error", token)
			}
			return err
		},
		"Runners": func(ctx context.Context, c *githubapi.Client) error {
			runners, err := c.Runners(ctx)
			for _, r := range runners {
				if r.ID == 0 {
					t.Errorf("Runners = %+v: nothing can be done about one without an id", runners)
				}
			}
			return err
		},
		"FindRunner": func(ctx context.Context, c *githubapi.Client) error {
			r, ok, err := c.FindRunner(ctx, "a")
			if ok && (err != nil || r.ID == 0 || !strings.EqualFold(r.Name, "a")) {
				t.Errorf("FindRunner = %+v, %v", r, err)
			}
			return err
		},
		"AddLabel":     func(ctx context.Context, c *githubapi.Client) error { return c.AddLabel(ctx, 1, "a") },
		"DeleteRunner": func(ctx context.Context, c *githubapi.Client) error { return c.DeleteRunner(ctx, 1) },
		"ActiveRuns": func(ctx context.Context, c *githubapi.Client) error {
			runs, err := c.ActiveRuns(ctx, repo)
			for _, r := range runs {
				checkRun(t, r)
			}
			return err
		},
		"CompletedRuns": func(ctx context.Context, c *githubapi.Client) error {
			runs, err := c.CompletedRuns(ctx, repo)
			for _, r := range runs {
				checkRun(t, r)
			}
			return err
		},
		"WorkflowRun": func(ctx context.Context, c *githubapi.Client) error {
			first, ok, err := c.WorkflowRun(ctx, repo, 1)
			if ok {
				checkRun(t, first)
			}
			if again, ok2, err := c.WorkflowRun(ctx, repo, 1); err == nil && (again != first || ok2 != ok) {
				t.Errorf("WorkflowRun = %+v, %v, then %+v, %v of the same answer", first, ok, again, ok2)
			}
			return err
		},
		"WorkflowJobs": func(ctx context.Context, c *githubapi.Client) error {
			jobs, err := c.WorkflowJobs(ctx, repo, 1, 1)
			for _, j := range jobs {
				if j.ID == 0 {
					t.Errorf("WorkflowJobs = %+v: one without an id", jobs)
				}
			}
			return err
		},
		"CancelRun":       func(ctx context.Context, c *githubapi.Client) error { return c.CancelRun(ctx, repo, 1) },
		"RerunFailedJobs": func(ctx context.Context, c *githubapi.Client) error { return c.RerunFailedJobs(ctx, repo, 1) },
		"RerunJob":        func(ctx context.Context, c *githubapi.Client) error { return c.RerunJob(ctx, repo, 1) },
		"LeaveCheckRun":   func(ctx context.Context, c *githubapi.Client) error { return c.LeaveCheckRun(ctx, repo, note()) },
		"Deprecation": func(ctx context.Context, c *githubapi.Client) error {
			_, _, err := c.Deprecation(ctx, "2.330.0")
			return err
		},
	} {
		c, err := githubapi.New(githubapi.Options{
			URL: "https://github.com/octo", RunnerGroup: "linux", HTTPClient: gh, Clock: clock.RealClock{},
			Token: func(context.Context) (string, error) { return secret, nil },
			Log:   slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		if err != nil {
			t.Fatal(err)
		}
		checkFailure(t, what, do(t.Context(), c), status, fmt.Sprint(body, headers))
	}
	if strings.Contains(log.String(), secret) || strings.Contains(log.String(), material) {
		t.Errorf("a secret was logged: %s", log.String())
	}
}

func checkRun(t *testing.T, r githubapi.WorkflowRun) {
	if r.ID == 0 || r.Attempt < 1 {
		t.Errorf("%+v without an id or an attempt", r)
	}
}

func checkFailure(t *testing.T, what string, err error, status int, said string) {
	if err == nil {
		return
	}
	known := []error{githubapi.ErrRefused, githubapi.ErrUnavailable, githubapi.ErrThrottled, githubapi.ErrNameTaken, githubapi.ErrBusy}
	of := 0
	for _, kind := range known {
		if errors.Is(err, kind) {
			of++
		}
	}
	text := err.Error()
	switch at, held := githubapi.RetryAt(err); {
	case of != 1:
		t.Errorf("%s = %v, of %d kinds", what, err, of)
	case strings.Contains(text, secret) && !strings.Contains(said, secret):
		t.Errorf("%s = %v shows the credential", what, err)
	case status < 300 && strings.Contains(text, material):
		t.Errorf("%s = %v shows what was registered", what, err)
	case len(text) > 2000 || strings.ContainsAny(text, "\n\r\x00"):
		t.Errorf("%s = %d bytes that fit no line of a log: %q", what, len(text), text)
	case held && time.Until(at) > time.Hour:
		t.Errorf("%s: calls are held for %s", what, time.Until(at))
	}
}
