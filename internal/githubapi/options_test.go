package githubapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
)

func options(url, api string, hc *http.Client) githubapi.Options {
	return githubapi.Options{
		URL: url, APIURL: api, HTTPClient: hc, Clock: clock.RealClock{},
		Token: func(context.Context) (string, error) { return secret, nil },
	}
}

func TestNew_FindsTheAPI(t *testing.T) {
	for _, tt := range []struct{ url, api, want, kept string }{
		{"https://github.com/octo/repo", "", "https://api.github.com/repos/octo/repo/actions/runners/1", "https://github.com/octo/repo"},
		{"https://github.com/enterprises/acme", "", "https://api.github.com/enterprises/acme/actions/runners/1", "https://github.com/enterprises/acme"},
		{"https://github.com/octo/", "", "https://api.github.com/orgs/octo/actions/runners/1", "https://github.com/octo"},
		{"https://tenant.ghe.com/octo", "", "https://api.tenant.ghe.com/orgs/octo/actions/runners/1", "https://tenant.ghe.com/octo"},
		{"https://git.example/octo/repo", "", "https://git.example/api/v3/repos/octo/repo/actions/runners/1", "https://git.example/octo/repo"},
		{"https://git.example/octo", "https://other.example/x", "https://other.example/x/orgs/octo/actions/runners/1", "https://git.example/octo"},
		{"http://127.0.0.1:8080/octo/repo", "", "http://127.0.0.1:8080/api/v3/repos/octo/repo/actions/runners/1", "http://127.0.0.1:8080/octo/repo"},
	} {
		var got, auth string
		c, err := githubapi.New(options(tt.url, tt.api, &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			got, auth = r.URL.String(), r.Header.Get("Authorization")
			return reply(204, "", nil), nil
		})}))
		if err != nil {
			t.Errorf("New(%s) error = %v", tt.url, err)
			continue
		}
		if err := c.DeleteRunner(t.Context(), 1); err != nil || got != tt.want || auth != "Bearer "+secret {
			t.Errorf("%s: DeleteRunner() error = %v, went to %s with %q, want %s", tt.url, err, got, auth, tt.want)
		}
		if c.URL() != tt.kept {
			t.Errorf("URL() = %s, want %s", c.URL(), tt.kept)
		}
	}
}

func TestNew_RefusesWhatCannotWork(t *testing.T) {
	for _, tt := range []struct{ name, url, api, want string }{
		{"NoScope", "https://github.com", "", "want https://host/owner/repo"},
		{"TooDeep", "https://github.com/a/b/c", "", "want https://host/owner/repo"},
		{"EnterpriseWithoutName", "https://github.com/enterprises", "", "want https://host/owner/repo"},
		{"EnterpriseTooDeep", "https://github.com/enterprises/acme/x", "", "want https://host/owner/repo"},
		{"PageOfAnOrganisation", "https://github.com/orgs/octo", "", "want https://host/owner/repo"},
		{"DotDot", "https://github.com/../repo", "", "want https://host/owner/repo"},
		{"Clear", "http://git.example/octo/repo", "", "scheme must be https"},
		{"ClearAPI", "https://git.example/octo", "http://git.example/api", "scheme must be https"},
		{"Password", "https://user:hunter2@github.com/octo/repo", "", "user or password"},
		{"PasswordInWrongURL", "https://user:hunter2@github.com:x/octo/repo", "", "not a URL"},
		{"Query", "https://github.com/octo/repo?x=1", "", "query"},
		{"NoHost", "https:///octo/repo", "", "host is required"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := githubapi.New(options(tt.url, tt.api, nil))
			if !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("New(%s) error = %v, want it to say %q", tt.url, err, tt.want)
			}
			if strings.Contains(fmt.Sprint(err), "hunter2") {
				t.Errorf("New(%s) shows the password: %v", tt.url, err)
			}
		})
	}
	_, err := githubapi.New(githubapi.Options{RunnerGroupID: -1, RegistrationsPer5Min: -1})
	for _, want := range []string{"url", "token is required", "clock is required", "group id", "per 5 min"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("New() of nothing error = %v, want all problems, also %q", err, want)
		}
	}
}

func TestNew_RefusesCredentialsAndGroupsThatCannotWork(t *testing.T) {
	app := &githubapi.App{ID: 1, Key: appKey}
	for _, tt := range []struct {
		name, url, want string
		with            func(*githubapi.Options)
	}{
		{"Both", "https://github.com/octo", "token and app exclude each other", func(o *githubapi.Options) { o.App = app }},
		{"EnterpriseApp", "https://github.com/enterprises/acme", "take a classic token with scope manage_runners:enterprise",
			func(o *githubapi.Options) { o.Token, o.App = nil, app }},
		{"AppWithoutAnything", "https://github.com/octo", "app id must be at least 1, got 0\napp installation id must not be negative, got -1\napp key is required",
			func(o *githubapi.Options) { o.Token, o.App = nil, &githubapi.App{InstallationID: -1} }},
		{"GroupTwice", "https://github.com/octo", `runner group "linux" and runner group id 3 exclude each other`,
			func(o *githubapi.Options) { o.RunnerGroup, o.RunnerGroupID = "linux", 3 }},
		{"GroupOfARepository", "https://github.com/octo/repo", `runners of a repository are in its only group`,
			func(o *githubapi.Options) { o.RunnerGroup = "linux" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(tt.url, "", nil)
			tt.with(&o)
			if _, err := githubapi.New(o); !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("New() error = %v, want it to say %q", err, tt.want)
			}
		})
	}
}

// FuzzNew: whatever is taken names a scope that the calls' paths cannot leave.
func FuzzNew(f *testing.F) {
	for _, s := range []string{"https://github.com/octo/repo", "http://[::1]:1/o", "https://h/%2e%2e/x", "https://h/a%2fb/c", "::", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		var path string
		c, err := githubapi.New(options(url, "https://api.example/", &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			path = r.URL.EscapedPath()
			return reply(204, "", nil), nil
		})}))
		if err != nil {
			return
		}
		if err := c.DeleteRunner(t.Context(), 1); err != nil {
			t.Fatalf("DeleteRunner() for %q error = %v", url, err)
		}
		parts := strings.Split(path, "/")
		if n := len(parts); !strings.HasSuffix(path, "/actions/runners/1") || n != 6 && n != 7 {
			t.Errorf("%q leads to %s", url, path)
		}
	})
}
