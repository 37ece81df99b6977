package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/httpserver"
	"github.com/remuda-run/remuda/internal/lazyregexp"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

var (
	// nameForm keeps runner names, tags and queue names within what each of them allows.
	nameForm = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,31}$`)
	userForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`)
	// referenceForm: names of parameters and secrets (their APIs, GetParameters and CreateSecret), or their ARNs.
	referenceForm  = lazyregexp.New(`^(/.*|ssm:[A-Za-z0-9_.:/-]+|secretsmanager:[A-Za-z0-9/_+=.@:-]+)$`)
	versionForm    = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)
	bucketForm     = lazyregexp.New(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`) // S3 User Guide, "General purpose bucket naming rules"
	repositoryForm = lazyregexp.New(`^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$`)
)

// SeenEvery is the period in which a waiting client reports that it still waits, and minSilence
// what a controller must grant it: two of them.
const (
	SeenEvery  = 5 * time.Second
	minSilence = 2 * SeenEvery
)

// word is what was given, in our words and without quotes.
type word string

const noURL word = "something that is no URL"

// problems collects what is wrong: field, what is allowed, what was given.
type problems []error

func (p *problems) add(field, want string, got any) {
	if text, ok := got.(string); ok {
		got = strconv.Quote(text)
	}
	*p = append(*p, fmt.Errorf("%s: must be %s, got %v", field, want, got))
}

func (p *problems) check(ok bool, field, want string, got any) {
	if !ok {
		p.add(field, want, got)
	}
}

func (p *problems) oneOf(field, got string, allowed ...string) {
	p.check(slices.Contains(allowed, got), field, "one of "+strings.Join(allowed, ", "), got)
}

// forms are what a setting must be on its own, by its is tag. An empty text is none.
var forms = map[string]struct {
	want string
	ok   func(v reflect.Value) bool
}{
	"positive":  {"greater than 0", func(v reflect.Value) bool { return v.Int() > 0 }},
	"from0":     {"at least 0", func(v reflect.Value) bool { return v.Int() >= 0 }},
	"from1":     {"at least 1", func(v reflect.Value) bool { return v.Int() >= 1 }},
	"path":      {"an absolute path", func(v reflect.Value) bool { return v.IsZero() || filepath.IsAbs(v.String()) }},
	"reference": {"an absolute path, ssm:NAME or secretsmanager:NAME", func(v reflect.Value) bool { return v.IsZero() || referenceForm().MatchString(v.String()) }},
	"version":   {"a version such as 2.337.0", func(v reflect.Value) bool { return v.IsZero() || versionForm().MatchString(v.String()) }},
	"bucket":    {"the name of a bucket, 3 to 63 of a-z, 0-9, - and .", func(v reflect.Value) bool { return v.IsZero() || bucketForm().MatchString(v.String()) }},
	"user":      {"the name of a user", func(v reflect.Value) bool { return v.IsZero() || userForm().MatchString(v.String()) }},
}

// Validate returns every problem, joined, and fills nothing.
func (c Config) Validate() error {
	var p problems
	for _, s := range settings {
		if f, v := forms[s.form], s.in(&c); s.form != "" && !f.ok(v) {
			p.add(s.Key, f.want, v.Interface())
		}
	}
	p.check(nameForm().MatchString(c.Name), "name", "1 to 32 of a-z, 0-9 and -, not starting with -", c.Name)
	p.backend("store", c.Store, Stores)
	switch {
	case c.Pool != "":
		p.backend("pool", c.Pool, Pools)
	case HasScheme(c.Store, Stores):
		p.check(HasScheme(c.Store, Pools), "pool", "set, since the store cannot hold it", c.Pool)
	}
	p.backend("fleet", c.Fleet, Fleets)
	c.GitHub.validate(&p)
	c.EC2.validate(&p)
	c.validateClasses(&p)
	c.validateLimits(&p)
	c.Requests.validate(&p)
	c.Runs.validate(&p)
	c.Agent.validate(&p)
	c.validateVariables(&p)
	c.Process.validate(&p)
	c.HTTP.validate(&p)
	c.validateBudget(&p)
	c.validateCosts(&p)
	p.check(c.Lease.RequestTimeout > 0 && c.Lease.RequestTimeout < c.Lease.TTL, "lease.requestTimeout",
		fmt.Sprintf("greater than 0 and less than lease.ttl (%s)", c.Lease.TTL), c.Lease.RequestTimeout)
	p.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	p.oneOf("log.format", c.Log.Format, "auto", "json", "text")
	p.check(c.Log.Group == "" || groupForm().MatchString(c.Log.Group), "log.group", "the name of a log group, 1 to 512 of A-Z, a-z, 0-9, _, /, ., # and -", c.Log.Group)
	return errors.Join(p...)
}

// groupForm is what names a log group (CloudWatch Logs API Reference, CreateLogGroup).
var groupForm = lazyregexp.New(`^[A-Za-z0-9_/.#-]{1,512}$`)

// Schemes of the URLs that name back ends.
var (
	Stores = []string{"dynamodb", "sqlite"}
	Pools  = []string{"sqlite", "sqs"}
	Fleets = []string{"ec2", "process"}
)

// OnEC2 reports whether machines are EC2 instances.
func (c Config) OnEC2() bool { return HasScheme(c.Fleet, []string{"ec2"}) }

// HasScheme reports whether a URL has one of the schemes.
func HasScheme(raw string, schemes []string) bool {
	u, err := url.Parse(raw)
	return err == nil && slices.Contains(schemes, u.Scheme)
}

// url checks a URL without credentials. Its text never repeats some that someone put there.
func (p *problems) url(field, raw, want string, ok func(*url.URL) bool) {
	if u, err := url.Parse(raw); err != nil {
		p.add(field, want, noURL)
	} else {
		p.check(u.User == nil && ok(u), field, want, Redact(raw))
	}
}

// backend checks the URL of a back end.
func (p *problems) backend(field, raw string, schemes []string) {
	p.url(field, raw, "a URL with scheme "+strings.Join(schemes, " or ")+" and without credentials", func(u *url.URL) bool {
		return slices.Contains(schemes, u.Scheme)
	})
}

// web checks a URL of the web, if there is one.
func (p *problems) web(field, raw string) {
	if raw != "" {
		p.url(field, raw, "an http or https URL without credentials", func(u *url.URL) bool {
			return (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
		})
	}
}

// longestRerun is how long after it a run may be run again (GitHub Docs, "Re-running workflows and jobs": 30 days).
const longestRerun = 30 * 24 * time.Hour

func (c Runs) validate(p *problems) {
	p.check(c.Poll >= time.Second, "runs.poll", "at least 1s", c.Poll)
	p.check(c.Share >= 0 && c.Share <= 1, "runs.share", "0 to 1", c.Share)
	p.check(c.Remember >= 0 && c.Remember <= longestRerun, "runs.remember", "0 to "+longestRerun.String(), c.Remember)
}

func (c GitHub) validate(p *problems) {
	p.web("github.url", c.URL)       // empty: simulated
	p.web("github.apiUrl", c.APIURL) // empty: found by the other
	p.oneOf("github.registration", c.Registration, "jit", "token")
	c.validatePort(p)
	c.validateGroup(p)
	c.validateApp(p)
	if c.Ahead && c.Registration != "jit" {
		p.add("github.ahead", "false with registration "+c.Registration+", since it needs jit", c.Ahead)
	}
	p.check(c.Repository == "" || repositoryForm().MatchString(c.Repository), "github.repository", "owner/name", c.Repository)
}

// validatePort: config.sh registers with the host alone (actions/runner, src/Runner.Listener/Configuration/
// ConfigurationManager.cs, GetTenantCredential). On this machine there is a simulated GitHub, whose runner does not.
func (c GitHub) validatePort(p *problems) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Port() == "" || c.Registration != "token" || httpserver.Loopback(u.Hostname()) {
		return
	}
	p.add("github.url", "without a port with registration token, since the runner's config.sh drops it (registration jit takes one)", Redact(c.URL))
}

// validateGroup: config.sh takes a group by its name only.
func (c GitHub) validateGroup(p *problems) {
	switch named, other := c.RunnerGroup != "", c.RunnerGroupID > 1; {
	case named && other:
		p.add("github.runnerGroupId", "1 if runnerGroup names the group", c.RunnerGroupID)
	case named && c.level() == "repository":
		p.add("github.runnerGroup", "empty, since runners of a repository are in its only group", c.RunnerGroup)
	case other && c.Registration == "token":
		p.add("github.runnerGroupId", "1 with registration token, which takes runnerGroup", c.RunnerGroupID)
	}
}

// validateApp holds it to what githubapi takes, in the words of the file.
func (c GitHub) validateApp(p *problems) {
	switch {
	case c.Secret != "" && (c.TokenFile != "" || c.AppID > 0 || c.AppInstallationID > 0 || c.AppKeyFile != ""):
		p.add("github.secret", "empty if tokenFile, appId, appInstallationId or appKeyFile is set", c.Secret)
	case c.AppID > 0 && c.AppKeyFile == "":
		p.add("github.appKeyFile", "set with appId", c.AppKeyFile)
	case c.AppID == 0 && (c.AppKeyFile != "" || c.AppInstallationID > 0):
		p.add("github.appId", "set with appKeyFile and appInstallationId", c.AppID)
	case c.AppID > 0 && c.TokenFile != "":
		p.add("github.tokenFile", "empty if there is an App", c.TokenFile)
	case c.AppID > 0 && c.level() == "enterprise":
		p.add("github.appId", "0 for an enterprise, which takes a classic token only", c.AppID)
	}
}

// Alone reports whether the processes and files of the runner's user are those of one instance.
func (c Config) Alone() bool {
	return c.JobsUser() != "" && (HasScheme(c.Fleet, []string{"ec2"}) || c.Process.Capacity == 1)
}

// bootTime is the time of an EC2 instance from its launch until its agent runs the script.
const bootTime = 30 * time.Second

// validateLimits adds to the limits' own checks those that keep a healthy instance from being lost.
func (c Config) validateLimits(p *problems) {
	l := statemachine.Limits(c.Limits)
	if err := l.Validate(); err != nil {
		*p = append(*p, err)
		return
	}
	p.check(l.Silence > l.Window(), "limits.silence", fmt.Sprintf("more than three beats (%s)", l.Window()), l.Silence)
	if c.Agent.Script != "" {
		boot := c.Process.BootDelay + c.Process.BootJitter
		if c.OnEC2() {
			boot = bootTime
		}
		for _, gate := range []struct {
			name  string
			limit time.Duration
		}{{"createGate", l.CreateGate}, {"created", l.Created}} {
			p.check(c.Agent.ScriptTimeout+boot <= gate.limit, "agent.scriptTimeout",
				fmt.Sprintf("at most limits.%s (%s) less %s of boot, because agent.script runs before an instance is ready", gate.name, gate.limit, boot), c.Agent.ScriptTimeout)
		}
	}
	p.check(l.RunningSilence >= l.Silence, "limits.runningSilence", fmt.Sprintf("at least limits.silence (%s)", l.Silence), l.RunningSilence)
}

func (c Requests) validate(p *problems) {
	p.check(c.MaxCount >= 1 && c.MaxCount <= store.MaxSeats, "requests.maxCount", fmt.Sprintf("1 to %d", store.MaxSeats), c.MaxCount)
	p.check(c.Timeout > 0 && c.Timeout <= c.MaxRuntime, "requests.timeout",
		fmt.Sprintf("greater than 0 and at most requests.maxRuntime (%s)", c.MaxRuntime), c.Timeout)
	p.check(c.ClientSilence >= minSilence, "requests.clientSilence", fmt.Sprintf("at least %s", minSilence), c.ClientSilence)
}

// archField names what a setting says for an architecture, "" for all.
func archField(field, arch string) string {
	if arch == "" {
		return field
	}
	return field + "." + arch
}

func (c Agent) validate(p *problems) {
	p.check(c.RunnerURL == nil || c.RunnerDir == "", "agent.runnerDir", "empty if agent.runnerUrl is set", c.RunnerDir)
	p.download("agent.runnerUrl", c.RunnerURL, "agent.runnerSha256", c.RunnerSHA256)
	p.oneOf("agent.metadataFirewall", c.MetadataFirewall, FirewallRequired, FirewallEverywhere, FirewallOff)
	if _, err := machinelog.ParsePatterns(c.Mask); err != nil {
		*p = append(*p, fmt.Errorf("agent.mask%w", err))
	}
	for i, name := range c.Keep.Processes {
		p.check(name != "" && !strings.Contains(name, "/"), fmt.Sprintf("agent.keep.processes[%d]", i), "the name of a program without its folder, such as otelcol", name)
	}
	for i, port := range c.Keep.Ports {
		p.check(port > 0 && port <= 65535, fmt.Sprintf("agent.keep.ports[%d]", i), "1 to 65535", port)
	}
	for i, name := range c.MetadataUsers {
		p.check(userForm().MatchString(name) && name != RootUser && name != c.RunnerUser, fmt.Sprintf("agent.metadataUsers[%d]", i),
			"the name of a user other than root and agent.runnerUser", name)
	}
}

func (c Process) validate(p *problems) {
	p.check(c.RefusalRate >= 0 && c.RefusalRate <= 1, "process.refusalRate", "from 0 to 1", c.RefusalRate)
	for i, t := range c.Types {
		field := fmt.Sprintf("process.types[%d]", i)
		p.check(t.Name != "", field+".name", "set", t.Name)
		p.check(t.CPU > 0, field+".cpu", "greater than 0", t.CPU)
		p.check(t.Mem > 0, field+".mem", "greater than 0", t.Mem)
	}
}

// hostForm is a Host without port: a name, or an address, whose colons tell it from a name with a port.
var hostForm = lazyregexp.New(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?$`)

func (c HTTP) validate(p *problems) {
	for i, host := range c.Hosts {
		p.check(hostForm().MatchString(host) || net.ParseIP(host) != nil, fmt.Sprintf("http.hosts[%d]", i), "a name or an address without port", host)
	}
	if c.Listen == "" {
		return
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		p.add("http.listen", "an address with a port, such as 127.0.0.1:9640, or empty", c.Listen)
		return
	}
	p.check(c.TokenFile != "" || c.Insecure || httpserver.Loopback(host), "http.tokenFile",
		fmt.Sprintf("set, or http.insecure be true, since others can reach http.listen %s", c.Listen), c.TokenFile)
	p.check(c.TokenFile == "" || !c.Insecure, "http.insecure", "false if http.tokenFile is set", c.Insecure)
}
