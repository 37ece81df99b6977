package main

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/reference"
)

// spoken is what a program says while it runs.
type spoken struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// appRun is `remuda init github-app` while it runs, and a person before it.
type appRun struct {
	*testing.T
	gitHub   *httptest.Server
	out, err *spoken
	origin   string
	stop     context.CancelFunc
	code     chan int
	calls    func(githubsim.Call) int
}

var pageAddress = regexp.MustCompile(`open (http://127\.0\.0\.1:\d+)/ in a browser`)

// startApp starts it for a path of a simulated GitHub, and waits for its page.
func startApp(t *testing.T, path string, args ...string) *appRun {
	t.Helper()
	return startAppFor(t, &reference.Reader{ReadFile: os.ReadFile}, path, args...)
}

// startAppFor is startApp where references are read and stored by a reader.
func startAppFor(t *testing.T, references *reference.Reader, path string, args ...string) *appRun {
	t.Helper()
	hub := githubsim.New(githubsim.Options{Clock: clock.RealClock{}})
	r := &appRun{T: t, gitHub: httptest.NewServer(githubsim.Handler(hub, "")), out: &spoken{}, err: &spoken{}, code: make(chan int, 1)}
	r.calls = func(c githubsim.Call) int { return hub.Calls()[c] }
	t.Cleanup(r.gitHub.Close)
	c := newCLI(nil)
	c.app.out, c.app.err = r.out, r.err
	c.references = references
	c.env = []string{"REMUDA_GITHUB_URL=" + r.gitHub.URL + path}
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	t.Cleanup(stop)
	go func() {
		c.global = globalFlags{}
		r.code <- execute(ctx, c.app, append([]string{"init", "github-app", "--no-browser"}, args...))
	}()
	r.until("the page's address", func() bool {
		if m := pageAddress.FindStringSubmatch(r.out.String()); m != nil {
			r.origin = m[1]
		}
		return r.origin != "" || len(r.code) > 0
	})
	if r.origin == "" {
		t.Fatalf("ended with %d: %s", <-r.code, r.err)
	}
	return r
}

// until waits for a condition.
func (r *appRun) until(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("no %s in a minute; out: %s err: %s", what, r.out, r.err)
		}
	}
}

// ends waits for the exit code.
func (r *appRun) ends(want int) {
	r.Helper()
	r.until("end", func() bool { return len(r.code) > 0 })
	if got := <-r.code; got != want {
		r.Errorf("exit code = %d, want %d; out: %s err: %s", got, want, r.out, r.err)
	}
}

// ask makes one request and follows where it leads.
func (r *appRun) ask(method, address string, form url.Values, change ...func(*http.Request)) (int, string) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		r.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, f := range change {
		f(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

var (
	formAction = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
	formField  = regexp.MustCompile(`name="(\w+)" value="([^"]*)"`)
	stateOf    = regexp.MustCompile(`state=([A-Z0-9]+)`)
)

// submit sends the first form of a page at address.
func (r *appRun) submit(address, page string) (int, string) {
	r.Helper()
	action := formAction.FindStringSubmatch(page)
	if action == nil {
		r.Fatalf("no form in %s", page)
	}
	base, err := url.Parse(address)
	if err != nil {
		r.Fatal(err)
	}
	to, err := base.Parse(html.UnescapeString(action[1]))
	if err != nil {
		r.Fatal(err)
	}
	fields := url.Values{}
	for _, m := range formField.FindAllStringSubmatch(page, -1) {
		fields.Set(m[1], html.UnescapeString(m[2]))
	}
	return r.ask(http.MethodPost, to.String(), fields)
}

// make goes from the page through GitHub and back.
func (r *appRun) make() string {
	r.Helper()
	_, page := r.ask(http.MethodGet, r.origin+"/", nil)
	_, page = r.submit(r.origin, page)
	_, page = r.submit(r.gitHub.URL, page)
	return page
}

func (r *appRun) state() string {
	r.Helper()
	_, page := r.ask(http.MethodGet, r.origin+"/", nil)
	return stateOf.FindStringSubmatch(page)[1]
}

// An App is made for an organisation and for a repository, stored for its owner alone, installed and seen to serve: the
// simulated GitHub refuses a registration token to an App without the permission.
func TestInitApp_ToTheEnd(t *testing.T) {
	for path, permission := range map[string]string{"/octo": "organization self hosted runners: write", "/octo/repo": "administration: write"} {
		file := filepath.Join(t.TempDir(), "app.json")
		r := startApp(t, path, "--to", file)
		_, page := r.ask(http.MethodGet, r.origin+"/", nil)
		contains(t, page, permission, "checks: write", "actions: write")
		contains(t, r.make(), "is made and its key is stored", "/apps/remuda-octo/installations/new")
		if status, page := r.ask(http.MethodPost, r.gitHub.URL+"/apps/remuda-octo/installations/new", nil); status != http.StatusOK {
			t.Errorf("install = %d %s", status, page)
		}
		r.until("last word", func() bool {
			_, page := r.ask(http.MethodGet, r.origin+"/", nil)
			return strings.Contains(page, "Done. The App is installed")
		})
		r.ends(exitDone)
		contains(t, r.out.String(), "github "+strings.TrimPrefix(path, "/")+": reachable", "Set github.secret to "+file)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kept githubSecret
		if err := json.Unmarshal(raw, &kept); err != nil || kept.AppID < 1 || githubapi.CheckKey([]byte(kept.Key)) != nil {
			t.Errorf("stored: %v, id %d", err, kept.AppID)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".remuda-*")); len(left) > 0 {
			t.Errorf("left %v", left)
		}
		if said := r.out.String() + r.err.String(); strings.Contains(said, "PRIVATE KEY") || strings.Contains(said, kept.Key[100:140]) {
			t.Error("the key was printed")
		}
	}
}

// secretService is Secrets Manager with one secret, which is there and holds nothing, as the stack makes it.
func secretService(t *testing.T, name string) (references *reference.Reader, value *atomic.Pointer[string]) {
	t.Helper()
	value = &atomic.Pointer[string]{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ SecretId, SecretString string } // as the service spells it
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		status, answer := http.StatusOK, map[string]string{}
		switch now := value.Load(); {
		case in.SecretId != name:
			status, answer = http.StatusBadRequest, map[string]string{"__type": "ResourceNotFoundException", "message": "Secrets Manager can't find the specified secret."}
		case call == "PutSecretValue":
			value.Store(&in.SecretString)
		case now == nil:
			status, answer = http.StatusBadRequest, map[string]string{
				"__type": "ResourceNotFoundException", "message": "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
			}
		default:
			answer["SecretString"] = *now
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return &reference.Reader{ReadFile: os.ReadFile, Load: func(context.Context, string) (aws.Config, error) { return awstest.Config(t, srv.URL), nil }}, value
}

// The App goes to the secret that the stack made, in the form by which github.secret is read; what is there is not replaced unasked.
func TestInitApp_ToSecretsManager(t *testing.T) {
	const to = "secretsmanager:remuda/github"
	references, value := secretService(t, "remuda/github")
	r := startAppFor(t, references, "/octo", "--to", to)
	contains(t, r.make(), "is made and its key is stored")
	if status, page := r.ask(http.MethodPost, r.gitHub.URL+"/apps/remuda-octo/installations/new", nil); status != http.StatusOK {
		t.Errorf("install = %d %s", status, page)
	}
	r.until("last word", func() bool {
		_, page := r.ask(http.MethodGet, r.origin+"/", nil)
		return strings.Contains(page, "Done. The App is installed")
	})
	r.ends(exitDone)
	contains(t, r.out.String(), "Set github.secret to "+to)
	text := value.Load()
	if text == nil {
		t.Fatal("nothing was stored")
	}
	kept, err := parseGitHubSecret([]byte(*text))
	if err != nil || kept.AppID < 1 || githubapi.CheckKey([]byte(kept.Key)) != nil {
		t.Errorf("stored: %v, id %d", err, kept.AppID)
	}
	if said := r.out.String() + r.err.String(); strings.Contains(said, kept.Key[100:140]) {
		t.Error("the key was printed")
	}
	for args, says := range map[string]string{
		to:                       "must be empty, or --force given; it holds the App 1",
		"secretsmanager:another": "secretsmanager:GetSecretValue on secret another: not found",
	} {
		c := newCLI(nil)
		c.references, c.env = references, []string{"REMUDA_GITHUB_URL=https://github.com/octo"}
		if code := c.run(t.Context(), "init", "github-app", "--to", args); code == exitDone || !strings.Contains(c.err.String(), says) {
			t.Errorf("--to %s: code %d, %s, want %q", args, code, c.err.String(), says)
		}
	}
}

// What is no answer of GitHub to this page is refused, is told from the others, and takes nothing.
func TestInitApp_WrongAnswers(t *testing.T) {
	r := startApp(t, "/octo", "--to", filepath.Join(t.TempDir(), "app.json"))
	state := r.state()
	for _, c := range []struct {
		name, path string
		change     func(*http.Request)
		status     int
		says       string
	}{
		{"another's state", "/created?code=abc&state=" + strings.Repeat("A", len(state)), nil, http.StatusForbidden, "missing or another"},
		{"no state", "/created?code=abc", nil, http.StatusForbidden, "missing or another"},
		{"no code", "/created?state=" + state, nil, http.StatusBadRequest, "sent no code"},
		{"unknown code", "/created?code=abc&state=" + state, nil, http.StatusBadRequest, "each serves once"},
		{"code that is a path", "/created?code=..%2Fuser&state=" + state, nil, http.StatusBadRequest, "each serves once"},
		{"another host", "/", func(r *http.Request) { r.Host = "evil.example" }, http.StatusMisdirectedRequest, "the host must be"},
		{"another origin", "/created?code=abc&state=" + state, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden, "the origin must be"},
		{"another method", "/", func(r *http.Request) { r.Method = http.MethodPost }, http.StatusMethodNotAllowed, "only GET"},
		{"another path", "/key", nil, http.StatusNotFound, "not found"},
	} {
		var change []func(*http.Request)
		if c.change != nil {
			change = append(change, c.change)
		}
		if status, page := r.ask(http.MethodGet, r.origin+c.path, nil, change...); status != c.status || !strings.Contains(html.UnescapeString(page), c.says) {
			t.Errorf("%s = %d %s, want %d with %q", c.name, status, page, c.status, c.says)
		}
	}
	if n := r.calls(githubsim.CallConvert); n != 1 { // the unknown code
		t.Errorf("GitHub was asked for %d codes, want 1", n)
	}
	r.make()
	if status, page := r.ask(http.MethodGet, r.origin+"/created?code=abc&state="+state, nil); status != http.StatusConflict || !strings.Contains(page, "taken already") {
		t.Errorf("a second code = %d %s", status, page)
	}
	r.stop() // by Ctrl-C, before it is installed
	r.ends(exitInterrupted)
	contains(t, r.out.String(), "Install it for ")
}

// Ctrl-C before anything is made ends it, and leaves nothing.
func TestInitApp_Interrupted(t *testing.T) {
	dir := t.TempDir()
	r := startApp(t, "/octo", "--to", filepath.Join(dir, "app.json"))
	r.stop()
	r.ends(exitInterrupted)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A key that the target does not take after all is not lost.
func TestInitApp_StoredElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "app.json")
	r := startApp(t, "/octo", "--to", file)
	if err := os.WriteFile(file, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, r.make(), "its id and key are in", "remuda-github-app-1.json instead")
	r.ends(exitFailure)
	raw, err := os.ReadFile("remuda-github-app-1.json")
	if s, bad := parseGitHubSecret(raw); err != nil || bad != nil || s.AppID != 1 {
		t.Errorf("kept %+v, %v, %v", s.AppID, err, bad)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "another's" {
		t.Errorf("the target was replaced: %v", err)
	}
}

// What cannot be stored is said before anything is served.
func TestInitApp_Usage(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "app.json")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const org = "REMUDA_GITHUB_URL=https://github.com/octo"
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{"", []string{"--to", taken}, "github.url: must name a repository or an organisation"},
		{org, nil, "--to: must be a file or secretsmanager:NAME"},
		{org, []string{"--to", "ssm:/remuda/github"}, `must be a file or secretsmanager:NAME to be stored in, got "ssm:/remuda/github"`},
		{org, []string{"--to", taken}, "must not be there yet, or --force given"},
		{org, []string{"--to", filepath.Join(taken, "below")}, "not a directory"},
		{org, []string{"--to", filepath.Join(t.TempDir(), "none", "x")}, "must be in a folder that can be written to"},
		{"REMUDA_GITHUB_URL=https://github.com/enterprises/big", []string{"--to", taken + "2"}, "neither a fine-grained token nor an App"},
	} {
		cli := newCLI(nil)
		cli.env = []string{c.env}
		cli.ends(t, exitUsage, append([]string{"init", "github-app", "--no-browser"}, c.args...)...)
		contains(t, cli.err.String(), c.want)
	}
}

// An existing file is replaced as a whole with --force alone.
func TestWriteSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for i, c := range []struct {
		replace, ok bool
	}{{false, true}, {false, false}, {true, true}} {
		if err := writeSecret(path, []byte("x"), c.replace); (err == nil) != c.ok {
			t.Errorf("%d: %v, want ok %v", i, err, c.ok)
		}
	}
}
