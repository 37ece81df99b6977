package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler"
)

// onEC2 returns an installation on EC2 with one class.
func onEC2(class Class) Config {
	c := Default()
	c.Fleet, c.Agent.RunnerUser = "ec2://prod?region=eu-west-1", "ci"
	c.Classes = map[string]Class{"one": class}
	return c
}

// Each field of a class, wrong once: the error names it, what is allowed and what was given. The forms of ids are ec2fleet's.
func TestClass_EachFieldWrongOnce(t *testing.T) {
	tested := map[string]bool{"cpu": true, "mem": true, "ami": true, "subnets": true, "securityGroups": true, "instanceProfile": true} // S90, ec2fleet
	for _, tt := range []struct {
		field, want string
		change      func(*Class)
	}{
		{"scrub", `must be one of none, workspace, full, terminate, got "all"`, func(c *Class) { c.Scrub = "all" }},
		{"idle", "must be at least 1s, such as 7m, got 5ns", func(c *Class) { c.Idle = 5 }},
		{"cap", "must be at least 0, got -1", func(c *Class) { c.Cap = -1 }},
		{"arch", `must be one of x86_64, arm64, got "amd64"`, func(c *Class) { c.Arch = "amd64" }},
		{"rootVolume", "must be 0 to 16384, got -8", func(c *Class) { c.RootVolume = -8 }},
		{"rootVolume", "must be 0 to 16384, got 16385", func(c *Class) { c.RootVolume = 16385 }},
		{"gpu.count", "must be at least 0, got -1", func(c *Class) { c.GPU.Count = -1 }},
		{"gpu.count", "must be at least 1 with a manufacturer or mem, got 0", func(c *Class) { c.GPU.Mem = 1024 }},
		{"gpu.manufacturer", `must be one of nvidia, amd, habana, got "NVIDIA"`, func(c *Class) { c.GPU = GPU{Count: 1, Manufacturer: "NVIDIA"} }},
		{"gpu.mem", "must be at least 0, got -1", func(c *Class) { c.GPU = GPU{Count: 1, Mem: -1} }},
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
	for key, text := range map[string]string{"burstable": "{cpu: 2, mem: 1, burstable: maybe}", "exclude": "{cpu: 2, mem: 1, exclude: m5.large}"} { // of another kind
		if _, err := Read(inFile("classes: {one: " + text + "}")); err == nil || !strings.Contains(err.Error(), "r.yaml:1: classes.one."+key+": cannot unmarshal") {
			t.Errorf("Read of %s = %v", text, err)
		}
		tested[key] = true
	}
	for _, field := range ClassFields() {
		if !tested[field[0]] || field[1] == "" {
			t.Errorf("field %s is not tried, or has no doc line", field[0])
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
	c.EC2.BinaryURL = PerArch{ArchX86: "https://example.org/remuda"}
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
		c.Classes, c.Agent.RunnerUser = map[string]Class{"small": {CPU: 1, Mem: 1, Scrub: "full"}}, "ci"
		change(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: Validate() = %v", name, err)
		}
	}
}

// Elsewhere it is refused.
func TestConfig_ScrubFull_WhereItCannot(t *testing.T) {
	c := Default()
	c.Classes, c.Agent.RunnerUser = map[string]Class{"small": {CPU: 1, Mem: 1, Scrub: "full"}}, "ci"
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
		{"CPUZero", "no such machine", map[string]Class{"a": {CPU: 0, Mem: 4096}}, "classes.a.cpu: must be greater than 0, got 0"},
		{"CPUNegative", "no such machine", map[string]Class{"a": {CPU: -2, Mem: 4096}}, "classes.a.cpu: must be greater than 0, got -2"},
		{"MemZero", "no such machine", map[string]Class{"a": {CPU: 2, Mem: 0}}, "classes.a.mem: must be greater than 0, got 0"},
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
	c.Classes = map[string]Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 16, Mem: 65536, Idle: time.Minute, Cap: 3}}
	want := map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 16, Mem: 65536, Idle: time.Minute, Cap: 3}}
	if got := c.Controller("c1").Classes; !reflect.DeepEqual(got, want) {
		t.Errorf("classes of the controller = %+v, want %+v", got, want)
	}
}
