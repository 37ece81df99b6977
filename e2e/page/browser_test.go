package page

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/remuda-run/remuda/e2e/program"
)

// browser is Chromium with one tab, and what it did besides showing pages.
type browser struct {
	program.T
	tab context.Context //nolint:containedctx // chromedp keeps the tab in it

	mu       sync.Mutex
	asked    []string // addresses of all requests
	problems []string // dialogs, exceptions, and what the content security policy kept back
}

// patience is how long one thing may take to come true on a busy machine.
const patience = 40 * time.Second

// browse starts Chromium, or leaves the test out where there is none.
func browse(t testing.TB) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("Chromium is not installed: `apt-get install chromium`, or CI, runs this")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which Chromium demands of root
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	tab, end := chromedp.NewContext(allocator)
	b := &browser{T: program.T{TB: t}, tab: tab}
	t.Cleanup(func() {
		end()
		stop()
	})
	b.Check(chromedp.Listen(tab, b.note))
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	return b
}

// call makes one call of the DevTools protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.Helper()
	_, err := chromedp.Call(b.tab, command, params)
	b.Check(err)
}

// note is told of everything that happens in the tab.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	case *page.EventJavascriptDialogOpening:
		b.problems = append(b.problems, "dialog: "+e.Message)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, e.ExceptionDetails.Text)
	case *log.EventEntryAdded: // of what the policy keeps back, too
		b.problems = append(b.problems, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	}
}

// onlyFrom holds the tab to one server, and to no problem.
func (b *browser) onlyFrom(server string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	want, err := url.Parse(server)
	b.Check(err)
	for _, address := range b.asked {
		if u, err := url.Parse(address); err != nil || u.Host != want.Host {
			b.Errorf("the page asked for %s, want nothing but of %s", address, server)
		}
	}
	if len(b.asked) < 4 { // page, style, script, stream
		b.Errorf("requests = %q, want the page with its files and its stream", b.asked)
	}
	for _, problem := range b.problems {
		b.Error(problem)
	}
}

// run takes one step in the tab.
func run[V any](b *browser, action chromedp.Action[V]) V {
	b.Helper()
	v, err := chromedp.Run(b.tab, action)
	b.Check(err)
	return v
}

func (b *browser) open(address string) {
	b.Helper()
	run(b, chromedp.Navigate(address))
}

// eval returns the value of an expression in the page.
func eval[V any](b *browser, expression string) V {
	b.Helper()
	return run(b, chromedp.Evaluate[V](expression))
}

// text is the text of the first element of a selector as people see it, in one line; "" without one.
func (b *browser) text(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").replace(/\s+/g, " ")`, selector))
}

// shows waits until an element holds a text.
func (b *browser) shows(selector, text string) {
	b.Helper()
	b.until(selector+" shows "+text, func() bool { return strings.Contains(b.text(selector), text) })
}

// lacks waits until there is no such element.
func (b *browser) lacks(selector string) {
	b.Helper()
	b.until("there is no "+selector, func() bool {
		return eval[bool](b, fmt.Sprintf("document.querySelector(%q) === null", selector))
	})
}

func (b *browser) until(what string, holds func() bool) {
	b.Helper()
	if err := program.Until(patience, what, holds); err != nil {
		b.Fatalf("%v; the page:\n%s", err, eval[string](b, "document.body.innerText"))
	}
}

// shoot writes pictures of the page as it is for people to look at: of a phone and of a desk, by day and by night.
func (b *browser) shoot(name string) {
	b.Helper()
	folder := filepath.Join("..", "..", "dist", "page")
	b.Check(os.MkdirAll(folder, 0o755))
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			run(b, chromedp.EmulateViewport(width, 844))
			picture := run(b, chromedp.FullScreenshot(100))
			if over := eval[int64](b, "document.documentElement.scrollWidth"); over > width {
				b.Errorf("%s is %d wide, want at most %d", name, over, width)
			}
			b.Check(os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o644))
		}
	}
}
