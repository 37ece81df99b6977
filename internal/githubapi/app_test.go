package githubapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// newKey makes a key as GitHub hands it out: PKCS#1, PEM.
func newKey() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // only without any randomness
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

// oneKey is for tests that need any key: making one takes a while.
var oneKey = sync.OnceValue(newKey)

func appKey(context.Context) ([]byte, error) { return oneKey(), nil }

// asApp makes the client authenticate as an App.
func asApp(a githubapi.App) func(*githubapi.Options) {
	return func(o *githubapi.Options) { o.Token, o.App = nil, &a }
}

// installation is the answer that GitHub REST, "Create an installation access token for an app", shows.
func installation(token string, until time.Time) string {
	return fmt.Sprintf(`{"token":%q,"expires_at":%q,"permissions":{"administration":"write","metadata":"read"},"repository_selection":"selected"}`,
		token, until.UTC().Format(time.RFC3339))
}

// issuer returns whose JWT an Authorization header holds.
func issuer(t *testing.T, header string) string {
	t.Helper()
	parts := strings.Split(strings.TrimPrefix(header, "Bearer "), ".")
	if len(parts) != 3 {
		t.Errorf("Authorization = %q, want a JWT", header)
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Issuer  string `json:"iss"`
		Issued  int64  `json:"iat"`
		Expires int64  `json:"exp"`
	}
	if err := json.Unmarshal(raw, &claims); err != nil {
		t.Fatal(err)
	}
	if life := claims.Expires - claims.Issued; life <= 0 || life > 600 {
		t.Errorf("JWT lives %d s, GitHub takes at most 10 min", life)
	}
	return claims.Issuer
}

func TestApp_FindsItsInstallation_KeepsTheTokenForAnHour(t *testing.T) {
	for _, tt := range []struct{ path, found string }{
		{"/octo/repo", "GET /api/v3/repos/octo/repo/installation"},
		{"/octo", "GET /api/v3/orgs/octo/installation"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			clk, issued := fakeClock(), 0
			f := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/installation"):
					answer(200, `{"id":77,"account":{"login":"octo"},"app_id":5}`)(w, r)
				case strings.HasSuffix(r.URL.Path, "/access_tokens"):
					issued++
					answer(201, installation(fmt.Sprintf("ghs_%d", issued), clk.Now().Add(time.Hour)))(w, r)
				default:
					answer(204, "")(w, r)
				}
			})
			c := client(t, f, tt.path, at(clk), asApp(githubapi.App{ID: 5, Key: appKey}))
			for _, step := range []time.Duration{0, 55*time.Minute - 1, 1} {
				clk.Step(step)
				if err := c.DeleteRunner(t.Context(), 1); err != nil {
					t.Fatalf("DeleteRunner() error = %v", err)
				}
			}
			runner := "DELETE " + strings.TrimSuffix(strings.TrimPrefix(tt.found, "GET "), "installation") + "actions/runners/1"
			token := "POST /api/v3/app/installations/77/access_tokens"
			want := []string{tt.found, token, runner, runner, token, runner}
			if diff := cmp.Diff(want, f.calls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			for i, want := range map[int]string{2: "Bearer ghs_1", 3: "Bearer ghs_1", 5: "Bearer ghs_2"} {
				if f.auth[i] != want {
					t.Errorf("call %d was made with %q, want %q", i, f.auth[i], want)
				}
			}
			for _, i := range []int{0, 1, 4} {
				if got := issuer(t, f.auth[i]); got != "5" {
					t.Errorf("call %d was signed by %q, want the App", i, got)
				}
			}
		})
	}
}

// A token revoked, or made before a permission was given, is replaced at the next call; the key, too.
func TestApp_ARefusedTokenIsNotKept(t *testing.T) {
	for _, code := range []int{401, 403} {
		issued, keys := 0, 0
		f := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/access_tokens"):
				issued++
				answer(201, installation(fmt.Sprintf("ghs_%d", issued), time.Now().Add(time.Hour)))(w, r)
			case r.Header.Get("Authorization") == "Bearer ghs_1":
				answer(code, `{"message":"Bad credentials"}`)(w, r)
			default:
				answer(204, "")(w, r)
			}
		})
		c := client(t, f, "/octo/repo", asApp(githubapi.App{ID: 5, InstallationID: 9, Key: func(context.Context) ([]byte, error) {
			keys++
			return newKey(), nil
		}}))
		checkKind(t, c.DeleteRunner(t.Context(), 1), githubapi.ErrRefused)
		if err := c.DeleteRunner(t.Context(), 1); err != nil {
			t.Errorf("after a %d: DeleteRunner() error = %v, want another token to serve", code, err)
		}
		if keys != 2 {
			t.Errorf("the key was read %d times, want anew for each token", keys)
		}
	}
}

func TestApp_RefusalsAreExplained(t *testing.T) {
	for _, tt := range []struct {
		name       string
		installed  int64
		find, make http.HandlerFunc
		want       error
		says       string
	}{
		{"WrongKey", 9, nil, answer(401, `{"message":"A JSON web token could not be decoded"}`), githubapi.ErrRefused, "id and its key do not belong together"},
		{"Suspended", 9, nil, answer(403, `{"message":"This installation has been suspended"}`), githubapi.ErrRefused, "suspended"},
		{"NoSuchInstallation", 9, nil, answer(404, `{"message":"Not Found"}`), githubapi.ErrRefused, "check its installation id"},
		{"NotInstalled", 0, answer(404, `{"message":"Not Found"}`), nil, githubapi.ErrRefused, "install the App for octo/repo"},
		{"Invalid", 9, nil, answer(422, `{"message":"said"}`), githubapi.ErrRefused, "installation id and its permissions"},
		{"Limited", 9, nil, answer(429, `{}`, "Retry-After", "30"), githubapi.ErrThrottled, ""},
		{"Down", 9, nil, answer(503, ``), githubapi.ErrUnavailable, "503"},
		{"Incomplete", 9, nil, answer(201, `{}`), githubapi.ErrUnavailable, "incomplete"},
		{"IncompleteInstallation", 0, answer(200, `{}`), nil, githubapi.ErrUnavailable, "incomplete"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/installation") {
					tt.find(w, r)
					return
				}
				tt.make(w, r)
			})
			c := client(t, f, "/octo/repo", asApp(githubapi.App{ID: 5, InstallationID: tt.installed, Key: appKey}))
			err := c.DeleteRunner(t.Context(), 1)
			checkKind(t, err, tt.want)
			if !strings.Contains(fmt.Sprint(err), tt.says) {
				t.Errorf("error = %v, want it to say %q", err, tt.says)
			}
			if until, ok := githubapi.RetryAt(err); ok != (tt.want == githubapi.ErrThrottled) {
				t.Errorf("RetryAt() = %s, %v of %v", until, ok, err)
			}
			if n := len(f.calls()); n != 1 {
				t.Errorf("made %d calls, want 1: nothing is repeated, and none without a credential", n)
			}
		})
	}
}

func TestApp_KeyThatCannotBeUsed(t *testing.T) {
	f := serve(t, answer(204, ""))
	missing := errors.New("open key.pem: no such file")
	for _, tt := range []struct {
		key  string
		err  error
		want error
		says string
	}{
		{"hunter2", nil, githubapi.ErrLocal, "no RSA private key in PEM form"},
		{"", missing, githubapi.ErrLocal, "no such file"},
	} {
		c := client(t, f, "/octo/repo", asApp(githubapi.App{ID: 5, Key: func(context.Context) ([]byte, error) { return []byte(tt.key), tt.err }}))
		err := c.DeleteRunner(t.Context(), 1)
		checkKind(t, err, tt.want)
		if !strings.Contains(fmt.Sprint(err), tt.says) || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("error = %v, want it to say %q and nothing of the key", err, tt.says)
		}
	}
	if n := len(f.calls()); n != 0 {
		t.Errorf("made %d calls without a credential", n)
	}
}

// One token serves all who wait for it; who leaves takes it from no one.
func TestApp_ConcurrentCallersShareOneToken(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{}, 10)
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/access_tokens") {
			arrived <- struct{}{}
			<-release
			answer(201, installation("ghs_1", time.Now().Add(time.Hour)))(w, r)
			return
		}
		answer(204, "")(w, r)
	})
	c := client(t, f, "/octo/repo", asApp(githubapi.App{ID: 5, InstallationID: 9, Key: appKey}))
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- c.DeleteRunner(ctx, 1) }()
	<-arrived
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("DeleteRunner() of the caller that left error = %v, want Canceled", err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := c.DeleteRunner(t.Context(), 1); err != nil {
				t.Errorf("DeleteRunner() error = %v", err)
			}
		})
	}
	close(release)
	wg.Wait()
	tokens := 0
	for _, call := range f.calls() {
		if strings.HasSuffix(call, "/access_tokens") {
			tokens++
		}
	}
	if tokens != 1 {
		t.Errorf("made %d tokens, want 1", tokens)
	}
}

// Neither key, signature nor token is in an error or a log, whatever GitHub answers.
func TestApp_SecretsStayOutOfLogsAndErrors(t *testing.T) {
	var out bytes.Buffer
	var auth []string
	code := 201
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		auth = append(auth, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if strings.HasSuffix(r.URL.Path, "/access_tokens") && code == 201 {
			answer(201, installation("ghs_do-not-tell", time.Now().Add(time.Hour)))(w, r)
			return
		}
		answer(code, `{"message":"said"}`)(w, r)
	})
	for _, code = range []int{201, 401, 403, 404, 422, 500} {
		c := client(t, f, "/octo/repo", asApp(githubapi.App{ID: 5, InstallationID: 9, Key: appKey}), func(o *githubapi.Options) {
			o.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		_, err := c.RegistrationToken(t.Context())
		fmt.Fprintln(&out, err)
	}
	for _, s := range append(auth, "ghs_do-not-tell", string(oneKey()[40:80])) {
		if strings.Contains(out.String(), s) {
			t.Errorf("%.20s… is shown in %s", s, &out)
		}
	}
}

// The App's signature goes to no other host.
func TestApp_DoesNotSignForARedirectElsewhere(t *testing.T) {
	elsewhere := serve(t, answer(200, `{"id":1}`))
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	c := client(t, f, "/octo/repo", asApp(githubapi.App{ID: 5, Key: appKey}))
	if err := c.DeleteRunner(t.Context(), 1); err == nil {
		t.Error("DeleteRunner() over a redirect elsewhere succeeded")
	}
	if got := elsewhere.calls(); len(got) != 0 {
		t.Errorf("the other host was asked %v", got)
	}
}
