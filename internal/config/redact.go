package config

import (
	"net/url"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Where a user and a password begin and end in a text that is no URL, and in one that is but has them
// elsewhere, such as behind a second scheme.
var (
	brokenUser = lazyregexp.New(`(?s)//.*@`)
	hiddenUser = lazyregexp.New(`//[^/?#]*@`)
)

// Redact hides what stands where a URL has user and password: either may be an access token.
func Redact(text string) string {
	const hidden = "xxxxx"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return brokenUser().ReplaceAllString(text, "//"+hidden+"@")
	case u.User != nil:
		u.User = url.User(hidden)
		text = u.String()
	}
	return hiddenUser().ReplaceAllString(text, "//"+hidden+"@")
}
