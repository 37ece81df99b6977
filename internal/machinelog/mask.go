package machinelog

import (
	"regexp"
	"strings"
)

// masked stands for a secret.
const masked = "***"

// minSecret is the least length of a known secret, in bytes: a shorter one would be found in any text.
const minSecret = 8

// forms are what secrets look like; of a match the first group stays, which says what it was. The rest is never shorter
// than what stands for it.
var forms = []*regexp.Regexp{
	regexp.MustCompile(`()-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`),
	regexp.MustCompile(`\A()[^-]*-----END [A-Z ]*PRIVATE KEY-----`), // of which the beginning was cut off
	regexp.MustCompile(`(?i)(authorization["']?\s*[:=])[^\r\n]{3,}`),
	regexp.MustCompile(`(?i)(\b(?:bearer|basic|remoteauth)\s+)[A-Za-z0-9._~+/=-]{16,}`),
	regexp.MustCompile(`()(?:gh[a-z]_[A-Za-z0-9_.-]{16,}|github_pat_[A-Za-z0-9_]{16,})`), // docs.github.com, "GitHub's token formats"
	regexp.MustCompile(`()ey[IJ][A-Za-z0-9+/=_.\\-]{16,}`),                               // JSON in base64: JIT configurations and web tokens
	regexp.MustCompile(`\b()A[A-Z0-9]{28}\b`),                                            // registration tokens
	regexp.MustCompile(`()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`),                                // IAM User Guide, "IAM identifiers"
	regexp.MustCompile(`(?i)((?:secret_?access_?key|(?:session|security)[_-]?token|password|passwd|secret|token)["']?\s*[:=]\s*["']?)[^\s"',;]{8,}`),
	regexp.MustCompile(`(?i)([?&](?:sig|signature|x-amz-signature|x-amz-security-token)=)[^&\s"']{3,}`),
	regexp.MustCompile(`(://[^/\s:@]*:)[^@/\s]{2,}@`),
}

// Mask puts *** in place of the secrets given and of what has the form of one.
func Mask(text string, secrets ...string) string {
	for _, s := range secrets {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s, masked)
		}
	}
	for _, form := range forms {
		text = form.ReplaceAllString(text, "${1}"+masked)
	}
	return text
}
