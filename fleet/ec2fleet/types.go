package ec2fleet

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/internal/lazyregexp"
	"github.com/remuda-run/remuda/internal/logkey"
)

// typeInfo is what matters of an instance type.
type typeInfo struct {
	name   string
	cpu    int // vCPUs, by default
	mem    int // MiB
	archs  []types.ArchitectureType
	usages []types.UsageClassType
	bare   bool // metal, which InstanceRequirements leave out by default

	burstable bool // S70
	gpus      int
	gpuMaker  string // in lower case
	gpuMem    int    // MiB of all

	accelerated bool // has GPUs, FPGAs or chips for inference, training or media
	previous    bool // of a generation that has a successor

	unknownUntil time.Time // EC2 does not know it, and is not asked again before; zero: it does
}

// usual reports whether a pattern such as * may mean the type.
func (t typeInfo) usual() bool { return !t.accelerated && !t.previous }

// meant reports whether the patterns ask for the type. One that costs or is other than people expect must be
// named: an accelerated one by the letters of its family, as in g* or p5.48xlarge, one of a previous
// generation by its family, as in m4.*.
func (t typeInfo) meant(patterns []string) bool {
	if t.usual() {
		return glob.Any(patterns, t.name)
	}
	name, _, _ := strings.Cut(t.name, ".")
	if !t.previous {
		name = name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))]
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		literal, _, _ := strings.Cut(strings.ToLower(pattern), "*")
		return strings.HasPrefix(literal, name) && glob.Match(pattern, t.name)
	})
}

// familyT is EC2's burstable family, said by its name too where the attribute is missing.
var familyT = lazyregexp.New(`^t[0-9]`)

// catalog knows what the region offers: sizes of types, the zones of our subnets, and which types each zone has.
type catalog struct {
	*client
	types   *typeCache
	zones   cached[[]place]
	offers  cached[offers]
	missing atomic.Value // text that was last logged of subnets that are gone
}

// typeCache knows types by their vCPUs, for plans, and by name, for machines. Sizes never change.
type typeCache struct {
	mu     sync.Mutex
	byCPU  map[int]*cached[[]typeInfo]
	byName map[string]typeInfo
}

func (c *typeCache) ofCPU(cpu int) *cached[[]typeInfo] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byCPU[cpu] == nil {
		c.byCPU[cpu] = new(cached[[]typeInfo])
	}
	return c.byCPU[cpu]
}

// missing returns the names to ask for, sorted.
func (c *typeCache) missing(now time.Time, names []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.absent(now, names)
}

// unknown returns those of the names that are still missing, of which no one asks again for a while.
func (c *typeCache) unknown(now time.Time, names []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.absent(now, names)
	for _, name := range left {
		c.byName[name] = typeInfo{name: name, unknownUntil: now.Add(unknownLife)}
	}
	return left
}

// absent is missing. c.mu must be held.
func (c *typeCache) absent(now time.Time, names []string) []string {
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), func(name string) bool {
		t, asked := c.byName[name]
		return asked && (t.unknownUntil.IsZero() || now.Before(t.unknownUntil))
	})
}

func (c *typeCache) add(infos ...typeInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range infos {
		c.byName[t.name] = t
	}
}

// named returns a type; one that EC2 does not know has no size.
func (c *typeCache) named(name string) typeInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name]
}

// typesOf returns all types with exactly cpu vCPUs.
func (c *catalog) typesOf(ctx context.Context, cpu int) ([]typeInfo, error) {
	return c.types.ofCPU(cpu).get(c.clock.Now(), typesLife, func() ([]typeInfo, error) {
		infos, err := c.askTypes(ctx, filter("vcpu-info.default-vcpus", strconv.Itoa(cpu)))
		c.types.add(infos...)
		return infos, err
	})
}

// maxFilter is how many values one filter is given; EC2 takes 200 (EC2 User Guide, "Filter resources").
const maxFilter = 100

// unknownLife is for how long a type is not asked for again that EC2 does not know.
const unknownLife = 10 * time.Minute

// learnTypes makes the sizes of the named types known, as far as EC2 returns them. It asks by a filter: EC2
// refuses the whole call for one name that it does not know (InvalidInstanceType).
func (c *catalog) learnTypes(ctx context.Context, names []string) error {
	now := c.clock.Now()
	missing := c.types.missing(now, names)
	for chunk := range slices.Chunk(missing, maxFilter) {
		infos, err := c.askTypes(ctx, filter("instance-type", chunk...))
		if err != nil {
			return err
		}
		c.types.add(infos...)
	}
	if left := c.types.unknown(now, missing); len(left) > 0 {
		c.log.Error("ec2:DescribeInstanceTypes returns no size for a type: no request gets machines of it", logkey.Type, strings.Join(left, ", "))
	}
	return nil
}

func (c *catalog) askTypes(ctx context.Context, which types.Filter) ([]typeInfo, error) {
	pages := ec2.NewDescribeInstanceTypesPaginator(c.ec2, &ec2.DescribeInstanceTypesInput{Filters: []types.Filter{which}})
	found, err := collect(ctx, prompt[ec2.DescribeInstanceTypesOutput]{pages}, func(out *ec2.DescribeInstanceTypesOutput) []types.InstanceTypeInfo {
		return out.InstanceTypes
	})
	if err != nil {
		return nil, explain(err, "ec2:DescribeInstanceTypes", "the region's instance types")
	}
	var infos []typeInfo
	for _, t := range found {
		infos = append(infos, infoOf(t))
	}
	return infos, nil
}

func infoOf(t types.InstanceTypeInfo) typeInfo {
	info := typeInfo{
		name:   string(t.InstanceType),
		usages: t.SupportedUsageClasses,
		bare:   aws.ToBool(t.BareMetal),

		burstable: aws.ToBool(t.BurstablePerformanceSupported) || familyT().MatchString(string(t.InstanceType)),
	}
	if g := t.GpuInfo; g != nil {
		info.gpuMem = int(aws.ToInt32(g.TotalGpuMemoryInMiB))
		for _, device := range g.Gpus {
			info.gpus, info.gpuMaker = info.gpus+int(aws.ToInt32(device.Count)), strings.ToLower(aws.ToString(device.Manufacturer))
		}
	}
	info.accelerated = t.GpuInfo != nil || t.FpgaInfo != nil || t.InferenceAcceleratorInfo != nil || t.MediaAcceleratorInfo != nil || t.NeuronInfo != nil
	info.previous = t.CurrentGeneration != nil && !*t.CurrentGeneration
	if t.VCpuInfo != nil {
		info.cpu = int(aws.ToInt32(t.VCpuInfo.DefaultVCpus))
	}
	if t.MemoryInfo != nil {
		info.mem = int(aws.ToInt64(t.MemoryInfo.SizeInMiB))
	}
	if t.ProcessorInfo != nil {
		info.archs = t.ProcessorInfo.SupportedArchitectures
	}
	return info
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}
