package main

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

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
	key      string
	browser  *http.Client // of the operator
	stop     context.CancelFunc
	code     chan int
	calls    func(githubsim.Call) int
}

var pageAddress = regexp.MustCompile(`open (http://127\.0\.0\.1:\d+)/\?key=([A-Z0-9]+) in one browser`)

// startApp starts it for a path of a simulated GitHub, and opens the printed address.
func startApp(t *testing.T, path string, args ...string) *appRun {
	t.Helper()
	r := startAppFor(t, &reference.Reader{ReadFile: os.ReadFile}, path, append(args, "--no-browser")...)
	r.ask(http.MethodGet, r.origin+"/?key="+r.key, nil)
	return r
}

// startAppFor starts it where references are read and stored by a reader, and waits for the printed address.
func startAppFor(t *testing.T, references *reference.Reader, path string, args ...string) *appRun {
	t.Helper()
	hub := githubsim.New(githubsim.Options{Clock: clock.RealClock{}})
	r := &appRun{T: t, gitHub: httptest.NewServer(githubsim.Handler(hub, "")), out: &spoken{}, err: &spoken{}, code: make(chan int, 1)}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.browser = &http.Client{Jar: jar}
	r.calls = func(c githubsim.Call) int { return hub.Calls()[c] }
	t.Cleanup(r.gitHub.Close)
	c := newCLI(nil)
	c.app.out, c.app.err = r.out, r.err
	c.references = references
	c.env = []string{"REMUDA_GITHUB_URL=" + r.gitHub.URL + path, "DISPLAY=:0"}
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	t.Cleanup(stop)
	go func() {
		c.global = globalFlags{}
		r.code <- execute(ctx, c.app, append([]string{"init", "github-app"}, args...))
	}()
	r.until("the page's address", func() bool {
		if m := pageAddress.FindStringSubmatch(r.out.String()); m != nil {
			r.origin, r.key = m[1], m[2]
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

// ask makes one request of the operator's browser and follows where it leads.
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
	resp, err := r.browser.Do(req)
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
		contains(t, r.make(), "is created and its key is stored", "/apps/remuda-octo/installations/new")
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
