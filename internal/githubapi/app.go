package githubapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v84/github"
)

// App is a GitHub App that is installed where the runners belong to.
type App struct {
	ID int64
	// InstallationID is 0 to find the installation by the owner.
	InstallationID int64
	// Key returns the private key, PEM. It is asked for each installation token, about once an hour.
	// Its error's text must hold no secret.
	Key func(ctx context.Context) ([]byte, error)
}

func (a App) validate(s scope) error {
	var errs []error
	if a.ID < 1 {
		errs = append(errs, fmt.Errorf("app id must be at least 1, got %d", a.ID))
	}
	if a.InstallationID < 0 {
		errs = append(errs, fmt.Errorf("app installation id must not be negative, got %d", a.InstallationID))
	}
	if a.Key == nil {
		errs = append(errs, errors.New("app key is required"))
	}
	if s.level == enterprise {
		errs = append(errs, errEnterprise)
	}
	return errors.Join(errs...)
}

// installationMargin is how long before its end an installation token is replaced; it lives an hour
// (GitHub Docs, "Generating an installation access token for a GitHub App").
const installationMargin = 5 * time.Minute

// appCredential keeps an installation token. Only the signing is ghinstallation's: its own transport for
// installations holds a lock during the call, so that in an outage every caller would wait for all
// before it, and leaves the answers of refusals open.
type appCredential struct {
	app  App
	c    *Client // for its clock, pace and log
	api  *url.URL
	base http.RoundTripper

	current shared[installationToken]
	found   atomic.Int64 // installation
}

type installationToken struct {
	secret      string
	until       time.Time
	permissions *github.InstallationPermissions // nil: GitHub has not said
}

// get implements credential.
func (a *appCredential) get(ctx context.Context) (string, error) {
	good := func(t installationToken) bool { return a.c.clock.Now().Before(t.until.Add(-installationMargin)) }
	token, err := a.current.get(ctx, callInstallationToken.what, good, a.renew)
	return token.secret, err
}

// refused implements credential: a token revoked, or made before the App was given a permission, is not
// kept for the rest of its hour.
func (a *appCredential) refused(token string) {
	a.current.mu.Lock()
	defer a.current.mu.Unlock()
	if a.current.value.secret == token {
		a.current.value = installationToken{}
	}
}

var (
	callInstallation      = call{what: "find installation", route: "/installation", group: signing, app: true}
	callInstallationToken = call{what: "create installation token", route: "/app/installations/{installation_id}/access_tokens", group: signing, app: true}
)

func (a *appCredential) renew(ctx context.Context) (installationToken, error) {
	none := installationToken{}
	gh, err := a.client(ctx)
	if err != nil {
		return none, err
	}
	id, err := a.installation(ctx, gh)
	if err != nil {
		return none, err
	}
	var out *github.InstallationToken
	err = a.c.do(ctx, callInstallationToken, func(ctx context.Context) (resp *github.Response, err error) {
		out, resp, err = gh.Apps.CreateInstallationToken(ctx, id, nil)
		return resp, err
	})
	if err != nil {
		a.found.Store(0) // the App may have been installed anew
		return none, err
	}
	token := installationToken{out.GetToken(), out.GetExpiresAt().Time, out.Permissions}
	if token.secret == "" || token.until.IsZero() {
		return none, callInstallationToken.incomplete()
	}
	a.current.set(token)
	return token, nil
}

// errKey does not quote its cause, which is about a secret.
var errKey = errors.New("the App's key is no RSA private key in PEM form")

// CheckKey returns an error if key is none that an App can sign with.
func CheckKey(key []byte) error {
	if _, err := ghinstallation.NewAppsTransport(nil, 0, key); err != nil {
		return errKey
	}
	return nil
}

// client returns one that signs with the App's key.
func (a *appCredential) client(ctx context.Context) (*github.Client, error) {
	key, err := a.app.Key(ctx)
	if err != nil {
		return nil, err
	}
	signer, err := ghinstallation.NewAppsTransport(a.base, a.app.ID, key)
	if err != nil {
		return nil, errKey
	}
	gh := github.NewClient(&http.Client{Transport: signer, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		if req.URL.Scheme != a.api.Scheme || req.URL.Host != a.api.Host {
			return http.ErrUseLastResponse // the signature is for no other host
		}
		return nil
	}})
	gh.BaseURL, gh.DisableRateLimitCheck = a.api, true
	return gh, nil
}

func (a *appCredential) installation(ctx context.Context, gh *github.Client) (int64, error) {
	if id := max(a.app.InstallationID, a.found.Load()); id != 0 {
		return id, nil
	}
	var out *github.Installation
	err := a.c.do(ctx, callInstallation, func(ctx context.Context) (resp *github.Response, err error) {
		out, resp, err = a.c.scope.installation(ctx, gh)
		return resp, err
	})
	if err != nil {
		return 0, err
	}
	if out.GetID() == 0 {
		return 0, callInstallation.incomplete()
	}
	a.found.Store(out.GetID())
	return out.GetID(), nil
}
