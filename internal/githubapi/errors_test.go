package githubapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
)

var kinds = []error{
	githubapi.ErrBusy, githubapi.ErrNameTaken, githubapi.ErrThrottled,
	githubapi.ErrUnavailable, githubapi.ErrRefused, githubapi.ErrLocal,
}

func checkKind(t *testing.T, err, want error) {
	t.Helper()
	for _, k := range kinds {
		if got := errors.Is(err, k); got != (k == want) {
			t.Errorf("errors.Is(%v, %v) = %v, want kind %v alone", err, k, got, want)
		}
	}
}

func TestErrors_OneKindEach_WithAdvice(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   error
		says   []string
	}{
		{"Unauthorized", answer(401, `{"message":"Bad credentials"}`), githubapi.ErrRefused,
			[]string{"generate jit config for runner i-1-1", "Bad credentials", "credential is wrong, expired or revoked"}},
		{"Forbidden", answer(403, `{"message":"Resource not accessible by integration"}`), githubapi.ErrRefused,
			[]string{"not accessible", `repository permission "Administration: write"`, "/octo/repo"}},
		{"NotFound", answer(404, `{"message":"Not Found"}`), githubapi.ErrRefused,
			[]string{"check the URL", `"Administration: write"`}},
		{"NameTaken", answer(409, `{"message":"Already exists"}`), githubapi.ErrNameTaken, []string{"Already exists"}},
		{"Invalid", answer(422, `{"message":"Invalid group"}`), githubapi.ErrRefused, []string{"Invalid group", "configuration"}},
		{"PrimaryLimit403", answer(403, `{}`, "X-RateLimit-Remaining", "0"), githubapi.ErrThrottled, nil},
		{"PrimaryLimit429", answer(429, `{}`, "X-RateLimit-Remaining", "0"), githubapi.ErrThrottled, nil},
		{"SecondaryLimit", answer(403, `{"message":"slow down","documentation_url":"https://docs.github.com/x#secondary-rate-limits"}`),
			githubapi.ErrThrottled, []string{"slow down"}},
		{"RetryAfter", answer(403, `{}`, "Retry-After", "30"), githubapi.ErrThrottled, nil},
		{"WebPage", answer(200, `<html>Sign in</html>`, "Content-Type", "text/html; charset=utf-8"), githubapi.ErrLocal, []string{"a web page instead of JSON", "github.apiUrl"}},
		{"WebPage404", answer(404, `<html>`, "Content-Type", "text/html"), githubapi.ErrLocal, []string{"answers 404 with a web page"}},
		{"ProxyWithoutTunnel", answer(407, ``), githubapi.ErrLocal, []string{"answers 407"}},
		{"TooMany", answer(429, `{}`), githubapi.ErrThrottled, nil},
		{"BadGateway", answer(502, `<html>`), githubapi.ErrUnavailable, []string{"502"}},
		{"Timeout", answer(408, ``), githubapi.ErrUnavailable, nil},
		{"Truncated", answer(201, `{"runner":{"id":1`), githubapi.ErrUnavailable, []string{"unreadable"}},
		{"Incomplete", answer(201, `{"runner":{"id":1}}`), githubapi.ErrUnavailable, []string{"incomplete"}},
		{"ControlCharacters", answer(500, `{"message":"a\nb\u001b[31m"}`), githubapi.ErrUnavailable, []string{"a b [31m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, tt.answer)
			_, err := client(t, f, "/octo/repo").JITConfig(t.Context(), "i-1-1", "1")
			checkKind(t, err, tt.want)
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error = %v, want it to say %q", err, s)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error shows the credential: %v", err)
			}
			if n := len(f.calls()); n != 1 {
				t.Errorf("made %d calls, want 1: the client repeats nothing", n)
			}
		})
	}
}

func TestErrors_AdviceNamesTheOrganisationsPermission(t *testing.T) {
	f := serve(t, answer(403, `{}`))
	_, err := client(t, f, "/octo").Runners(t.Context())
	if want := `organization permission "Self-hosted runners: read"`; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestErrors_NoAnswer(t *testing.T) {
	f := serve(t, answer(200, "{}"))
	c := client(t, f, "/octo/repo")
	f.Close()
	_, err := c.Runners(t.Context())
	checkKind(t, err, githubapi.ErrUnavailable)
}

func TestErrors_CancelledByTheCaller_IsNoKind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := client(t, f, "/octo/repo").Runners(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want Canceled", err)
	}
	checkKind(t, err, nil)
}

func TestErrors_OfTheCredential(t *testing.T) {
	for _, tt := range []struct {
		name        string
		cause, want error
	}{
		{"Unknown", errors.New("app key service is down"), githubapi.ErrLocal},
		{"Refused", fmt.Errorf("app: %w", githubapi.ErrRefused), githubapi.ErrRefused},
		{"Throttled", fmt.Errorf("app: %w", githubapi.ErrThrottled), githubapi.ErrThrottled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, answer(204, ""))
			c := client(t, f, "/octo/repo", func(o *githubapi.Options) {
				o.Token = func(context.Context) (string, error) { return "", tt.cause }
			})
			err := c.DeleteRunner(t.Context(), 1)
			checkKind(t, err, tt.want)
			if !errors.Is(err, tt.cause) {
				t.Errorf("error = %v, want it to wrap %v", err, tt.cause)
			}
			if n := len(f.calls()); n != 0 {
				t.Errorf("made %d calls without a credential", n)
			}
		})
	}
}

func TestCredential_DoesNotFollowARedirectElsewhere(t *testing.T) {
	var got []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		answer(200, `{"runners":[]}`)(w, r)
	}))
	defer elsewhere.Close()
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	if _, err := client(t, f, "/octo/repo").Runners(t.Context()); err != nil {
		t.Fatalf("Runners() error = %v", err)
	}
	if len(got) != 1 || got[0] != "" {
		t.Errorf("Authorization at the other host = %q, want one request without", got)
	}
}

func TestSecrets_StayOutOfLogsAndText(t *testing.T) {
	var out bytes.Buffer
	f := serve(t, answer(201, `{"runner":{"id":5},"encoded_jit_config":"c2VjcmV0"}`))
	c := client(t, f, "/octo/repo", func(o *githubapi.Options) {
		o.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	jit, err := c.JITConfig(t.Context(), "i-1-1", "1")
	if err != nil {
		t.Fatalf("JITConfig() error = %v", err)
	}
	tok := githubapi.Token{Value: "c2VjcmV0", Expires: time.Unix(0, 0)}
	text := fmt.Sprintf("%v %+v %s %v", jit, jit, tok, &tok) + out.String()
	for _, s := range []string{"c2VjcmV0", secret} {
		if strings.Contains(text, s) {
			t.Errorf("%q is shown in %s", s, text)
		}
	}
	if !strings.Contains(out.String(), "status=201") {
		t.Errorf("log = %s, want one line of the call", &out)
	}
}

// A fault on this side is never "unavailable": GitHub was not asked.
func TestErrors_OfThisSide_ReviewB13b(t *testing.T) {
	for name, tt := range map[string]struct {
		token string
		says  string
	}{
		"TwoLines": {"ghp_first\n# old", "more than one line"}, "BOM": {"\ufeffghp_x", "byte order mark"}, "Quotes": {`"ghp_x"`, "quotes"},
		"Blank": {"ghp_a b", "blanks"}, "Empty": {"", "empty"}, "Umlaut": {"ghp_ä", "non-ASCII"},
	} {
		t.Run("Token"+name, func(t *testing.T) {
			f := serve(t, answer(200, `{}`))
			_, err := client(t, f, "/octo/repo", func(o *githubapi.Options) {
				o.Token = func(context.Context) (string, error) { return tt.token, nil }
			}).Runners(t.Context())
			checkKind(t, err, githubapi.ErrLocal)
			if !strings.Contains(err.Error(), tt.says) || tt.token != "" && strings.Contains(err.Error(), "ghp_") {
				t.Errorf("error = %v, want %q in it, and no part of the token", err, tt.says)
			}
			if len(f.calls()) > 0 {
				t.Errorf("GitHub was asked: %q", f.calls())
			}
		})
	}
	secured := httptest.NewTLSServer(answer(200, `{}`))
	t.Cleanup(secured.Close)
	for name, tt := range map[string]struct{ url, says string }{
		"UnknownCA": {secured.URL, "SSL_CERT_FILE"},
		"NoName":    {"https://no-such-host.invalid", "name resolution failed"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := githubapi.New(githubapi.Options{
				URL: tt.url + "/octo/repo", Clock: clock.RealClock{}, Token: func(context.Context) (string, error) { return secret, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Runners(t.Context())
			checkKind(t, err, githubapi.ErrLocal)
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error = %v, want %q in it", err, tt.says)
			}
		})
	}
}

// A call that expects no answer is not done because a sign-on page says 200.
func TestErrors_PageInPlaceOfNothing_ReviewB13b(t *testing.T) {
	f := serve(t, answer(200, `<html>`, "Content-Type", "text/html"))
	checkKind(t, client(t, f, "/octo/repo").DeleteRunner(t.Context(), 1), githubapi.ErrLocal)
}

// The calls of a renamed repository name its new name, and register no runner there. Those that end an instance do their work.
func TestErrors_RenamedRepository_ReviewB13(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/v3/repos/octo/repo/"):
			http.Redirect(w, r, strings.Replace(r.URL.String(), "repos/octo/repo", "repositories/7", 1), http.StatusTemporaryRedirect)
		case r.URL.Path == "/api/v3/repositories/7/actions/runners" && r.URL.Query().Get("name") == "i-1":
			answer(200, `{"total_count":1,"runners":[{"id":5,"name":"i-1"}]}`)(w, r)
		case r.Method == http.MethodDelete && r.URL.Path == "/api/v3/repositories/7/actions/runners/5":
			w.WriteHeader(http.StatusNoContent)
		case strings.Contains(r.URL.Path, "/actions/"):
			t.Errorf("%s %s was called under the new name", r.Method, r.URL)
		default:
			answer(200, `{"full_name":"octo/new-name"}`)(w, r)
		}
	})
	c := client(t, f, "/octo/repo")
	_, list := c.Runners(t.Context())
	_, jit := c.JITConfig(t.Context(), "i-1", "r-1")
	for name, err := range map[string]error{"Check": c.Check(t.Context(), false), "Runners": list, "JITConfig": jit} {
		checkKind(t, err, githubapi.ErrLocal)
		if !strings.Contains(fmt.Sprint(err), "octo/repo was renamed to octo/new-name: set github.url") {
			t.Errorf("%s = %v, want the new name", name, err)
		}
	}
	if found, ok, err := c.FindRunner(t.Context(), "i-1"); !ok || err != nil || found.ID != 5 {
		t.Errorf("FindRunner = %v, %t, %v; want the runner under the new name", found, ok, err)
	}
	if err := c.DeleteRunner(t.Context(), 5); err != nil {
		t.Errorf("DeleteRunner = %v, want it done under the new name", err)
	}
}

// A redirect says that the repository was renamed only if GitHub knows it under another name.
func TestErrors_RedirectIsNoRename_ReviewB13(t *testing.T) {
	for name, tt := range map[string]struct {
		status     int // of the answer about the repository
		body, says string
		kind       error
	}{
		"SignOnPage": {200, `{"full_name":"Octo/Repo"}`, "redirected to /login: check github.apiUrl, and whether a proxy or a sign-on page", githubapi.ErrLocal},
		"NoAnswer":   {503, `{}`, "find repository octo/repo: github: unavailable: 503", githubapi.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/actions/") {
					http.Redirect(w, r, "/login?return_to=x", http.StatusFound)
					return
				}
				answer(tt.status, tt.body)(w, r)
			})
			c := client(t, f, "/octo/repo")
			for call, err := range map[string]error{"Check": c.Check(t.Context(), false), "DeleteRunner": c.DeleteRunner(t.Context(), 5)} {
				checkKind(t, err, tt.kind)
				if !strings.Contains(fmt.Sprint(err), tt.says) || strings.Contains(fmt.Sprint(err), "renamed") {
					t.Errorf("%s = %v, want %q", call, err, tt.says)
				}
			}
		})
	}
}

// Check finds a runner group that does not exist, or that the repository may not use.
func TestCheck_RunnerGroup_ReviewB26(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		groups := `{"id":1,"name":"Default"},{"id":5,"name":"Linux"}`
		if r.URL.Query().Get("visible_to_repository") == "private" {
			groups = `{"id":1,"name":"Default"}`
		}
		answer(200, `{"runners":[],"runner_groups":[`+groups+`]}`)(w, r)
	})
	for name, tt := range map[string]struct {
		group, repository string
		id                int64
		says              string // "": in order
	}{
		"Name":         {group: "linux"},
		"ID":           {id: 5},
		"Default":      {},
		"NoName":       {group: "gpu", says: `no runner group "gpu" in octo, which has: Default, Linux`},
		"NoID":         {id: 9, says: `no runner group "9" in octo`},
		"NotAllowed":   {group: "linux", repository: "octo/private", says: `no runner group "linux for octo/private"`},
		"Allowed":      {group: "linux", repository: "octo/public"},
		"NotAllowedID": {id: 5, repository: "octo/private", says: `no runner group "5 for octo/private"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := client(t, f, "/octo", func(o *githubapi.Options) {
				o.RunnerGroup, o.RunnerGroupID, o.Repository = tt.group, tt.id, tt.repository
			}).Check(t.Context(), false)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Check = %v, want %q", err, tt.says)
			}
		})
	}
}
