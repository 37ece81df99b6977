package ec2test

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// paged cuts a list to the page asked for and returns the element for the next one.
func paged[T any](s *Server, q *node, all []T) (page []T, next string) {
	from := min(q.int("NextToken"), len(all))
	all = all[from:]
	if s.page == 0 || len(all) <= s.page {
		return all, ""
	}
	return all[:s.page], text("nextToken", from+s.page)
}

// picked returns what ids name, all if there are none, and the ids of which there is none.
func picked[T any](all []T, ids []string, id func(T) string) (found []T, missing []string) {
	if len(ids) == 0 {
		return all, nil
	}
	for _, want := range ids {
		at := slices.IndexFunc(all, func(one T) bool { return id(one) == want })
		if at < 0 {
			missing = append(missing, want)
			continue
		}
		found = append(found, all[at])
	}
	return found, missing
}

func (s *Server) describeTypes(q *node) (string, *failure) {
	all, missing := picked(s.types, q.strings("InstanceType"), func(t Type) string { return t.Name })
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
	page, next := paged(s, q, all)
	return next + set("instanceTypeSet", page, func(t Type) string {
		return text("instanceType", t.Name) + el("vCpuInfo", text("defaultVCpus", t.CPU)) + el("memoryInfo", text("sizeInMiB", t.Mem)) +
			text("burstablePerformanceSupported", t.Burstable) + text("bareMetal", t.BareMetal) + text("currentGeneration", !t.Previous) + gpus(t) +
			el("processorInfo", el("supportedArchitectures", text("item", t.Arch))) +
			el("supportedUsageClasses", text("item", "on-demand"), text("item", "spot"))
	}), nil
}

func gpus(t Type) string {
	if !t.GPU {
		return ""
	}
	return el("gpuInfo", text("totalGpuMemoryInMiB", 16384))
}

func (s *Server) describeOfferings(q *node) (string, *failure) {
	type offer struct{ name, zone string }
	var all []offer
	for _, zone := range q.filters()["location"] {
		for _, t := range s.types {
			if t.in(zone) {
				all = append(all, offer{t.Name, zone})
			}
		}
	}
	page, next := paged(s, q, all)
	return next + set("instanceTypeOfferingSet", page, func(o offer) string {
		return text("instanceType", o.name) + text("location", o.zone) + text("locationType", q.str("LocationType"))
	}), nil
}

func (s *Server) describeSubnets(q *node) (string, *failure) {
	all, missing := picked(s.subnets, q.strings("SubnetId"), func(sub Subnet) string { return sub.ID })
	if len(missing) > 0 {
		return "", bad("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", missing[0])
	}
	if only, asked := q.filters()["subnet-id"]; asked {
		all = slices.DeleteFunc(slices.Clone(all), func(sub Subnet) bool { return !slices.Contains(only, sub.ID) })
	}
	page, next := paged(s, q, all)
	return next + set("subnetSet", page, func(sub Subnet) string {
		return text("subnetId", sub.ID) + text("availabilityZone", sub.Zone) + text("vpcId", sub.VPC) + text("availableIpAddressCount", sub.Free)
	}), nil
}

func (s *Server) describeGroups(q *node) (string, *failure) {
	all, missing := picked(sortedKeys(s.groups), q.strings("GroupId"), func(id string) string { return id })
	if len(missing) > 0 {
		return "", bad("InvalidGroup.NotFound", "The security group '%s' does not exist", missing[0])
	}
	return set("securityGroupInfo", all, func(id string) string { return text("groupId", id) + text("vpcId", s.groups[id]) }), nil
}

func (s *Server) describeImages(q *node) (string, *failure) {
	all, missing := picked(sortedKeys(s.images), q.strings("ImageId"), func(id string) string { return id })
	if len(missing) > 0 {
		return "", bad("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", missing[0])
	}
	return set("imagesSet", all, func(id string) string {
		return text("imageId", id) + text("architecture", s.images[id]) + text("rootDeviceName", "/dev/xvda")
	}), nil
}

func (s *Server) getProfile(q *node) (string, *failure) {
	name := q.str("InstanceProfileName")
	role, ok := s.profiles[name]
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

// describeInstances knows the filters that we use.
func (s *Server) describeInstances(q *node) (string, *failure) {
	var all []*Instance
	now := time.Now()
	for _, id := range s.order {
		if i := s.instances[id]; s.visible(i, now) && i.matches(q.filters()) {
			all = append(all, i)
		}
	}
	page, next := paged(s, q, all)
	return next + set("reservationSet", page, func(i *Instance) string {
		return set("instancesSet", []*Instance{i}, func(i *Instance) string { return i.show(now) })
	}), nil
}

// describeVolumes shows a volume of each instance that has tags for it.
func (s *Server) describeVolumes(q *node) (string, *failure) {
	var all []*Instance
	for _, id := range s.order {
		if i := s.instances[id]; i.VolumeTags != nil && tagged(i.VolumeTags, q.filters()) {
			all = append(all, i)
		}
	}
	return set("volumeSet", all, func(i *Instance) string {
		return text("volumeId", "vol-"+strings.TrimPrefix(i.ID, "i-")) + tagSet(i.VolumeTags)
	}), nil
}

func (s *Server) visible(i *Instance, now time.Time) bool {
	return !now.Before(i.LaunchedAt.Add(s.lag))
}

func (i *Instance) matches(filters map[string][]string) bool {
	ids, asked := filters["instance-id"]
	return (!asked || slices.Contains(ids, i.ID)) && tagged(i.Tags, filters)
}

// tagged reports whether tags are what the filters on tags ask for.
func tagged(tags map[string]string, filters map[string][]string) bool {
	for name, values := range filters {
		if key, is := strings.CutPrefix(name, "tag:"); is && !slices.Contains(values, tags[key]) {
			return false
		}
	}
	return true
}

func (i *Instance) state(now time.Time) string {
	switch {
	case !i.EndedAt.IsZero() && now.Before(i.EndedAt.Add(change)):
		return "shutting-down"
	case !i.EndedAt.IsZero():
		return "terminated"
	case i.Stopped:
		return "stopped"
	case now.Before(i.LaunchedAt.Add(change)):
		return "pending"
	}
	return "running"
}

func (i *Instance) show(now time.Time) string {
	out := text("instanceId", i.ID) + text("instanceType", i.Type) + el("instanceState", text("name", i.state(now))) +
		el("placement", text("availabilityZone", i.Zone)) + text("subnetId", i.Subnet) + text("imageId", i.Image) +
		text("launchTime", i.LaunchedAt.UTC().Format("2006-01-02T15:04:05.000Z")) + tagSet(i.Tags)
	if i.Spot {
		out += text("instanceLifecycle", "spot")
	}
	return out
}
