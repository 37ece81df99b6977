package githubapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubapi"
)

func withToken(token string) func(*githubapi.Options) {
	return func(o *githubapi.Options) {
		o.Token = func(context.Context) (string, error) { return token, nil }
	}
}

func TestEnterprise_EveryCall(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/generate-jitconfig"):
			answer(201, jitBody)(w, r)
		case strings.HasSuffix(r.URL.Path, "/registration-token"):
			answer(201, `{"token":"T","expires_at":"2999-01-01T00:00:00Z"}`)(w, r)
		case r.Method == http.MethodDelete:
			answer(204, "")(w, r)
		case strings.HasSuffix(r.URL.Path, "/runner-groups"):
			answer(200, `{"total_count":1,"runner_groups":[{"id":3,"name":"Linux"}]}`)(w, r)
		default:
			answer(200, `{"total_count":0,"runners":[]}`)(w, r)
		}
	})
	c := client(t, f, "/enterprises/acme", func(o *githubapi.Options) { o.RunnerGroup = "linux" })
	_, jit := c.JITConfig(t.Context(), "i-1-1", "1")
	_, token := c.RegistrationToken(t.Context())
	_, list := c.Runners(t.Context())
	_, _, find := c.FindRunner(t.Context(), "i-1-1")
	if err := errors.Join(jit, token, list, find, c.DeleteRunner(t.Context(), 1)); err != nil {
		t.Errorf("calls for an enterprise: %v", err)
	}
	runners := "/api/v3/enterprises/acme/actions/runners"
	want := []string{
		"GET /api/v3/enterprises/acme/actions/runner-groups?page=1&per_page=100",
		"POST " + runners + "/generate-jitconfig", "POST " + runners + "/registration-token",
		"GET " + runners + "?page=1&per_page=100", "GET " + runners + "?name=i-1-1&page=1&per_page=100", "DELETE " + runners + "/1",
	}
	if diff := cmp.Diff(want, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// GitHub takes only classic tokens for an enterprise, and would answer others with a bare 403 or 404.
func TestEnterprise_OtherTokensAreRefusedUnasked(t *testing.T) {
	for _, token := range []string{"github_pat_11AA", "ghs_16C7"} {
		f := serve(t, answer(200, `{"runners":[]}`))
		_, err := client(t, f, "/enterprises/acme", withToken(token)).Runners(t.Context())
		checkKind(t, err, githubapi.ErrRefused)
		if want := "classic token with scope manage_runners:enterprise"; !strings.Contains(fmt.Sprint(err), want) || strings.Contains(fmt.Sprint(err), token) {
			t.Errorf("error = %v, want it to ask for a %s, and not to show the token", err, want)
		}
		if n := len(f.calls()); n != 0 {
			t.Errorf("made %d calls", n)
		}
	}
}

func TestErrors_NameThePermissionForTheCredentialInUse(t *testing.T) {
	for _, tt := range []struct {
		name, path, token string
		code              int
		says              []string
	}{
		{"Classic", "/octo/repo", "ghp_1", 404, []string{
			"check the URL", "the classic token needs the scope repo, of an administrator of octo/repo (it has gist, read:org)"}},
		{"ClassicOfOrganisation", "/octo", "ghp_1", 403, []string{
			"self-hosted runners must be allowed there", "the classic token needs the scope admin:org, of an owner of octo"}},
		{"ClassicOfEnterprise", "/enterprises/acme", "ghp_1", 404, []string{"scope manage_runners:enterprise"}},
		{"FineGrained", "/octo/repo", "github_pat_1", 403, []string{
			`the fine-grained token needs the repository permission "Administration: write"`, "approved"}},
		{"FineGrainedOfOrganisation", "/octo", "github_pat_1", 404, []string{
			`the fine-grained token needs the organization permission "Self-hosted runners: write"`}},
		{"Installation", "/octo/repo", "ghs_1", 403, []string{`the App needs the repository permission "Administration: write"`, "accepted"}},
		{"InstallationOfOrganisation", "/octo", "ghs_1", 404, []string{`the App needs the organization permission "Self-hosted runners: write"`}},
		{"Unknown", "/octo", "x", 403, []string{`"Self-hosted runners: write"`, "admin:org"}},
		{"Revoked", "/octo", "ghp_1", 401, []string{"wrong, expired or revoked"}},
		{"Invalid", "/octo", "ghp_1", 422, []string{"check the configuration", "runner group"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, answer(tt.code, `{"message":"Not Found"}`, "X-OAuth-Scopes", "gist, read:org"))
			_, err := client(t, f, tt.path, withToken(tt.token)).JITConfig(t.Context(), "i-1-1", "1")
			checkKind(t, err, githubapi.ErrRefused)
			for _, s := range tt.says {
				if !strings.Contains(fmt.Sprint(err), s) {
					t.Errorf("error = %v, want it to say %q", err, s)
				}
			}
		})
	}
}

func TestRunnerGroup_ByName_ResolvedOnce_UntilARefusal(t *testing.T) {
	refuse, lists := false, 0
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/runner-groups"):
			lists++
			if r.URL.Query().Get("page") == "1" {
				w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=2&per_page=100>; rel="next"`, r.Host, r.URL.Path))
				answer(200, `{"total_count":2,"runner_groups":[{"id":1,"name":"Default","default":true}]}`)(w, r)
				return
			}
			answer(200, `{"total_count":2,"runner_groups":[{"id":41,"name":"Linux Large","visibility":"all"}]}`)(w, r)
		case refuse:
			answer(404, `{"message":"Not Found"}`)(w, r)
		default:
			answer(201, jitBody)(w, r)
		}
	})
	c := client(t, f, "/octo", func(o *githubapi.Options) { o.RunnerGroup = "linux large" })
	for range 3 {
		if _, err := c.JITConfig(t.Context(), "i-1-1", "1"); err != nil {
			t.Fatalf("JITConfig() error = %v", err)
		}
	}
	if lists != 2 {
		t.Errorf("groups were listed by %d calls, want 2 pages once", lists)
	}
	refuse = true
	_, err := c.JITConfig(t.Context(), "i-1-1", "1")
	checkKind(t, err, githubapi.ErrRefused)
	refuse = false
	if _, err := c.JITConfig(t.Context(), "i-1-1", "1"); err != nil || lists != 4 {
		t.Errorf("after a refusal JITConfig() error = %v with %d calls for groups, want them listed anew", err, lists)
	}
}

// A burst of registrations asks for the group once.
func TestRunnerGroup_ConcurrentCallersShareOneCall(t *testing.T) {
	const callers = 20
	asked, answered := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/runner-groups") {
			once.Do(func() { close(asked) })
			<-answered
			answer(200, `{"runner_groups":[{"id":41,"name":"linux"}]}`)(w, r)
			return
		}
		answer(201, jitBody)(w, r)
	})
	c := client(t, f, "/octo", func(o *githubapi.Options) { o.RunnerGroup = "linux" })
	errs := make(chan error, callers+1)
	mint := func() { _, err := c.JITConfig(t.Context(), "i-1-1", "1"); errs <- err }
	go mint()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.JITConfig(ctx, "i-1-2", "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("JITConfig() of a caller that left = %v, want context.Canceled", err)
	}
	for range callers {
		go mint()
	}
	close(answered)
	for range callers + 1 {
		if err := <-errs; err != nil {
			t.Errorf("JITConfig() error = %v", err)
		}
	}
	lists := 0
	for _, call := range f.calls() {
		if strings.Contains(call, "/runner-groups") {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("groups were listed %d times for %d registrations, want once", lists, callers+1)
	}
}

func TestRunnerGroup_Unknown_NamesThoseThereAre(t *testing.T) {
	f := serve(t, answer(200, `{"total_count":2,"runner_groups":[{"id":1,"name":"Default"},{"id":2,"name":"gpu"}]}`))
	c := client(t, f, "/octo", func(o *githubapi.Options) { o.RunnerGroup = "linux" })
	_, err := c.JITConfig(t.Context(), "i-1-1", "1")
	checkKind(t, err, githubapi.ErrRefused)
	if want := `no runner group "linux" in octo, which has: Default, gpu`; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestFindRunner_AlsoWhereTheFilterIsUnknown(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "1" {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=2&per_page=100>; rel="next"`, r.Host, r.URL.Path))
			answer(200, `{"total_count":2,"runners":[{"id":1,"name":"i-1-1.10"}]}`)(w, r)
			return
		}
		answer(200, `{"total_count":2,"runners":[{"id":2,"name":"I-1-1.1","status":"online"}]}`)(w, r)
	})
	c := client(t, f, "/octo/repo")
	want := githubapi.Runner{ID: 2, Name: "I-1-1.1", Online: true}
	got, ok, err := c.FindRunner(t.Context(), "i-1-1.1")
	if diff := cmp.Diff(want, got); err != nil || !ok || diff != "" {
		t.Errorf("FindRunner() = %v, %v, diff (-want +got):\n%s", ok, err, diff)
	}
	if got := f.calls()[0]; got != "GET /api/v3/repos/octo/repo/actions/runners?name=i-1-1.1&page=1&per_page=100" {
		t.Errorf("call = %s, want GitHub to filter where it can", got)
	}
	if _, ok, err := c.FindRunner(t.Context(), "i-9"); ok || err != nil {
		t.Errorf("FindRunner() of an unknown one = %v, %v", ok, err)
	}
}

func TestDeprecation(t *testing.T) {
	end := time.Date(2026, 11, 5, 8, 4, 55, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		h     http.HandlerFunc
		want  githubapi.Deprecation
		known bool
		err   error
	}{
		{"Dated", answer(200, `{"runner_version":"2.336.0","registration_deprecates_at":null,"runtime_deprecates_at":"2026-11-05T08:04:55Z"}`),
			githubapi.Deprecation{Runtime: end}, true, nil},
		{"Current", answer(200, `{"runner_version":"2.336.0","registration_deprecates_at":null,"runtime_deprecates_at":null}`),
			githubapi.Deprecation{}, true, nil},
		{"NotOffered", answer(404, `{"message":"Not Found"}`), githubapi.Deprecation{}, false, nil},
		{"Down", answer(502, ``), githubapi.Deprecation{}, false, githubapi.ErrUnavailable},
		{"Refused", answer(403, `{}`), githubapi.Deprecation{}, false, githubapi.ErrRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, tt.h)
			got, known, err := client(t, f, "/octo/repo").Deprecation(t.Context(), "2.336.0")
			if got != tt.want || known != tt.known {
				t.Errorf("Deprecation() = %v, %v, want %v, %v", got, known, tt.want, tt.known)
			}
			checkKind(t, err, tt.err)
			if want := "GET /api/v3/repos/octo/repo/actions/runners/deprecations/2.336.0"; f.calls()[0] != want {
				t.Errorf("call = %s, want %s", f.calls()[0], want)
			}
		})
	}
}

// A group that is not there is reported before the first runner needs it.
func TestCheck_RunnerGroup(t *testing.T) {
	f := serve(t, answer(200, `{"token":"T","expires_at":"2999-01-01T00:00:00Z","runner_groups":[{"id":1,"name":"Default"},{"id":2,"name":"gpu"}]}`))
	for group, want := range map[string]error{"GPU": nil, "linux": githubapi.ErrRefused} {
		c := client(t, f, "/octo", func(o *githubapi.Options) { o.RunnerGroup = group })
		checkKind(t, c.Check(t.Context(), true), want)
	}
}

// `init --dry-run` must make nothing, not even a token.
func TestCheck_OneCall_WritesOnlyIfAsked(t *testing.T) {
	for write, want := range map[bool]string{
		false: "GET /api/v3/orgs/octo/actions/runners?per_page=1",
		true:  "POST /api/v3/orgs/octo/actions/runners/registration-token",
	} {
		f := serve(t, answer(200, `{"token":"T","expires_at":"2999-01-01T00:00:00Z","runners":[]}`))
		if err := client(t, f, "/octo").Check(t.Context(), write); err != nil {
			t.Errorf("Check(%v) error = %v", write, err)
		}
		if diff := cmp.Diff([]string{want}, f.calls()); diff != "" {
			t.Errorf("Check(%v) calls (-want +got):\n%s", write, diff)
		}
		f = serve(t, answer(403, `{"message":"Resource not accessible by personal access token"}`))
		checkKind(t, client(t, f, "/octo").Check(t.Context(), write), githubapi.ErrRefused)
	}
}
