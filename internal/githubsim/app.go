package githubsim

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// App is a GitHub App that is installed where the hub's runners belong to.
type App struct {
	ID           int64  `json:"id"`
	Installation int64  `json:"installation"`
	PublicKey    string `json:"publicKey"` // PEM; the service itself keeps only this half
	// Permissions are what its tokens say that they may do; nil: nothing.
	Permissions map[string]string `json:"permissions,omitempty"`
}

// Limits of the real service (GitHub Docs, "Generating a JSON Web Token (JWT) for a GitHub App" and
// "Generating an installation access token for a GitHub App").
const (
	signatureLife    = 10 * time.Minute
	signatureDrift   = time.Minute // by which the App's clock may be ahead
	installationLife = time.Hour
)

// app is the App and what was given to it.
type app struct {
	App
	key    *rsa.PublicKey
	tokens map[string]time.Time // installation tokens → expiry
}

// SetApp installs an App in place of any other, whose tokens end.
func (h *Hub) SetApp(a App) error {
	key, err := jwt.ParseRSAPublicKeyFromPEM([]byte(a.PublicKey))
	if err != nil {
		return fmt.Errorf("app: public key: %w: %w", ErrInvalid, err)
	}
	if a.ID < 1 || a.Installation < 1 {
		return fmt.Errorf("app: id and installation must be at least 1, got %d and %d: %w", a.ID, a.Installation, ErrInvalid)
	}
	h.monitor.change(func(time.Time) { h.app = app{App: a, key: key, tokens: map[string]time.Time{}} })
	return nil
}

// verify returns ErrUnauthorized unless a credential is a signature of the App that is good now. The lock need not be
// held: it looks at no tokens.
func (a app) verify(credential string, now time.Time) error {
	if a.key == nil {
		return fmt.Errorf("no App is known: %w", ErrUnauthorized)
	}
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(credential, &claims, func(*jwt.Token) (any, error) { return a.key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodRS256.Name}), jwt.WithoutClaimsValidation()) // its own clock is not ours
	switch {
	case err != nil:
		return fmt.Errorf("a JSON web token could not be decoded: %w: %w", ErrUnauthorized, err)
	case claims.Issuer != strconv.FormatInt(a.ID, 10):
		return fmt.Errorf("'Issuer' claim ('iss') must be an Integer that is the App's: %w", ErrUnauthorized)
	case claims.IssuedAt == nil || claims.IssuedAt.After(now.Add(signatureDrift)):
		return fmt.Errorf("'Issued at' claim ('iat') must be in the past: %w", ErrUnauthorized)
	case claims.ExpiresAt == nil || !now.Before(claims.ExpiresAt.Time) || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > signatureLife:
		return fmt.Errorf("'Expiration time' claim ('exp') is too far in the future, or over: %w", ErrUnauthorized)
	}
	return nil
}

// newToken returns an installation token.
func (a app) newToken(installation int64, now time.Time) (githubapi.Token, error) {
	if installation != a.Installation {
		return githubapi.Token{}, fmt.Errorf("installation %d: %w", installation, errNotFound)
	}
	tok := githubapi.Token{Value: "ghs_" + rand.Text(), Expires: now.Add(installationLife).UTC().Truncate(time.Second)}
	a.tokens[tok.Value] = tok.Expires
	return tok, nil
}

// errNotFound is the service's answer to what is not there, or not to be seen.
var errNotFound = errors.New("github sim: not found")

type wireInstallation struct {
	ID    int64 `json:"id"`
	AppID int64 `json:"app_id"`
}

// apps adds the calls that an App signs itself (GitHub REST, "Apps").
func (s *server) apps(to router) {
	to.HandleFunc("POST /app-manifests/{code}/conversions", s.convert) // signed by nobody: the code is the credential
	for _, of := range []string{"repos/{owner}/{repo}", "orgs/{owner}"} {
		to.Handle("GET /"+of+"/installation", s.signed(func(w http.ResponseWriter, r *http.Request) {
			var a App
			err := s.hub.do(r.Context(), CallInstallation, func(time.Time) error {
				if a = s.hub.app.App; a.Installation == 0 {
					return errNotFound
				}
				return nil
			})
			s.answer(w, CallInstallation, http.StatusOK, wireInstallation{ID: a.Installation, AppID: a.ID}, err)
		}))
	}
	to.Handle("POST /app/installations/{id}/access_tokens", s.signed(numbered(func(w http.ResponseWriter, r *http.Request, id int64) {
		var tok githubapi.Token
		var may map[string]string
		err := s.hub.do(r.Context(), CallAppToken, func(now time.Time) (err error) {
			tok, err = s.hub.app.newToken(id, now)
			may = s.hub.app.Permissions
			return err
		})
		s.answer(w, CallAppToken, http.StatusCreated, wireToken{Token: tok.Value, ExpiresAt: tok.Expires, Permissions: may}, err)
	})))
}

// installed reports whether a credential is an installation token that is good now.
func (s *server) installed(credential string) (ok bool) {
	s.hub.monitor.with(func(now time.Time) { ok = now.Before(s.hub.app.tokens[credential]) })
	return ok
}

// signed refuses requests that the App did not sign.
func (s *server) signed(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a app
		var now time.Time
		s.hub.monitor.with(func(at time.Time) { a, now = s.hub.app, at })
		if err := a.verify(bearer(r), now); err != nil {
			writeError(w, err)
			return
		}
		next(w, r)
	})
}
