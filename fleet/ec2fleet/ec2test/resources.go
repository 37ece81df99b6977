package ec2test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// resources are what an account has for launches to use, at EC2, IAM and Systems Manager.
type resources struct {
	api        *api
	types      []Type
	subnets    []Subnet
	images     map[string]string // id: architecture
	parameters map[string]string // of Systems Manager: value by name
	groups     map[string]string // id: VPC
	profiles   map[string]string // name: role id
	routes     map[string]string // subnet: gateway, where it is not NAT
	quotas     map[string]float64
	ends       map[string]string // image: when it is deprecated
}

func newResources(a *api) *resources {
	r := &resources{
		api: a, types: Types(), images: map[string]string{AMI: "x86_64"}, parameters: make(map[string]string),
		groups: map[string]string{Group: VPC}, profiles: map[string]string{Profile: RoleID},
		routes: make(map[string]string), quotas: map[string]float64{"L-1216C47A": 1000, "L-34B43A08": 1000}, ends: make(map[string]string),
	}
	for i, zone := range []string{"a", "b", "c"} {
		r.subnets = append(r.subnets, Subnet{ID: fmt.Sprintf("subnet-0000000%d", i+1), Zone: "us-east-1" + zone, Free: 250, VPC: VPC})
	}
	return r
}

// remove deletes what has this id or name.
func (r *resources) remove(id string) {
	delete(r.images, id)
	delete(r.groups, id)
	delete(r.profiles, id)
	r.subnets = slices.DeleteFunc(r.subnets, func(sub Subnet) bool { return sub.ID == id })
}

// parts returns the architecture of the image, and what is missing that only a launch finds out.
func (r *resources) parts(v *version) (arch string, problem *failure) {
	arch, ok := r.images[v.image()]
	if !ok {
		return "", bad("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", v.image())
	}
	for _, id := range v.data.strings("SecurityGroupId") {
		if _, ok := r.groups[id]; !ok {
			return "", bad("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
	}
	profile := v.data.at("IamInstanceProfile")
	name := profile.str("Name") + profile.str("Arn")
	if _, ok := r.profiles[name[strings.LastIndexByte(name, '/')+1:]]; !ok {
		return "", bad("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", name)
	}
	return arch, nil
}

// pools lists types by price, each in all its zones.
func (r *resources) pools(overrides []*node, arch string) []refusedPool {
	var out []refusedPool
	for _, t := range resolve(overrides[0].at("InstanceRequirements"), arch, r.types) {
		for _, o := range overrides {
			at := slices.IndexFunc(r.subnets, func(sub Subnet) bool { return sub.ID == o.str("SubnetId") })
			if at >= 0 && t.in(r.subnets[at].Zone) {
				out = append(out, refusedPool{pool: Pool{t.Name, r.subnets[at].Zone}, subnet: r.subnets[at].ID})
			}
		}
	}
	return out
}

func (r *resources) describeTypes(q *node) (string, *failure) {
	all, missing := picked(r.types, q.strings("InstanceType"), func(t Type) string { return t.Name })
	if len(missing) > 0 {
		return "", bad("InvalidInstanceType", "The following supplied instance types do not exist: %v", missing)
	}
	filters := q.filters()
	all = slices.DeleteFunc(slices.Clone(all), func(t Type) bool {
		for name, is := range map[string]string{"vcpu-info.default-vcpus": strconv.Itoa(t.CPU), "instance-type": t.Name} {
			if want, asked := filters[name]; asked && !slices.Contains(want, is) {
				return true
			}
		}
		return false
	})
	page, next := paged(r.api, q, all)
	return next + set("instanceTypeSet", page, func(t Type) string {
		return text("instanceType", t.Name) + el("vCpuInfo", text("defaultVCpus", t.CPU)) + el("memoryInfo", text("sizeInMiB", t.Mem)) +
			text("burstablePerformanceSupported", t.Burstable) + text("bareMetal", t.BareMetal) + text("currentGeneration", !t.Previous) + gpus(t) +
			el("processorInfo", el("supportedArchitectures", text("item", t.Arch))) +
			el("supportedUsageClasses", text("item", "on-demand"), text("item", "spot"))
	}), nil
}

func gpus(t Type) string {
	g := t.gpus()
	if g.Count == 0 {
		return ""
	}
	return el("gpuInfo", text("totalGpuMemoryInMiB", g.Mem), el("gpus", el("item", text("count", g.Count), text("manufacturer", g.Maker))))
}

func (r *resources) describeOfferings(q *node) (string, *failure) {
	type offer struct{ name, zone string }
	var all []offer
	for _, zone := range q.filters()["location"] {
		for _, t := range r.types {
			if t.in(zone) {
				all = append(all, offer{t.Name, zone})
			}
		}
	}
	page, next := paged(r.api, q, all)
	return next + set("instanceTypeOfferingSet", page, func(o offer) string {
		return text("instanceType", o.name) + text("location", o.zone) + text("locationType", q.str("LocationType"))
	}), nil
}

func (r *resources) describeSubnets(q *node) (string, *failure) {
	all, missing := picked(r.subnets, q.strings("SubnetId"), func(sub Subnet) string { return sub.ID })
	if len(missing) > 0 {
		return "", bad("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", missing[0])
	}
	if only, asked := q.filters()["subnet-id"]; asked {
		all = slices.DeleteFunc(slices.Clone(all), func(sub Subnet) bool { return !slices.Contains(only, sub.ID) })
	}
	page, next := paged(r.api, q, all)
	return next + set("subnetSet", page, func(sub Subnet) string {
		return text("subnetId", sub.ID) + text("availabilityZone", sub.Zone) + text("vpcId", sub.VPC) + text("availableIpAddressCount", sub.Free) +
			text("mapPublicIpOnLaunch", sub.Public)
	}), nil
}

func (r *resources) describeGroups(q *node) (string, *failure) {
	all, missing := picked(sortedKeys(r.groups), q.strings("GroupId"), func(id string) string { return id })
	if len(missing) > 0 {
		return "", bad("InvalidGroup.NotFound", "The security group '%s' does not exist", missing[0])
	}
	return set("securityGroupInfo", all, func(id string) string { return text("groupId", id) + text("vpcId", r.groups[id]) }), nil
}

func (r *resources) describeImages(q *node) (string, *failure) {
	all, missing := picked(sortedKeys(r.images), q.strings("ImageId"), func(id string) string { return id })
	if len(missing) > 0 {
		return "", bad("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", missing[0])
	}
	return set("imagesSet", all, func(id string) string {
		return text("imageId", id) + text("architecture", r.images[id]) + text("rootDeviceName", "/dev/xvda") +
			text("imageState", "available") + text("name", "image-of-"+id) + text("deprecationTime", r.ends[id])
	}), nil
}

func (r *resources) getProfile(q *node) (string, *failure) {
	name := q.str("InstanceProfileName")
	role, ok := r.profiles[name]
	if !ok {
		return "", &failure{404, "NoSuchEntity", "Instance Profile " + name + " cannot be found."}
	}
	at := text("CreateDate", time.Unix(1_700_000_000, 0).UTC().Format(time.RFC3339)) + text("Path", "/")
	roles := ""
	if role != "" {
		roles = el("member", text("RoleId", role), text("RoleName", name), text("Arn", "arn:aws:iam::123456789012:role/"+name), at)
	}
	return el("GetInstanceProfileResult", el("InstanceProfile", text("InstanceProfileName", name),
		text("InstanceProfileId", "AIPAREMUDATEST"), text("Arn", "arn:aws:iam::123456789012:instance-profile/"+name), at, el("Roles", roles))), nil
}
