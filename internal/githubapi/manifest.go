package githubapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v84/github"
)

// homepage is what GitHub shows of an App beside its name.
const homepage = "https://github.com/remuda-run/remuda"

// mostAppName is how long the name of an App may be (GitHub Docs, "Registering a GitHub App").
const mostAppName = 34

// Manifest describes an App that may do exactly what remuda needs (GitHub Docs, "Registering a GitHub App from a manifest").
type Manifest struct {
	Name        string            `json:"name"` // to begin with: GitHub asks for it, as it is one of all of GitHub
	URL         string            `json:"url"`
	Hook        Hook              `json:"hook_attributes"`
	RedirectURL string            `json:"redirect_url"`
	Public      bool              `json:"public"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

// Hook is the webhook of an App. remuda has none, but GitHub asks for an address.
type Hook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// AppForm is where a manifest is posted to, and who owns the App then.
type AppForm struct {
	Action string // without the state
	Owner  string // organisation; "": the account of who posts it
}

// NewManifest returns the manifest of an App for what rawURL names, and where it can be posted. An App that is not public can
// only be installed where its owner is (GitHub Docs, "Making a GitHub App public or private"), and a repository's may be an
// organisation or a person.
func NewManifest(rawURL, redirect string) (Manifest, []AppForm, error) {
	s, err := parseScope(rawURL)
	if err != nil {
		return Manifest{}, nil, err
	}
	if s.level == enterprise {
		return Manifest{}, nil, errEnterprise
	}
	owner, _, _ := strings.Cut(s.name, "/")
	name := "remuda-" + owner
	m := Manifest{
		Name: name[:min(len(name), mostAppName)], URL: homepage, Hook: Hook{URL: homepage}, RedirectURL: redirect,
		Permissions: map[string]string{}, Events: []string{},
	}
	for _, w := range s.wishes() { // of one that is named twice the last is the greater
		m.Permissions[w.key] = w.access
	}
	at := func(path string) string {
		return (&url.URL{Scheme: s.base.Scheme, Host: s.base.Host, Path: path}).String()
	}
	forms := []AppForm{{Action: at("/organizations/" + owner + "/settings/apps/new"), Owner: owner}}
	if s.level == repository {
		forms = append(forms, AppForm{Action: at("/settings/apps/new")})
	}
	return m, forms, nil
}

// Encode returns the form's field.
func (m Manifest) Encode() (string, error) {
	text, err := json.Marshal(m)
	return string(text), err
}

// MadeApp is an App that GitHub made of a manifest.
type MadeApp struct {
	ID   int64
	Name string
	URL  string // of its public page
	Key  []byte // secret: PEM. GitHub shows it once.
}

// String hides the secret.
func (a MadeApp) String() string { return fmt.Sprintf("App %s (%d)", a.Name, a.ID) }

// InstallURL is where people install it.
func (a MadeApp) InstallURL() string { return a.URL + "/installations/new" }

// ErrCode says that GitHub does not take a code: each serves once, for an hour.
var ErrCode = errors.New("GitHub does not know this code: each serves once, for an hour")

// Convert makes the App of which GitHub gave the code. It needs no credential: the code is one. o.URL, o.APIURL and o.HTTPClient
// are all that it looks at.
func Convert(ctx context.Context, o Options, code string) (MadeApp, error) {
	const what = "convert App manifest"
	s, err := parseScope(o.URL)
	if err != nil {
		return MadeApp{}, err
	}
	api, err := apiURL(o.APIURL, s)
	if err != nil {
		return MadeApp{}, err
	}
	if !isName(code) {
		return MadeApp{}, fmt.Errorf("%s: %w", what, ErrCode) // it becomes part of a path
	}
	gh := github.NewClient(cmp.Or(o.HTTPClient, &http.Client{Timeout: 2 * CallTimeout})) // which makes a key, too
	gh.BaseURL = api
	made, resp, err := gh.Apps.CompleteAppManifest(ctx, code)
	switch code, of := status(resp), (*url.Error)(nil); { // no error quotes the URL, which has the code
	case err == nil:
	case code == http.StatusNotFound:
		return MadeApp{}, fmt.Errorf("%s: %w", what, ErrCode)
	case errors.As(err, &of):
		return MadeApp{}, fmt.Errorf("%s: %w: %w", what, ErrUnavailable, of.Err)
	case code == http.StatusForbidden, code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		return MadeApp{}, fmt.Errorf("%s: %w: status %d", what, ErrUnavailable, code)
	default:
		return MadeApp{}, fmt.Errorf("%s: status %d, or an answer that is none", what, code)
	}
	a := MadeApp{ID: made.GetID(), Name: made.GetSlug(), URL: made.GetHTMLURL(), Key: []byte(made.GetPEM())}
	if a.ID < 1 || a.URL == "" || CheckKey(a.Key) != nil {
		return MadeApp{}, fmt.Errorf("%s: the answer lacks id, address or key: look for the App in GitHub's settings, and make a key there", what)
	}
	return a, nil
}

// Installed returns the installation of the App for what the client talks to, 0 if there is none yet.
func (c *Client) Installed(ctx context.Context) (int64, error) {
	a, ok := c.auth.credential.(*appCredential)
	if !ok {
		return 0, errors.New("find installation: the credential is no App's")
	}
	gh, err := a.client(ctx)
	if err != nil {
		return 0, err
	}
	var out *github.Installation
	err = c.do(ctx, callInstallation, func(ctx context.Context) (resp *github.Response, err error) {
		out, resp, err = c.scope.installation(ctx, gh)
		if status(resp) == http.StatusNotFound {
			out, err = nil, nil
		}
		return resp, err
	})
	return out.GetID(), err
}
