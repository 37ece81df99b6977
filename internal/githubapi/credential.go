package githubapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// credential is what calls are made with.
type credential interface {
	// get returns the token for the next call.
	get(ctx context.Context) (string, error)
	// refused says that GitHub no longer takes this token, or not for what it was used for.
	refused(token string)
}

// given is a credential that its caller looks after.
type given func(ctx context.Context) (string, error)

func (g given) get(ctx context.Context) (string, error) { return g(ctx) }
func (g given) refused(string)                          {}

// CheckToken returns an error if token cannot be an access token. The error does not contain the token.
func CheckToken(token string) error {
	wrong := ""
	switch {
	case token == "":
		wrong = "it is empty"
	case strings.ContainsAny(strings.TrimSpace(token), "\r\n"):
		wrong = "it has more than one line"
	case strings.HasPrefix(token, "\ufeff"):
		wrong = "it begins with a byte order mark: save it as UTF-8 without BOM"
	case strings.ContainsAny(token[:1], "\"'`"):
		wrong = "it has quotes"
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		wrong = "it has blanks or non-ASCII characters"
	default:
		return nil
	}
	return fmt.Errorf("the access token must be one word on one line: %s", wrong)
}

// kind is what a token is; each kind lacks its own permission when it is refused.
type kind int32

const (
	unknown kind = iota
	classic
	fineGrained
	installed // of an App
)

// kindOf goes by the prefix (GitHub Docs, "About authentication to GitHub", token formats).
func kindOf(token string) kind {
	for prefix, k := range map[string]kind{
		"ghp_": classic, "gho_": classic, "github_pat_": fineGrained, "ghs_": installed, "ghu_": installed,
	} {
		if strings.HasPrefix(token, prefix) {
			return k
		}
	}
	return unknown
}

// authorizer adds the credential to requests for the API's own host only, so that a redirect
// cannot carry it elsewhere.
type authorizer struct {
	base         http.RoundTripper
	credential   credential
	level        level
	scheme, host string
	actions      string       // GitHub redirects calls below this path only if the repository was renamed; "": not for a repository
	last         atomic.Int32 // kind of the token used last
}

// movedError means that a call was redirected on GitHub's own host, as calls of a renamed repository are. Its jobs would be refused, so no
// runner is registered under the new name. Calls that find and delete one runner are redirected, so that instances end as usual.
type movedError struct {
	to string // path
}

func (e *movedError) Error() string { return "the call was redirected to " + e.to }

// mayMove reports whether a call follows a redirect. The client would send a GET in place of another method after a 301, 302 or 303.
func mayMove(req *http.Request, code int) bool {
	deletes := req.Method == http.MethodDelete && (code == http.StatusTemporaryRedirect || code == http.StatusPermanentRedirect)
	return deletes || req.Method == http.MethodGet && req.URL.Query().Has("name")
}

// errEnterprise: GitHub REST, "Self-hosted runners", says of every call for an enterprise that it takes
// neither a fine-grained token nor an App's.
var errEnterprise = fmt.Errorf(`%w: runners of an enterprise take a classic token with scope manage_runners:enterprise, `+
	`neither a fine-grained token nor an App; or register with one of its organisations`, ErrRefused)

// RoundTrip implements http.RoundTripper.
func (a *authorizer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != a.scheme || req.URL.Host != a.host {
		return a.base.RoundTrip(req)
	}
	token, err := a.credential.get(req.Context())
	if err == nil {
		err = CheckToken(token)
	}
	k := kindOf(token)
	if err == nil && a.level == enterprise && (k == fineGrained || k == installed) {
		err = errEnterprise
	}
	if err != nil {
		closeBody(req)
		return nil, &credentialError{cause: err}
	}
	a.last.Store(int32(k))
	out := req.Clone(req.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	resp, err := a.base.RoundTrip(out)
	if err == nil && ambiguous(resp) && (resp.StatusCode == http.StatusUnauthorized || !keepsToken(req.Context())) {
		a.credential.refused(token)
	}
	if err == nil && a.actions != "" && strings.HasPrefix(req.URL.Path, a.actions) && resp.StatusCode/100 == 3 && !mayMove(req, resp.StatusCode) {
		if to, none := resp.Location(); none == nil && to.Host == a.host {
			_ = resp.Body.Close() // the body of a redirect is not needed
			return nil, &movedError{to: plain(to.Path)}
		}
	}
	return resp, err
}

type keepToken struct{}

// keepingToken marks a call that a token may lack the permission for and still be of use: one of a repository's runs. Each
// new token would make every ETag worthless. A permission that an App is given meanwhile counts with its next token.
func keepingToken(ctx context.Context) context.Context {
	return context.WithValue(ctx, keepToken{}, true)
}

func keepsToken(ctx context.Context) bool { return ctx.Value(keepToken{}) != nil }

// ambiguous reports whether another token might have served better: not where GitHub limits the rate.
func ambiguous(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized ||
		resp.StatusCode == http.StatusForbidden && resp.Header.Get("Retry-After") == "" && resp.Header.Get("X-RateLimit-Remaining") != "0"
}

// closeBody keeps the contract of RoundTripper; nothing was read from it, so its error says nothing.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

type credentialError struct{ cause error }

func (e *credentialError) Error() string { return "get credential: " + e.cause.Error() }
func (e *credentialError) Unwrap() error { return e.cause }
