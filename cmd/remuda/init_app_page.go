package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// appCookie names the cookie of the client that used the key.
const appCookie = "remuda-app"

// appPage is the page of this machine that leads through the creation of a GitHub App. Every user of the machine can connect to
// it, and so can every page that is open in the browser. Therefore it serves only the client that opened the printed address first,
// which it recognizes by a cookie. It answers under its own address only, and accepts a code only with the state of its forms.
type appPage struct {
	origin   string // http://127.0.0.1:port
	key      string // in the printed address. It admits one client only: a second client with the key is refused, and the operator sees it.
	session  string // value of the cookie. There is one session, so the state belongs to it.
	state    string
	manifest githubapi.Manifest
	forms    []githubapi.AppForm
	github   string // the origin that the forms go to
	// made gets the App of a code and stores it. Its error ends everything, except ErrCode, ErrForeignApp and ErrUnavailable.
	made func(ctx context.Context, code string) (githubapi.MadeApp, error)

	cli *app // shows warnings

	mu    sync.Mutex
	used  bool // the key
	app   githubapi.MadeApp
	over  string        // why all ended, or that it is done; "": it goes on
	ready chan struct{} // closed when app is there, or over is
	seen  chan struct{} // closed when the end was shown
}

// newAppPage returns the page that ln will serve.
func newAppPage(rawURL string, ln net.Listener, cli *app) (*appPage, error) {
	p := &appPage{origin: "http://" + ln.Addr().String(), cli: cli, ready: make(chan struct{}), seen: make(chan struct{})}
	p.key, p.session, p.state = rand.Text(), rand.Text(), rand.Text()
	var err error
	if p.manifest, p.forms, err = githubapi.NewManifest(rawURL, p.origin+"/created"); err != nil {
		return nil, fmt.Errorf("github.url: %w", err)
	}
	action, err := url.Parse(p.forms[0].Action)
	if err != nil {
		return nil, err
	}
	p.github = (&url.URL{Scheme: action.Scheme, Host: action.Host}).String()
	return p, nil
}

// renamed asks for attention if an App has another name than the proposed one. GitHub lets the user edit the name.
func (p *appPage) renamed(made githubapi.MadeApp) string {
	if made.Name == p.manifest.Name {
		return ""
	}
	return fmt.Sprintf(" The proposed name was %s. If you did not change it at GitHub, do not install the App.", p.manifest.Name)
}

// end shows a last word.
func (p *appPage) end(word string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = word
}

// same compares in constant time.
func same(shown, want string) bool { return hmac.Equal([]byte(shown), []byte(want)) }

// admitted reports whether a request is of the client that used the key.
func (p *appPage) admitted(r *http.Request) bool {
	c, err := r.Cookie(appCookie)
	return err == nil && same(c.Value, p.session)
}

// enter exchanges the key for the cookie, and leads to an address without the key.
func (p *appPage) enter(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used && !p.admitted(r) {
		fmt.Fprintln(p.cli.err, "remuda: the printed address was opened again and refused: if the page is not in your browser, press Ctrl-C and run the command again")
		appAnswer(w, http.StatusForbidden, "Another browser or program opened this address before, and it works only once. Continue there, or press Ctrl-C in the terminal and run the command again.")
		return
	}
	p.used = true
	// GitHub leads the browser back from its own site. The browser would not send a Strict cookie then.
	http.SetCookie(w, &http.Cookie{Name: appCookie, Value: p.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (p *appPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' "+p.github)
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Referrer-Policy", "strict-origin") // GitHub sees where the form comes from, and nobody the code
	head.Set("X-Content-Type-Options", "nosniff")
	origin := r.Header.Get("Origin")
	switch {
	case "http://"+r.Host != p.origin:
		http.Error(w, fmt.Sprintf("the host must be that of %s, got %.100q", p.origin, r.Host), http.StatusMisdirectedRequest)
	case origin != "" && origin != p.origin:
		http.Error(w, fmt.Sprintf("the origin must be %s, got %.100q", p.origin, origin), http.StatusForbidden)
	case r.Method != http.MethodGet:
		head.Set("Allow", http.MethodGet)
		http.Error(w, "only GET is served", http.StatusMethodNotAllowed)
	case r.URL.Path == "/page.css":
		head.Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write([]byte(appPageStyle)) // the reader has gone
	case r.URL.Path == "/" && same(strings.TrimSpace(r.URL.Query().Get("key")), p.key):
		p.enter(w, r)
	case !p.admitted(r):
		appAnswer(w, http.StatusForbidden, "Open the address that remuda init github-app printed in the terminal, or enter the key in that address:",
			h.Form(h.Input(h.Name("key"), h.Aria("label", "key"), h.AutoComplete("off"), h.AutoFocus()), h.Button(g.Text("Continue"))))
	case r.URL.Path == "/":
		p.show(w)
	case r.URL.Path == "/created":
		p.created(w, r)
	default:
		http.NotFound(w, r)
	}
}

// created takes the code that GitHub sends the browser back with.
func (p *appPage) created(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p.mu.Lock()
	defer p.mu.Unlock() // also while a code is converted: another one waits, and is refused then
	again := h.P(h.A(h.Href("/"), g.Text("Begin again")))
	switch code := q.Get("code"); {
	case !same(q.Get("state"), p.state):
		appAnswer(w, http.StatusForbidden, "This is no answer to this page: its state is missing or another's. Nothing was taken.", again)
	case p.over != "" || p.app.ID != 0:
		appAnswer(w, http.StatusConflict, "A code was taken already; this one is not looked at.", h.P(h.A(h.Href("/"), g.Text("See how it goes on"))))
	case code == "":
		appAnswer(w, http.StatusBadRequest, "GitHub has sent no code.", again)
	default:
		app, err := p.made(r.Context(), code)
		switch {
		case errors.Is(err, githubapi.ErrCode), errors.Is(err, githubapi.ErrForeignApp):
			appAnswer(w, http.StatusBadRequest, err.Error()+".", again)
			return
		case unanswered(err):
			appAnswer(w, http.StatusBadGateway, err.Error()+". Load this page again to try the same code once more.", again)
			return
		case err != nil:
			p.over = err.Error()
		}
		p.app = app
		close(p.ready)
		http.Redirect(w, r, "/", http.StatusSeeOther) // so that the code is in no address that is shown or copied
	}
}

// show is where things stand.
func (p *appPage) show(w http.ResponseWriter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over != "":
		appAnswer(w, http.StatusOK, p.over)
		select {
		case <-p.seen:
		default:
			close(p.seen)
		}
	case p.app.ID != 0:
		appAnswer(w, http.StatusOK, fmt.Sprintf("The %s is created and its key is stored. One step is left.%s", p.app, p.renamed(p.app)),
			h.Meta(g.Attr("http-equiv", "refresh"), h.Content("2")),
			h.P(h.A(h.ID("install"), h.Href(p.app.InstallURL()), h.Target("_blank"), h.Rel("noopener"), g.Text("Install it")), g.Text(" where the runners belong to; this page sees when that is done.")))
	default:
		text, err := p.manifest.Encode()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		appAnswer(w, http.StatusOK, "GitHub makes an App that may do what remuda needs, and no more:",
			h.Ul(g.Map(githubapi.PermissionNames(p.manifest.Permissions), func(line string) g.Node { return h.Li(g.Text(line)) })),
			g.Map(p.forms, func(f githubapi.AppForm) g.Node {
				label := "Make it in my own account"
				if f.Owner != "" {
					label = "Make it in the organisation " + f.Owner
				}
				return h.Form(h.Method("post"), h.Action(f.Action+"?state="+url.QueryEscape(p.state)),
					h.Input(h.Type("hidden"), h.Name("manifest"), h.Value(text)), h.Button(g.Text(label)))
			}))
	}
}

func appAnswer(w http.ResponseWriter, status int, word string, more ...g.Node) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = h.Doctype(h.HTML(h.Lang("en"), // an error: the reader has gone
		h.Head(h.Meta(h.Charset("utf-8")), h.Meta(h.Name("color-scheme"), h.Content("light dark")), h.TitleEl(g.Text("remuda: a GitHub App")), h.Link(h.Rel("stylesheet"), h.Href("/page.css"))),
		h.Body(h.Main(h.H1(g.Text("A GitHub App for remuda")), h.P(h.ID("word"), h.Role("status"), g.Text(word)), g.Group(more))),
	)).Render(w)
}

const appPageStyle = `main { max-width: 40rem; margin: 3rem auto; font: 1rem/1.5 system-ui, sans-serif } button { font: inherit; margin: .3rem 0; padding: .4rem 1rem }
`

// unanswered reports whether GitHub did not answer a call, for a cause on either side, so that the call can be repeated.
func unanswered(err error) bool {
	return errors.Is(err, githubapi.ErrUnavailable) || errors.Is(err, githubapi.ErrLocal)
}
