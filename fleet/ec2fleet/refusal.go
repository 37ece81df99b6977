package ec2fleet

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
)

// reach says how far a refusal of capacity reaches.
type reach int

const (
	reachPool  reach = iota + 1 // the type in the zone
	reachZone                   // every type and usage class in the zone
	reachQuota                  // types of one quota of vCPUs, of the class's size: smaller ones may still fit
	reachUsage                  // the usage class
)

// capacity are the codes that time or another place cures (EC2 API, "Error codes"; karpenter's and
// our own reading of what instant fleets answer).
var capacity = map[string]reach{
	"InsufficientCapacity":               reachPool,
	"InsufficientHostCapacity":           reachPool,
	"InsufficientInstanceCapacity":       reachPool,
	"InvalidFleetConfiguration":          reachPool, // the zone does not have the type
	"ReservationCapacityExceeded":        reachPool,
	"SpotMaxPriceTooLow":                 reachPool,
	"UnfulfillableCapacity":              reachPool,
	"Unsupported":                        reachPool, // the zone does not have the type in this form
	"InsufficientFreeAddressesInSubnet":  reachZone,
	"InsufficientAddressCapacity":        reachZone,
	"InstanceLimitExceeded":              reachQuota,
	"MaxFleetCountExceeded":              reachUsage,
	"MaxSpotFleetRequestCountExceeded":   reachUsage,
	"MaxSpotInstanceCountExceeded":       reachQuota,
	"TargetCapacityLimitExceeded":        reachUsage,
	"TargetCapacityLimitExceededRequest": reachUsage,
	"VcpuLimitExceeded":                  reachQuota,
	"VolumeLimitExceeded":                reachUsage,
}

// codeUnexplained stands where EC2 gives less than asked for and says nothing.
const codeUnexplained = "UnfulfillableCapacity"

// refusals maps the errors that came beside the instances, each place and code once (S75). quota is that
// of all types of the launch, if they have only one.
func refusals(in params, quota string, errs []types.CreateFleetError) []fleet.Refusal {
	var out []fleet.Refusal
	for _, e := range errs {
		r := fleet.Refusal{Slot: slotOf(in, quota, e), Code: aws.ToString(e.ErrorCode), Message: aws.ToString(e.ErrorMessage)}
		if r.Code == "" {
			r.Code = codeUnexplained
		}
		if !slices.ContainsFunc(out, func(o fleet.Refusal) bool { return o.Slot == r.Slot && o.Code == r.Code }) {
			out = append(out, r)
		}
	}
	return out
}

func slotOf(in params, quota string, e types.CreateFleetError) fleet.Slot {
	slot := fleet.Slot{UsageClass: in.UsageClass}
	code := aws.ToString(e.ErrorCode)
	if capacity[code] == reachUsage {
		return slot
	}
	if e.LaunchTemplateAndOverrides != nil && e.LaunchTemplateAndOverrides.Overrides != nil {
		o := e.LaunchTemplateAndOverrides.Overrides
		slot.InstanceType = string(o.InstanceType)
		slot.Zone = in.zone(aws.ToString(o.AvailabilityZone), aws.ToString(o.SubnetId))
	}
	if capacity[code] == reachQuota {
		if slot.InstanceType != "" {
			quota = quotaOf(slot.InstanceType)
		}
		slot = fleet.Slot{UsageClass: in.UsageClass, ResourceClass: in.ResourceClass}
		if quota != "" {
			slot.InstanceType = quotaMark + quota
		}
		return slot
	}
	if capacity[code] == reachZone && slot.Zone != "" {
		return fleet.Slot{Zone: slot.Zone}
	}
	if slot.InstanceType == "" { // requirements were refused, as attribute-based launches are: others are not concerned
		slot.ResourceClass = in.ResourceClass
	}
	return slot
}

// zone returns the zone, which EC2 may name by the subnet only.
func (in params) zone(zone, subnet string) string {
	for _, pl := range in.Places {
		if zone == "" && pl.Subnet == subnet {
			return pl.Zone
		}
	}
	return zone
}

// ourFault begins the codes of what an operator must repair. AuthFailure.ServiceLinkedRoleCreationNotPermitted
// is the answer where the account never used spot instances and the caller may not make their role.
var ourFault = []string{"AuthFailure", "Invalid", "Missing"}

// unsatisfiable returns the first error if none of them is one that time or another place cures: a missing
// permission, image, security group or the like, which EC2 finds out only while it launches.
func unsatisfiable(errs []types.CreateFleetError) error {
	for _, e := range errs {
		code := aws.ToString(e.ErrorCode)
		if _, cured := capacity[code]; cured {
			return nil
		}
		class := awserr.ClassOf(apiError(e))
		if class != awserr.Denied && class != awserr.NotFound && !slices.ContainsFunc(ourFault, func(p string) bool { return strings.HasPrefix(code, p) }) {
			return nil
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apiError(errs[0])
}

func apiError(e types.CreateFleetError) error {
	return &smithy.GenericAPIError{
		Code: aws.ToString(e.ErrorCode), Message: aws.ToString(e.ErrorMessage), Fault: smithy.FaultClient,
	}
}
