package githubapi

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/google/go-github/v84/github"
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
	level            level
	url, owner, repo string // owner of an enterprise is its slug; repo of a repository only
	base             *url.URL
}

// slug is what GitHub allows in the names of accounts and repositories.
var slug = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

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
		if p == "." || p == ".." || !slug.MatchString(p) {
			return scope{}, fmt.Errorf("url %s: %s", u, wantScope)
		}
	}
	s := scope{url: u.String(), owner: parts[0], base: u}
	switch {
	case len(parts) == 2 && parts[0] == "enterprises":
		s.level, s.owner = enterprise, parts[1]
	case parts[0] == "enterprises", parts[0] == "orgs", len(parts) > 2:
		return scope{}, fmt.Errorf("url %s: %s", u, wantScope)
	case len(parts) == 2:
		s.repo = parts[1]
	default:
		s.level = organisation
	}
	return s, nil
}

// String names the scope for people: owner/repo, or the name alone.
func (s scope) String() string {
	switch s.level {
	case repository:
		return s.owner + "/" + s.repo
	case enterprise:
		return "enterprises/" + s.owner
	case organisation:
	}
	return s.owner
}

// path is where the scope's runners are in the REST API.
func (s scope) path(rest string) string {
	switch s.level {
	case repository:
		return fmt.Sprintf("repos/%s/%s/actions/%s", s.owner, s.repo, rest)
	case enterprise:
		return fmt.Sprintf("enterprises/%s/actions/%s", s.owner, rest)
	case organisation:
	}
	return fmt.Sprintf("orgs/%s/actions/%s", s.owner, rest)
}

func (s scope) installation(ctx context.Context, gh *github.Client) (*github.Installation, *github.Response, error) {
	if s.level == repository {
		return gh.Apps.FindRepositoryInstallation(ctx, s.owner, s.repo)
	}
	return gh.Apps.FindOrganizationInstallation(ctx, s.owner)
}
