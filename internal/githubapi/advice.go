package githubapi

import (
	"fmt"
	"net/http"
)

// advice says what the operator can do about a refusal. scopes is what a classic token has, as GitHub
// says. The permissions are those that GitHub REST, "Self-hosted runners", names for each call.
func (c call) advice(s scope, k kind, code int, scopes string) string {
	switch {
	case c.app:
		return c.appAdvice(s, code)
	case c.permission != "":
		return c.runAdvice(s, k, code, scopes)
	}
	switch code {
	case http.StatusUnauthorized:
		return "the credential is wrong, expired or revoked"
	case http.StatusForbidden:
		return "self-hosted runners must be allowed there, and " + c.needs(s, k, scopes)
	case http.StatusNotFound:
		return fmt.Sprintf("check the URL %s; %s", s.url, c.needs(s, k, scopes))
	}
	return "check the configuration: " + s.url + " and the runner group"
}

// runAdvice is that for calls about a repository's runs (GitHub REST, "Permissions required for fine-grained personal
// access tokens" and "… for GitHub Apps").
func (c call) runAdvice(s scope, k kind, code int, scopes string) string {
	switch {
	case code == http.StatusUnauthorized:
		return "the credential is wrong, expired or revoked"
	case code == http.StatusForbidden && !c.reads:
		return "unless GitHub says that it cannot be done, " + c.needs(s, k, scopes)
	case code == http.StatusForbidden:
		return c.needs(s, k, scopes)
	case code == http.StatusNotFound:
		return fmt.Sprintf("it must be in %s; %s", c.repository, c.needs(s, k, scopes))
	}
	return "check what " + c.repository + " has"
}

// appAdvice is that for calls of the App itself (GitHub REST, "Apps").
func (c call) appAdvice(s scope, code int) string {
	switch code {
	case http.StatusUnauthorized:
		return "the App's id and its key do not belong together, the key was deleted, or this machine's clock is more than a minute off"
	case http.StatusForbidden:
		return fmt.Sprintf("the App's installation for %s is suspended, or the App was deleted", s)
	case http.StatusNotFound:
		return fmt.Sprintf("install the App for %s, or check its installation id", s)
	}
	return "check the App's installation id and its permissions"
}

// needs names the permission, first for the kind of credential in use.
func (c call) needs(s scope, k kind, scopes string) string {
	mode := "write"
	if c.reads {
		mode = "read"
	}
	permission := fmt.Sprintf(`repository permission "Administration: %s" on %s`, mode, s.url)
	scope, where := "repo, of an administrator of "+s.String(), s.String()
	switch {
	case c.permission != "":
		permission = fmt.Sprintf(`repository permission "%s: %s" on %s`, c.permission, mode, c.repository)
		scope, where = "repo", c.repository
	case s.level == organisation:
		permission = fmt.Sprintf(`organization permission "Self-hosted runners: %s" on %s`, mode, s.url)
		scope = "admin:org, of an owner of " + s.String()
	case s.level == enterprise:
		return "the token must be a classic one with scope manage_runners:enterprise, of an owner of " + s.String() + has(scopes)
	}
	if c.permission == "Checks" && k != installed {
		return "GitHub takes check runs from an App only, which needs the " + permission
	}
	switch k {
	case classic:
		return fmt.Sprintf("the classic token needs the scope %s%s; a fine-grained token or an App needs the %s", scope, has(scopes), permission)
	case fineGrained:
		return fmt.Sprintf("the fine-grained token needs the %s, approved by its owner; a classic token needs the scope %s", permission, scope)
	case installed:
		return fmt.Sprintf("the App needs the %s, and its installation must have accepted it and include %s", permission, where)
	case unknown:
	}
	return fmt.Sprintf("the credential needs the %s (fine-grained token or App), or the scope %s (classic token)", permission, scope)
}

// has says what the token may do instead.
func has(scopes string) string {
	if scopes == "" {
		return ""
	}
	return " (it has " + plain(scopes) + ")"
}
