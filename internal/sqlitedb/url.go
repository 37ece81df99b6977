package sqlitedb

import (
	"fmt"
	"net/url"
)

// Path returns the file that a back end's URL names: sqlite:///absolute/path, sqlite:relative/path,
// or sqlite::memory: for a database in memory. Nothing else may be in the URL.
func Path(u *url.URL) (string, error) {
	path := u.Path
	if u.Opaque != "" {
		unescaped, err := url.PathUnescape(u.Opaque)
		if err != nil {
			return "", fmt.Errorf("url %s: %w", u.Redacted(), err)
		}
		path = unescaped
	}
	if u.Scheme != "sqlite" || u.Host != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || path == "" || path == "/" {
		return "", fmt.Errorf("url %s: want sqlite:///absolute/path, sqlite:relative/path or sqlite:%s", u.Redacted(), Memory)
	}
	return path, nil
}
