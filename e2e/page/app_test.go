package page

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// click presses the first button or link whose text has word.
func (b *browser) click(word string) {
	b.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { [...document.querySelectorAll("button, a")].find(e => e.innerText.includes(%q)).click(); return true })()`, word))
}

// displays waits until the page holds a text. While the browser leads to another page, there is no body or no answer.
func (b *browser) displays(text string) {
	b.Helper()
	b.until("the page shows "+text, func() bool {
		holds, err := chromedp.Run(b.tab, chromedp.Evaluate[bool](fmt.Sprintf(`(document.body?.innerText ?? "").includes(%q)`, text)))
		return err == nil && holds
	})
}

// An operator creates a GitHub App in Chromium, from the printed address through GitHub and back to an installed App. GitHub is another
// site for the browser, which still sends the cookie when GitHub leads it back. Wrong and repeated codes and the codes of
// a foreign App are refused on the way. The key is in its file alone, and the page's policy blocks nothing.
func TestGitHubApp_InABrowser_Review_S4(t *testing.T) {
	t.Parallel()
	b := browse(t)
	hub := githubsim.New(githubsim.Options{Clock: clock.RealClock{}})
	server := httptest.NewServer(githubsim.Handler(hub, ""))
	t.Cleanup(server.Close)
	// The ports of one host are one site: GitHub needs another name than the page.
	gitHub := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	folder := t.TempDir()
	file := filepath.Join(folder, "app.json")
	d := program.Start(t, program.Command{
		Name: "init", Args: []string{"init", "github-app", "--no-browser", "--to", file}, Dir: folder, Patience: patience,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "REMUDA_GITHUB_URL=" + gitHub + "/octo/repo"},
	})
	page, key, _ := strings.Cut(d.Says(`open (http://127\.0\.0\.1:\d+/\?key=\w+) in`), "/?key=")

	b.open(page + "/") // as the program opens it
	b.displays("Open the address that remuda init github-app printed")
	eval[bool](b, fmt.Sprintf(`(() => { document.querySelector("[name=key]").value = %q; return true })()`, key))
	b.click("Continue")
	b.displays("Make it in the organisation octo")
	b.displays("Make it in my own account")
	if at := eval[string](b, "location.href"); at != page+"/" {
		t.Errorf("the address is %s, want %s/ without the key", at, page)
	}
	if cookie := eval[string](b, "document.cookie"); cookie != "" {
		t.Errorf("scripts read the cookie %q, want it hidden", cookie)
	}
	action, err := url.Parse(eval[string](b, "document.forms[0].action"))
	b.Check(err)
	state := action.Query().Get("state")
	for _, path := range []string{"/", "/?key=" + key, "/created?code=abc&state=" + state} {
		if status, body := get(b, page+path); status != http.StatusForbidden || strings.Contains(body, state) {
			t.Errorf("another client gets %d from %s: %s, want 403", status, path, body)
		}
	}
	b.open(page + "/created?code=abc&state=x" + state[1:])
	b.displays("its state is missing or another's")
	b.open(page + "/created?code=abc&state=" + state)
	b.displays("each serves once, for an hour")

	b.click("Begin again")
	b.displays("Make it in the organisation octo")
	eval[bool](b, `(() => { document.forms[0].action = document.forms[0].action.replace("/octo/", "/mallory/"); return true })()`)
	b.click("Make it in the organisation octo")
	b.displays("Create GitHub App")
	b.click("Create GitHub App")
	b.displays(`GitHub created the App "remuda-octo" (1) of "mallory"`)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the App of another owner is stored: %v", err)
	}

	b.click("Begin again")
	b.displays("Make it in the organisation octo")
	b.click("Make it in the organisation octo")
	b.displays("Create GitHub App")
	eval[bool](b, `(() => { document.querySelector("[name=name]").value = "Runners of Octo"; return true })()`)
	b.click("Create GitHub App")
	b.displays(`The App "Runners of Octo" (2) of "octo" is created and its key is stored`)
	if at := eval[string](b, "location.href"); at != page+"/" {
		t.Errorf("the address is %s, want one without a code", at)
	}
	b.open(page + "/created?code=abc&state=" + state)
	b.displays("A code was taken already")
	b.click("See how it goes on")
	b.displays("Install it")
	b.open(eval[string](b, `document.querySelector("#install").href`))
	b.click("Install")
	b.displays("Installed")
	b.open(page + "/")
	b.displays("Done. The App is installed and may register runners")
	if code := d.Exit(); code != 0 {
		t.Errorf("remuda init github-app ended with %d", code)
	}
	raw, err := os.ReadFile(file)
	b.Check(err)
	var kept struct{ Key string }
	b.Check(json.Unmarshal(raw, &kept))
	b.Check(githubapi.CheckKey([]byte(kept.Key)))
	if said := string(d.Output()); strings.Contains(said, "PRIVATE KEY") || strings.Contains(said, kept.Key[100:140]) {
		t.Error("the key was printed")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		if !strings.Contains(problem, "Failed to load resource") { // an answer that refuses
			t.Error(problem)
		}
	}
}

// get makes one request without a cookie.
func get(b *browser, address string) (int, string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
	b.Check(err)
	resp, err := http.DefaultClient.Do(req)
	b.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	b.Check(err)
	return resp.StatusCode, string(body)
}
