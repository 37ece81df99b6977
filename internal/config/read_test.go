package config

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// inFile is a configuration that is a file's alone.
func inFile(text string) Source {
	return Source{File: "r.yaml", ReadFile: func(string) ([]byte, error) { return []byte(text), nil }}
}

// Every setting has a doc line, a name in the environment that is its own, and a default that the
// program accepts.
func TestConfig_EverySettingIsComplete(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Fatalf("Default().Validate() = %v, want nil", err)
	}
	envs := map[string]string{EnvFile: "--config"}
	for _, s := range settings {
		if s.Doc == "" {
			t.Errorf("%s has no doc line", s.Key)
		}
		if other, taken := envs[s.Env()]; taken {
			t.Errorf("%s and %s are both set by %s", s.Key, other, s.Env())
		}
		envs[s.Env()] = s.Key
		if parent, _, nested := strings.Cut(s.Key, "."); nested && sectionDoc(parent) == "" {
			t.Errorf("section %s has no doc line", parent)
		}
	}
}

// optional are the settings whose default is nothing, each for a reason that its doc line gives.
var optional = map[string]bool{
	"pool": true, "github.url": true, "github.secret": true, "github.tokenFile": true, "github.repository": true,
	"github.apiUrl": true, "github.appId": true, "github.appInstallationId": true, "github.appKeyFile": true, "github.runnerGroup": true,
	"runs.rerunLost": true, "github.ahead": true,
	"agent.script": true, "agent.scrub": true, "agent.runnerDir": true, "agent.runnerUser": true, "agent.runnerVersion": true, "agent.runnerUrl": true, "agent.runnerSha256": true, "agent.metadataUsers": true, "agent.env": true, "agent.keep.processes": true, "agent.keep.ports": true, "agent.mask": true, "agent.allowSubordinateIds": true, "process.bootDelay": true, "process.bootJitter": true,
	"process.capacity": true, "process.spotCapacity": true, "process.refusalRate": true, "process.lossAfter": true, "process.noticeAfter": true,
	"process.types": true, "process.seed": true,
	"ec2.subnets": true, "ec2.securityGroups": true, "ec2.ami": true, "ec2.instanceProfile": true, "ec2.roleId": true,
	"ec2.rootVolume": true, "ec2.priceProtection": true, "ec2.tags": true,
	"ec2.bucket": true, "ec2.binaryUrl": true, "ec2.binarySha256": true, "ec2.binaryPath": true,
	"http.tokenFile": true, "http.insecure": true, "http.hosts": true, "http.pprof": true, "log.group": true,
	"costs.prices": true, "budget.monthly": true, "budget.degrade": true,
}

func TestConfig_EverySettingHasADefault(t *testing.T) {
	c := Default()
	for _, s := range settings {
		if zero := s.in(&c).IsZero(); zero != optional[s.Key] {
			t.Errorf("default of %s is zero: %v, want %v", s.Key, zero, optional[s.Key])
		}
	}
}

// sample returns a text that sets s to something other than its default, and the value it stands for.
func sample(s Setting) (string, any) {
	switch v := s.Value(Default()).(type) {
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
	case bool:
		return fmt.Sprint(!v), !v
	case time.Duration:
		return (v + time.Second).String(), v + time.Second
	case map[string]Class:
		return `{one: {cpu: 1, mem: 512, scrub: full, idle: 90s, arch: arm64, gpu: {count: 2, mem: 1024}, exclude: ["*.metal"]}}`,
			map[string]Class{"one": {CPU: 1, Mem: 512, Scrub: "full", Idle: 90 * time.Second, Arch: ArchARM, GPU: GPU{Count: 2, Mem: 1024}, Exclude: []string{"*.metal"}}}
	case []int:
		return `[80, 443]`, []int{80, 443}
	case []string:
		return `[one, "two, 2"]`, []string{"one", "two, 2"}
	case map[string]string:
		return `{team: "a: b"}`, map[string]string{"team": "a: b"}
	case PerArch:
		return `{x86_64: one, arm64: "a: b"}`, PerArch{ArchX86: "one", ArchARM: "a: b"}
	case []BudgetShare:
		return `[{at: 0.8, do: floors}]`, []BudgetShare{{At: 0.8, Do: "floors"}}
	case []ProcessType:
		return `[{name: c1.tiny, cpu: 1, mem: 64}]`, []ProcessType{{"c1.tiny", 1, 64}}
	default:
		panic(fmt.Sprintf("no sample for %T", v))
	}
}

// Flags win over the environment, the environment over the file, the file over defaults; every
// setting can be set in each of these ways, and its origin is known.
func TestConfig_EverySettingFromEverywhere(t *testing.T) {
	for _, s := range settings {
		t.Run(s.Key, func(t *testing.T) {
			text, want := sample(s)
			line := fmt.Sprintf("%s: %s", s.Key, text)
			if parent, child, nested := strings.Cut(s.Key, "."); nested {
				line = fmt.Sprintf("%s:\n  %s: %s", parent, child, text)
			}
			from := map[string]func(*Source, string){
				"file": func(from *Source, _ string) { *from = inFile(line) },
				"env":  func(from *Source, v string) { from.Env = map[string]string{s.Env(): v} },
				"flag": func(from *Source, v string) { from.Flags = []Flag{{"--set", s.Key, v}} },
			}
			for kind, set := range from {
				var source Source
				set(&source, text)
				if kind == "flag" { // what it must win over
					from["env"](&source, s.Text(Default()))
				}
				got, err := Read(source)
				if err != nil {
					t.Errorf("from %s: %v", kind, err)
					continue
				}
				if diff := gocmp.Diff(want, s.Value(got.Config)); diff != "" {
					t.Errorf("from %s (-want +got):\n%s", kind, diff)
				}
				if o := got.Origin(s.Key); o.Kind != kind {
					t.Errorf("origin = %s, want %s", o, kind)
				}
			}
		})
	}
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
		{"InGPU", "classes:\n  small: {cpu: 2, mem: 4096, gpu: {maker: amd}}\n", `r.yaml:2: unknown key "classes.small.gpu.maker": known here are count, manufacturer, mem`},
		{"IdleZero", "classes:\n  small: {cpu: 2, mem: 4096}\n  large:\n    idle: 0s\n", `r.yaml:4: classes.large.idle: must be at least 1s, such as 7m, got "0s"`},
		{"Section", "limit:\n  idle: 5m\n", "r.yaml:1: unknown key \"limit\""},
		{"Merged", "limits: {idle: 5m}\n<<: {name: a}\n", `r.yaml:2: unknown key "<<"`},
		{"WithoutEnd", "process: &a\n  types: [*a]\n", `r.yaml:2: process.types: yaml: unknown anchor`},
		{"Null", "store:\n", `r.yaml:1: store: must be a single value`},
		{"Twice", "name: a\nname: b\n", `r.yaml:2: key "name": given twice, first in line 1`},
		{"ClassTwice", "classes:\n  small: {cpu: 2, mem: 4096}\n  small: {cpu: 4, mem: 8192}\n", `r.yaml:3: classes.small: mapping key "small" already defined`},
		{"Duration", "limits:\n  idle: 5\n", `r.yaml:2: limits.idle: must be a duration such as 250ms, 30s or 5m, got "5"`},
		{"Number", "requests:\n  maxCount: 1.5\n", `r.yaml:2: requests.maxCount: must be a whole number, got "1.5"`},
		{"Negative", "process:\n  seed: -1\n", `r.yaml:2: process.seed: must be a whole number from 0, got "-1"`},
		{"YesOrNo", "runs:\n  rerunLost: 1\n", `r.yaml:2: runs.rerunLost: must be true or false, got "1"`},
		{"Rate", "process:\n  refusalRate: often\n", `r.yaml:2: process.refusalRate: must be a number, got "often"`},
		{"ListForValue", "name: [a, b]\n", `r.yaml:1: name: must be a single value`},
		{"ValueForSection", "limits: 5m\n", `r.yaml:1: limits: must hold keys and values`},
		{"ValueForList", "process:\n  types: c6i.large\n", `r.yaml:2: process.types: must be a list such as [a, b], got "c6i.large"`},
		{"ClassText", "classes:\n  small:\n    mem: 4096\n    cpu: two\n", `r.yaml:4: classes.small.cpu: must be a whole number, got "two"`},
		{"Element", "process:\n  types:\n  - {name: a, cpu: 1, mem: 1}\n  - {name: b, cpu: x, mem: 1}\n", `r.yaml:4: process.types[1].cpu: must be a whole number, got "x"`},
		{"ClassFraction", "classes:\n  small: {cpu: 1.5, mem: 4096}\n", `r.yaml:2: classes.small.cpu: must be a whole number, got "1.5"`},
		{"PerArchList", "ec2:\n  ami: [ami-1]\n", `r.yaml:2: ec2.ami: must be a text, or a mapping of x86_64 and arm64 to one each`},
		{"PerArchNull", "ec2:\n  ami:\n", `r.yaml:2: ec2.ami: must be a text, or a mapping`},
		{"PerArchUnknown", "ec2:\n  ami: {amd64: ami-1}\n", `r.yaml:2: ec2.ami: unknown architecture "amd64": known are x86_64, arm64`},
		{"PerArchEmpty", "ec2:\n  ami: {arm64: }\n", `r.yaml:2: ec2.ami: must not be empty for arm64: leave it out`},
		{"PerArchTwice", "ec2:\n  ami:\n    arm64: ami-1\n    arm64: ami-2\n", `r.yaml:4: ec2.ami.arm64: mapping key "arm64" already defined`},
		{"NoMapping", "- name\n", `r.yaml:1: the file: must hold keys and values`},
		{"TwoDocuments", "name: a\n---\nname: b\n", `r.yaml:2: must hold one YAML document only`},
		{"Malformed", "name: {a\n", `r.yaml: yaml: line 1`},
		{"AllAtOnce", "nam: a\nlimits:\n  idle: x\n", "r.yaml:1: unknown key \"nam\": did you mean name?\nr.yaml:3: limits.idle: must be"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Read(inFile(tt.file)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Read = %v, want %s…", err, tt.want)
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
		{"Anchors", "limits: {idle: 7m, claimed: &c 5m, visibility: *c}\n"},
		{"Zero", "process: {bootDelay: 0}\n"},
		{"Quoted", "caps:\n  maxInstances: \"100\"\nclasses: {small: {cpu: \"2\", mem: 4096}, medium: {cpu: 4, mem: 8192}, large: {cpu: 8, mem: 16384}, xlarge: {cpu: 16, mem: 32768}}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := inFile(tt.file)
			source.Env = map[string]string{"REMUDA_LEASE_TTL": "", "REMUDA_UNRELATED": "1"}
			got, err := Read(source)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(Default(), got.Config); diff != "" {
				t.Errorf("configuration (-defaults +got):\n%s", diff)
			}
		})
	}
}

func TestConfig_SourcesNameThemselves(t *testing.T) {
	tests := []struct {
		name string
		from Source
		want string
	}{
		{"Env", Source{Env: map[string]string{"REMUDA_LIMITS_IDLE": "5"}}, `REMUDA_LIMITS_IDLE: limits.idle: must be a duration`},
		{"EnvMap", Source{Env: map[string]string{"REMUDA_CLASSES": "{small: {cpu: two}}"}}, `REMUDA_CLASSES: classes.small.cpu: must be a whole number, got "two"`},
		{"EnvMapMalformed", Source{Env: map[string]string{"REMUDA_CLASSES": "{small"}}, `REMUDA_CLASSES: classes: must be YAML on one line`},
		{"Set", Source{Flags: []Flag{{"--set", "limits.idle", "5"}}}, `--set: limits.idle: must be a duration`},
		{"SetPerArch", Source{Flags: []Flag{{"--set", "ec2.ami", "{x86_64: ami-1, mips: ami-2}"}}}, `--set: ec2.ami: unknown architecture "mips"`},
		{"SetUnknown", Source{Flags: []Flag{{"--set", "limit.idle", "5m"}}}, `--set: unknown key "limit.idle": did you mean limits.idle?`},
		{"SetNothingLikeIt", Source{Flags: []Flag{{"--set", "zzzzzzzzzzzzzzzzzzzz", "1"}}}, "--set: unknown key \"zzzzzzzzzzzzzzzzzzzz\": `remuda config` lists all keys"},
		{"NoFile", Source{File: "absent.yaml", ReadFile: os.ReadFile}, `read configuration: open absent.yaml`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Read(tt.from); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read = %v, want %s", err, tt.want)
			}
		})
	}
}

// A variable that is nearly named as one of ours is taken for it, and refused; any other is somebody's own.
func TestConfig_MistypedVariables(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"REMUDA_LIMTS_IDLE", "REMUDA_LIMITS_IDLE"}, {"REMUDA_LIMITS_IDEL", "REMUDA_LIMITS_IDLE"}, {"REMUDA_LIMITS_CLAIMGATE", "REMUDA_LIMITS_CLAIM_GATE"},
		{"REMUDA_STORES", "REMUDA_STORE"}, {"REMUDA_CONFG", EnvFile}, {"REMUDA_GITHUB_TOKN", "REMUDA_GITHUB_TOKEN"},
		{"REMUDA_ROLE", ""}, {"REMUDA_ROOT", ""}, {"REMUDA_SIMULATED_TOKEN", ""}, {"LIMTS_IDLE", ""},
	} {
		_, err := Read(Source{Env: map[string]string{tt.name: "5m"}})
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: error = %v, want none", tt.name, err)
		case tt.want != "" && (err == nil || err.Error() != fmt.Sprintf("%s: unknown variable: did you mean %s?", tt.name, tt.want)):
			t.Errorf("%s: error = %v, want one that names %s", tt.name, err, tt.want)
		}
	}
	if _, err := Read(Source{Env: map[string]string{"REMUDA_LIMTS_IDLE": "", "REMUDA_GITHUB_TOKENS": "x", "REMUDA_GITHUB_TOKEN_ENV": "REMUDA_GITHUB_TOKENS"}}); err != nil {
		t.Errorf("error = %v of an empty variable and of that which holds the token, want none", err)
	}
}

// The example changes nothing as it is, and nothing with every setting uncommented: it shows the defaults.
func TestConfig_ExampleIsTheDefaults(t *testing.T) {
	uncommented := Example()
	for _, s := range settings {
		indent, name := "", s.Key
		if _, child, nested := strings.Cut(s.Key, "."); nested {
			indent, name = "  ", child
		}
		line := fmt.Sprintf("%s: %s\n", name, s.yaml(Default()))
		before := uncommented
		uncommented = strings.ReplaceAll(uncommented, "\n"+indent+"# "+line, "\n"+indent+line)
		if uncommented == before && !strings.Contains(before, "\n"+indent+line) { // another section's of the same name was there
			t.Errorf("the example lacks %q", line)
		}
	}
	for name, text := range map[string]string{"AsItIs": Example(), "Uncommented": uncommented} {
		l, err := Read(inFile(text))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		for _, s := range settings {
			if a, b := s.Text(Default()), s.Text(l.Config); a != b {
				t.Errorf("%s: %s = %s, want the default %s", name, s.Key, b, a)
			}
			if want := map[string]string{"AsItIs": "default", "Uncommented": "file"}[name]; l.Origin(s.Key).Kind != want {
				t.Errorf("%s: origin of %s = %s, want %s", name, s.Key, l.Origin(s.Key), want)
			}
		}
	}
}

// What the controller writes for its agents, they read back: every value survives.
func TestConfig_WrittenIsRead(t *testing.T) {
	var all []Flag
	for _, s := range settings {
		text, _ := sample(s)
		all = append(all, Flag{"--set", s.Key, text})
	}
	want, err := Read(Source{Flags: all})
	if err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]Config{"Defaults": Default(), "AllOther": want.Config} {
		text, err := yaml.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(inFile(string(text)))
		if err != nil {
			t.Errorf("%s: %v in\n%s", name, err, text)
			continue
		}
		for _, s := range settings {
			if a, b := s.Text(cfg), s.Text(got.Config); a != b {
				t.Errorf("%s: %s = %s, want %s", name, s.Key, b, a)
			}
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
		if got := s.Env(); !ok || got != want {
			t.Errorf("env of %s = %s, want %s", key, got, want)
		}
	}
}

// LimitsConfig must stay convertible: the names in the file are those of package statemachine.
func TestConfig_LimitsNames(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Limits]()) {
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
		if got := (GitHub{URL: tc.url, Repository: tc.repository}).Serves(); got != tc.want {
			t.Errorf("serves() with url %q and repository %q = %q, want %q", tc.url, tc.repository, got, tc.want)
		}
	}
}
