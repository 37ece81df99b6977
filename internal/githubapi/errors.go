package githubapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/go-github/v84/github"

	"github.com/remuda-run/remuda/internal/netfault"
)

// call says what a call is and what its particular refusals mean.
type call struct {
	what     string
	route    string // for metrics: the path below what it is about, as GitHub REST writes it
	group    group
	reads    bool  // needs permission to read only
	app      bool  // signed with an App's key
	gone     error // kind of a 404; nil: ErrRefused
	conflict error // kind of a 409; nil: ErrRefused
	invalid  error // kind of a 422; nil: ErrRefused

	// permission, such as Actions, makes it a call about the runs of a repository, owner/name. Else it is about the
	// scope's runners.
	permission, repository string

	trail *[]string // of answered calls, of a question that takes several; nil: of one
	also  []int     // statuses that are an answer, too
	etag  string    // of what is known: 304 says that it still holds
}

// answers reports whether a status that the library takes for a failure is an answer.
func (c call) answers(status int) bool {
	return slices.Contains(c.also, status) || status == http.StatusNotModified && c.etag != ""
}

// path returns where in the REST API the call goes.
func (c call) path(s scope, rest string) (string, error) {
	if c.permission == "" {
		return s.path(rest), nil
	}
	owner, name, _ := strings.Cut(c.repository, "/")
	if !isName(owner) || !isName(name) {
		return "", c.bad("repository", c.repository, "owner/name")
	}
	return "repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name) + "/" + rest, nil
}

// bad says that the call was not made, since one of its arguments is none that GitHub knows.
func (c call) bad(field, got, want string) error {
	return &callError{call: c.what, kind: ErrRefused, detail: fmt.Sprintf("%s %q: want %s", field, plain(got), want)}
}

// callError is a failed call. The cause is text only: no one outside may depend on the library
// below, whose errors hold whole requests.
type callError struct {
	call    string
	kind    error
	status  int // of the answer; 0: there was none
	detail  string
	cause   error // only of a credential: its kind is the caller's own
	retryAt time.Time
}

func (e *callError) Error() string { return fmt.Sprintf("%s: %v: %s", e.call, e.kind, e.detail) }

// Unwrap makes errors.Is find the kind.
func (e *callError) Unwrap() []error {
	if e.cause != nil {
		return []error{e.kind, e.cause}
	}
	return []error{e.kind}
}

// RetryAt returns when GitHub will take the call again, if err says so (ErrThrottled).
func RetryAt(err error) (time.Time, bool) {
	var e *callError
	if errors.As(err, &e) && !e.retryAt.IsZero() {
		return e.retryAt, true
	}
	return time.Time{}, false
}

func (c call) incomplete() error {
	return &callError{call: c.what, kind: ErrUnavailable, detail: "the answer is incomplete"}
}

func (c call) endless() error {
	return &callError{call: c.what, kind: ErrUnavailable, detail: fmt.Sprintf("no end after %d pages", maxPages)}
}

// classify turns the failure of a call into one of the kinds. hold is until when GitHub wants no
// calls, if it said so.
func (c call) classify(s scope, k kind, resp *github.Response, err error, hold time.Time) error {
	e := &callError{call: c.what, kind: ErrUnavailable}
	var credential *credentialError
	switch {
	case errors.As(err, &credential):
		e.kind, e.detail, e.cause = credentialKind(credential.cause), credential.Error(), credential.cause
		e.retryAt, _ = RetryAt(credential.cause)
		return e
	case resp == nil || resp.Response == nil:
		e.detail = plain(err.Error())
		if why := netfault.Of(err); why != "" {
			e.kind, e.detail = ErrLocal, plain(why)
		}
		return e
	case isPage(resp.Response):
		e.kind, e.status = ErrLocal, resp.StatusCode
		e.detail = fmt.Sprintf("%s answers %d with a web page instead of JSON: %s", resp.Request.URL.Host, resp.StatusCode, intercepted)
		return e
	}
	code := resp.StatusCode
	e.status = code
	text := fmt.Sprintf("%d %s", code, message(err))
	switch {
	case throttled(resp, err):
		e.kind, e.detail, e.retryAt = ErrThrottled, text, hold
	case code >= 500, code == http.StatusRequestTimeout:
		e.detail = text
	case code < 300:
		e.detail = "unreadable answer"
	case code == http.StatusNotModified:
		e.detail = "the answer says that nothing changed, and nothing is known"
	case code == http.StatusNotFound && c.gone != nil:
		e.kind, e.detail = c.gone, text
	case code == http.StatusConflict && c.conflict != nil:
		e.kind, e.detail = c.conflict, text
	case code == http.StatusUnprocessableEntity && c.invalid != nil:
		e.kind, e.detail = c.invalid, text
	default:
		e.kind, e.detail = ErrRefused, text+"; "+c.advice(s, k, code, resp.Header.Get("X-OAuth-Scopes"))
	}
	return e
}

// credentialKind returns the kind of error for a call without a credential. GitHub got no call, except for the credential itself.
func credentialKind(cause error) error {
	for _, kind := range []error{ErrThrottled, ErrRefused, ErrUnavailable} {
		if errors.Is(cause, kind) {
			return kind
		}
	}
	return ErrLocal
}

// intercepted is what the operator can do about an answer that is not GitHub's.
const intercepted = "check github.apiUrl, and whether a proxy or a sign-on page intercepts the call"

// isPage reports whether an answer is a web page. GitHub's own web pages have a status of 500 or higher.
func isPage(resp *http.Response) bool {
	return resp.StatusCode < http.StatusInternalServerError && (strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || resp.StatusCode == http.StatusProxyAuthRequired)
}

// message is GitHub's own sentence, or the status text.
func message(err error) string {
	var response *github.ErrorResponse
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	switch {
	case errors.As(err, &response) && response.Message != "":
		return plain(response.Message)
	case errors.As(err, &primary) && primary.Message != "":
		return plain(primary.Message)
	case errors.As(err, &secondary) && secondary.Message != "":
		return plain(secondary.Message)
	}
	return "without a message"
}

// longestMessage bounds what is quoted of foreign text.
const longestMessage = 300

// plain makes foreign text safe for one line of a log.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > longestMessage {
		s = strings.ToValidUTF8(s[:longestMessage], "") + "…"
	}
	return s
}
