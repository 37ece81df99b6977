package machinelog

import (
	"regexp"
	"strings"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// form describes the form of some secrets. The secret is the only group of match, or the whole match if there is no group.
type form struct {
	hints  []string                        // lower-case texts; match can only match a text that contains one of them
	match  func() *regexp.Regexp           // compiled at its first use
	secret func(before, value string) bool // nil: each match is a secret
	learn  bool                            // hide the value everywhere in the text
}

const (
	// names matches the ends of names of secrets.
	names = `(?:(?:access|account|api|auth|client|deploy|encryption|license|master|private|secret|service|shared|signing|ssh|storage)[_-]?key|password|passwd|passphrase|secret|token|[_-](?:pass|pwd|pat|auth))`
	// shell is one word of a shell's command line, quoted or not.
	shell = `((?:\$?'[^'\n]*'|"[^"\n]*"|\\.|[^\s"'\\;|&<>])+)`
	// line is the rest of a command before an argument. It ends before the next command. A word may hold what ends a command: programs
	// print commands without quotes.
	line = `\b(?:[^\n;|&]|\\\n|\\.|[;|&][^\s;|&]|'[^'\n]*'|"[^"\n]*")*?\s`
	// reader shows that a command reads a password.
	reader = `(?:-stdin\b|--with-token\b|\bsudo(?:\s+-\w*[ugphCrtTUDR]\s+(?:'[^']*'|"[^"]*"|\S+)|\s+-\S+)*?\s+-\w*S|\bchpasswd\b)`
)

var (
	namesHints  = []string{"key", "passw", "passphrase", "secret", "token", "_pass", "-pass", "_pwd", "_pat", "_auth"}
	keyHints    = []string{"private key-----"}
	readerHints = []string{"-stdin", "--with-token", "sudo", "chpasswd"}
)

var forms = []form{
	{hints: keyHints, match: lazyregexp.New(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`)},
	// This form is a key whose beginning was cut: the lines before the END line. The last of these lines may be short.
	{hints: keyHints, match: lazyregexp.New(`(?m)^(?:.*[A-Za-z0-9+/]{32,}.*\n)*(?:.*\n)?.*-----END [A-Z ]*PRIVATE KEY-----`)},
	{hints: []string{"authorization", "cookie"}, match: lazyregexp.New(`(?i)(?:authorization|\bcookie)\\*["']?\s*[:=]([^\r\n]{3,})`)},
	{hints: []string{"bearer", "basic", "remoteauth"}, match: lazyregexp.New(`(?i)\b(?:bearer|basic|remoteauth)\s+([A-Za-z0-9._~+/=-]{16,})`)},

	// These are prefixes of tokens, from the documentation of GitHub, Docker, GitLab, npm, Slack, Stripe, Google and others.
	{hints: []string{"gh", "dckr_", "gl", "npm_", "xox", "xapp-", "pypi-", "hvs.", "dop_v1_", "sk_", "rk_", "aiza", "ya29.", "sg.", "hf_", "sk-", "age-", "shpat_", "rubygems_"},
		match: lazyregexp.New(`gh[a-z]_[A-Za-z0-9_.-]{16,}|github_pat_\w{16,}|dckr_[a-z]+_[\w-]{16,}|\bgl[a-z]{2,6}-[\w.-]{16,}|npm_[A-Za-z0-9]{16,}|xox[a-z]-[\w.-]{8,}|xapp-[\w-]{16,}|` +
			`pypi-[\w-]{16,}|\bhv[sbr]\.[\w-]{16,}|dop_v1_\w{16,}|[sr]k_(?:live|test)_\w{8,}|AIza[\w-]{30,}|\bya29\.[\w-]{16,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bhf_[A-Za-z0-9]{16,}|` +
			`\bsk-[\w-]{20,}|AGE-SECRET-KEY-\w{16,}|shpat_\w{16,}|rubygems_\w{16,}`)},
	{hints: []string{"hooks.slack.com"}, match: lazyregexp.New(`hooks\.slack\.com/(?:services|workflows)/([\w/+-]{8,})`)},
	{hints: []string{"eyi", "eyj"}, match: lazyregexp.New(`ey[IJ][A-Za-z0-9+/=_.\\-]{16,}`)},                                           // JSON in base64: JIT configurations and web tokens
	{hints: []string{"a"}, match: lazyregexp.New(`(?:^|%[0-9A-F]{2}|[^A-Z0-9])(A[A-Z0-9]{28})(?:[^A-Z0-9]|$)`)},                        // registration tokens
	{hints: []string{"akia", "asia"}, match: lazyregexp.New(`(?:^|%[0-9A-F]{2}|[^A-Z0-9])((?:AKIA|ASIA)[A-Z0-9]{16})(?:[^A-Z0-9]|$)`)}, // IAM User Guide, "IAM identifiers"

	{hints: namesHints, match: lazyregexp.New(`(?i)` + names + `\\*["']?\s*(?::=|=>|[:=])\s*\$?\\*["']([^"'\r\n]{3,})`), learn: true},
	{hints: namesHints, match: lazyregexp.New(`(?i)` + names + `\\*["']?\s*[:=]\s*([^\s"',;]{3,})`), secret: bareValue, learn: true},
	{hints: []string{"_key="}, match: lazyregexp.New(`\w+_KEY=` + shell), secret: keyValue, learn: true},
	{hints: []string{"--"}, match: lazyregexp.New(`(?i)--[a-z-]*` + names + `[ \t]+` + shell), secret: flagValue, learn: true},
	{hints: []string{`auth"`}, match: lazyregexp.New(`"(?:auth|identitytoken)\\*"\s*:\s*\\*"([^"\\]{3,})`)}, // Docker's config.json

	{hints: []string{"login"}, match: lazyregexp.New(`\blogin` + line + `(?:--?password(?:=|[ \t]+)|-p[ \t]*)` + shell), secret: flagValue, learn: true},
	{hints: []string{"login", "machine"}, match: lazyregexp.New(`\b(?:login|machine)\s+\S+\s+(?:account\s+\S+\s+)?password\s+(\S{3,})`), learn: true}, // .netrc
	{hints: []string{"mysql", "mariadb", "sshpass", "7z"}, match: lazyregexp.New(`\b(?:mysql|mariadb|sshpass|7z)[\w-]*` + line + `-p` + shell), learn: true},
	{hints: []string{"sshpass", "mongo", "twine"}, match: lazyregexp.New(`\b(?:sshpass|mongo\w*|twine)` + line + `-p[ \t]+` + shell), learn: true},
	{hints: []string{"redis-cli", "ldap", "sqlcmd", "zip"}, match: lazyregexp.New(`\b(?:redis-cli` + line + `-a|ldap\w+` + line + `-w|(?:sqlcmd|(?:un)?zip)` + line + `-P)[ \t]*` + shell), learn: true},
	{hints: []string{"openssl", "nuget"}, match: lazyregexp.New(`\b(?:openssl|nuget)` + line + `(?:-[kK][ \t]+|-pass(?:in|out)?[ \t]+pass:)` + shell), learn: true},
	{hints: []string{"set", "cargo"}, match: lazyregexp.New(`(?i)\b(?:(?:config(?:ure)?|npm|secrets)[ \t]+(?:--)?set[ \t]+(?:-\S+[ \t]+)*?\S*` + names + `|cargo[ \t]+login)[ \t]+` + shell), secret: flagValue, learn: true},
	{hints: []string{"curl"}, match: lazyregexp.New(`\bcurl` + line + `(?:-[a-zA-Z]*[uU]|--(?:proxy-)?user)(?:=|\s*)["']?[^\s"':]*:([^\s"'/][^\s"']*)`), learn: true},
	{hints: []string{"identified"}, match: lazyregexp.New(`(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+["']([^"'\n]{3,})`), learn: true},
	// This form is the input of a command that reads a password: on one line, or as `set -x` prints both sides of a pipe, in any order.
	{hints: readerHints, match: lazyregexp.New(`\b(?:echo|printf)\b[^\n|]*?\s` + shell + `\s*\|[^\n]*` + reader), learn: true},
	{hints: readerHints, match: lazyregexp.New(`(?m)^\++ (?:echo|printf)\b.*?\s` + shell + `\n\++ .*` + reader), learn: true},
	{hints: readerHints, match: lazyregexp.New(`(?m)` + reader + `.*(?:\n\++ (?:echo|printf)\b.*?\s|<<<\s*)` + shell + `$`), learn: true},

	{hints: []string{"sig"}, match: lazyregexp.New(`(?i)[?&](?:sig|signature|x-amz-signature)=([^&\s"']{3,})`)},
	{hints: []string{"://"}, match: lazyregexp.New(`://[^/\s:@]*:([^/\s"']{2,})@`)},
	{hints: []string{"://"}, match: lazyregexp.New(`://([^/\s:@]{16,})@`)},
}

// bareValue judges an unquoted value after a name. A value after = is a secret unless it is a constant. A short word without digits after a
// colon is an explanation, such as "token: expired".
func bareValue(before, value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "none", "null", "nil", "yes", "unset", "empty":
		return false
	}
	if isPlace(value) && strings.HasSuffix(strings.ToLower(strings.TrimRight(before, `"' :=\`)), "key") {
		return false
	}
	return len(value) >= minSecret || strings.HasSuffix(before, "=") || strings.ContainsAny(value, "0123456789!#$%^&*+@")
}

// flagValue judges the argument after a flag. The next flag is no value.
func flagValue(_, value string) bool { return !strings.HasPrefix(value, "-") }

// keyValue judges the value of a variable that ends in KEY. Some keys are names, and some values are paths or addresses.
func keyValue(before, value string) bool {
	for _, public := range []string{"PUBLIC_KEY=", "CACHE_KEY=", "PRIMARY_KEY=", "SORT_KEY=", "PARTITION_KEY=", "HOST_KEY=", "KMS_KEY=", "RESTORE_KEY="} {
		if strings.HasSuffix(before, public) {
			return false
		}
	}
	return !isPlace(value)
}

// isPlace reports whether a value is a path or an address.
func isPlace(value string) bool {
	return strings.HasPrefix(value, "/") || strings.HasPrefix(value, "arn:")
}
