package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// Access is what a credential may do with a part of a repository.
type Access string

// The accesses, each with those before it.
const (
	AccessNone  Access = "none"
	AccessRead  Access = "read"
	AccessWrite Access = "write"
)

// Permissions are those of the client's credential in one repository, beside those for its runners.
type Permissions struct {
	Actions Access `json:"actions"`
	Checks  Access `json:"checks"`           // only an App's counts to leave check runs
	Hidden  bool   `json:"hidden,omitempty"` // the repository is not there for it
}

var everything = Permissions{Actions: AccessWrite, Checks: AccessWrite}

// Valid returns ErrInvalid with the field unless both are one of the accesses.
func (p Permissions) Valid() error {
	all := []Access{AccessNone, AccessRead, AccessWrite}
	for _, one := range []struct {
		field string
		have  Access
	}{{"actions", p.Actions}, {"checks", p.Checks}} {
		if !slices.Contains(all, one.have) {
			return fmt.Errorf("%s: must be one of %v, got %q: %w", one.field, all, one.have, ErrInvalid)
		}
	}
	return nil
}

// access are the permissions that were set, by folded repository. Others have all of them.
type access map[string]Permissions

func (a access) of(repository string) Permissions {
	if p, ok := a[strings.ToLower(repository)]; ok {
		return p
	}
	return everything
}

// check returns the service's refusal unless what a call needs is there.
func (a access) check(repository string, c Call) error {
	p := a.of(repository)
	have := p.Actions
	if c == CallCheckRuns || c == CallLeaveCheckRun {
		have = p.Checks
	}
	switch {
	case p.Hidden:
		return errHidden
	case have == AccessWrite, have == AccessRead && c.reads():
		return nil
	}
	return errNoAccess
}

// refused is an answer that is no success and has GitHub's own words.
type refused struct {
	status  int
	message string
}

func (r *refused) Error() string { return fmt.Sprintf("%d %s", r.status, r.message) }

// Unwrap returns the kind.
func (r *refused) Unwrap() error { return githubapi.ErrRefused }

// What GitHub says to a credential that lacks a permission, or may not see the repository (GitHub REST,
// "Troubleshooting the REST API").
var (
	errNoAccess = &refused{http.StatusForbidden, "Resource not accessible by integration"}
	errHidden   = &refused{http.StatusNotFound, "Not Found"}
	// errOnlyApps is shown in EnricoMi/publish-unit-test-result-action#53.
	errOnlyApps = &refused{http.StatusForbidden, "You must authenticate via a GitHub App."}
)
