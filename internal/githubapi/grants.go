package githubapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v84/github"
)

// Grant is a permission that is of use, and whether the credential has it.
type Grant struct {
	Permission string // such as "Administration: write"
	Purpose    string
	Required   bool
	Known      bool // false: GitHub does not say what the credential may do, as of a fine-grained token
	Missing    bool
}

func (g Grant) String() string {
	text := g.Permission + ", for " + g.Purpose
	switch {
	case !g.Known:
		return text + ": GitHub does not say whether this credential has it"
	case g.Missing:
		return text + ": missing"
	}
	return text
}

// wish is a permission, and the scopes of a classic token of which one includes it.
type wish struct {
	name, key, access string // key: the API's name of it, "" where Apps cannot have it
	have              func(*github.InstallationPermissions) string
	scopes            []string
	purpose           string
}

// wishes lists what is of use, the one that is required first (docs/github.md, "Permissions").
func (s scope) wishes() []wish {
	runners := wish{"Administration", "administration", "write", (*github.InstallationPermissions).GetAdministration, []string{"repo"}, "registering and deleting runners"}
	switch s.level {
	case organisation:
		runners.name, runners.key, runners.have, runners.scopes = "Self-hosted runners", "organization_self_hosted_runners", (*github.InstallationPermissions).GetOrganizationSelfHostedRunners, []string{"admin:org"}
	case enterprise:
		runners.name, runners.key, runners.scopes = "Enterprise runners", "", []string{"manage_runners:enterprise", "admin:enterprise"}
	case repository:
	}
	return []wish{
		runners,
		{"Actions", "actions", "read", (*github.InstallationPermissions).GetActions, []string{"repo"}, "watching runs"},
		{"Actions", "actions", "write", (*github.InstallationPermissions).GetActions, []string{"repo"}, "cancelling runs that wait for nothing, and running lost jobs again"},
		{"Checks", "checks", "write", (*github.InstallationPermissions).GetChecks, nil, "check runs that say why a request failed"},
	}
}

// Grants returns what the credential may do, as far as GitHub says, after a call that shows what it is.
func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	resp, err := c.send(ctx, callRunners, http.MethodGet, "runners?per_page=1", nil, new(github.Runners))
	if err != nil {
		return nil, err
	}
	has := func(wish) (yes, known bool) { return false, false }
	if app, ok := c.auth.credential.(*appCredential); ok {
		if p := app.current.load().permissions; p != nil {
			has = func(w wish) (bool, bool) { have := w.have(p); return have == w.access || have == "write", true }
		}
	} else if scopes := resp.Header.Get("X-Oauth-Scopes"); kind(c.auth.last.Load()) == classic {
		given := strings.FieldsFunc(scopes, func(r rune) bool { return r == ',' || r == ' ' })
		has = func(w wish) (bool, bool) {
			return slices.ContainsFunc(w.scopes, func(s string) bool { return slices.Contains(given, s) }), true
		}
	}
	var out []Grant
	for i, w := range c.scope.wishes() {
		yes, known := has(w)
		out = append(out, Grant{Permission: w.name + ": " + w.access, Purpose: w.purpose, Required: i == 0, Known: known, Missing: known && !yes})
	}
	return out, nil
}
