package ec2fleet

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// typeInfo is what matters of an instance type.
type typeInfo struct {
	name   string
	cpu    int // vCPUs, by default
	mem    int // MiB
	archs  []string
	usages []string // usage classes it comes in
	unfit  bool     // burstable (S70), or bare metal, which InstanceRequirements leave out by default
}

// familyT is EC2's burstable family, said by its name too where the attribute is missing.
var familyT = regexp.MustCompile(`^t[0-9]`)

// typeCache knows types by their vCPUs, for plans, and by name, for machines. Sizes never change.
type typeCache struct {
	mu     sync.Mutex
	byCPU  map[int]*cached[[]typeInfo]
	byName map[string]typeInfo
}

func (c *typeCache) ofCPU(cpu int) *cached[[]typeInfo] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byCPU == nil {
		c.byCPU = make(map[int]*cached[[]typeInfo])
	}
	if c.byCPU[cpu] == nil {
		c.byCPU[cpu] = new(cached[[]typeInfo])
	}
	return c.byCPU[cpu]
}

// missing returns the names that are not known yet, sorted.
func (c *typeCache) missing(names []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		_, known := c.byName[name]
		return known
	})
}

func (c *typeCache) add(infos []typeInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName == nil {
		c.byName = make(map[string]typeInfo)
	}
	for _, t := range infos {
		c.byName[t.name] = t
	}
}

func (c *typeCache) named(name string) (typeInfo, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.byName[name]
	return t, ok
}

// typesOf returns all types with exactly cpu vCPUs.
func (f *Fleet) typesOf(ctx context.Context, cpu int) ([]typeInfo, error) {
	return f.types.ofCPU(cpu).get(f.clock.Now(), typesLife, func() ([]typeInfo, error) {
		infos, err := f.askTypes(ctx, &ec2.DescribeInstanceTypesInput{
			Filters: []types.Filter{filter("vcpu-info.default-vcpus", strconv.Itoa(cpu))},
		})
		f.types.add(infos)
		return infos, err
	})
}

// learnTypes makes the sizes of the named types known.
func (f *Fleet) learnTypes(ctx context.Context, names []string) error {
	for chunk := range slices.Chunk(f.types.missing(names), 100) { // EC2 API, DescribeInstanceTypes
		in := &ec2.DescribeInstanceTypesInput{}
		for _, name := range chunk {
			in.InstanceTypes = append(in.InstanceTypes, types.InstanceType(name))
		}
		infos, err := f.askTypes(ctx, in)
		if err != nil {
			return err
		}
		f.types.add(infos)
	}
	if left := f.types.missing(names); len(left) > 0 {
		return errors.New("ec2:DescribeInstanceTypes does not tell the size of " + strings.Join(left, ", "))
	}
	return nil
}

func (f *Fleet) askTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput) ([]typeInfo, error) {
	var infos []typeInfo
	for pages := ec2.NewDescribeInstanceTypesPaginator(f.ec2, in); pages.HasMorePages(); {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain(err, "ec2:DescribeInstanceTypes", "the region's instance types")
		}
		for _, t := range out.InstanceTypes {
			infos = append(infos, infoOf(t))
		}
	}
	return infos, nil
}

func infoOf(t types.InstanceTypeInfo) typeInfo {
	info := typeInfo{
		name:  string(t.InstanceType),
		unfit: aws.ToBool(t.BurstablePerformanceSupported) || aws.ToBool(t.BareMetal) || familyT.MatchString(string(t.InstanceType)),
	}
	if t.VCpuInfo != nil {
		info.cpu = int(aws.ToInt32(t.VCpuInfo.DefaultVCpus))
	}
	if t.MemoryInfo != nil {
		info.mem = int(aws.ToInt64(t.MemoryInfo.SizeInMiB))
	}
	if t.ProcessorInfo != nil {
		for _, a := range t.ProcessorInfo.SupportedArchitectures {
			info.archs = append(info.archs, string(a))
		}
	}
	for _, u := range t.SupportedUsageClasses {
		info.usages = append(info.usages, string(u))
	}
	return info
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}
