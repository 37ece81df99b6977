package ec2test

import (
	"slices"

	"github.com/remuda-run/remuda/internal/glob"
)

// Type is an instance type.
type Type struct {
	Name      string
	CPU       int // vCPUs
	Mem       int // MiB
	Arch      string
	Burstable bool
	BareMetal bool
	GPU       bool
	Previous  bool     // generation
	Zones     []string // nil: all
}

// Types are what a new Server offers: real names and sizes (EC2 Instance Types Guide).
func Types() []Type {
	const x86, arm = "x86_64", "arm64"
	return []Type{
		{Name: "c6i.large", CPU: 2, Mem: 4096, Arch: x86},
		{Name: "c7g.large", CPU: 2, Mem: 4096, Arch: arm},
		{Name: "m5.large", CPU: 2, Mem: 8192, Arch: x86},
		{Name: "r6i.large", CPU: 2, Mem: 16384, Arch: x86},
		{Name: "t3.large", CPU: 2, Mem: 8192, Arch: x86, Burstable: true},
		{Name: "t3.micro", CPU: 2, Mem: 1024, Arch: x86, Burstable: true},
		{Name: "c6i.xlarge", CPU: 4, Mem: 8192, Arch: x86},
		{Name: "m6i.xlarge", CPU: 4, Mem: 16384, Arch: x86},
		{Name: "c6i.2xlarge", CPU: 8, Mem: 16384, Arch: x86},
		{Name: "a1.metal", CPU: 16, Mem: 32768, Arch: arm, BareMetal: true},
	}
}

func (t Type) in(zone string) bool { return t.Zones == nil || slices.Contains(t.Zones, zone) }

// resolve returns the types that satisfy requirements, cheapest first.
func resolve(r *node, arch string, types []Type) []Type {
	var out []Type
	for _, t := range types {
		if t.CPU >= r.int("VCpuCount", "Min") && t.CPU <= r.int("VCpuCount", "Max") && t.Mem >= r.int("MemoryMiB", "Min") &&
			t.Arch == arch && !t.Burstable && !t.BareMetal && !(t.GPU && r.has("AcceleratorCount", "Max") && r.int("AcceleratorCount", "Max") == 0) &&
			!(t.Previous && slices.Equal(r.strings("InstanceGeneration"), []string{"current"})) && glob.Any(r.strings("AllowedInstanceType"), t.Name) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, compareMem)
	return out
}
