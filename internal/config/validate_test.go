package config

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/ec2form"
)

func TestConfig_Validate(t *testing.T) {
	tests := []struct {
		field  string // the only one that may be blamed
		change func(*Config)
		want   string // what the error says after the field
	}{
		{"name", func(c *Config) { c.Name = "My Herd" }, `must be 1 to 32 of a-z, 0-9 and -, not starting with -, got "My Herd"`},
		{"store", func(c *Config) { c.Store = "postgres://db/x" }, `must be a URL with scheme dynamodb or sqlite and without credentials, got "postgres://db/x"`},
		{"store", func(c *Config) { c.Store = "sqlite://u:pw@h/x" }, `got "sqlite://xxxxx@h/x"`},
		{"store", func(c *Config) { c.Store = "sqlite://%zz" }, `got something that is no URL`},
		{"pool", func(c *Config) { c.Pool = "redis://x" }, `must be a URL with scheme sqlite`},
		{"fleet", func(c *Config) { c.Fleet = "" }, `must be a URL with scheme ec2 or process`},
		{"github.url", func(c *Config) { c.GitHub.URL = "github.com/o/r" }, `must be an http or https URL without credentials, got "github.com/o/r"`},
		{"github.url", func(c *Config) { c.GitHub.URL, c.GitHub.Registration = "https://ghes.example:8443/o/r", "token" },
			`must be without a port with registration token, since the runner's config.sh drops it (registration jit takes one), got "https://ghes.example:8443/o/r"`},
		{"github.url", func(c *Config) { c.GitHub.URL = "https://x:ghp_secret@github.com/o/r" }, `got "https://xxxxx@github.com/o/r"`},
		{"github.apiUrl", func(c *Config) { c.GitHub.APIURL = "git.example/api/v3" }, `must be an http or https URL`},
		{"github.secret", func(c *Config) { c.GitHub.Secret = "vault:x" }, `must be an absolute path, ssm:NAME or secretsmanager:NAME, got "vault:x"`},
		{"github.secret", func(c *Config) { c.GitHub.Secret, c.GitHub.TokenFile = "secretsmanager:remuda/github", "/t" }, `must be empty if tokenFile, appId, appInstallationId or appKeyFile is set`},
		{"agent.scriptTimeout", func(c *Config) {
			c.Agent.Script, c.Limits.CreateGate, c.Process.BootDelay = "/s", 2*time.Minute, 5*time.Second
		},
			`must be at most limits.createGate (2m0s) less 5s of boot, because agent.script runs before an instance is ready, got 2m0s`},
		{"agent.scriptTimeout", func(c *Config) { c.Agent.Script, c.Agent.ScriptTimeout, c.Fleet = "/s", 151*time.Second, "ec2://x" }, `must be at most limits.createGate (3m0s) less 30s of boot`},
		{"agent.env.HOME", func(c *Config) { c.Agent.Env = map[string]string{"HOME": "/"} }, `must be another variable than HOME, LOGNAME, RUNNER_ALLOW_RUNASROOT, TMPDIR, USER, and not begin with REMUDA_ or ACTIONS_RUNNER_INPUT_, got "HOME"`},
		{"agent.keep.processes[1]", func(c *Config) { c.Agent.Keep.Processes = []string{"otelcol", "/usr/bin/x"} }, `must be the name of a program without its folder, such as otelcol, got "/usr/bin/x"`},
		{"agent.keep.ports[0]", func(c *Config) { c.Agent.Keep.Ports = []int{65536} }, `must be 1 to 65535, got 65536`},
		{"agent.mask[1]", func(c *Config) { c.Agent.Mask = []string{"a", "b*"} }, `must be a regular expression (RE2) that matches neither an empty text nor ***, got "b*"`},
		{"github.registration", func(c *Config) { c.GitHub.Registration = "pat" }, `must be one of jit, token, got "pat"`},
		{"github.runnerGroupId", func(c *Config) { c.GitHub.RunnerGroupID = 0 }, `must be at least 1, got 0`},
		{"github.runnerGroupId", func(c *Config) { c.GitHub.RunnerGroup, c.GitHub.RunnerGroupID = "linux", 3 }, `must be 1 if runnerGroup names the group, got 3`},
		{"github.runnerGroupId", func(c *Config) { c.GitHub.Registration, c.GitHub.RunnerGroupID = "token", 3 }, `must be 1 with registration token, which takes runnerGroup, got 3`},
		{"github.runnerGroup", func(c *Config) { c.GitHub.URL, c.GitHub.RunnerGroup = "https://github.com/o/r", "linux" }, `must be empty, since runners of a repository are in its only group, got "linux"`},
		{"github.appId", func(c *Config) { c.GitHub.AppID = -1 }, `must be at least 0, got -1`},
		{"github.appId", func(c *Config) { c.GitHub.AppKeyFile = "/key.pem" }, `must be set with appKeyFile and appInstallationId, got 0`},
		{"github.appId", func(c *Config) { c.GitHub.AppInstallationID = 7 }, `must be set with appKeyFile and appInstallationId, got 0`},
		{"github.appId", func(c *Config) { c.GitHub = asApp(c.GitHub); c.GitHub.URL = "https://github.com/enterprises/acme" }, `must be 0 for an enterprise, which takes a classic token only, got 5`},
		{"github.appInstallationId", func(c *Config) { c.GitHub = asApp(c.GitHub); c.GitHub.AppInstallationID = -1 }, `must be at least 0, got -1`},
		{"github.appKeyFile", func(c *Config) { c.GitHub = asApp(c.GitHub); c.GitHub.AppKeyFile = "" }, `must be set with appId, got ""`},
		{"github.appKeyFile", func(c *Config) { c.GitHub = asApp(c.GitHub); c.GitHub.AppKeyFile = "key.pem" }, `must be an absolute path, got "key.pem"`},
		{"github.tokenFile", func(c *Config) { c.GitHub = asApp(c.GitHub); c.GitHub.TokenFile = "/token" }, `must be empty if there is an App, got "/token"`},
		{"github.registrationsPer5Min", func(c *Config) { c.GitHub.RegistrationsPer5Min = -1 }, `must be at least 1, got -1`},
		{"github.repository", func(c *Config) { c.GitHub.Repository = "o/r/x" }, `must be owner/name, got "o/r/x"`},
		{"github.tokenFile", func(c *Config) { c.GitHub.TokenFile = "token" }, `must be an absolute path, got "token"`},
		{"limits.idle", func(c *Config) { c.Limits.Idle = 0 }, `must be greater than 0, got 0s`},
		{"limits.silence", func(c *Config) { c.Limits.Silence = 15 * time.Second }, `must be more than three beats (15s), got 15s`},
		{"limits.runningSilence", func(c *Config) { c.Limits.RunningSilence = 59 * time.Second }, `must be at least limits.silence (1m0s), got 59s`},
		{"requests.maxCount", func(c *Config) { c.Requests.MaxCount = 0 }, `must be 1 to 3000, got 0`},
		{"requests.maxCount", func(c *Config) { c.Requests.MaxCount = 3001 }, `must be 1 to 3000, got 3001`},
		{"requests.timeout", func(c *Config) { c.Requests.Timeout = 25 * time.Hour }, `must be greater than 0 and at most requests.maxRuntime (24h0m0s), got 25h0m0s`},
		{"requests.clientSilence", func(c *Config) { c.Requests.ClientSilence = 9 * time.Second }, `must be at least 10s, got 9s`},
		{"requests.launchRetry", func(c *Config) { c.Requests.LaunchRetry = -time.Second }, `must be at least 0, got -1s`},
		{"caps.maxInstances", func(c *Config) { c.Caps.MaxInstances = 0 }, `must be at least 1, got 0`},
		{"intervals.sweep", func(c *Config) { c.Intervals.Sweep = -time.Second }, `must be greater than 0, got -1s`},
		{"http.listen", func(c *Config) { c.HTTP.Listen = "9640" }, `must be an address with a port, such as 127.0.0.1:9640, or empty, got "9640"`},
		{"http.listen", func(c *Config) { c.HTTP.Listen = "127.0.0.1:https" }, `must be an address with a port`},
		{"http.tokenFile", func(c *Config) { c.HTTP.Listen = ":9640" }, `must be set, or http.insecure be true, since others can reach http.listen :9640, got ""`},
		{"http.tokenFile", func(c *Config) { c.HTTP.Listen = "[::]:9640" }, `must be set, or http.insecure be true`},
		{"http.tokenFile", func(c *Config) { c.HTTP.Listen = "10.0.0.7:9640" }, `must be set, or http.insecure be true`},
		{"http.tokenFile", func(c *Config) { c.HTTP.Listen = "remuda.example:9640" }, `must be set, or http.insecure be true`},
		{"http.tokenFile", func(c *Config) { c.HTTP.TokenFile = "token" }, `must be an absolute path, got "token"`},
		{"http.insecure", func(c *Config) { c.HTTP.TokenFile, c.HTTP.Insecure = "/token", true }, `must be false if http.tokenFile is set, got true`},
		{"http.hosts[1]", func(c *Config) { c.HTTP.Hosts = []string{"remuda.example", "remuda.example:9640"} }, `must be a name or an address without port, got "remuda.example:9640"`},
		{"http.hosts[0]", func(c *Config) { c.HTTP.Hosts = []string{"https://remuda.example"} }, `must be a name or an address without port`},
		{"http.hosts[0]", func(c *Config) { c.HTTP.Hosts = []string{"*"} }, `must be a name or an address without port`},
		{"lease.requestTimeout", func(c *Config) { c.Lease.RequestTimeout = c.Lease.TTL }, `must be greater than 0 and less than lease.ttl (2s), got 2s`},
		{"agent.script", func(c *Config) { c.Agent.Script = "./setup.sh" }, `must be an absolute path, got "./setup.sh"`},
		{"agent.runnerVersion", func(c *Config) { c.Agent.RunnerVersion = "latest" }, `must be a version such as 2.337.0, got "latest"`},
		{"agent.runnerUser", func(c *Config) { c.Agent.RunnerUser = "run:ner" }, `must be the name of a user, got "run:ner"`},
		{"agent.runnerUrl", func(c *Config) {
			c.Agent.RunnerURL, c.Agent.RunnerSHA256 = EveryArch("file:///runner.tar.gz"), EveryArch(sum64)
		}, `must be an http or https URL`},
		{"agent.runnerUrl", func(c *Config) {
			c.Agent.RunnerURL, c.Agent.RunnerSHA256 = EveryArch("https://me:hush@example.org/r"), EveryArch(sum64)
		}, `got "https://xxxxx@example.org/r"`},
		{"agent.runnerSha256", func(c *Config) { c.Agent.RunnerURL = EveryArch("https://example.org/r") }, `must be 64 hexadecimal digits, since agent.runnerUrl is set, got ""`},
		{"agent.runnerSha256", func(c *Config) { c.Agent.RunnerSHA256 = EveryArch(sum64) }, `must be empty unless agent.runnerUrl is set`},
		{"agent.runnerUrl.arm64", func(c *Config) {
			c.Agent.RunnerURL, c.Agent.RunnerSHA256 = PerArch{ArchX86: "https://example.org/r", ArchARM: "r"}, PerArch{ArchX86: sum64, ArchARM: sum64}
		}, `must be ` + ec2form.Download.String() + `, got "r"`},
		{"agent.runnerSha256.arm64", func(c *Config) {
			c.Agent.RunnerURL, c.Agent.RunnerSHA256 = PerArch{ArchX86: "https://example.org/r", ArchARM: "https://example.org/a"}, PerArch{ArchX86: sum64}
		}, `must be 64 hexadecimal digits, since agent.runnerUrl is set, got ""`},
		{"agent.runnerSha256.arm64", func(c *Config) {
			c.Agent.RunnerURL, c.Agent.RunnerSHA256 = PerArch{ArchX86: "https://example.org/r"}, PerArch{ArchX86: sum64, ArchARM: sum64}
		}, `must be empty unless agent.runnerUrl is set`},
		{"agent.runnerDir", func(c *Config) {
			c.Agent.RunnerURL, c.Agent.RunnerSHA256, c.Agent.RunnerDir = EveryArch("https://example.org/r"), EveryArch(sum64), "/opt/runner"
		}, `must be empty if agent.runnerUrl is set`},
		{"agent.metadataUsers[1]", func(c *Config) { c.Agent.MetadataUsers = []string{"sshd", "root"} }, `must be the name of a user other than root and agent.runnerUser, got "root"`},
		{"agent.metadataUsers[0]", func(c *Config) { c.Agent.RunnerUser, c.Agent.MetadataUsers = "ci", []string{"ci"} }, `must be the name of a user other than root and agent.runnerUser, got "ci"`},
		{"agent.metadataFirewall", func(c *Config) { c.Agent.MetadataFirewall = "on" }, `must be one of required, everywhere, off, got "on"`},
		{"agent.poll", func(c *Config) { c.Agent.Poll = 0 }, `must be greater than 0, got 0s`},
		{"github.ahead", func(c *Config) { c.GitHub.Ahead, c.GitHub.Registration = true, "token" }, `must be false with registration token, since it needs jit, got true`},
		{"github.aheadMax", func(c *Config) { c.GitHub.AheadMax = 0 }, `must be at least 1, got 0`},
		{"runs.poll", func(c *Config) { c.Runs.Poll = time.Millisecond }, `must be at least 1s, got 1ms`},
		{"runs.share", func(c *Config) { c.Runs.Share = 1.1 }, `must be 0 to 1, got 1.1`},
		{"runs.share", func(c *Config) { c.Runs.Share = math.NaN() }, `must be 0 to 1, got NaN`},
		{"runs.remember", func(c *Config) { c.Runs.Remember = 721 * time.Hour }, `must be 0 to 720h0m0s, got 721h0m0s`},
		{"process.refusalRate", func(c *Config) { c.Process.RefusalRate = 1.1 }, `must be from 0 to 1, got 1.1`},
		{"process.capacity", func(c *Config) { c.Process.Capacity = -1 }, `must be at least 0, got -1`},
		{"process.spotCapacity", func(c *Config) { c.Process.SpotCapacity = -1 }, `must be at least 0, got -1`},
		{"budget.monthly", func(c *Config) { c.Budget.Monthly = -1 }, `must be 0 to 1000000000 dollars, got -1`},
		{"budget.monthly", func(c *Config) { c.Budget.Monthly = 500 }, `must be 0 without costs.prices, since nothing is known to cost anything, got 500`},
		{"budget.monthly", func(c *Config) { c.Budget.Degrade = []BudgetShare{{At: 1, Do: "floors"}} }, `must be greater than 0 with budget.degrade, got 0`},
		{"budget.warnAt", func(c *Config) { c.Budget.WarnAt = 70 }, `must be a share of the budget, 0 to 10, got 70`},
		{"budget.degrade[0].at", degrade(BudgetShare{At: 80, Do: "floors"}), `must be a share of the budget, greater than 0 and at most 10, got 80`},
		{"budget.degrade[0].do", degrade(BudgetShare{At: 1, Do: "spot"}), `must be one of floors, on-demand, caps, got "spot"`},
		{"budget.degrade[0].to", degrade(BudgetShare{At: 1, Do: "caps"}), `must be 0 to 100, which caps.maxInstances allows to live at once, got nothing`},
		{"budget.degrade[0].to", degrade(BudgetShare{At: 1, Do: "caps", To: new(101)}), `must be 0 to 100, which caps.maxInstances allows to live at once, got 101`},
		{"budget.degrade[0].to", degrade(BudgetShare{At: 1, Do: "floors", To: new(1)}), `must be left out unless do is caps, got 1`},
		{"process.types[1].cpu", func(c *Config) { c.Process.Types = []ProcessType{{"a", 1, 1}, {"b", 0, 1}} }, `must be greater than 0, got 0`},
		{"log.level", func(c *Config) { c.Log.Level = "loud" }, `must be one of debug, info, warn, error, got "loud"`},
		{"log.format", func(c *Config) { c.Log.Format = "xml" }, `must be one of auto, json, text, got "xml"`},
		{"log.group", func(c *Config) { c.Log.Group = "/remuda/:controller" }, `must be the name of a log group, 1 to 512 of A-Z, a-z, 0-9, _, /, ., # and -, got "/remuda/:controller"`},
		{"log.group", func(c *Config) { c.Log.Group = strings.Repeat("a", 513) }, `must be the name of a log group, 1 to 512 of`},
	}
	for _, tt := range tests {
		c := Default()
		tt.change(&c)
		err := c.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), tt.field+": ") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Validate() = %v, want only %s: …%s", err, tt.field, tt.want)
		}
	}
}

// asApp returns c with an App that is right.
func asApp(c GitHub) GitHub {
	c.AppID, c.AppKeyFile = 5, "/etc/remuda/app.pem"
	return c
}

func TestConfig_Validate_AppsAndGroupsThatWork(t *testing.T) {
	for _, url := range []string{"", "https://github.com/o/r", "https://github.com/o"} {
		c := Default()
		c.GitHub = asApp(c.GitHub)
		c.GitHub.URL = url
		if c.GitHub.level() == "organisation" {
			c.GitHub.RunnerGroup = "linux"
		}
		if err := c.Validate(); err != nil {
			t.Errorf("Validate() of an App for %q = %v", url, err)
		}
	}
}

// sum64 has the form of a checksum.
var sum64 = strings.Repeat("0a", 32)

// Off, on loopback, and wherever there is a token or explicitly none.
func TestConfig_Validate_HTTPThatWorks(t *testing.T) {
	for _, http := range []HTTP{
		{}, {Listen: "localhost:0"}, {Listen: "[::1]:9640"}, {Listen: "127.0.0.2:9640", TokenFile: "/token"}, {Listen: ":9640", Insecure: true},
		{Listen: "0.0.0.0:9640", TokenFile: "/token", Hosts: []string{"remuda.example", "10.0.0.7", "2001:db8::1", "runners_1"}, Pprof: true},
	} {
		c := Default()
		if c.HTTP = http; c.Validate() != nil {
			t.Errorf("Validate() of %+v = %v, want nil", http, c.Validate())
		}
	}
}

func TestConfig_Validate_Prices(t *testing.T) {
	for _, tt := range []struct {
		fleet, prices string
		ok            bool
	}{
		{"process:///x", "", true}, {"process:///x", "/etc/remuda/prices.yaml", true}, {"ec2://remuda", PricesAWS, true},
		{"process:///x", PricesAWS, false}, {"ec2://remuda", "prices.yaml", false},
	} {
		c := Default()
		c.Fleet, c.Costs.Prices = tt.fleet, tt.prices
		err := c.Validate()
		if named := err != nil && strings.Contains(err.Error(), "costs.prices: must be an absolute path, or aws with an ec2 fleet, got"); named == tt.ok {
			t.Errorf("Validate() of %s with %q = %v", tt.fleet, tt.prices, err)
		}
	}
}

// Validate names everything at once and changes nothing.
func TestConfig_Validate_AllProblems(t *testing.T) {
	err := Config{}.Validate()
	if err == nil {
		t.Fatal("Config{}.Validate() = nil")
	}
	none := []string{"github.tokenEnv", "http.listen", "requests.launchRetry", "runs.share", "runs.remember", "budget.warnAt"} // zero turns them off
	for _, s := range settings {
		// Zero is right for what is optional, and types are checked by element.
		if named := strings.Contains("\n"+err.Error(), "\n"+s.Key+": "); named == (optional[s.Key] || slices.Contains(none, s.Key)) {
			t.Errorf("Config{}.Validate() names %s: %v", s.Key, named)
		}
	}
}

// degrade sets a budget with one step.
func degrade(step BudgetShare) func(*Config) {
	return func(c *Config) {
		c.Costs.Prices, c.Budget.Monthly, c.Budget.Degrade = "/etc/remuda/prices.yaml", 500, []BudgetShare{step}
	}
}
