package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// patience is how long one thing may take to come true on a busy machine.
const patience = time.Minute

// browser is Chromium with one tab.
type browser struct {
	program.T
	tab context.Context //nolint:containedctx // chromedp keeps the tab in it

	mu       sync.Mutex
	problems []string // what the content security policy kept back, and other errors of pages
}

func browse(t testing.TB) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	program.T{TB: t}.Check(err)
	// NoSandbox is what Chromium demands of root.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience), chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	tab, end := chromedp.NewContext(allocator)
	b := &browser{T: program.T{TB: t}, tab: tab}
	t.Cleanup(func() {
		end()
		stop()
	})
	b.Check(chromedp.Listen(tab, func(event any) {
		if e, ok := event.(*log.EventEntryAdded); ok && e.Entry.Source == log.EntrySourceSecurity {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.problems = append(b.problems, e.Entry.Text)
		}
	}))
	_, err = chromedp.Call(tab, log.Enable, cdp.Empty{})
	b.Check(err)
	return b
}

// open shows a page.
func (b *browser) open(address string) {
	b.Helper()
	_, err := chromedp.Run(b.tab, chromedp.Navigate(address))
	b.Check(err)
}

func eval[V any](b *browser, expression string) V {
	b.Helper()
	v, err := chromedp.Run(b.tab, chromedp.Evaluate[V](expression))
	b.Check(err)
	return v
}

// shows waits until the page holds a text.
func (b *browser) shows(text string) {
	b.Helper()
	// A page that is on its way to another has no body.
	err := program.Until(patience, "the page shows "+text, func() bool {
		v, err := chromedp.Run(b.tab, chromedp.Evaluate[string](`document.body?.innerText ?? ""`))
		return err == nil && strings.Contains(v, text)
	})
	if err != nil {
		b.Fatalf("%v; it shows:\n%s", err, eval[string](b, "location.href + document.body?.innerText"))
	}
}

// click presses the first button or link whose text has word.
func (b *browser) click(word string) {
	b.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { [...document.querySelectorAll("button, a")].find(e => e.innerText.includes(%q)).click(); return true })()`, word))
}

// From the printed address to an installed App, as people do it: wrong and repeated codes are refused on the way, the key is in
// its file alone, and nothing of the page is kept back by its own policy.
func TestGitHubApp_InABrowser(t *testing.T) {
	hosttest.Require(t, "chromium", "chromium")
	b := browse(t)
	hub := githubsim.New(githubsim.Options{Clock: clock.RealClock{}})
	gitHub := httptest.NewServer(githubsim.Handler(hub, ""))
	t.Cleanup(gitHub.Close)
	folder := t.TempDir()
	file := filepath.Join(folder, "app.json")
	d := program.Start(t, program.Command{
		Name: "init", Args: []string{"init", "github-app", "--no-browser", "--to", file}, Dir: folder, Patience: patience,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "REMUDA_GITHUB_URL=" + gitHub.URL + "/octo/repo"},
	})
	page := strings.TrimSuffix(strings.TrimPrefix(d.Says(`open http://127\.0\.0\.1:\d+/`), "open "), "/")

	b.open(page)
	b.shows("Make it in the organisation octo")
	b.shows("Make it in my own account")
	action, err := url.Parse(eval[string](b, "document.forms[0].action"))
	b.Check(err)
	state := action.Query().Get("state")
	b.open(page + "/created?code=abc&state=x" + state[1:])
	b.shows("its state is missing or another's")
	b.open(page + "/created?code=abc&state=" + state)
	b.shows("each serves once, for an hour")

	b.click("Begin again")
	b.shows("Make it in the organisation octo")
	b.click("Make it in the organisation octo")
	b.shows("Create GitHub App") // at GitHub
	eval[bool](b, `(() => { document.querySelector("[name=name]").value = "Runners of Octo"; return true })()`)
	b.click("Create GitHub App")
	b.shows("The App runners-of-octo is made and its key is stored")
	if at := eval[string](b, "location.href"); at != page+"/" {
		t.Errorf("the address is %s, want one without a code", at)
	}
	b.open(page + "/created?code=abc&state=" + state)
	b.shows("A code was taken already")
	b.click("See how it goes on")
	b.shows("Install it")
	link := eval[string](b, `document.querySelector("#install").href`)

	b.open(link)
	b.click("Install")
	b.shows("Installed")
	b.open(page)
	b.shows("Done. The App is installed and may register runners")
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
	for _, p := range b.problems {
		t.Error(p)
	}
}
