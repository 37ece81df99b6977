package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/reconciler"
)

// Every setting has a doc line, a name in the environment that is its own, and a default that the
// program accepts.
func TestConfig_EverySettingIsComplete(t *testing.T) {
	if err := defaults().Validate(); err != nil {
		t.Fatalf("defaults().Validate() = %v, want nil", err)
	}
	envs := map[string]string{configEnv: "--config"}
	for _, s := range settings {
		if s.doc == "" {
			t.Errorf("%s has no doc line", s.key)
		}
		if other, taken := envs[s.env()]; taken {
			t.Errorf("%s and %s are both set by %s", s.key, other, s.env())
		}
		envs[s.env()] = s.key
		if parent, _, nested := strings.Cut(s.key, "."); nested && sectionDoc(parent) == "" {
			t.Errorf("section %s has no doc line", parent)
		}
	}
}

// optional are the settings whose default is nothing, each for a reason that its doc line gives.
var optional = map[string]bool{
	"pool": true, "github.url": true, "github.tokenFile": true, "github.repository": true,
	"github.apiUrl": true, "github.appId": true, "github.appInstallationId": true, "github.appKeyFile": true, "github.runnerGroup": true,
	"caps.perClass": true,
	"agent.script":  true, "agent.scrub": true, "agent.runnerDir": true, "agent.runnerUser": true, "agent.runnerVersion": true, "agent.runnerUrl": true, "agent.runnerSha256": true, "agent.metadataUsers": true, "process.bootDelay": true, "process.bootJitter": true,
	"process.capacity": true, "process.spotCapacity": true, "process.refusalRate": true, "process.lossAfter": true, "process.noticeAfter": true,
	"process.types": true, "process.seed": true,
	"ec2.subnets": true, "ec2.securityGroups": true, "ec2.ami": true, "ec2.instanceProfile": true, "ec2.roleId": true,
	"ec2.rootVolume": true, "ec2.priceProtection": true, "ec2.tags": true,
	"ec2.binaryUrl": true, "ec2.binarySha256": true, "ec2.binaryPath": true,
}

func TestConfig_EverySettingHasADefault(t *testing.T) {
	c := defaults()
	for _, s := range settings {
		if zero := s.in(&c).IsZero(); zero != optional[s.key] {
			t.Errorf("default of %s is zero: %v, want %v", s.key, zero, optional[s.key])
		}
	}
}

// sample returns a text that sets s to something other than its default, and the value it stands for.
func sample(s setting) (string, any) {
	switch v := s.value(defaults()).(type) {
	case string:
		return v + "x", v + "x"
	case int:
		return fmt.Sprint(v + 1), v + 1
	case int64:
		return fmt.Sprint(v + 1), v + 1
	case uint64:
		return fmt.Sprint(v + 1), v + 1
	case float64:
		return "0.25", 0.25
	case time.Duration:
		return (v + time.Second).String(), v + time.Second
	case map[string]Class:
		return `{one: {cpu: 1, mem: "512", scrub: full}}`, map[string]Class{"one": {CPU: 1, Mem: 512, Scrub: "full"}}
	case map[string]int:
		return `{small: 3}`, map[string]int{"small": 3}
	case []string:
		return `[one, "two, 2"]`, []string{"one", "two, 2"}
	case map[string]string:
		return `{team: "a: b"}`, map[string]string{"team": "a: b"}
	case []ProcessType:
		return `[{name: c1.tiny, cpu: 1, mem: 64}]`, []ProcessType{{"c1.tiny", 1, 64}}
	default:
		panic(fmt.Sprintf("no sample for %T", v))
	}
}

// Flags win over the environment, the environment over the file, the file over defaults; every
// setting can be set in each of these ways, and its origin is told.
func TestConfig_EverySettingFromEverywhere(t *testing.T) {
	for _, s := range settings {
		t.Run(s.key, func(t *testing.T) {
			text, want := sample(s)
			line := fmt.Sprintf("%s: %s", s.key, text)
			if parent, child, nested := strings.Cut(s.key, "."); nested {
				line = fmt.Sprintf("%s:\n  %s: %s", parent, child, text)
			}
			from := map[string]func(*cli, string){
				"file": func(c *cli, _ string) { c.files["r.yaml"], c.global.config = line, "r.yaml" },
				"env":  func(c *cli, v string) { c.env = append(c.env, s.env()+"="+v) },
				"flag": func(c *cli, v string) { c.global.set = append(c.global.set, s.key+"="+v) },
			}
			for kind, set := range from {
				c := freshCLI()
				set(c, text)
				if kind == "flag" { // what it must win over
					from["env"](c, s.text(defaults()))
				}
				got, err := c.readConfig()
				if err != nil {
					t.Errorf("from %s: %v", kind, err)
					continue
				}
				if diff := gocmp.Diff(want, s.value(got.Config)); diff != "" {
					t.Errorf("from %s (-want +got):\n%s", kind, diff)
				}
				if o := got.origin(s.key); o.kind != kind {
					t.Errorf("origin = %s, want %s", o, kind)
				}
			}
		})
	}
}

// freshCLI returns a user whose global flags are registered and empty.
func freshCLI() *cli {
	c := newCLI(nil)
	newRootCmd(c.app)
	return c
}

// Unknown keys, repeated keys and values of the wrong kind are errors that name file, line, key and
// what is known.
func TestConfig_Strict(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"Typo", "name: a\nlimits:\n  idel: 5m\n", `r.yaml:3: unknown key "limits.idel": did you mean limits.idle?`},
		{"Case", "limits:\n  claimgate: 5s\n", `r.yaml:2: unknown key "limits.claimgate": did you mean limits.claimGate?`},
		{"Misplaced", "idle: 5m\n", `r.yaml:1: unknown key "idle": did you mean limits.idle?`},
		{"Foreign", "lease:\n  colour: red\n", `r.yaml:2: unknown key "lease.colour": known here are requestTimeout, ttl`},
		{"InClass", "classes:\n  small: {cpu: 2, mem: 4096, mmem: 1}\n", `r.yaml:2: unknown key "classes.small.mmem": did you mean classes.small.mem?`},
		{"Twice", "name: a\nname: b\n", `r.yaml:2: key "name": given twice, first in line 1`},
		{"ClassTwice", "classes:\n  small: {cpu: 2, mem: 4096}\n  small: {cpu: 4, mem: 8192}\n", `r.yaml:3: key "classes.small": given twice, first in line 2`},
		{"Duration", "limits:\n  idle: 5\n", `r.yaml:2: limits.idle: must be a duration such as 250ms, 30s or 5m, got "5"`},
		{"Number", "requests:\n  maxCount: 1.5\n", `r.yaml:2: requests.maxCount: must be a whole number, got "1.5"`},
		{"Negative", "process:\n  seed: -1\n", `r.yaml:2: process.seed: must be a whole number from 0, got "-1"`},
		{"Rate", "process:\n  refusalRate: often\n", `r.yaml:2: process.refusalRate: must be a number, got "often"`},
		{"Null", "store:\n", `r.yaml:1: store: must be a single value`},
		{"ListForValue", "name: [a, b]\n", `r.yaml:1: name: must be a single value`},
		{"ValueForSection", "limits: 5m\n", `r.yaml:1: limits: must hold keys and values`},
		{"ValueForList", "process:\n  types: c6i.large\n", `r.yaml:2: process.types: must be a list`},
		{"ClassWithoutMem", "classes:\n  small: {cpu: 2}\n", `r.yaml:2: classes.small.mem: must be set`},
		{"ClassText", "classes:\n  small: {cpu: two, mem: 4096}\n", `r.yaml:2: classes.small.cpu: must be a whole number, got "two"`},
		{"NoMapping", "- name\n", `r.yaml:1: the file: must hold keys and values`},
		{"TwoDocuments", "name: a\n---\nname: b\n", `r.yaml:2: must hold one YAML document only`},
		{"Malformed", "name: {a\n", `r.yaml: yaml: line 1`},
		{"AllAtOnce", "nam: a\nlimits:\n  idle: x\n", "r.yaml:1: unknown key \"nam\": did you mean name?\nr.yaml:3: limits.idle: must be"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCLI(nil)
			c.files["r.yaml"] = tt.file
			code := c.run(t.Context(), "request", "--config", "r.yaml", "--id", "1", "--resource-class", "small")
			if got := strings.ReplaceAll(c.err.String(), "remuda: ", ""); code != exitUsage || !strings.HasPrefix(got, tt.want) {
				t.Errorf("exit code = %d, stderr = %q, want %d, %q…", code, got, exitUsage, tt.want)
			}
			if c.opened != 0 {
				t.Error("the store was opened")
			}
		})
	}
}

// What is not set keeps its default, whatever else a file says or does not say.
func TestConfig_PartialFiles(t *testing.T) {
	tests := []struct{ name, file string }{
		{"Empty", ""},
		{"CommentsOnly", "# nothing\n"},
		{"SectionsOnly", "limits:\nlease:\n  # ttl: 9s\n"},
		{"Anchors", "limits: &l {idle: 7m}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := freshCLI()
			c.files["r.yaml"], c.env = tt.file, []string{configEnv + "=r.yaml", "REMUDA_LEASE_TTL=", "REMUDA_UNRELATED=1"}
			got, err := c.loadConfig()
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(defaults(), got.Config); diff != "" {
				t.Errorf("configuration (-defaults +got):\n%s", diff)
			}
		})
	}
}

func TestConfig_SourcesNameThemselves(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"Env", []string{"REMUDA_LIMITS_IDLE=5"}, nil, `REMUDA_LIMITS_IDLE: limits.idle: must be a duration`},
		{"EnvMap", []string{"REMUDA_CLASSES={small: {cpu: 2}}"}, nil, `REMUDA_CLASSES: classes.small.mem: must be set`},
		{"EnvMapMalformed", []string{"REMUDA_CLASSES={small"}, nil, `REMUDA_CLASSES: classes: must be YAML on one line`},
		{"Set", nil, []string{"--set", "limits.idle=5"}, `--set: limits.idle: must be a duration`},
		{"SetUnknown", nil, []string{"--set", "limit.idle=5m"}, `--set: unknown key "limit.idle": did you mean limits.idle?`},
		{"SetNothingLikeIt", nil, []string{"--set", "zzzzzzzzzzzzzzzzzzzz=1"}, "--set: unknown key \"zzzzzzzzzzzzzzzzzzzz\": `remuda config` lists all keys"},
		{"SetNoValue", nil, []string{"--set", "limits.idle"}, `--set: must be key=value, got "limits.idle"`},
		{"NoFile", nil, []string{"--config", "absent.yaml"}, `read configuration: open absent.yaml`},
		{"Flag", nil, []string{"--log-level", "loud"}, `log.level: must be one of debug, info, warn, error, got "loud"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCLI(nil)
			c.env = tt.env
			if code := c.run(t.Context(), append([]string{"config"}, tt.args...)...); code != exitUsage || !strings.Contains(c.err.String(), tt.want) {
				t.Errorf("exit code = %d, want %d and %q in:\n%s", code, exitUsage, tt.want, &c.err)
			}
		})
	}
}

func TestConfig_Command(t *testing.T) {
	c := newCLI(nil)
	c.files["r.yaml"] = "limits:\n  idle: 90s\n"
	c.env = []string{"REMUDA_CONFIG=r.yaml", "REMUDA_REQUESTS_MAX_COUNT=7"}
	if code := c.run(t.Context(), "config", "--store", "sqlite:/tmp/x.db"); code != exitDone {
		t.Fatalf("exit code = %d, want 0; stderr:\n%s", code, &c.err)
	}
	golden(t, testdata("config.txt"), c.out.String())
	if code := c.run(t.Context(), "config", "-o", "json", "--store", "sqlite:/tmp/x.db"); code != exitDone {
		t.Fatalf("exit code = %d, want 0; stderr:\n%s", code, &c.err)
	}
	var got configView
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]settingView{
		"limits.idle":       {Key: "limits.idle", Value: "1m30s", Origin: "file", Where: "r.yaml:2", Env: "REMUDA_LIMITS_IDLE"},
		"requests.maxCount": {Key: "requests.maxCount", Value: 7.0, Origin: "env", Where: "REMUDA_REQUESTS_MAX_COUNT", Env: "REMUDA_REQUESTS_MAX_COUNT"},
		"store":             {Key: "store", Value: "sqlite:/tmp/x.db", Origin: "flag", Where: "--store", Env: "REMUDA_STORE"},
		"lease.ttl":         {Key: "lease.ttl", Value: "2s", Origin: "default", Env: "REMUDA_LEASE_TTL"},
	}
	if got.File != "r.yaml" || len(got.Settings) != len(settings) {
		t.Errorf("file = %q with %d settings, want r.yaml with %d", got.File, len(got.Settings), len(settings))
	}
	for _, s := range got.Settings {
		if w, ok := want[s.Key]; ok {
			s.Doc = ""
			if diff := gocmp.Diff(w, s); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.Key, diff)
			}
		}
	}
}

// A wrong configuration is shown nevertheless, with all that is wrong; credentials are not.
func TestConfig_CommandShowsWhatIsWrong(t *testing.T) {
	c := newCLI(nil)
	code := c.run(t.Context(), "config", "--store", "sqlite://me:hunter2@host/x", "--set", "lease.ttl=0s")
	if code != exitUsage || !strings.Contains(c.out.String(), "lease.ttl") || !strings.Contains(c.err.String(), "lease.ttl: must be greater than 0, got 0s") {
		t.Errorf("exit code = %d, want %d, the table and the problem:\n%s%s", code, exitUsage, &c.out, &c.err)
	}
	if strings.Contains(c.out.String()+c.err.String(), "hunter2") {
		t.Errorf("a password is shown:\n%s%s", &c.out, &c.err)
	}
	if code := c.run(t.Context(), "config", "--example", "-o", "json"); code != exitUsage {
		t.Errorf("--example with -o json: exit code = %d, want %d", code, exitUsage)
	}
}

// The example changes nothing as it is, and nothing with every setting uncommented: it shows the defaults.
func TestConfig_ExampleIsTheDefaults(t *testing.T) {
	c := newCLI(nil)
	if code := c.run(t.Context(), "config", "--example"); code != exitDone {
		t.Fatalf("exit code = %d, want 0", code)
	}
	uncommented := c.out.String()
	for _, s := range settings {
		indent, name := "", s.key
		if _, child, nested := strings.Cut(s.key, "."); nested {
			indent, name = "  ", child
		}
		line := fmt.Sprintf("%s: %s\n", name, s.yaml(defaults()))
		before := uncommented
		uncommented = strings.ReplaceAll(uncommented, "\n"+indent+"# "+line, "\n"+indent+line)
		if uncommented == before {
			t.Errorf("the example lacks %q", line)
		}
	}
	for name, text := range map[string]string{"AsItIs": c.out.String(), "Uncommented": uncommented} {
		got := freshCLI()
		got.files["r.yaml"], got.global.config = text, "r.yaml"
		l, err := got.loadConfig()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		for _, s := range settings {
			if a, b := s.text(defaults()), s.text(l.Config); a != b {
				t.Errorf("%s: %s = %s, want the default %s", name, s.key, b, a)
			}
			if want := map[string]string{"AsItIs": "default", "Uncommented": "file"}[name]; l.origin(s.key).kind != want {
				t.Errorf("%s: origin of %s = %s, want %s", name, s.key, l.origin(s.key), want)
			}
		}
	}
}

// What the controller writes for its agents, they read back: every value survives.
func TestConfig_WrittenIsRead(t *testing.T) {
	want := defaults()
	for _, s := range settings {
		text, _ := sample(s)
		if err := s.set(&want, text); err != nil {
			t.Fatal(err)
		}
	}
	for name, cfg := range map[string]Config{"Defaults": defaults(), "AllOther": want} {
		text, err := yaml.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c := freshCLI()
		c.files["r.yaml"], c.global.config = string(text), "r.yaml"
		got, err := c.readConfig()
		if err != nil {
			t.Errorf("%s: %v in\n%s", name, err, text)
			continue
		}
		for _, s := range settings {
			if a, b := s.text(cfg), s.text(got.Config); a != b {
				t.Errorf("%s: %s = %s, want %s", name, s.key, b, a)
			}
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"idel", "idle", 2}, {"kitten", "sitting", 3}, {"idle", "idle", 0}}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestSetting_Env(t *testing.T) {
	tests := map[string]string{
		"store": "REMUDA_STORE", "limits.claimGate": "REMUDA_LIMITS_CLAIM_GATE", "github.apiUrl": "REMUDA_GITHUB_API_URL",
		"github.registrationsPer5Min": "REMUDA_GITHUB_REGISTRATIONS_PER_5_MIN",
	}
	for key, want := range tests {
		s, ok := settingFor(key)
		if got := s.env(); !ok || got != want {
			t.Errorf("env of %s = %s, want %s", key, got, want)
		}
	}
}

// LimitsConfig must stay convertible: the names in the file are those of package statemachine.
func TestConfig_LimitsNames(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[LimitsConfig]()) {
		if want := strings.ToLower(f.Name[:1]) + f.Name[1:]; f.Tag.Get("yaml") != want {
			t.Errorf("limits.%s is called %q in the file, want %q as in its error messages", f.Name, f.Tag.Get("yaml"), want)
		}
	}
}

// Whose jobs a machine takes is what the configuration says, or else where its runners register.
func TestConfig_WhoseJobs(t *testing.T) {
	for _, tc := range []struct{ url, repository, want string }{
		{"https://github.com/octo/remuda", "", "octo/remuda"},
		{"https://ghe.example/octo/remuda/", "", "octo/remuda"},
		{"https://github.com/octo", "", "octo"},
		{"https://github.com/octo", "octo/one", "octo/one"},
		{"https://github.com/enterprises/big", "", ""},
		{"", "", ""},
	} {
		if got := (GitHubConfig{URL: tc.url, Repository: tc.repository}).serves(); got != tc.want {
			t.Errorf("serves() with url %q and repository %q = %q, want %q", tc.url, tc.repository, got, tc.want)
		}
	}
}

// S90: the controller knows each class as it is configured.
func TestConfig_ClassesReachTheController_S90(t *testing.T) {
	c := defaults()
	c.Classes = map[string]Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 16, Mem: 65536}}
	want := map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 16, Mem: 65536}}
	if got := c.controller("c1").Classes; !reflect.DeepEqual(got, want) {
		t.Errorf("classes of the controller = %+v, want %+v", got, want)
	}
}
