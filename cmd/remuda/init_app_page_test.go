package main

import (
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/reference"
)

// otherClient makes one request as another local client, which follows no redirect.
func (r *appRun) otherClient(path string, cookies ...*http.Cookie) (*http.Response, string) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.origin+path, nil)
	if err != nil {
		r.Fatal(err)
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	return resp, html.UnescapeString(string(body))
}

// A local client without the key and the cookie reads neither the state nor anything else, and its code is not accepted.
func TestInitAppPage_OtherClients_Review_S4(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.json")
	r := startAppFor(t, &reference.Reader{ReadFile: os.ReadFile}, "/octo", "--no-browser", "--to", file)
	refused := func(when, state string) {
		t.Helper()
		for _, path := range []string{"/", "/?key=", "/?key=" + strings.Repeat("A", len(r.key)), "/?key=" + r.key[1:], "/created?code=abc&state=" + state, "/created?key=" + r.key, "/other"} {
			for _, value := range []string{"", strings.Repeat("A", len(r.key)), r.key, state} {
				resp, page := r.otherClient(path, &http.Cookie{Name: appCookie, Value: value})
				if resp.StatusCode != http.StatusForbidden || !strings.Contains(page, "Open the address that remuda init github-app printed") {
					t.Errorf("%s: %s with cookie %q = %d %s, want 403 and the instruction", when, path, value, resp.StatusCode, page)
				}
				if len(resp.Cookies()) > 0 || state != "" && strings.Contains(page, state) || strings.Contains(page, "manifest") {
					t.Errorf("%s: %s reveals the state or sets the cookie: %v %s", when, path, resp.Cookies(), page)
				}
			}
		}
	}
	refused("before the operator", "")
	r.ask(http.MethodGet, r.origin+"/?key="+r.key, nil)
	state := r.state()
	refused("while the operator is there", state)
	r.make()
	refused("after the App was created", state)
	if n := r.calls(githubsim.CallConvert); n != 1 {
		t.Errorf("GitHub got %d codes, want only the operator's", n)
	}
}

// The key admits one client. Its session cookie is for this program's life, and is sent when GitHub leads the browser back. A second
// client is refused and the operator is warned, but not if the first one opens the address again.
func TestInitAppPage_KeyWorksOnce_Review_S4(t *testing.T) {
	r := startAppFor(t, &reference.Reader{ReadFile: os.ReadFile}, "/octo", "--no-browser", "--to", filepath.Join(t.TempDir(), "app.json"))
	if len(r.key) < 26 { // of 5 bits each
		t.Errorf("the key %q has less than 128 bits", r.key)
	}
	first, _ := r.otherClient("/?key=" + r.key)
	if first.StatusCode != http.StatusSeeOther || first.Header.Get("Location") != "/" || len(first.Cookies()) != 1 {
		t.Fatalf("first use = %d to %q with %v, want 303 to / with one cookie", first.StatusCode, first.Header.Get("Location"), first.Cookies())
	}
	c := first.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge != 0 || !c.Expires.IsZero() || c.Domain != "" || len(c.Value) < 26 || c.Value == r.key {
		t.Errorf("cookie = %v, want a random one for the session, HttpOnly, SameSite=Lax, Path=/", c)
	}
	if resp, page := r.otherClient("/", c); resp.StatusCode != http.StatusOK || strings.Contains(page, c.Value) || strings.Contains(page, r.key) {
		t.Errorf("with the cookie = %d %s, want the page without the secrets", resp.StatusCode, page)
	}
	if resp, _ := r.otherClient("/?key="+r.key, c); resp.StatusCode != http.StatusSeeOther || r.err.String() != "" {
		t.Errorf("the first client again = %d, %q, want 303 and no warning", resp.StatusCode, r.err)
	}
	resp, page := r.otherClient("/?key=" + r.key)
	if resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 || !strings.Contains(page, "it works only once") {
		t.Errorf("second client = %d %s with %v, want 403, the reason and no cookie", resp.StatusCode, page, resp.Cookies())
	}
	contains(t, r.err.String(), "opened again and refused", "press Ctrl-C")
	r.stop()
	r.ends(exitInterrupted)
}

// The opened browser gets an address without the key, because other users of the machine can read command lines. The page asks for it.
func TestInitAppPage_OpenedBrowser_Review_S4(t *testing.T) {
	folder := t.TempDir()
	seen := filepath.Join(folder, "arguments")
	if err := os.WriteFile(filepath.Join(folder, "xdg-open"), []byte("#!/bin/sh\necho \"$@\" >"+seen+".new && mv "+seen+".new "+seen+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	r := startAppFor(t, &reference.Reader{ReadFile: os.ReadFile}, "/octo", "--to", filepath.Join(folder, "app.json"))
	r.until("the browser's arguments", func() bool {
		_, err := os.Stat(seen)
		return err == nil
	})
	arguments, err := os.ReadFile(seen)
	if err != nil || strings.TrimSpace(string(arguments)) != r.origin+"/" {
		t.Errorf("arguments of the browser = %q, %v, want only the address without the key", arguments, err)
	}
	status, page := r.ask(http.MethodGet, r.origin+"/", nil)
	if status != http.StatusForbidden || !strings.Contains(page, `<input name="key"`) {
		t.Errorf("the page = %d %s, want 403 and an input for the key", status, page)
	}
	if status, page = r.ask(http.MethodGet, r.origin+"/?key=+"+r.key+"%0a", nil); status != http.StatusOK || !strings.Contains(page, "<form method=\"post\"") {
		t.Errorf("with the key = %d %s, want the page", status, page)
	}
}

// A code for another App than the requested one is refused: nothing is stored, and page and terminal show the App, its owner and
// the difference. The operator can start again. An App whose name was edited at GitHub is stored, with a hint.
func TestInitApp_ForeignApp_Review_S4(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.json")
	r := startApp(t, "/octo/repo", "--to", file)
	// create makes an App at GitHub from a changed manifest, and leads the operator's browser back with its code.
	create := func(account string, change func(*githubapi.Manifest)) string {
		m, _, err := githubapi.NewManifest(r.gitHub.URL+"/octo/repo", r.origin+"/created")
		if err != nil {
			t.Fatal(err)
		}
		change(&m)
		text, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		_, page := r.ask(http.MethodPost, r.gitHub.URL+account+"/settings/apps?state="+r.state(), url.Values{"manifest": {text}, "name": {m.Name}})
		return html.UnescapeString(page)
	}
	for _, c := range []struct {
		name, account string
		change        func(*githubapi.Manifest)
		says          []string
	}{
		{"another owner", "/organizations/mallory", func(m *githubapi.Manifest) { m.Name = "evil-twin" }, []string{`App "evil-twin" (1) of "mallory"`, `owner must be octo, got "mallory"`}},
		{"more permissions", "", func(m *githubapi.Manifest) { m.Permissions["contents"] = "write" }, []string{`of "octo"`, "permissions must be", "contents: write"}},
		{"other events", "", func(m *githubapi.Manifest) { m.Events = []string{"push"} }, []string{`events must be empty, got "push"`}},
		{"another homepage", "", func(m *githubapi.Manifest) { m.URL = "https://evil.example" }, []string{`got "https://evil.example"`}},
	} {
		says := append(c.says, "Its private key is discarded and nothing is stored", "not the requested one")
		contains(t, create(c.account, c.change), append(says, "Begin again")...)
		contains(t, r.err.String(), says...)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) || strings.Contains(r.out.String(), "Install it") {
			t.Fatalf("%s: the App is stored: %v, out: %s", c.name, err, r.out)
		}
	}
	contains(t, create("", func(m *githubapi.Manifest) { m.Name = "Runners of Octo" }), `The App "Runners of Octo" (5) of "octo" is created`, "The proposed name was remuda-octo")
	contains(t, r.out.String(), `The App "Runners of Octo" (5) of "octo" is created`, "do not install the App", fmt.Sprintf("Install it for %s/octo/repo", r.gitHub.URL))
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
