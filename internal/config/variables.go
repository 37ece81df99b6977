package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// variableForm names an environment variable (POSIX, "Environment Variable Definition").
var variableForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsVariable reports whether an environment variable can have this name.
func IsVariable(name string) bool { return variableForm().MatchString(name) }

// reserved are the variables of jobs that remuda sets, and ours are prefixes of further reserved names.
var (
	reserved = []string{"HOME", "LOGNAME", "RUNNER_ALLOW_RUNASROOT", "TMPDIR", "USER"}
	ours     = []string{envPrefix, "ACTIONS_RUNNER_INPUT_"}
)

// proxies are the variables of proxies, which programs read in lower or upper case. certificates are the variables of certificate
// authorities.
var (
	proxies      = []string{"http_proxy", "https_proxy", "no_proxy", "all_proxy"}
	certificates = []string{
		"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT",
	}
)

// Network returns the variables of env that programs need to reach the network: proxies, in both cases, and certificates.
func Network(env map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range certificates {
		if value, set := env[name]; set {
			out[name] = value
		}
	}
	for _, lower := range proxies {
		upper := strings.ToUpper(lower)
		for _, from := range [][2]string{{lower, upper}, {upper, lower}} {
			if value, set := env[from[0]]; set {
				out[from[0]] = value
				if _, both := env[from[1]]; !both {
					out[from[1]] = value
				}
			}
		}
	}
	return out
}

func (c Config) validateVariables(p *problems) {
	begins := func(name string) bool {
		return slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agent.Env)) {
		field, value := "agent.env."+name, c.Agent.Env[name]
		p.check(IsVariable(name), field, "named by letters, digits and _, not starting with a digit", name)
		p.check(!slices.Contains(reserved, name) && !begins(name), field,
			"another variable than "+strings.Join(reserved, ", ")+", and not begin with "+strings.Join(ours, " or "), name)
		p.check(!strings.Contains(value, "\x00"), field, "a text without a zero byte", fmt.Sprintf("%d bytes", len(value)))
		p.check(!c.OnEC2() || Redact(value) == value, field,
			"without a user and a password on EC2, because the launch template shows them: put the value into /etc/environment of the image", Redact(value))
	}
}
