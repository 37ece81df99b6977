package githubapi

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/go-github/v84/github"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// level is what runners belong to.
type level int

const (
	repository level = iota
	organisation
	enterprise
)

// scope is the repository, organisation or enterprise that runners belong to.
type scope struct {
	level     level
	url, name string // name: owner/repo, organisation, or enterprises/name
	base      *url.URL
}

// slug is what GitHub allows in the names of accounts and repositories.
var slug = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

func isName(s string) bool { return s != "." && s != ".." && slug().MatchString(s) }

const wantScope = "want https://host/owner/repo, https://host/organisation or https://host/enterprises/name"

func parseScope(raw string) (scope, error) {
	u, err := url.Parse(strings.TrimSuffix(raw, "/"))
	if err != nil {
		return scope{}, fmt.Errorf("url: not a URL") // the cause quotes it, which may hold a credential
	}
	if err := safe(u); err != nil {
		return scope{}, fmt.Errorf("url: %w", err)
	}
	parts := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	for _, p := range parts {
		if !isName(p) {
			return scope{}, fmt.Errorf("url %s: %s", u, wantScope)
		}
	}
	s := scope{url: u.String(), name: strings.Join(parts, "/"), base: u}
	switch {
	case len(parts) == 2 && parts[0] == "enterprises":
		s.level = enterprise
	case parts[0] == "enterprises", parts[0] == "orgs", len(parts) > 2:
		return scope{}, fmt.Errorf("url %s: %s", u, wantScope)
	case len(parts) == 1:
		s.level = organisation
	}
	return s, nil
}

// String names the scope for people.
func (s scope) String() string { return s.name }

// path is where the scope's runners are in the REST API.
func (s scope) path(rest string) string {
	root := map[level]string{repository: "repos/", organisation: "orgs/"}[s.level]
	return root + s.name + "/actions/" + rest
}

func (s scope) installation(ctx context.Context, gh *github.Client) (*github.Installation, *github.Response, error) {
	if s.level == repository {
		owner, repo, _ := strings.Cut(s.name, "/")
		return gh.Apps.FindRepositoryInstallation(ctx, owner, repo)
	}
	return gh.Apps.FindOrganizationInstallation(ctx, s.name)
}
