// Package config is how an installation is set up: every setting with its default, its checks and its documentation.
//
// Read takes defaults, then a file, then the environment, then flags, and remembers of each value where it came from.
// It is strict: an unknown or repeated key and a value of the wrong kind are errors, all reported at once, each with its
// place. Validate judges the values, also all at once, and changes none. No error repeats credentials that someone put
// into a URL. The package opens nothing that a setting names; a file is read only by the function it is given.
package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Config holds every setting of every verb. A field's yaml tag is its name in the file, its doc tag
// the line that `remuda config --example` and docs/config.md print, its is tag what it must be on its own (see forms).
// What has the reload tag "yes", itself or its section, a running controller takes up (see Reload). Every field that is not a section
// can also be set by an environment variable (see Setting.Env) and by --set.
type Config struct {
	Name     string           `yaml:"name" doc:"name of this installation; prefix of runner names and tags"`
	Store    string           `yaml:"store" doc:"URL of the store: sqlite:///path/file.db, or dynamodb://table?region=eu-west-1[&events=queue]"`
	Pool     string           `yaml:"pool" doc:"URL of the pool: sqs://prefix?region=eu-west-1; empty: the same place as a SQLite store"`
	Fleet    string           `yaml:"fleet" doc:"URL of the fleet: process:///folder, or ec2://name?region=eu-west-1, where name marks what is ours"`
	GitHub   GitHub           `yaml:"github" doc:"where runners register"`
	Classes  map[string]Class `yaml:"classes" reload:"yes" doc:"resource classes: name to its fields, cpu and mem at least (see below); replaces the defaults as a whole"`
	Limits   Limits           `yaml:"limits" reload:"yes" doc:"how long an instance may stay in a state, and each check may take"`
	Requests Requests         `yaml:"requests" reload:"yes" doc:"bounds of what a request may ask for"`
	Caps     Caps             `yaml:"caps" reload:"yes" doc:"how many instances may live at once"`

	Runs      Runs      `yaml:"runs" doc:"how the runs of requests are watched at GitHub"`
	Intervals Intervals `yaml:"intervals" reload:"yes" doc:"how often the controller looks without being notified"`
	Lease     Lease     `yaml:"lease" doc:"how one active controller is elected"`
	Agent     Agent     `yaml:"agent" reload:"yes" doc:"what runs on each instance"`
	Process   Process   `yaml:"process" doc:"behaviour of a process fleet"`
	EC2       EC2       `yaml:"ec2" reload:"yes" doc:"instances of an EC2 fleet"`
	HTTP      HTTP      `yaml:"http" doc:"what the controller shows of itself: health, metrics, its page; it changes nothing"`
	Budget    Budget    `yaml:"budget" reload:"yes" doc:"what machines may cost in a month (UTC), and what is off once so much is used"`
	Costs     Costs     `yaml:"costs" doc:"what machines cost, in estimates"`
	Log       Log       `yaml:"log" doc:"logs, on standard error in any case"`
}

// GitHub says where runners register and with which credentials. It names secrets, it holds none.
type GitHub struct {
	URL                  string `yaml:"url" doc:"repository, organisation or enterprise that runners register with: https://github.com/owner/name, https://github.com/owner or https://github.com/enterprises/name"`
	APIURL               string `yaml:"apiUrl" doc:"root of the REST API; empty: the one that belongs to url, on GitHub Enterprise Server https://host/api/v3"`
	Secret               string `yaml:"secret" is:"reference" doc:"where the credentials are: an absolute path, ssm:NAME of a parameter, or secretsmanager:NAME (or ARN) of a secret, which holds an access token, or {\"appId\": …, \"key\": …} as remuda init github-app stores it; read anew, within a minute; tokenFile and what is of an App are empty then"`
	TokenFile            string `yaml:"tokenFile" is:"path" doc:"file that holds the access token, read anew when it changes; wins over tokenEnv"`
	TokenEnv             string `yaml:"tokenEnv" doc:"environment variable that holds the access token; not looked at with an App"`
	AppID                int64  `yaml:"appId" is:"from0" doc:"id of a GitHub App, instead of a token; 0: none"`
	AppInstallationID    int64  `yaml:"appInstallationId" is:"from0" doc:"id of its installation; 0: found by the owner"`
	AppKeyFile           string `yaml:"appKeyFile" is:"path" doc:"file that holds the App's private key (PEM), read anew when it changes"`
	Registration         string `yaml:"registration" doc:"jit: one job per registration; token: one registration for all jobs of a run, for trusted repositories only"`
	RunnerGroup          string `yaml:"runnerGroup" doc:"name of the runner group of new runners, of an organisation or enterprise; empty: runnerGroupId"`
	RunnerGroupID        int64  `yaml:"runnerGroupId" is:"from1" doc:"id of the runner group instead, for registration jit; 1 is the default group"`
	RegistrationsPer5Min int    `yaml:"registrationsPer5Min" is:"from1" doc:"registrations per 5 minutes; GitHub allows 1500 per repository or organisation"`
	Ahead                bool   `yaml:"ahead" doc:"idle machines run a listener already, so that a claim takes one call of GitHub instead of a registration; for registration jit. Off until it is proven on GitHub itself"`
	AheadMax             int    `yaml:"aheadMax" is:"from1" doc:"idle machines that do so at once; each is registered anew about every 6 minutes, so 50 are a tenth of the 5000 calls that a token has in an hour"`
	Repository           string `yaml:"repository" doc:"owner/name whose jobs are accepted; empty: the one of url, or any of the organisation"`
}

// Serves returns whose jobs are accepted: owner/name, owner, or "" for any of an enterprise.
func (c GitHub) Serves() string {
	if c.Repository != "" {
		return c.Repository
	}
	if c.level() == "enterprise" {
		return ""
	}
	return strings.TrimSuffix(c.path(), ".git")
}

// path is what url names at its host, "" without one.
func (c GitHub) path() string {
	u, err := url.Parse(c.URL)
	if err != nil { // Validate has said so
		return ""
	}
	return strings.Trim(u.Path, "/")
}

// level is what url names: repository, enterprise, or organisation, also without one.
func (c GitHub) level() string {
	first, _, deeper := strings.Cut(c.path(), "/")
	switch {
	case !deeper:
		return "organisation"
	case first == "enterprises":
		return "enterprise"
	}
	return "repository"
}

// Limits is statemachine.Limits with names and documentation; see Config.limits.
type Limits struct {
	Created time.Duration `yaml:"created" doc:"created: boot plus runner registration"`
	Claimed time.Duration `yaml:"claimed" doc:"claimed: registration only"`
	Running time.Duration `yaml:"running" doc:"running, for requests that name no max runtime"`
	Idle    time.Duration `yaml:"idle" doc:"idle: what keeping warm may cost"`

	ClaimGate  time.Duration `yaml:"claimGate" doc:"claimed until the runner must be online"`
	CreateGate time.Duration `yaml:"createGate" doc:"created until the runner must be online"`
	Handshake  time.Duration `yaml:"handshake" doc:"given back until the machine must be clean, from the end of its last job"`

	Beat           time.Duration `yaml:"beat" doc:"period of an agent's heartbeat; three are the window of a healthy one; while idle three times that, at most a quarter of silence"`
	Silence        time.Duration `yaml:"silence" doc:"no heartbeat: lost, unless running; more than three beats"`
	RunningSilence time.Duration `yaml:"runningSilence" doc:"no heartbeat: lost, while a job may run; at least silence"`
	Visibility     time.Duration `yaml:"visibility" doc:"how long the fleet may not show a new instance"`
	AgentGrace     time.Duration `yaml:"agentGrace" doc:"an agent ends its machine this long after its threshold"`
}

// Requests bounds requests.
type Requests struct {
	Timeout       time.Duration `yaml:"timeout" doc:"from taking up a request to Ready or Failed, unless it names its own"`
	MaxCount      int           `yaml:"maxCount" doc:"most instances one request may ask for; at most 3000"`
	MaxRuntime    time.Duration `yaml:"maxRuntime" is:"positive" doc:"longest max runtime and timeout one request may ask for"`
	ClientSilence time.Duration `yaml:"clientSilence" doc:"a waiting client without a sign of life for this long is given up; at least 10s, it reports every 5s"`
	LaunchRetry   time.Duration `yaml:"launchRetry" is:"from0" doc:"how long a request may ask again where every place lacks capacity, to its deadline at most; it fails once its next try would come later; 0: at once"`
}

// Caps bounds the bill.
type Caps struct {
	MaxInstances int `yaml:"maxInstances" is:"from1" doc:"instances that are not terminated, at once"`
}

// Runs says how runs are watched.
type Runs struct {
	Poll      time.Duration `yaml:"poll" reload:"yes" doc:"how often the runs of a repository are looked at; at least 1s"`
	Share     float64       `yaml:"share" doc:"share of GitHub's rate limits that watching may take, up to 1; 0: no run is watched"`
	Remember  time.Duration `yaml:"remember" reload:"yes" doc:"how long after a request is over the jobs of its run may be run again; up to 720h, as long as GitHub allows"`
	RerunLost bool          `yaml:"rerunLost" reload:"yes" doc:"once per run, have jobs run again that were lost with their machines; needs Actions: write"`
}

// Intervals holds the periods of the controller.
type Intervals struct {
	Sweep     time.Duration `yaml:"sweep" is:"positive" doc:"fleet against records"`
	HotPoll   time.Duration `yaml:"hotPoll" is:"positive" doc:"reports of instances that something waits for"`
	WarmPoll  time.Duration `yaml:"warmPoll" is:"positive" doc:"reports of all other instances"`
	Scan      time.Duration `yaml:"scan" is:"positive" doc:"the whole store"`
	Runners   time.Duration `yaml:"runners" is:"positive" doc:"runners at GitHub against records"`
	Batch     time.Duration `yaml:"batch" is:"positive" doc:"requests of one class within this share one launch"`
	Exclusion time.Duration `yaml:"exclusion" is:"positive" doc:"a place that refused a launch is left alone this long"`
	Orphan    time.Duration `yaml:"orphan" is:"positive" doc:"a machine without a record, and without a launch that wants it, is terminated after this"`

	Housekeeping time.Duration `yaml:"housekeeping" is:"positive" doc:"table, queues and launch template against what they should be"`
}

// Lease holds the times of the election.
type Lease struct {
	TTL            time.Duration `yaml:"ttl" is:"positive" doc:"a lease unchanged for this long, and one request timeout, is free"`
	RequestTimeout time.Duration `yaml:"requestTimeout" doc:"longest time one lease write may take; less than ttl"`
}

// Agent is handed to the agents.
type Agent struct {
	Script        string        `yaml:"script" is:"path" doc:"absolute path of a script run once before the first registration; empty: none"`
	ScriptTimeout time.Duration `yaml:"scriptTimeout" is:"positive" doc:"longest time script and scrub may take, each"`
	Scrub         string        `yaml:"scrub" is:"path" doc:"absolute path of a script run after each run to clean the machine; empty: none"`
	IdlePoll      time.Duration `yaml:"idlePoll" is:"positive" doc:"how often an idle agent reads its record"`
	Poll          time.Duration `yaml:"poll" is:"positive" doc:"how often any other agent reads its record"`
	RunnerDir     string        `yaml:"runnerDir" is:"path" doc:"absolute path of the unpacked actions/runner; empty: the one of runnerUrl, else the simulated one"`
	RunnerURL     PerArch       `yaml:"runnerUrl" doc:"where agents fetch the archive (.tar.gz) of one version of actions/runner, one text or one for each architecture; or s3://bucket/key; empty: the one published in ec2.bucket, if runnerDir is empty, else it is part of the image"`
	RunnerSHA256  PerArch       `yaml:"runnerSha256" doc:"checksum of what runnerUrl delivers, in the same form; required with it"`
	RunnerVersion string        `yaml:"runnerVersion" is:"version" doc:"version of the runner, such as 2.337.0, so that the controller warns in time before GitHub stops serving it; empty: the one in the name of runnerUrl, if any"`
	RunnerUser    string        `yaml:"runnerUser" is:"user" doc:"user of the machine that runs the runner and its jobs, with the groups it is in; the agent must be root then; no one else may use it: where one machine has it alone all its processes are ended between runs; empty: the agent's own; an ec2 fleet needs one, and takes root for jobs that may be root"`

	AllowSubordinateIDs bool `yaml:"allowSubordinateIds" doc:"accept that /etc/subuid and /etc/subgid give ids of other users to runnerUser, which rootless containers need; false: an agent refuses classes of level full then"`

	MetadataFirewall string `yaml:"metadataFirewall" doc:"required: on EC2 no runner of a runnerUser registers unless all users but root are kept from the instance metadata service, by nft or iptables; everywhere: nor on a process fleet, for one on an EC2 instance, whose other users then lose the service, too; off: nothing keeps them"`

	Env map[string]string `yaml:"env" doc:"variables of the runner, its jobs, script and scrub; proxies and certificates also apply to the agent, the first script of an EC2 instance and its Docker; not for secrets: the launch template shows them"`

	Keep Keep `yaml:"keep" doc:"processes and ports of the machine that start after the first run or with script"`

	Mask []string `yaml:"mask" doc:"regular expressions (RE2) of secrets that no known form matches; their matches show as *** in the output of instances and in the messages of requests"`

	MetadataUsers []string `yaml:"metadataUsers" doc:"names of users, such as ec2-instance-connect, that may reach the instance metadata service as root may, in spite of metadataFirewall; not the one of jobs"`
}

// Keep lists processes and ports that cleanups keep.
type Keep struct {
	Processes []string `yaml:"processes" doc:"names of programs that script leaves running under another user than runnerUser; cleanups keep them"`
	Ports     []int    `yaml:"ports" doc:"TCP ports that processes may open after the first run, for example a port that a service opens on demand"`
}

// What agent.metadataFirewall may say.
const (
	FirewallRequired   = "required"
	FirewallEverywhere = "everywhere"
	FirewallOff        = "off"
)

// Process imitates a cloud on one machine.
type Process struct {
	BootDelay      time.Duration `yaml:"bootDelay" is:"from0" doc:"from a launch until its agent starts"`
	BootJitter     time.Duration `yaml:"bootJitter" is:"from0" doc:"up to this much is added to bootDelay"`
	Capacity       int           `yaml:"capacity" is:"from0" doc:"instances it can hold; 0: any number"`
	SpotCapacity   int           `yaml:"spotCapacity" is:"from0" doc:"spot instances among them; 0: any number"`
	RefusalRate    float64       `yaml:"refusalRate" doc:"share of launches refused, 0 to 1"`
	LossAfter      time.Duration `yaml:"lossAfter" is:"from0" doc:"spot instances vanish at a random age with this mean; 0: never"`
	NoticeAfter    time.Duration `yaml:"noticeAfter" is:"from0" doc:"age at which spot instances get notice that they will be interrupted; 0: never"`
	NoticeLead     time.Duration `yaml:"noticeLead" is:"positive" doc:"from that notice to the end"`
	Types          []ProcessType `yaml:"types" doc:"instance types it offers: name, cpu, mem; empty: a small built-in catalogue"`
	Seed           uint64        `yaml:"seed" doc:"seed of everything random"`
	TerminateGrace time.Duration `yaml:"terminateGrace" is:"positive" doc:"from SIGTERM to SIGKILL"`
}

// ProcessType is one instance type of a process fleet.
type ProcessType struct {
	Name string `yaml:"name" json:"name"`
	CPU  int    `yaml:"cpu" json:"cpu"` // vCPUs
	Mem  int    `yaml:"mem" json:"mem"` // MiB
}

// EC2 says what an EC2 fleet launches.
type EC2 struct {
	Subnets         []string          `yaml:"subnets" doc:"ids of the subnets; of several in one zone the one with most free addresses is used"`
	SecurityGroups  []string          `yaml:"securityGroups" doc:"ids of the security groups; runners need no inbound rule"`
	AMI             PerArch           `yaml:"ami" doc:"id of the image, or resolve:ssm: and the name of a parameter that holds it; of one for each architecture {x86_64: …, arm64: …}"`
	InstanceProfile string            `yaml:"instanceProfile" doc:"name or ARN of the instance profile, whose role has deploy/iam/agent.json"`
	RoleID          string            `yaml:"roleId" doc:"unique id of that role (AROA…); empty: asked of IAM"`
	RootVolume      int               `yaml:"rootVolume" doc:"size of the root volume in GiB; 0: as the image says"`
	PriceProtection int               `yaml:"priceProtection" doc:"percent above the cheapest matching type that is still taken; 0: any price, so that no allowed type is dropped"`
	Tags            map[string]string `yaml:"tags" doc:"tags of machines, volumes and the launch template, besides our own"`
	Bucket          string            `yaml:"bucket" is:"bucket" doc:"name of the bucket where remuda init --publish puts this program and the runner, and machines what they printed last; empty: none"`
	BinaryURL       PerArch           `yaml:"binaryUrl" doc:"where a machine fetches remuda: an http or https URL, or s3://bucket/key in its region, read with its role; one text or one for each architecture, or s3://bucket/key; empty: the one published in ec2.bucket, if binaryPath is empty, else it is part of the image"`
	BinarySHA256    PerArch           `yaml:"binarySha256" doc:"checksum of what binaryUrl delivers, in the same form; required with it"`
	BinaryPath      string            `yaml:"binaryPath" doc:"absolute path of remuda in the image; empty: /usr/local/bin/remuda"`
}

// HTTP says where the controller shows what of itself, and to whom.
type HTTP struct {
	Listen    string   `yaml:"listen" doc:"address to listen on, host:port; port 0: a free one, which the log names; empty: off; remuda dev takes a free port unless this is set"`
	TokenFile string   `yaml:"tokenFile" is:"path" doc:"file that holds the token (16 characters at least) that all but /healthz and /readyz need then, read anew when it changes; a listen address that is not loopback needs it"`
	Insecure  bool     `yaml:"insecure" doc:"serve without a token on an address that is not loopback: anyone who reaches it can read everything"`
	Hosts     []string `yaml:"hosts" doc:"names and addresses, without port, under which it may be asked, besides loopback; requests for others get 421, but for /healthz and /readyz"`
	Pprof     bool     `yaml:"pprof" doc:"serve Go's profiles at /debug/pprof/"`
}

// Log says what is logged, how and where.
type Log struct {
	Level  string `yaml:"level" reload:"yes" doc:"debug, info, warn or error"`
	Format string `yaml:"format" doc:"text, json, or auto: text on a terminal"`
	Group  string `yaml:"group" doc:"group of CloudWatch Logs to which a controller also writes its log, as JSON, in the region of the fleet; empty: none"`
}

// Costs says what machines cost.
type Costs struct {
	Prices string `yaml:"prices" doc:"prices in dollars per hour: aws for those of an EC2 fleet, or the absolute path of a file, a YAML list of {types: pattern, onDemand: 0.085, spot: 0.03}, of which the first that matches counts, read at start; empty: none is known, and seconds alone are counted"`
}

// PricesAWS is what costs.prices says where AWS is asked.
const PricesAWS = "aws"

func (c Config) validateCosts(p *problems) {
	ec2, path := HasScheme(c.Fleet, []string{"ec2"}), c.Costs.Prices
	p.check(path == "" || path == PricesAWS && ec2 || filepath.IsAbs(path), "costs.prices", "an absolute path, or aws with an ec2 fleet", path)
}

// UsualRuntime is how long a run lasts at most unless its request says otherwise.
func (c Config) UsualRuntime() time.Duration { return min(c.Limits.Running, c.Requests.MaxRuntime) }

// PoolURL is the URL of the pool: its own, or the store's.
func (c Config) PoolURL() string {
	if c.Pool == "" {
		return c.Store
	}
	return c.Pool
}

// RootUser as agent.runnerUser says explicitly that jobs on EC2 may be root.
const RootUser = "root"

// JobsUser returns the user of runner and jobs, "" for the agent's own. On a process fleet no user is root
// who was not before, and agents refuse that user.
func (c Config) JobsUser() string {
	if c.Agent.RunnerUser == RootUser && c.OnEC2() {
		return ""
	}
	return c.Agent.RunnerUser
}

// Scrubbed returns the classes of which an agent must know something: another size of the others makes
// no machine outdated.
func (c Config) Scrubbed() map[string]Class {
	some := map[string]Class{}
	for name, class := range c.Classes {
		if class.Scrub != "" {
			some[name] = Class{CPU: class.CPU, Mem: class.Mem, Scrub: class.Scrub}
		}
	}
	return some
}

// inName is the version in the name of a release's archive, such as actions-runner-linux-x64-2.337.0.tar.gz.
var inName = lazyregexp.New(`-([0-9]+\.[0-9]+\.[0-9]+)\.tar\.gz$`)

// Version is that of the runner that agents run, or "" if it is not known.
func (c Agent) Version() string {
	version := c.RunnerVersion
	if version != "" {
		return version
	}
	for _, url := range c.RunnerURL {
		if m := inName().FindStringSubmatch(url); len(m) > 1 && (version == "" || slices.Compare(numbers(m[1]), numbers(version)) < 0) {
			version = m[1]
		}
	}
	return version
}

// numbers are those of a version, of which the lowest ends first.
func numbers(version string) []int {
	n := make([]int, 3)
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &n[0], &n[1], &n[2]) // it has that form
	return n
}
