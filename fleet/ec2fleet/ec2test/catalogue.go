package ec2test

import (
	"slices"
	"strings"

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
	GPU       bool // one of 16 GiB by NVIDIA, unless GPUs says otherwise
	GPUs      GPUs
	Previous  bool     // generation
	Zones     []string // nil: all
}

// GPUs are those of a type.
type GPUs struct {
	Count int
	Maker string // as EC2 shows it
	Mem   int    // MiB of all
}

func (t Type) gpus() GPUs {
	if t.GPU && t.GPUs.Count == 0 {
		return GPUs{1, "NVIDIA", 16384}
	}
	return t.GPUs
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

// accelerated reports whether a type has the GPUs that are required.
func accelerated(r *node, t Type) bool {
	g, makers := t.gpus(), r.strings("AcceleratorManufacturer")
	return (!r.has("AcceleratorCount", "Min") || g.Count >= r.int("AcceleratorCount", "Min")) &&
		(!r.has("AcceleratorCount", "Max") || g.Count <= r.int("AcceleratorCount", "Max")) &&
		(len(makers) == 0 || slices.Contains(makers, strings.ToLower(g.Maker))) &&
		(!r.has("AcceleratorTotalMemoryMiB", "Min") || g.Mem >= r.int("AcceleratorTotalMemoryMiB", "Min"))
}

// resolve returns the types that satisfy requirements, cheapest first.
func resolve(r *node, arch string, types []Type) []Type {
	var out []Type
	for _, t := range types {
		if t.CPU >= r.int("VCpuCount", "Min") && t.CPU <= r.int("VCpuCount", "Max") && t.Mem >= r.int("MemoryMiB", "Min") &&
			t.Arch == arch && !(t.Burstable && r.str("BurstablePerformance") != "included") && !t.BareMetal && accelerated(r, t) &&
			!(t.Previous && slices.Equal(r.strings("InstanceGeneration"), []string{"current"})) && glob.Any(r.strings("AllowedInstanceType"), t.Name) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, compareMem)
	return out
}
