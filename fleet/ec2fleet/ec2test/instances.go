package ec2test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// refusedPool is a pool that gave nothing in one call.
type refusedPool struct {
	pool   Pool
	subnet string
	failure
}

func (s *Server) createFleet(q *node) (string, *failure) {
	if f := malformed(s.tb, "CreateFleet", checkFleet(q)); f != nil {
		return "", f
	}
	token, form := q.str("ClientToken"), canonical(q)
	if known, ok := s.tokens[token]; ok {
		if known.form != form {
			return "", bad("IdempotentParameterMismatch", "The client token '%s' was used with other parameters", token)
		}
		if s.odds.EndedTokens && len(known.launched) > 0 && !slices.ContainsFunc(known.launched, func(i *Instance) bool { return i.EndedAt.IsZero() }) {
			return "", bad("IdempotentInstanceTerminated", "The instances of this client token have been terminated")
		}
		return known.answer, nil
	}
	config := q.list("LaunchTemplateConfigs")[0]
	spec := config.at("LaunchTemplateSpecification")
	t, version, failed := s.find(spec.str("LaunchTemplateId"), "", spec.str("Version"))
	if failed != nil {
		return "", failed
	}
	if f := malformed(s.tb, "CreateFleet", checkImage(s.image(version), config.list("Overrides"))); f != nil {
		return "", f
	}
	arch, problem := s.parts(version)
	var launched []*Instance
	var refused []refusedPool
	if problem != nil {
		refused = append(refused, refusedPool{failure: *problem})
	} else {
		launched, refused = s.place(q, config.list("Overrides"), arch)
	}
	for _, i := range launched {
		i.Image, i.UserData = s.image(version), version.data.str("UserData")
		i.Terminates = version.data.str("InstanceInitiatedShutdownBehavior") == "terminate"
		i.ShowsTags = version.data.str("MetadataOptions", "InstanceMetadataTags") == "enabled"
		i.Tags["aws:ec2launchtemplate:id"], i.Tags["aws:ec2launchtemplate:version"] = t.id, fmt.Sprint(version.number)
		s.instances[i.ID] = i
		s.order = append(s.order, i.ID)
	}
	if s.odds.Typeless {
		for i := range refused {
			refused[i].pool.Type = ""
		}
	}
	out := fleetAnswer(newID("fleet-"), launched, refused)
	s.tokens[token] = memory{form, out, launched}
	return out, nil
}

func (s *Server) image(v *version) string { return v.data.str("ImageId") }

// parts returns the architecture of the image, and what is missing that only a launch finds out.
func (s *Server) parts(v *version) (arch string, problem *failure) {
	arch, ok := s.images[s.image(v)]
	if !ok {
		return "", bad("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", s.image(v))
	}
	for _, id := range v.data.strings("SecurityGroupId") {
		if _, ok := s.groups[id]; !ok {
			return "", bad("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
	}
	profile := v.data.at("IamInstanceProfile")
	name := profile.str("Name") + profile.str("Arn")
	if _, ok := s.profiles[name[strings.LastIndexByte(name, '/')+1:]]; !ok {
		return "", bad("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", name)
	}
	return arch, nil
}

// place picks a pool for each instance, cheapest type first, zones in turn.
func (s *Server) place(q *node, overrides []*node, arch string) (launched []*Instance, refused []refusedPool) {
	usage := q.str("TargetCapacitySpecification", "DefaultTargetCapacityType")
	tags := make(map[string]map[string]string)
	for _, spec := range q.list("TagSpecification") {
		tags[spec.str("ResourceType")] = spec.tags()
	}
	pools := s.pools(overrides, arch)
	living := len(s.living())
	for n := range q.int("TargetCapacitySpecification", "TotalTargetCapacity") {
		for len(pools) > 0 {
			p := pools[n%zonesOfFirst(pools)]
			failed, no := s.refusal(p.pool, living+len(launched), usage)
			if !no {
				launched = append(launched, &Instance{
					ID: newID("i-"), Type: p.pool.Type, Zone: p.pool.Zone, Subnet: p.subnet, Spot: usage == "spot",
					Tags: maps.Clone(tags["instance"]), VolumeTags: tags["volume"], LaunchedAt: time.Now(),
				})
				break
			}
			p.failure = failed
			refused = append(refused, p)
			pools = slices.DeleteFunc(pools, func(o refusedPool) bool { return o.pool == p.pool })
		}
	}
	return launched, refused
}

// pools lists types by price, each in all its zones.
func (s *Server) pools(overrides []*node, arch string) []refusedPool {
	var out []refusedPool
	for _, t := range resolve(overrides[0].at("InstanceRequirements"), arch, s.types) {
		for _, o := range overrides {
			at := slices.IndexFunc(s.subnets, func(sub Subnet) bool { return sub.ID == o.str("SubnetId") })
			if at >= 0 && t.in(s.subnets[at].Zone) {
				out = append(out, refusedPool{pool: Pool{t.Name, s.subnets[at].Zone}, subnet: s.subnets[at].ID})
			}
		}
	}
	return out
}

func zonesOfFirst(pools []refusedPool) int {
	n := 1
	for n < len(pools) && pools[n].pool.Type == pools[0].pool.Type {
		n++
	}
	return n
}

func (s *Server) refusal(p Pool, living int, usage string) (failure, bool) {
	if s.limit >= 0 && living >= s.limit {
		if usage == "spot" {
			return failure{code: "MaxSpotInstanceCountExceeded", message: "Max spot instance count exceeded"}, true
		}
		return failure{code: "VcpuLimitExceeded", message: "You have requested more vCPU capacity than your current limit allows"}, true
	}
	for _, pattern := range []Pool{p, {Zone: p.Zone}, {Type: p.Type}, {}} {
		if f, ok := s.refused[pattern]; ok {
			return f, true
		}
	}
	return failure{}, false
}

func (s *Server) living() []string {
	return slices.DeleteFunc(slices.Clone(s.order), func(id string) bool { return !s.instances[id].EndedAt.IsZero() })
}

// fleetAnswer names a pool by the subnet only, as EC2 may.
func fleetAnswer(id string, launched []*Instance, refused []refusedPool) string {
	return text("fleetId", id) +
		set("fleetInstanceSet", launched, func(i *Instance) string {
			lifecycle := "on-demand"
			if i.Spot {
				lifecycle = "spot"
			}
			return text("lifecycle", lifecycle) + el("instanceIds", text("item", i.ID)) + text("instanceType", i.Type) +
				el("launchTemplateAndOverrides", el("overrides", text("subnetId", i.Subnet), text("instanceType", i.Type)))
		}) +
		errorSet(refused)
}

func errorSet(refused []refusedPool) string {
	return set("errorSet", refused, func(r refusedPool) string {
		return text("errorCode", r.code) + text("errorMessage", r.message) +
			el("launchTemplateAndOverrides", el("overrides", text("subnetId", r.subnet), text("instanceType", r.pool.Type)))
	})
}

// terminate refuses the whole call for one bad id, as EC2 does (H67).
func (s *Server) terminate(q *node) (string, *failure) {
	ids := q.strings("InstanceId")
	if len(ids) == 0 || len(ids) > 1000 {
		return "", malformed(s.tb, "TerminateInstances", bad("InvalidParameterValue", "1 to 1000 instances, got %d", len(ids)))
	}
	now := time.Now()
	for _, id := range ids {
		i, ok := s.instances[id]
		if s.fence[0] != "" && (!ok || i.Tags[s.fence[0]] != s.fence[1]) { // before EC2 looks whether there is such a machine
			return "", unauthorized()
		}
		if !ok || !s.visible(i, now) {
			return "", bad("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
		}
		if code := s.stuck[id]; code != "" {
			return "", bad(code, "The instance '%s' may not be terminated.", id)
		}
	}
	for _, id := range ids {
		if i := s.instances[id]; i.EndedAt.IsZero() {
			i.EndedAt = now
		}
	}
	return set("instancesSet", ids, func(id string) string { return text("instanceId", id) }), nil
}

// canonical writes a request so that equal ones are equal.
func canonical(n *node) string {
	var b strings.Builder
	b.WriteString(n.value)
	for _, key := range sortedKeys(n.kids) {
		fmt.Fprintf(&b, "{%s:%s}", key, canonical(n.kids[key]))
	}
	return b.String()
}
