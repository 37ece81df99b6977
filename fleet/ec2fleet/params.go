package ec2fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
)

// form counts the ways in which input has made a call of params. A repeated call must be identical, so
// a change of input is a new form, and plans of the old one keep the old way for as long as they live.
const form = 1

// params is what a plan freezes: together with token and count, everything CreateFleet is given. It
// is our own and small, since it is stored with the launch.
type params struct {
	Form            int               `json:"form"`
	Name            string            `json:"name"`     // the installation
	Template        string            `json:"template"` // id of the launch template
	Version         string            `json:"version"`  // of it, a number
	UsageClass      string            `json:"usageClass"`
	ResourceClass   string            `json:"resourceClass"`
	CPU             int               `json:"cpu"`             // vCPUs, exactly
	Mem             int               `json:"mem"`             // MiB, at least
	Allowed         []string          `json:"allowed"`         // types or patterns
	Usual           bool              `json:"usual,omitempty"` // no accelerators, current generation
	Burstable       bool              `json:"burstable,omitempty"`
	GPU             *GPU              `json:"gpu,omitempty"`
	PriceProtection int32             `json:"priceProtection"` // percent
	Places          []place           `json:"places"`          // 1 to maxPlaces, each zone once
	Tags            map[string]string `json:"tags,omitempty"`  // the operator's
}

// decode checks a plan and returns its parameters.
func (f *Fleet) decode(p fleet.Plan) (params, error) {
	if err := checkLaunch(p.Token, p.Count); err != nil {
		return params{}, err
	}
	var in params
	d := json.NewDecoder(bytes.NewReader(p.Params))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return params{}, fmt.Errorf("parameters: %w: %w", err, fleet.ErrRefused)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return params{}, fmt.Errorf("parameters: must be one JSON object and nothing after it: %w", fleet.ErrRefused)
	}
	if err := f.check(in, p); err != nil {
		return params{}, fmt.Errorf("parameters: %w: %w", err, fleet.ErrRefused)
	}
	return in, nil
}

func (f *Fleet) check(in params, p fleet.Plan) error {
	switch {
	case in.Form != form:
		return fmt.Errorf("form must be %d, got %d", form, in.Form)
	case in.Name != f.name:
		return fmt.Errorf("name must be %q, got %q: a plan of another installation", f.name, in.Name)
	case in.Template == "" || in.Version == "" || templateVersion(in.Template, in.Version) != p.TemplateVersion:
		return fmt.Errorf("template %q in version %q is not the plan's %q", in.Template, in.Version, p.TemplateVersion)
	case in.UsageClass != spot && in.UsageClass != onDemand:
		return fmt.Errorf("usageClass must be spot or on-demand, got %q", in.UsageClass)
	case in.CPU < 1 || in.Mem < 1:
		return fmt.Errorf("cpu and mem must be at least 1, got %d and %d", in.CPU, in.Mem)
	case in.CPU > math.MaxInt32 || in.Mem > math.MaxInt32: // EC2 would be asked for what is left of them
		return fmt.Errorf("cpu and mem must be at most %d, got %d and %d", math.MaxInt32, in.CPU, in.Mem)
	case in.GPU != nil && (in.GPU.Count < 1 || in.GPU.Count > math.MaxInt32 || in.GPU.Mem < 0 || in.GPU.Mem > math.MaxInt32 || in.Usual):
		return fmt.Errorf("gpu must have a count of at least 1, got %+v", *in.GPU)
	case len(in.Allowed) == 0 || len(in.Allowed) > maxAllowed:
		return fmt.Errorf("allowed must hold 1 to %d types, got %d", maxAllowed, len(in.Allowed))
	case len(in.Places) == 0 || len(in.Places) > maxPlaces:
		return fmt.Errorf("places must be 1 to %d, got %d", maxPlaces, len(in.Places))
	}
	for i, pl := range in.Places {
		twice := slices.ContainsFunc(in.Places[:i], func(o place) bool { return o.Zone == pl.Zone })
		if pl.Zone == "" || pl.Subnet == "" || twice {
			return errors.New("places must have zone and subnet, each zone once")
		}
	}
	return nil
}

// templateVersion names a version for ever: numbers start anew in a template that was deleted and
// made again.
func templateVersion(id, version string) string {
	if id == "" || version == "" {
		return ""
	}
	return id + "/" + version
}

// input is the one way in which params becomes a call (S70, S71, S72, S73).
func (in params) input(p fleet.Plan) *ec2.CreateFleetInput {
	call := &ec2.CreateFleetInput{
		Type:        types.FleetTypeInstant,
		ClientToken: aws.String(p.Token),
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{
				LaunchTemplateId: aws.String(in.Template), Version: aws.String(in.Version),
			},
		}},
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity:       aws.Int32(int32(p.Count)), // checkLaunch bounds it
			DefaultTargetCapacityType: types.DefaultTargetCapacityType(in.UsageClass),
		},
		TagSpecifications: in.tags(p.Token),
	}
	if in.UsageClass == spot {
		call.SpotOptions = &types.SpotOptionsRequest{
			AllocationStrategy:           types.SpotAllocationStrategyPriceCapacityOptimized,
			InstanceInterruptionBehavior: types.SpotInstanceInterruptionBehaviorTerminate,
		}
		call.TargetCapacitySpecification.SpotTargetCapacity = call.TargetCapacitySpecification.TotalTargetCapacity
	} else {
		call.OnDemandOptions = &types.OnDemandOptionsRequest{AllocationStrategy: types.FleetOnDemandAllocationStrategyLowestPrice}
		call.TargetCapacitySpecification.OnDemandTargetCapacity = call.TargetCapacitySpecification.TotalTargetCapacity
	}
	overrides := &call.LaunchTemplateConfigs[0].Overrides
	for _, pl := range in.Places {
		*overrides = append(*overrides, types.FleetLaunchTemplateOverridesRequest{
			SubnetId: aws.String(pl.Subnet), InstanceRequirements: in.requirements(),
		})
	}
	return call
}

func (in params) requirements() *types.InstanceRequirementsRequest {
	cpu := aws.Int32(int32(in.CPU)) // check bounds both
	r := &types.InstanceRequirementsRequest{
		VCpuCount:            &types.VCpuCountRangeRequest{Min: cpu, Max: cpu},
		MemoryMiB:            &types.MemoryMiBRequest{Min: aws.Int32(int32(in.Mem))},
		AllowedInstanceTypes: in.Allowed,
		BurstablePerformance: types.BurstablePerformanceExcluded,
		BareMetal:            types.BareMetalExcluded,

		SpotMaxPricePercentageOverLowestPrice:     aws.Int32(in.PriceProtection),
		OnDemandMaxPricePercentageOverLowestPrice: aws.Int32(in.PriceProtection),
	}
	if in.Burstable {
		r.BurstablePerformance = types.BurstablePerformanceIncluded
	}
	if g := in.GPU; g != nil {
		count := aws.Int32(int32(g.Count)) // check bounds both
		r.AcceleratorTypes = []types.AcceleratorType{types.AcceleratorTypeGpu}
		r.AcceleratorCount = &types.AcceleratorCountRequest{Min: count, Max: count}
		if g.Manufacturer != "" {
			r.AcceleratorManufacturers = []types.AcceleratorManufacturer{types.AcceleratorManufacturer(g.Manufacturer)}
		}
		if g.Mem > 0 {
			r.AcceleratorTotalMemoryMiB = &types.AcceleratorTotalMemoryMiBRequest{Min: aws.Int32(int32(g.Mem))}
		}
	}
	if in.Usual {
		r.AcceleratorCount = &types.AcceleratorCountRequest{Max: aws.Int32(0)}
		r.InstanceGenerations = []types.InstanceGeneration{types.InstanceGenerationCurrent}
	}
	return r
}

// tags mark all that a launch makes, at the moment it is made: nothing is ever without (H01).
func (in params) tags(token string) []types.TagSpecification {
	all := map[string]string{}
	maps.Copy(all, in.Tags)
	all[TagName], all[TagLaunch], all[TagClass] = in.Name, token, in.ResourceClass
	tags := sortedTags(all)
	return []types.TagSpecification{
		{ResourceType: types.ResourceTypeFleet, Tags: tags},
		{ResourceType: types.ResourceTypeInstance, Tags: tags},
		{ResourceType: types.ResourceTypeVolume, Tags: tags},
	}
}

func sortedTags(all map[string]string) []types.Tag {
	var tags []types.Tag
	for _, key := range slices.Sorted(maps.Keys(all)) {
		tags = append(tags, types.Tag{Key: aws.String(key), Value: aws.String(all[key])})
	}
	return tags
}
