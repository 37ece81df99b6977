package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
)

// onEC2 returns an installation on EC2 with one class.
func onEC2(class Class) Config {
	c := Default()
	c.Fleet, c.Agent.RunnerUser = "ec2://prod?region=eu-west-1", "ci"
	c.Classes = map[string]Class{"one": class}
	return c
}

// entry gives the floor of a class an entry of its schedule.
func entry(e WarmEntry) func(*Class) {
	return func(c *Class) { c.Warm.Schedule = []WarmEntry{e} }
}

// Each field of a class, wrong once: the error names it, what is allowed and what was given.
func TestClass_EachFieldWrongOnce(t *testing.T) {
	tested := map[string]bool{}
	for _, tt := range []struct {
		field, want string
		change      func(*Class)
	}{
		{"cpu", "must be 1 to 2147483647, got 0", func(c *Class) { c.CPU = 0 }},
		{"mem", "must be 512 to 2147483647 MiB, got -1", func(c *Class) { c.Mem = -1 }},
		{"cpu", "must be 1 to 2147483647, got 2147483648", func(c *Class) { c.CPU = 1 << 31 }},
		{"mem", "must be 512 to 2147483647 MiB, got 2147483648", func(c *Class) { c.Mem = 1 << 31 }},
		{"gpu.count", "must be 0 to 2147483647, got 2147483648", func(c *Class) { c.GPU.Count = 1 << 31 }},
		{"gpu.mem", "must be 0, or 512 to 2147483647 MiB, got 2147483648", func(c *Class) { c.GPU = GPU{Count: 1, Mem: 1 << 31} }},
		{"ami", `must be an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter, got "foo"`, func(c *Class) { c.AMI = "foo" }},
		{"ami", `must be an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter, got "resolve:ssm:"`, func(c *Class) { c.AMI = "resolve:ssm:" }},
		{"subnets[0]", `must be an id such as subnet-0123456789abcdef0, got "foo"`, func(c *Class) { c.Subnets = []string{"foo"} }},
		{"subnets[1]", `must be named once, got "subnet-00000001"`, func(c *Class) { c.Subnets = []string{"subnet-00000001", "subnet-00000001"} }},
		{"securityGroups[0]", `must be an id such as sg-0123456789abcdef0, got "default"`, func(c *Class) { c.SecurityGroups = []string{"default"} }},
		{"instanceProfile", `must be the name or the ARN of an instance profile, got "a b"`, func(c *Class) { c.InstanceProfile = "a b" }},
		{"exclude[0]", `must be a pattern that leaves some type, got "*"`, func(c *Class) { c.Exclude = []string{"*"} }},
		{"exclude[0]", `must be a pattern that leaves some type, got "*.**"`, func(c *Class) { c.Exclude = []string{"*.**"} }},
		{"scrub", `must be one of none, workspace, full, terminate, got "all"`, func(c *Class) { c.Scrub = "all" }},
		{"idle", "must be at least 1s, such as 7m, got 5ns", func(c *Class) { c.Idle = 5 }},
		{"cap", "must be at least 0, got -1", func(c *Class) { c.Cap = -1 }},
		{"warm.min", "must be 0 to 100, which caps.maxInstances allows to live at once, got 101", func(c *Class) { c.Warm.Min = 101 }},
		{"warm.min", "must be 0 to 2, which classes.one.cap allows to live at once, got 3", func(c *Class) { c.Cap, c.Warm.Min = 2, 3 }},
		{"warm.min", "must be 0 to 100, which caps.maxInstances allows to live at once, got -1", func(c *Class) { c.Warm.Min = -1 }},
		{"warm.max", "must be 0, or at least every min, here 2, got 1", func(c *Class) { c.Warm.Min, c.Warm.Max = 2, 1 }},
		{"warm.maxAge", "must be at least 30m0s, such as 24h, got 1m0s", func(c *Class) { c.Warm.MaxAge = time.Minute }},
		{"warm.usage[0]", `must be one of spot, on-demand, got "cheap"`, func(c *Class) { c.Warm.Usage = []string{"cheap"} }},
		{"warm.usage[1]", `must be named once, got "spot"`, func(c *Class) { c.Warm.Usage = []string{"spot", "spot"} }},
		{"warm", "must be without a min with scrub terminate, which keeps no machine, got more", func(c *Class) { c.Scrub, c.Warm.Min = "terminate", 1 }},
		{"warm.schedule[0].min", "must be 0 to 100, which caps.maxInstances allows to live at once, got 101", entry(WarmEntry{nil, "08:00", "09:00", "", 101})},
		{"warm.schedule[0].days[1]", `must be one of mon, tue, wed, thu, fri, sat, sun, got "monday"`, entry(WarmEntry{[]string{"tue", "monday"}, "08:00", "09:00", "", 1})},
		{"warm.schedule[0].from", `must be a time of day such as 08:00, at most 24:00, got "8"`, entry(WarmEntry{nil, "8", "09:00", "", 1})},
		{"warm.schedule[0].from", `must be before 24:00, got "24:00"`, entry(WarmEntry{nil, "24:00", "09:00", "", 1})},
		{"warm.schedule[0].to", `must be a time of day such as 08:00, at most 24:00, got ""`, entry(WarmEntry{nil, "08:00", "", "", 1})},
		{"warm.schedule[0].to", `must be another time than from; a whole day is 00:00 to 24:00, got "08:00"`, entry(WarmEntry{nil, "08:00", "08:00", "", 1})},
		{"warm.schedule[0].timezone", `must be a zone of the IANA time zone database such as Europe/Berlin, got "CEST"`, entry(WarmEntry{nil, "08:00", "09:00", "CEST", 1})},
		{"arch", `must be one of x86_64, arm64, got "amd64"`, func(c *Class) { c.Arch = "amd64" }},
		{"rootVolume", "must be 0 to 16384, got -8", func(c *Class) { c.RootVolume = -8 }},
		{"rootVolume", "must be 0 to 16384, got 16385", func(c *Class) { c.RootVolume = 16385 }},
		{"gpu.count", "must be 0 to 2147483647, got -1", func(c *Class) { c.GPU.Count = -1 }},
		{"gpu.count", "must be at least 1 with a manufacturer or mem, got 0", func(c *Class) { c.GPU.Mem = 1024 }},
		{"gpu.manufacturer", `must be one of nvidia, amd, habana, got "NVIDIA"`, func(c *Class) { c.GPU = GPU{Count: 1, Manufacturer: "NVIDIA"} }},
		{"mem", "must be 512 to 2147483647 MiB, got 4", func(c *Class) { c.Mem = 4 }},
		{"gpu.mem", "must be 0, or 512 to 2147483647 MiB, got 16", func(c *Class) { c.GPU = GPU{Count: 1, Mem: 16} }},
		{"gpu.mem", "must be 0, or 512 to 2147483647 MiB, got -1", func(c *Class) { c.GPU = GPU{Count: 1, Mem: -1} }},
		{"exclude[1]", `may hold letters, digits, '.', '-' and '*', got "m5 large"`, func(c *Class) { c.Exclude = []string{"c5.*", "m5 large"} }},
	} {
		class := Class{CPU: 2, Mem: 4096}
		tt.change(&class)
		err := onEC2(class).Validate()
		if want := "classes.one." + tt.field + ": " + tt.want; err == nil || err.Error() != want {
			t.Errorf("Validate() = %v, want %s", err, want)
		}
		name, _, _ := strings.Cut(tt.field, ".")
		name, _, _ = strings.Cut(name, "[")
		tested[name] = true
	}
	for text, want := range map[string]string{ // of another kind
		"cpu: two":                             `cpu: must be a whole number, got "two"`,
		"idle: 5":                              "idle: must be a duration such as 250ms, 30s or 5m, got 5",
		"burstable: maybe":                     `burstable: must be true or false, got "maybe"`,
		"exclude: m5.large":                    `exclude: must be a list such as [a, b], got "m5.large"`,
		"subnets: {a: b}":                      "subnets: must be a list such as [a, b], got a mapping",
		"ami: {x86_64: ami-1}":                 "ami: must be a text, got a mapping",
		"arch: [arm64, b]":                     "arch: must be a text, got a list",
		"subnets: [[b]]":                       "subnets[0]: must be a text, got a list",
		"cap: [[1]]":                           "cap: must be a whole number, got a list",
		"securityGroups: sg-0123456789abcdef0": `securityGroups: must be a list such as [a, b], got "sg-0123456789abcdef0"`, // in full
		"gpu: 1":                               "gpu: must be a mapping of count, manufacturer, mem, got 1",
		"gpu: [1]":                             "gpu: must be a mapping of count, manufacturer, mem, got a list",
		"warm: 3":                              "warm: must be a mapping of min, max, maxAge, usage, schedule, got 3",
		"warm: {schedule: [1]}":                "warm.schedule[0]: must be a mapping of days, from, to, timezone, min, got 1",
		"warm: {schedule: {min: 1}}":           "warm.schedule: must be a list such as [a, b], got a mapping",
		"warm: {maxAge: 1}":                    "warm.maxAge: must be a duration such as 250ms, 30s or 5m, got 1",
		"gpu: {count: many}":                   `gpu.count: must be a whole number, got "many"`,
		"exclude: [&a a, [*a]]":                "exclude[1]: must be a text, got a list",
		"ami: &a text, rootVolume: *a":         `rootVolume: must be a whole number, got "text"`,
	} {
		if _, err := Read(inFile("classes: {one: {" + text + "}}")); err == nil || err.Error() != "r.yaml:1: classes.one."+want {
			t.Errorf("Read of %s = %v, want %s", text, err, want)
		}
		key, _, _ := strings.Cut(text, ":")
		tested[key] = true
	}
	for _, field := range ClassFields() {
		if !tested[field[0]] || field[1] == "" {
			t.Errorf("field %s is not tried, or has no doc line", field[0])
		}
	}
}

// All fields as the documentation writes them, in a file and on one line.
func TestClass_EveryFieldIsRead(t *testing.T) {
	const text = `{cpu: 8, mem: "16384", scrub: full, idle: 20m, cap: 3, arch: arm64, ami: ami-00000001, rootVolume: 40, subnets: [subnet-00000001], ` +
		`securityGroups: [sg-00000001], instanceProfile: gpu, warm: {min: 1, max: 3, maxAge: 12h, usage: [spot], schedule: [{days: [mon], from: 08:00, to: "18:00", timezone: Europe/Berlin, min: 2}]}, gpu: {count: 1, manufacturer: nvidia, mem: 8192}, burstable: true, exclude: [c5a.*, '*.metal']}`
	want := Class{
		CPU: 8, Mem: 16384, Scrub: "full", Idle: 20 * time.Minute, Cap: 3, Arch: ArchARM, AMI: "ami-00000001", RootVolume: 40, Subnets: []string{"subnet-00000001"},
		SecurityGroups: []string{"sg-00000001"}, InstanceProfile: "gpu", GPU: GPU{1, "nvidia", 8192}, Burstable: true, Exclude: []string{"c5a.*", "*.metal"},
		Warm: Warm{Min: 1, Max: 3, MaxAge: 12 * time.Hour, Usage: []string{"spot"}, Schedule: []WarmEntry{{[]string{"mon"}, "08:00", "18:00", "Europe/Berlin", 2}}},
	}
	for f, v := range reflect.ValueOf(want).Fields() {
		if v.IsZero() {
			t.Errorf("field %s is not tried", f.Name)
		}
	}
	for name, from := range map[string]Source{
		"File": inFile("classes: {one: " + text + "}\nec2: {tags: {on: true}}"),
		"Flag": {Flags: []Flag{{"--set", "classes", "{one: " + text + "}"}, {"--set", "ec2.tags", "{on: true}"}}},
	} {
		got, err := Read(from)
		if err != nil || !reflect.DeepEqual(got.Classes["one"], want) || got.EC2.Tags["on"] != "true" {
			t.Errorf("%s: Read = %+v, tags %v, %v", name, got.Classes["one"], got.EC2.Tags, err)
		}
	}
}

// What EC2 makes says nothing to a process fleet, and program and runner are there for each architecture.
func TestClass_WhereItsMachinesAre(t *testing.T) {
	local := Default()
	local.Classes = map[string]Class{"one": {CPU: 2, Mem: 4096, Arch: ArchARM}}
	if err := local.Validate(); err == nil || !strings.HasPrefix(err.Error(), "classes.one: must be without what is for an ec2 fleet alone") {
		t.Errorf("Validate() on a process fleet = %v", err)
	}
	c := onEC2(Class{CPU: 2, Mem: 4096, Arch: ArchARM})
	c.EC2.BinaryURL, c.EC2.BinarySHA256 = PerArch{ArchX86: "https://example.org/remuda"}, EveryArch(strings.Repeat("0a", 32))
	if err := c.Validate(); err == nil || err.Error() != `ec2.binaryUrl.arm64: must be set, since classes.one is of that architecture, got ""` {
		t.Errorf("Validate() without a program for arm64 = %v", err)
	}
	c.EC2.BinaryURL[ArchARM] = "https://example.org/remuda-arm64"
	if err := c.Validate(); err != nil {
		t.Errorf("Validate() = %v", err)
	}
}

// The level full is for machines whose runner's user is one instance's alone.
func TestConfig_ScrubFull_WhereItCanBeKept(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"EC2": func(c *Config) { c.Fleet = "ec2://prod?region=eu-west-1" }, "OneProcess": func(c *Config) { c.Process.Capacity = 1 },
	} {
		c := Default()
		c.Classes, c.Agent.RunnerUser = map[string]Class{"small": {CPU: 1, Mem: 512, Scrub: "full"}}, "ci"
		change(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: Validate() = %v", name, err)
		}
	}
}

// Elsewhere it is refused.
func TestConfig_ScrubFull_WhereItCannot(t *testing.T) {
	c := Default()
	c.Classes, c.Agent.RunnerUser = map[string]Class{"small": {CPU: 1, Mem: 512, Scrub: "full"}}, "ci"
	const want = `classes.small.scrub: must be less than full without an agent.runnerUser that is not root, and on a process fleet without process.capacity 1, got "full"`
	if err := c.Validate(); err == nil || err.Error() != want {
		t.Errorf("Validate() = %v, want %s", err, want)
	}
}

// S90: the vector of the prototype's class configuration.
func TestConfig_S90_Classes(t *testing.T) {
	tests := []struct {
		name, reason string
		classes      map[string]Class
		want         string // "" means accepted
	}{
		{"Several", "sizes have no order", map[string]Class{"b": {CPU: 4, Mem: 8192}, "a": {CPU: 2, Mem: 4096}}, ""},
		{"SameCPU", "two kinds of one size", map[string]Class{"a": {CPU: 2, Mem: 4096}, "b": {CPU: 2, Mem: 4096}}, ""},
		{"LessMem", "compute beside memory", map[string]Class{"a": {CPU: 2, Mem: 16384}, "b": {CPU: 4, Mem: 8192}}, ""},
		{"None", "nothing could ever be asked for", nil, "classes: must be at least one class, got none"},
		{"CPUZero", "no such machine", map[string]Class{"a": {CPU: 0, Mem: 4096}}, "classes.a.cpu: must be 1 to 2147483647, got 0"},
		{"CPUNegative", "no such machine", map[string]Class{"a": {CPU: -2, Mem: 4096}}, "classes.a.cpu: must be 1 to 2147483647, got -2"},
		{"MemZero", "no such machine", map[string]Class{"a": {CPU: 2, Mem: 0}}, "classes.a.mem: must be 512 to 2147483647 MiB, got 0"},
		{"Name", "it becomes part of queue names", map[string]Class{"Big One": {CPU: 2, Mem: 4096}}, `classes.Big One: must be named by 1 to 32 of a-z, 0-9 and -, got "Big One"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Default()
			c.Classes = tt.classes
			err := c.Validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("%s: Validate() = %v, want nil", tt.reason, err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: Validate() = %v, want %s", tt.reason, err, tt.want)
			}
		})
	}
}

// S90: the controller knows each class as it is configured.
func TestConfig_ClassesReachTheController_S90(t *testing.T) {
	c := Default()
	c.Classes = map[string]Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 16, Mem: 65536, Idle: time.Minute, Cap: 3, Warm: Warm{
		Min: 1, Schedule: []WarmEntry{{[]string{"sun"}, "22:30", "06:00", "Europe/Berlin", 2}},
	}}}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}, "large": {
		CPU: 16, Mem: 65536, Idle: time.Minute, Cap: 3, Floor: reconciler.Floor{
			MaxAge: 24 * time.Hour, UsageClasses: []string{"spot", "on-demand"}, Schedule: schedule.Schedule{Base: 1, Entries: []schedule.Entry{
				{Days: []time.Weekday{time.Sunday}, From: 22*60 + 30, To: 6 * 60, Location: berlin, Min: 2},
			}},
		},
	}}
	if got := c.Controller("c1").Classes; !reflect.DeepEqual(got, want) {
		t.Errorf("classes of the controller = %+v, want %+v", got, want)
	}
}
