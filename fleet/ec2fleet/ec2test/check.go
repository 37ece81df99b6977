package ec2test

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// check returns how EC2 would refuse a CreateFleet call as it is, whatever there is in the account, or
// nil. Sources: EC2 API, CreateFleet and InstanceRequirementsRequest; texts that EC2 was seen to
// answer with.
func checkFleet(q *node) *failure {
	token := q.str("ClientToken")
	switch {
	case token == "" || len(token) > 64 || strings.ContainsFunc(token, func(r rune) bool { return r < '!' || r > '~' }):
		return bad("InvalidParameterValue", "ClientToken must be 1 to 64 ASCII characters, got %q", token)
	case q.str("Type") != "instant":
		return bad("InvalidParameterValue", "Type is %q: the answer would not hold the instances", q.str("Type"))
	case q.int("TargetCapacitySpecification", "TotalTargetCapacity") < 1:
		return bad("InvalidParameterValue", "TotalTargetCapacity must be at least 1")
	}
	if f := cmp.Or(checkUsage(q), checkTagSpecs(q, "fleet", "instance", "volume", "network-interface")); f != nil {
		return f
	}
	configs := q.list("LaunchTemplateConfigs")
	if len(configs) != 1 {
		return bad("InvalidParameterValue", "one LaunchTemplateConfig is used here, got %d", len(configs))
	}
	spec := configs[0].at("LaunchTemplateSpecification")
	version := spec.str("Version")
	if !spec.has("LaunchTemplateId") || version == "" || strings.HasPrefix(version, "$") {
		return bad("InvalidLaunchTemplateId.Malformed", "a repeated call must mean the same: id and number, got version %q", version)
	}
	return checkOverrides(configs[0].list("Overrides"))
}

func checkUsage(q *node) *failure {
	target := q.at("TargetCapacitySpecification")
	total, spot, demand := target.int("TotalTargetCapacity"), target.int("SpotTargetCapacity"), target.int("OnDemandTargetCapacity")
	switch usage := target.str("DefaultTargetCapacityType"); usage {
	case "spot":
		if spot != total || demand != 0 || q.str("SpotOptions", "AllocationStrategy") != "price-capacity-optimized" || q.has("OnDemandOptions") {
			return bad("InvalidParameterCombination", "spot: capacities or strategy do not match")
		}
	case "on-demand":
		if demand != total || spot != 0 || q.str("OnDemandOptions", "AllocationStrategy") != "lowest-price" || q.has("SpotOptions") {
			return bad("InvalidParameterCombination", "on-demand: capacities or strategy do not match")
		}
	default:
		return bad("InvalidParameterValue", "DefaultTargetCapacityType %q", usage)
	}
	return nil
}

func checkOverrides(overrides []*node) *failure {
	if len(overrides) == 0 {
		return bad("MissingParameter", "no overrides")
	}
	required, first := 0, ""
	subnets := make(map[string]bool)
	for _, o := range overrides {
		r := o.at("InstanceRequirements")
		if o.has("InstanceType") == o.has("InstanceRequirements") {
			return bad("InvalidParameterCombination", "an override has either InstanceType or InstanceRequirements")
		}
		if !o.has("SubnetId") || subnets[o.str("SubnetId")] {
			return bad("InvalidFleetConfig", "The fleet configuration contains duplicate instance pools.")
		}
		subnets[o.str("SubnetId")] = true
		if !o.has("InstanceRequirements") {
			continue
		}
		form := canonical(r)
		if required++; required > 4 {
			return bad("InvalidParameterValue", "Your request contains more than the maximum allowed number of InstanceRequirements (4)")
		}
		if first != "" && form != first {
			return bad("InvalidParameterValue", "Two or more of your InstanceRequirements structures include overlapping values. Ensure that there is no overlap, and try again.")
		}
		first = form
		if f := checkRequirements(r); f != nil {
			return f
		}
	}
	return nil
}

func checkRequirements(r *node) *failure {
	allowed := r.strings("AllowedInstanceType")
	switch {
	case !r.has("VCpuCount", "Min") || !r.has("MemoryMiB", "Min"):
		return bad("MissingParameter", "VCpuCount and MemoryMiB are required")
	case r.str("VCpuCount", "Min") != r.str("VCpuCount", "Max"):
		return bad("InvalidParameterValue", "the number of vCPUs is not exact (S70)")
	case !slices.Contains([]string{"included", "excluded"}, r.str("BurstablePerformance")):
		return bad("InvalidParameterValue", "burstable types are neither excluded nor included (S70)")
	case r.has("AcceleratorCount", "Min") && !slices.Equal(r.strings("AcceleratorType"), []string{"gpu"}):
		return bad("InvalidParameterValue", "accelerators are of a type here, got %q", r.strings("AcceleratorType"))
	case len(allowed) > 0 && r.has("ExcludedInstanceType"):
		return bad("InvalidParameterCombination", "You can't specify both AllowedInstanceTypes and ExcludedInstanceTypes")
	case len(allowed) == 0 || len(allowed) > 400:
		return bad("InvalidParameterValue", "AllowedInstanceTypes must be 1 to 400 here, got %d", len(allowed))
	case slices.ContainsFunc(allowed, func(a string) bool { return a == "" || len(a) > 30 || strings.ToLower(a) != a }):
		return bad("InvalidParameterValue", "AllowedInstanceTypes: 1 to 30 characters in lower case, got %q", allowed)
	case !r.has("SpotMaxPricePercentageOverLowestPrice") || !r.has("OnDemandMaxPricePercentageOverLowestPrice"):
		return bad("InvalidParameterValue", "price protection is left to its default, which drops allowed types")
	}
	return nil
}

// checkTagSpecs wants every kind once, and our three keys on what runs.
func checkTagSpecs(q *node, kinds ...string) *failure {
	seen := make(map[string]bool)
	for _, spec := range q.list("TagSpecification") {
		kind := spec.str("ResourceType")
		if !slices.Contains(kinds, kind) || seen[kind] {
			return bad("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation, or there twice.", kind)
		}
		seen[kind] = true
		tags := spec.tags()
		if len(tags) > 50 || tags["remuda-name"] == "" {
			return bad("InvalidParameterValue", "%s: at most 50 tags, remuda-name among them, got %v", kind, tags)
		}
		if kind != "launch-template" && (tags["remuda-launch"] != q.str("ClientToken") || tags["remuda-class"] == "") {
			return bad("InvalidParameterValue", "%s: remuda-launch must be the token and remuda-class be there, got %v", kind, tags)
		}
	}
	if !seen[kinds[0]] || (kinds[0] == "fleet" && !seen["instance"]) {
		return bad("InvalidParameterValue", "tags are missing: nothing may be without for a moment (H01)")
	}
	return nil
}

// checkTemplate checks the data of a version. It does not look up what the data names: EC2 does so
// only when something is launched.
func checkTemplate(q *node) *failure {
	data := q.at("LaunchTemplateData")
	if len(data.kids) == 0 {
		return bad("MissingParameter", "LaunchTemplateData is required")
	}
	raw, err := base64.StdEncoding.DecodeString(data.str("UserData"))
	switch {
	case err != nil:
		return bad("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	case len(raw) > 16<<10:
		return bad("InvalidParameterValue", "User data is limited to 16384 bytes")
	case len(q.str("VersionDescription")) > 255:
		return bad("InvalidParameterValue", "VersionDescription is limited to 255 characters")
	}
	return nil
}
