package machinelog

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// masked stands for a secret.
const masked = "***"

// minSecret is the least length of a known secret, in bytes: a shorter one would be found in any text.
const minSecret = 8

// names are what a secret is called where it is printed with its name.
const names = `(?:secret_?access_?key|(?:session|security)[_-]?token|api[_-]?key|private[_-]?key|password|passwd|passphrase|secret|token)`

// forms are what secrets look like. Of a match its groups stay, which say what it was or what follows. The rest is never
// shorter than what stands for it.
var forms = []func() *regexp.Regexp{
	lazyregexp.New(`(?s)()-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`),
	// One whose beginning was cut off: the lines of a key before its end, the last of which may be short.
	lazyregexp.New(`(?m)^()(?:.*[A-Za-z0-9+/]{32,}.*\n)*(?:.*\n)?.*-----END [A-Z ]*PRIVATE KEY-----`),
	lazyregexp.New(`(?i)(authorization\\*["']?\s*[:=])[^\r\n]{3,}`),
	lazyregexp.New(`(?i)(\b(?:bearer|basic|remoteauth)\s+)[A-Za-z0-9._~+/=-]{16,}`),
	lazyregexp.New(`()(?:gh[a-z]_[A-Za-z0-9_.-]{16,}|github_pat_[A-Za-z0-9_]{16,})`),   // docs.github.com, "GitHub's token formats"
	lazyregexp.New(`()ey[IJ][A-Za-z0-9+/=_.\\-]{16,}`),                                 // JSON in base64: JIT configurations and web tokens
	lazyregexp.New(`(^|%[0-9A-F]{2}|[^A-Z0-9])A[A-Z0-9]{28}([^A-Z0-9]|$)`),             // registration tokens
	lazyregexp.New(`(^|%[0-9A-F]{2}|[^A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}([^A-Z0-9]|$)`), // IAM User Guide, "IAM identifiers"
	lazyregexp.New(`(?i)(` + names + `\\*["']?\s*[:=]\s*\\*["'])[^"'\r\n]{8,}`),
	lazyregexp.New(`(?i)(` + names + `\\*["']?\s*[:=]\s*)[^\s"',;]{8,}`),
	lazyregexp.New(`(?i)(--` + names + `\s+)[^\s-]\S{7,}`),
	lazyregexp.New(`(?i)([?&](?:sig|signature|x-amz-signature|x-amz-security-token)=)[^&\s"']{3,}`),
	lazyregexp.New(`(://[^/\s:@]*:)[^@/\s]{2,}@`),
	lazyregexp.New(`(://)[^/\s:@]{16,}@`),
}

// Mask puts *** in place of the secrets given and of what has the form of one.
func Mask(text string, secrets ...string) string {
	for _, s := range secrets {
		for _, shape := range shapes(s) {
			if len(shape) >= minSecret {
				text = strings.ReplaceAll(text, shape, masked)
			}
		}
	}
	for _, form := range forms {
		text = form().ReplaceAllString(text, "${1}"+masked+"${2}")
	}
	return text
}

// shapes are a secret as programs print it: as it is, escaped for a URL, in base64, and in the lines into which they break
// what is long.
func shapes(secret string) []string {
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	out := []string{secret, url.QueryEscape(secret), strings.TrimRight(encoded, "=")}
	for _, whole := range []string{secret, encoded} {
		for _, columns := range []int{64, 76} { // of openssl and base64
			for line := range slices.Chunk([]byte(whole), columns) {
				if len(whole) > columns && len(line) >= columns/2 {
					out = append(out, string(line))
				}
			}
		}
	}
	return out
}
