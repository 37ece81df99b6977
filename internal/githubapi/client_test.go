package githubapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubapi"
)

func TestJITConfig_S14_ExactlyTheLabel(t *testing.T) {
	var body map[string]any
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &body)
		}
		if err != nil {
			t.Errorf("request body: %v", err)
		}
		answer(201, `{"runner":{"id":23,"name":"i-1-4"},"encoded_jit_config":"Y29uZmln"}`)(w, r)
	})
	for _, tt := range []struct{ path, want string }{
		{"/octo/repo", "POST /api/v3/repos/octo/repo/actions/runners/generate-jitconfig"},
		{"/octo", "POST /api/v3/orgs/octo/actions/runners/generate-jitconfig"},
	} {
		c := client(t, f, tt.path, func(o *githubapi.Options) { o.RunnerGroupID = 7 })
		got, err := c.JITConfig(t.Context(), "i-1-4", "4711")
		if want := (githubapi.JIT{RunnerID: 23, Config: "Y29uZmln"}); err != nil || got != want {
			t.Errorf("JITConfig() = %#v, %v, want %#v", got, err, want)
		}
		calls := f.calls()
		if last := calls[len(calls)-1]; last != tt.want {
			t.Errorf("call = %s, want %s", last, tt.want)
		}
		want := map[string]any{
			"name": "i-1-4", "runner_group_id": 7.0, "work_folder": "_work", "labels": []any{"4711"},
		}
		if diff := cmp.Diff(want, body); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
	}
	for _, got := range f.auth {
		if got != "Bearer "+secret {
			t.Errorf("Authorization = %q, want the bearer token", got)
		}
	}
}

func TestRunners_AllPages_EachOnce(t *testing.T) {
	// The second page repeats the last runner of the first, as happens when one is added meanwhile.
	pages := []string{
		`{"total_count":3,"runners":[{"id":1,"name":"a","status":"online","busy":true,"labels":[{"name":"x"},{"name":"y"}]},{"id":2,"name":"b","status":"offline"}]}`,
		`{"total_count":3,"runners":[{"id":2,"name":"b","status":"offline"},{"id":3,"name":"c","status":"online"}]}`,
	}
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		page := 0
		if r.URL.Query().Get("page") == "2" {
			page = 1
		} else {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=2&per_page=100>; rel="next"`, r.Host, r.URL.Path))
		}
		answer(200, pages[page])(w, r)
	})
	got, err := client(t, f, "/octo").Runners(t.Context())
	want := []githubapi.Runner{
		{ID: 1, Name: "a", Online: true, Busy: true, Labels: []string{"x", "y"}},
		{ID: 2, Name: "b"},
		{ID: 3, Name: "c", Online: true},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Runners() error = %v, diff (-want +got):\n%s", err, diff)
	}
	wantCalls := []string{
		"GET /api/v3/orgs/octo/actions/runners?page=1&per_page=100",
		"GET /api/v3/orgs/octo/actions/runners?page=2&per_page=100",
	}
	if diff := cmp.Diff(wantCalls, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestRunners_EndlessPages_AreCutOff(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=9>; rel="next"`, r.Host, r.URL.Path))
		answer(200, `{"runners":[]}`)(w, r)
	})
	pages := 0
	c := client(t, f, "/octo/repo", func(o *githubapi.Options) {
		o.Token = func(context.Context) (string, error) { pages++; return secret, nil }
	})
	// The link names the same page for ever: without a bound this would not end.
	if _, err := c.Runners(t.Context()); !errors.Is(err, githubapi.ErrUnavailable) {
		t.Errorf("Runners() error = %v, want ErrUnavailable", err)
	}
	if pages > 250 {
		t.Errorf("Runners() made %d calls, want a bound near 200", pages)
	}
}

func TestDeleteRunner_GoneIsDone_BusyIsBusy(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		code       int
		want       error
	}{
		{"Deleted", "/octo/repo", 204, nil},
		{"Gone", "/octo/repo", 404, nil},
		{"GoneFromOrganisation", "/octo", 404, nil},
		{"Busy", "/octo/repo", 422, githubapi.ErrBusy},
		{"Forbidden", "/octo", 403, githubapi.ErrRefused},
		{"ServerError", "/octo/repo", 500, githubapi.ErrUnavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, answer(tt.code, `{"message":"said"}`))
			err := client(t, f, tt.path).DeleteRunner(t.Context(), 42)
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("DeleteRunner() answered with %d error = %v, want %v", tt.code, err, tt.want)
			}
			if got := f.calls(); len(got) != 1 || !strings.HasSuffix(got[0], "/actions/runners/42") {
				t.Errorf("calls = %v, want one for runner 42", got)
			}
		})
	}
}

func TestRegistrationToken_IsCachedUntilFiveMinutesBeforeItsEnd(t *testing.T) {
	clk := fakeClock()
	issued := 0
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		issued++
		expires := clk.Now().Add(time.Hour).Format(time.RFC3339)
		answer(201, fmt.Sprintf(`{"token":"T%d","expires_at":%q}`, issued, expires))(w, r)
	})
	c := client(t, f, "/octo/repo", at(clk))
	for _, tt := range []struct {
		name, want string
		step       time.Duration
	}{
		{"First", "T1", 0},
		{"Cached", "T1", 0},
		{"LastTickOfTheCache", "T1", 55*time.Minute - 1},
		{"FiveMinutesLeft", "T2", 1},
	} {
		clk.Step(tt.step)
		tok, err := c.RegistrationToken(t.Context())
		if err != nil || tok.Value != tt.want {
			t.Errorf("%s: RegistrationToken() = %q, %v, want %s", tt.name, tok.Value, err, tt.want)
		}
		if left := tok.Expires.Sub(clk.Now()); left < 5*time.Minute {
			t.Errorf("%s: token has %s left, want at least 5 min", tt.name, left)
		}
	}
}

func TestRegistrationToken_ConcurrentCallersShareOneCall(t *testing.T) {
	release := make(chan struct{})
	arrived := make(chan struct{}, 10)
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-release
		answer(201, `{"token":"T","expires_at":"2999-01-01T00:00:00Z"}`)(w, r)
	})
	c := client(t, f, "/octo")

	// The first caller leaves while the call is under way; the rest must get its answer all the same.
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := c.RegistrationToken(ctx)
		left <- err
	}()
	<-arrived
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("RegistrationToken() of the caller that left error = %v, want Canceled", err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if tok, err := c.RegistrationToken(t.Context()); err != nil || tok.Value != "T" {
				t.Errorf("RegistrationToken() = %v, %v", tok, err)
			}
		})
	}
	close(release)
	wg.Wait()
	if got := f.calls(); len(got) != 1 || got[0] != "POST /api/v3/orgs/octo/actions/runners/registration-token" {
		t.Errorf("calls = %v, want one", got)
	}
}

func TestRegistrationToken_FailureIsNotCached(t *testing.T) {
	fail := true
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if fail {
			answer(502, "")(w, r)
			return
		}
		answer(201, `{"token":"T","expires_at":"2999-01-01T00:00:00Z"}`)(w, r)
	})
	c := client(t, f, "/octo")
	if _, err := c.RegistrationToken(t.Context()); !errors.Is(err, githubapi.ErrUnavailable) {
		t.Errorf("RegistrationToken() error = %v, want ErrUnavailable", err)
	}
	fail = false
	if tok, err := c.RegistrationToken(t.Context()); err != nil || tok.Value != "T" {
		t.Errorf("RegistrationToken() afterwards = %v, %v, want T", tok, err)
	}
}
