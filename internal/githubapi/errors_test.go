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

	"github.com/remuda-run/remuda/internal/githubapi"
)

var kinds = []error{
	githubapi.ErrBusy, githubapi.ErrNameTaken, githubapi.ErrThrottled,
	githubapi.ErrUnavailable, githubapi.ErrRefused,
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
		{"Unknown", errors.New("app key service is down"), githubapi.ErrUnavailable},
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
