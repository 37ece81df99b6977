package githubsim

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// codeLife is how long GitHub remembers a manifest (GitHub Docs, "Registering a GitHub App from a manifest").
const codeLife = time.Hour

// manifests are the Apps that people are making (GitHub Docs, "Registering a GitHub App from a manifest").
type manifests struct {
	codes map[string]manifest
	last  int64 // id
}

type manifest struct {
	githubapi.Manifest
	owner string
	until time.Time
}

// wireApp is the answer to a code (GitHub REST, "Create a GitHub App from a manifest").
type wireApp struct {
	ID            int64             `json:"id"`
	Slug          string            `json:"slug"`
	NodeID        string            `json:"node_id"`
	ClientID      string            `json:"client_id"`
	Owner         any               `json:"owner"`
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	ExternalURL   string            `json:"external_url"`
	HTMLURL       string            `json:"html_url"`
	CreatedAt     time.Time         `json:"created_at"`
	UpdatedAt     time.Time         `json:"updated_at"`
	Permissions   map[string]string `json:"permissions"`
	Events        []string          `json:"events"`
	ClientSecret  string            `json:"client_secret"`
	WebhookSecret string            `json:"webhook_secret"`
	PEM           string            `json:"pem"`
}

// visitor is the login of the person who is logged in on the pages.
const visitor = "octo"

// web adds the pages on which people create and install an App.
func (s *server) web(to router) {
	for _, of := range []string{"", "/organizations/{owner}"} {
		to.HandleFunc("POST "+of+"/settings/apps/new", s.newApp)
		to.HandleFunc("POST "+of+"/settings/apps", s.namedApp)
	}
	to.HandleFunc("GET /apps/{slug}/installations/new", func(w http.ResponseWriter, _ *http.Request) {
		writePage(w, http.StatusOK, `<h1>Install App</h1><form method="post"><button>Install</button></form>`)
	})
	to.HandleFunc("POST /apps/{slug}/installations/new", s.install)
}

// newApp takes a manifest and asks for the App's name.
func (s *server) newApp(w http.ResponseWriter, r *http.Request) {
	text := r.PostFormValue("manifest")
	m, err := readManifest(text)
	if err != nil {
		writePage(w, http.StatusUnprocessableEntity, "<h1>Invalid GitHub App configuration</h1><p>"+html.EscapeString(err.Error())+"</p>")
		return
	}
	action := strings.TrimSuffix(r.URL.Path, "/new") + "?state=" + url.QueryEscape(r.URL.Query().Get("state"))
	writePage(w, http.StatusOK, fmt.Sprintf(`<h1>Create GitHub App</h1><form method="post" action="%s">
<input type="hidden" name="manifest" value="%s"><input name="name" value="%s"><button>Create GitHub App</button></form>`,
		html.EscapeString(action), html.EscapeString(text), html.EscapeString(m.Name)))
}

// namedApp leads back to the manifest's address, with a code.
func (s *server) namedApp(w http.ResponseWriter, r *http.Request) {
	m, err := readManifest(r.PostFormValue("manifest"))
	if err != nil {
		writePage(w, http.StatusUnprocessableEntity, html.EscapeString(err.Error()))
		return
	}
	m.Name = r.PostFormValue("name")
	back, err := url.Parse(m.RedirectURL)
	if err != nil {
		writePage(w, http.StatusUnprocessableEntity, html.EscapeString(err.Error()))
		return
	}
	code := strings.ToLower(rand.Text())
	s.hub.monitor.with(func(now time.Time) {
		s.hub.manifests.codes[code] = manifest{m, cmp.Or(r.PathValue("owner"), visitor), now.Add(codeLife)}
	})
	query := back.Query()
	query.Set("code", code)
	query.Set("state", r.URL.Query().Get("state"))
	back.RawQuery = query.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound) //nolint:gosec // where it leads is for the manifest to say
}

// readManifest holds a manifest to what GitHub demands of one.
func readManifest(text string) (m githubapi.Manifest, _ error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(&m); {
	case err != nil:
		return m, fmt.Errorf("manifest: %w: %w", ErrInvalid, err)
	case m.URL == "" || m.Hook.URL == "" || m.RedirectURL == "":
		return m, fmt.Errorf("url, hook_attributes.url and redirect_url are required: %w", ErrInvalid)
	case m.Name == "" || len(m.Name) > 34:
		return m, fmt.Errorf("name: must be 1 to 34 characters, got %q: %w", m.Name, ErrInvalid)
	}
	for name, access := range m.Permissions {
		if name == "" || access != string(AccessRead) && access != string(AccessWrite) {
			return m, fmt.Errorf("default_permissions: %q cannot be %q: %w", name, access, ErrInvalid)
		}
	}
	return m, nil
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// convert makes the App of a code, which serves once.
func (s *server) convert(w http.ResponseWriter, r *http.Request) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	var public []byte
	if err == nil {
		public, err = x509.MarshalPKIXPublicKey(&key.PublicKey)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	var out wireApp
	err = s.hub.do(r.Context(), CallConvert, func(now time.Time) error {
		h, code := s.hub, r.PathValue("code")
		m, ok := h.manifests.codes[code]
		delete(h.manifests.codes, code)
		if !ok || !now.Before(m.until) {
			return errNotFound
		}
		h.manifests.last++
		slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(m.Name), "-"), "-")
		out = wireApp{
			ID: h.manifests.last, Slug: slug, NodeID: rand.Text(), ClientID: rand.Text(), Owner: map[string]any{"login": m.owner, "id": 1},
			Name: m.Name, ExternalURL: m.URL, HTMLURL: "http://" + r.Host + "/apps/" + slug, CreatedAt: now, UpdatedAt: now,
			Permissions: m.Permissions, Events: m.Events, ClientSecret: rand.Text(), WebhookSecret: rand.Text(),
			PEM: string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		}
		h.app = app{key: &key.PublicKey, tokens: map[string]time.Time{}, App: App{
			ID: out.ID, PublicKey: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})), Permissions: m.Permissions,
		}}
		return nil
	})
	s.answer(w, CallConvert, http.StatusCreated, out, err)
}

// install installs the App that was made last.
func (s *server) install(w http.ResponseWriter, _ *http.Request) {
	s.hub.monitor.change(func(time.Time) {
		if s.hub.app.key != nil && s.hub.app.Installation == 0 {
			s.hub.app.Installation = 1
		}
	})
	writePage(w, http.StatusOK, "<h1>Installed</h1>")
}

// permitted refuses an App's token what the App may not do with runners.
func (s *server) permitted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var has map[string]string
		var app bool
		s.hub.monitor.with(func(time.Time) { _, app = s.hub.app.tokens[bearer(r)]; has = s.hub.app.Permissions })
		want := "administration"
		if strings.HasPrefix(r.URL.Path, "/orgs/") {
			want = "organization_self_hosted_runners"
		}
		if app && has != nil && strings.Contains(r.URL.Path, "/actions/runners") && has[want] != string(AccessWrite) {
			writeError(w, errNoAccess)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func writePage(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>GitHub</title><body>"+body) // the reader has gone
}
