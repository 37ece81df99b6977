package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/ec2form"
	"github.com/remuda-run/remuda/internal/glob"
)

// Class is a resource class: what a machine of it is, and what becomes of it. An empty field of those below Warm is
// for EC2 alone, where it is as section ec2 says.
type Class struct {
	CPU   int           `yaml:"cpu" doc:"vCPUs, exactly"`
	Mem   int           `yaml:"mem" doc:"MiB, at least"`
	Scrub string        `yaml:"scrub,omitempty" doc:"what is removed between two runs: none, workspace, full or terminate; by default full on EC2, if jobs have a user other than root, else workspace; see docs/security.md"`
	Idle  time.Duration `yaml:"idle,omitempty" doc:"how long a machine of it is kept warm; empty: limits.idle"`
	Cap   int           `yaml:"cap,omitempty" doc:"instances of it that are not terminated, at once; 0: caps.maxInstances alone bounds them"`
	Warm  Warm          `yaml:"warm,omitempty" doc:"machines kept idle while nobody asks: {min; max: idle at most, 0: no bound; maxAge: 24h; usage: [spot, on-demand]; schedule: [{days: [mon, tue], from: '08:00', to: '18:00', timezone: Europe/Berlin, min}]}; see docs/operating.md"`

	Arch            string   `yaml:"arch,omitempty" doc:"architecture: x86_64 (default) or arm64"`
	AMI             string   `yaml:"ami,omitempty" doc:"image, as ec2.ami; empty: that"`
	RootVolume      int      `yaml:"rootVolume,omitempty" doc:"size of the root volume in GiB; 0: ec2.rootVolume"`
	Subnets         []string `yaml:"subnets,omitempty" doc:"ids of its subnets; empty: ec2.subnets"`
	SecurityGroups  []string `yaml:"securityGroups,omitempty" doc:"ids of its security groups; empty: ec2.securityGroups"`
	InstanceProfile string   `yaml:"instanceProfile,omitempty" doc:"name or ARN of its instance profile, whose role has deploy/iam/agent.json; empty: ec2.instanceProfile"`
	GPU             GPU      `yaml:"gpu,omitempty" doc:"GPUs: {count, exactly; manufacturer: nvidia, amd or habana, empty: any; mem: MiB of all of them, at least}; without a count types with accelerators must be named by requests"`
	Burstable       bool     `yaml:"burstable,omitempty" doc:"true: also types whose performance is burstable (t3, t4g, …)"`
	Exclude         []string `yaml:"exclude,omitempty" doc:"patterns of instance types that it never has, such as [c5a.*, '*.metal']"`
}

// GPU is what a class demands of GPUs.
type GPU struct {
	Count        int    `yaml:"count,omitempty"`
	Manufacturer string `yaml:"manufacturer,omitempty"`
	Mem          int    `yaml:"mem,omitempty"` // MiB, of all
}

// Makers are the makers of GPUs that EC2 has (EC2 API, InstanceRequirementsRequest).
func Makers() []string { return []string{"nvidia", "amd", "habana"} }

// Architecture is that of the machines of c.
func (c Class) Architecture() string { return cmp.Or(c.Arch, ArchX86) }

// InstanceProfiles are all that machines get, in order.
func (c Config) InstanceProfiles() []string {
	var out []string
	for _, class := range c.Classes {
		out = append(out, cmp.Or(class.InstanceProfile, c.EC2.InstanceProfile))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ArchitecturesUsed are those of the classes, in order.
func (c Config) ArchitecturesUsed() []string {
	return slices.DeleteFunc(Architectures(), func(arch string) bool {
		for _, class := range c.Classes {
			if class.Architecture() == arch {
				return false
			}
		}
		return true
	})
}

// ClassFields returns name and meaning of every field of a class, in order.
func ClassFields() [][2]string {
	var out [][2]string
	for f := range reflect.TypeFor[Class]().Fields() {
		out = append(out, [2]string{fieldName(f), f.Tag.Get("doc")})
	}
	return out
}

// fieldsOf are the names of a struct's fields in the file.
func fieldsOf(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		names = append(names, fieldName(f))
	}
	return names
}

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// forEC2 are the fields that say what EC2 makes.
func (c Class) forEC2() Class {
	c.CPU, c.Mem, c.Scrub, c.Idle, c.Cap, c.Warm = 0, 0, "", 0, 0, Warm{}
	return c
}

// leastIdle refuses a number without a unit, which YAML takes for nanoseconds.
const leastIdle = time.Second

// wantIdle is what a class's idle may be.
var wantIdle = fmt.Sprintf("at least %s, such as 7m", leastIdle)

// zeroIdle refuses an idle of zero in the text of classes: once read it is as if none were given.
func zeroIdle(classes *yaml.Node) (wrong []problem) {
	for i := 1; classes.Kind == yaml.MappingNode && i < len(classes.Content); i += 2 {
		class := classes.Content[i]
		for j := 1; class.Kind == yaml.MappingNode && j < len(class.Content); j += 2 {
			value := class.Content[j]
			if d, err := time.ParseDuration(value.Value); class.Content[j-1].Value == "idle" && err == nil && d == 0 && value.Value != "0" { // 0 is no duration
				wrong = append(wrong, problem{value.Line, fmt.Errorf("classes.%s.idle: must be %s, got %q", classes.Content[i-1].Value, wantIdle, value.Value)})
			}
		}
	}
	return wrong
}

// leastMem is the memory of the smallest instance types. Smaller numbers were probably meant as GiB.
const leastMem = 512

// mostUnits is the greatest number that EC2 takes for vCPUs, MiB and GPUs (EC2 API, InstanceRequirementsRequest: Integer).
const mostUnits = math.MaxInt32

func (c Config) validateClasses(p *problems) {
	p.check(len(c.Classes) > 0, "classes", "at least one class", word("none"))
	for _, name := range slices.Sorted(maps.Keys(c.Classes)) {
		class, field := c.Classes[name], "classes."+name
		p.check(nameForm().MatchString(name), field, "named by 1 to 32 of a-z, 0-9 and -", name)
		p.check(class.CPU > 0 && class.CPU <= mostUnits, field+".cpu", fmt.Sprintf("1 to %d", mostUnits), class.CPU)
		p.check(class.Mem >= leastMem && class.Mem <= mostUnits, field+".mem", fmt.Sprintf("%d to %d MiB", leastMem, mostUnits), class.Mem)
		p.check(class.Idle == 0 || class.Idle >= leastIdle, field+".idle", wantIdle, class.Idle)
		p.check(class.Cap >= 0, field+".cap", "at least 0", class.Cap)
		c.validateWarm(p, field, class)
		class.validateScrub(p, field, c.Alone())
		class.validateMachine(p, field)
		c.validateSite(p, field, class)
	}
}

// validateScrub refuses a level that this fleet cannot keep: full removes all that is the runner's
// user's, so no other instance may use the computer.
func (c Class) validateScrub(p *problems, field string, alone bool) {
	if c.Scrub != "" {
		p.oneOf(field+".scrub", c.Scrub, scrub.Levels()...)
	}
	p.check(alone || c.Scrub != string(scrub.Full), field+".scrub",
		"less than full without an agent.runnerUser that is not root, and on a process fleet without process.capacity 1", c.Scrub)
}

// validateMachine checks what EC2 makes.
func (c Class) validateMachine(p *problems, field string) {
	p.oneOf(field+".arch", c.Architecture(), Architectures()...)
	p.id(field+".ami", c.AMI, ec2form.Image)
	p.rootVolume(field+".rootVolume", c.RootVolume)
	p.site(field, c.Subnets, c.SecurityGroups, c.InstanceProfile)
	p.check(c.GPU.Count >= 0 && c.GPU.Count <= mostUnits, field+".gpu.count", fmt.Sprintf("0 to %d", mostUnits), c.GPU.Count)
	if c.GPU.Manufacturer != "" {
		p.oneOf(field+".gpu.manufacturer", c.GPU.Manufacturer, Makers()...)
	}
	p.check(c.GPU.Mem == 0 || c.GPU.Mem >= leastMem && c.GPU.Mem <= mostUnits, field+".gpu.mem", fmt.Sprintf("0, or %d to %d MiB", leastMem, mostUnits), c.GPU.Mem)
	p.check(c.GPU.Count != 0 || c.GPU == GPU{}, field+".gpu.count", "at least 1 with a manufacturer or mem", c.GPU.Count)
	for i, pattern := range c.Exclude {
		at := fmt.Sprintf("%s.exclude[%d]", field, i)
		if err := glob.Validate(pattern); err != nil {
			*p = append(*p, fmt.Errorf("%s: %w", at, err))
		} else {
			p.check(!glob.Match(pattern, "a.b") || !glob.Match(pattern, "0.1"), at, "a pattern that leaves some type", pattern)
		}
	}
}

// validateSite checks what a class needs of the rest of c.
func (c Config) validateSite(p *problems, field string, class Class) {
	if !c.OnEC2() {
		p.check(reflect.ValueOf(class.forEC2()).IsZero(), field, "without what is for an ec2 fleet alone (cpu, mem, scrub, idle, cap and warm are for every fleet)", word("more"))
		return
	}
	arch := class.Architecture()
	for key, value := range map[string]PerArch{"agent.runnerUrl": c.Agent.RunnerURL, "ec2.binaryUrl": c.EC2.BinaryURL} {
		p.check(value == nil || value.For(arch) != "", archField(key, arch), "set, since "+field+" is of that architecture", "")
	}
}
