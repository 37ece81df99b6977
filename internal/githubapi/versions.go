package githubapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v84/github"
)

// Deprecation says until when GitHub serves a version of the runner. Zero: no end is announced.
type Deprecation struct {
	Registration time.Time // no new registrations from then on
	Runtime      time.Time // no jobs from then on
}

// End is when the version is of no use any more: what comes first counts, and jobs cannot run without registrations.
// Zero: no end is announced.
func (d Deprecation) End() time.Time {
	if d.Runtime.IsZero() || !d.Registration.IsZero() && d.Registration.Before(d.Runtime) {
		return d.Registration
	}
	return d.Runtime
}

// Deprecation returns the dates of a runner version such as 2.329.0. Known is false if this server returns
// none: GitHub Enterprise Server offers no such call, and has no such dates (GitHub REST, "Get runner
// version end-of-life schedule", since September 2026).
func (c *Client) Deprecation(ctx context.Context, version string) (d Deprecation, known bool, err error) {
	call := call{what: "get end of life of runner " + version, route: "/actions/runners/deprecations/{version}", group: other, reads: true, also: []int{http.StatusNotFound}}
	var out struct {
		Registration *time.Time `json:"registration_deprecates_at"`
		Runtime      *time.Time `json:"runtime_deprecates_at"`
	}
	resp, err := c.send(ctx, call, http.MethodGet, "runners/deprecations/"+url.PathEscape(version), nil, &out)
	if err != nil || resp.StatusCode == http.StatusNotFound {
		return d, false, err
	}
	if out.Registration != nil {
		d.Registration = *out.Registration
	}
	if out.Runtime != nil {
		d.Runtime = *out.Runtime
	}
	return d, true, nil
}

// Check checks the credential, the name of the repository and the runner group. With write it creates a registration token, which proves
// all needed permissions, and reads the group. Otherwise it only reads.
func (c *Client) Check(ctx context.Context, write bool) error {
	if write {
		if _, err := c.newToken(ctx); err != nil {
			return err
		}
		_, err := c.groupID(ctx)
		return err
	}
	_, err := c.send(ctx, callRunners, http.MethodGet, "runners?per_page=1", nil, new(github.Runners))
	if err == nil && c.scope.level != repository && (c.groupName != "" || c.group != DefaultRunnerGroupID) {
		_, err = c.findGroup(ctx)
	}
	return err
}

// moved returns the error of a call that was redirected. It asks GitHub whether the repository has another name now.
func (c *Client) moved(ctx context.Context, failed call, redirect *movedError) error {
	call := call{what: "find repository " + c.scope.name, route: "/", group: other, reads: true}
	var out github.Repository
	err := c.do(ctx, call, func(ctx context.Context) (*github.Response, error) {
		req, err := c.gh.NewRequest(http.MethodGet, "repos/"+c.scope.name, nil)
		if err != nil {
			return nil, err
		}
		return c.gh.Do(ctx, req, &out)
	})
	name := plain(out.GetFullName())
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", failed.what, err)
	case name == "" || strings.EqualFold(name, c.scope.name):
		return &callError{call: failed.what, kind: ErrLocal, detail: fmt.Sprintf("%v: %s", redirect, intercepted)}
	}
	return &callError{call: failed.what, kind: ErrLocal, detail: fmt.Sprintf(
		"%s was renamed to %s: set github.url and, if it is set, github.repository to that name", c.scope.name, name)}
}

// Scope names what the client talks to: owner/repo, organisation, or enterprises/name.
func (c *Client) Scope() string { return fmt.Sprint(c.scope) }
