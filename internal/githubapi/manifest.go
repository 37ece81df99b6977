package githubapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v84/github"

	"github.com/remuda-run/remuda/internal/netfault"
)

// homepage is what GitHub shows of an App beside its name.
const homepage = "https://github.com/remuda-run/remuda"

// mostAppName is how long the name of an App may be (GitHub Docs, "Registering a GitHub App").
const mostAppName = 34

// Manifest describes an App that may do exactly what remuda needs (GitHub Docs, "Registering a GitHub App from a manifest").
type Manifest struct {
	Name        string            `json:"name"` // a proposal: the user can edit it at GitHub, where names are unique
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
		Permissions: map[string]string{"metadata": "read"}, Events: []string{}, // GitHub grants metadata to each App for repositories
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

// PermissionNames lists permissions for people, for example "checks: write".
func PermissionNames(permissions map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(permissions)) {
		out = append(out, strings.ReplaceAll(name, "_", " ")+": "+permissions[name])
	}
	return out
}

// differences lists for people how an App differs from the App that m requests for owner.
//
// Only the owner of an account, or a manager of its Apps, can create an App that belongs to the account. The owner is also known
// in advance for both forms, because a private App can be installed only on the account that owns it.
// The name is not compared. GitHub lets the user edit it (GitHub Docs, "Registering a GitHub App from a manifest"), and the user
// must edit it if another App has the proposed name. GitHub subscribes each App with the permission checks: write to two events.
func (m Manifest) differences(owner string, a MadeApp) (out []string) {
	events := slices.DeleteFunc(slices.Sorted(slices.Values(a.Events)), func(e string) bool { return e == "check_run" || e == "check_suite" })
	for _, c := range []struct{ field, want, got string }{
		{"owner", strings.ToLower(owner), strings.ToLower(a.Owner.GetLogin())}, // GitHub ignores the case of logins
		{"homepage", m.URL, strings.TrimSuffix(a.Homepage, "/")},
		{"permissions", strings.Join(PermissionNames(m.Permissions), ", "), strings.Join(PermissionNames(a.Permissions), ", ")},
		{"events", strings.Join(m.Events, ", "), strings.Join(events, ", ")},
	} {
		if c.got != c.want {
			out = append(out, fmt.Sprintf("%s must be %s, got %.300q", c.field, cmp.Or(c.want, "empty"), c.got))
		}
	}
	return out
}

// MadeApp is an App that GitHub created from a manifest, as GitHub's API describes it. Its texts are foreign: the user chooses the name.
type MadeApp struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Owner       *github.User      `json:"owner"`
	Homepage    string            `json:"external_url"`
	URL         string            `json:"html_url"` // of its public page
	Permissions map[string]string `json:"permissions"`
	Events      []string          `json:"events"`
	Key         string            `json:"pem"` // secret. GitHub shows it once.
}

// String names the App and its owner, without the secret and without control characters.
func (a MadeApp) String() string {
	return fmt.Sprintf("App %.100q (%d) of %.100q", a.Name, a.ID, a.Owner.GetLogin())
}

// InstallURL is where people install it.
func (a MadeApp) InstallURL() string { return a.URL + "/installations/new" }

// ErrCode says that GitHub does not accept a code: each serves once, for an hour.
var ErrCode = errors.New("GitHub does not know this code: each serves once, for an hour")

// ErrForeignApp says that a code was for another App than the requested one.
var ErrForeignApp = errors.New("the App is not the requested one")

// Convert exchanges a code for the App that GitHub created from m. The code is the only credential. Of another App it returns nothing but
// an error: its key is gone. Of o it uses URL, APIURL and HTTPClient.
func Convert(ctx context.Context, o Options, m Manifest, code string) (MadeApp, error) {
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
	gh := github.NewClient(cmp.Or(o.HTTPClient, &http.Client{Transport: transport(), Timeout: 2 * CallTimeout})) // the call also creates a key
	gh.BaseURL = api
	req, err := gh.NewRequest(http.MethodPost, "app-manifests/"+code+"/conversions", nil)
	var resp *github.Response
	var a MadeApp // go-github's own type lacks permissions and events
	if err == nil {
		resp, err = gh.Do(ctx, req, &a)
	}
	switch code, of := status(resp), (*url.Error)(nil); { // no error quotes the URL, which has the code
	case err == nil:
	case code == http.StatusNotFound:
		return MadeApp{}, fmt.Errorf("%s: %w", what, ErrCode)
	case netfault.Of(err) != "":
		return MadeApp{}, fmt.Errorf("%s: %w: %s", what, ErrLocal, netfault.Of(err))
	case errors.As(err, &of):
		return MadeApp{}, fmt.Errorf("%s: %w: %w", what, ErrUnavailable, of.Err)
	case code == http.StatusForbidden, code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		return MadeApp{}, fmt.Errorf("%s: %w: status %d", what, ErrUnavailable, code)
	default:
		return MadeApp{}, fmt.Errorf("%s: status %d with an unreadable answer", what, code)
	}
	page, err := url.Parse(a.URL)
	if err != nil || page.Scheme != s.base.Scheme || page.Host == "" || a.ID < 1 || CheckKey([]byte(a.Key)) != nil {
		return MadeApp{}, fmt.Errorf("%s: the answer lacks id, address or key: look for the App in GitHub's settings, and make a key there", what)
	}
	a.URL = page.String() // escaped, as it is printed
	owner, _, _ := strings.Cut(s.name, "/")
	if differences := m.differences(owner, a); len(differences) > 0 {
		return MadeApp{}, fmt.Errorf("%s: GitHub created the %s: %w: %s. Its private key is discarded and nothing is stored. If the App is yours, delete it at GitHub, then start again",
			what, a, ErrForeignApp, strings.Join(differences, "; "))
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
