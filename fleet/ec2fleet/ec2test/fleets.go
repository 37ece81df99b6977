package ec2test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// fleets answers CreateFleet.
type fleets struct {
	api       *api
	resources *resources
	templates *templates
	instances *instances
	tokens    map[string]memory
	limit     int // of instances that live at once; negative: none
	refused   map[Pool]failure
	odds      Odds
}

// memory is what was answered to a token.
type memory struct {
	form     string
	answer   string
	launched []*Instance
}

// refusedPool is a pool that gave nothing in one call.
type refusedPool struct {
	pool   Pool
	subnet string
	failure
}

func (f *fleets) create(q *node) (string, *failure) {
	if failed := f.api.malformed("CreateFleet", checkFleet(q)); failed != nil {
		return "", failed
	}
	token, form := q.str("ClientToken"), canonical(q)
	if known, ok := f.tokens[token]; ok {
		if known.form != form {
			return "", bad("IdempotentParameterMismatch", "The client token '%s' was used with other parameters", token)
		}
		if f.odds.EndedTokens && len(known.launched) > 0 && !slices.ContainsFunc(known.launched, func(i *Instance) bool { return i.EndedAt.IsZero() }) {
			return "", bad("IdempotentInstanceTerminated", "The instances of this client token have been terminated")
		}
		return known.answer, nil
	}
	config := q.list("LaunchTemplateConfigs")[0]
	spec := config.at("LaunchTemplateSpecification")
	t, version, failed := f.templates.find(spec.str("LaunchTemplateId"), "", spec.str("Version"))
	if failed != nil {
		return "", failed
	}
	if failed := f.api.malformed("CreateFleet", checkImage(version.image(), config.list("Overrides"))); failed != nil {
		return "", failed
	}
	arch, problem := f.resources.parts(version)
	var launched []*Instance
	var refused []refusedPool
	if problem != nil {
		refused = append(refused, refusedPool{failure: *problem})
	} else {
		launched, refused = f.place(q, config.list("Overrides"), arch)
	}
	for _, i := range launched {
		i.Image, i.UserData = version.image(), version.data.str("UserData")
		i.Terminates = version.data.str("InstanceInitiatedShutdownBehavior") == "terminate"
		i.ShowsTags = version.data.str("MetadataOptions", "InstanceMetadataTags") == "enabled"
		i.Tags["aws:ec2launchtemplate:id"], i.Tags["aws:ec2launchtemplate:version"] = t.id, fmt.Sprint(version.number)
		f.instances.add(i)
		if as := f.odds.EndAs; as[0] != "" {
			i.end(i.LaunchedAt, as[0], as[1])
		}
	}
	if f.odds.Typeless {
		for i := range refused {
			refused[i].pool.Type = ""
		}
	}
	out := fleetAnswer(newID("fleet-"), launched, refused)
	f.tokens[token] = memory{form, out, launched}
	return out, nil
}

// place picks a pool for each instance, cheapest type first, zones in turn.
func (f *fleets) place(q *node, overrides []*node, arch string) (launched []*Instance, refused []refusedPool) {
	usage := q.str("TargetCapacitySpecification", "DefaultTargetCapacityType")
	tags := make(map[string]map[string]string)
	for _, spec := range q.list("TagSpecification") {
		tags[spec.str("ResourceType")] = spec.tags()
	}
	pools := f.resources.pools(overrides, arch)
	living := len(f.instances.living())
	for n := range q.int("TargetCapacitySpecification", "TotalTargetCapacity") {
		for len(pools) > 0 {
			p := pools[n%zonesOfFirst(pools)]
			failed, no := f.refusal(p.pool, living+len(launched), usage)
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

func zonesOfFirst(pools []refusedPool) int {
	n := 1
	for n < len(pools) && pools[n].pool.Type == pools[0].pool.Type {
		n++
	}
	return n
}

func (f *fleets) refusal(p Pool, living int, usage string) (failure, bool) {
	if f.limit >= 0 && living >= f.limit {
		if usage == "spot" {
			return failure{code: "MaxSpotInstanceCountExceeded", message: "Max spot instance count exceeded"}, true
		}
		return failure{code: "VcpuLimitExceeded", message: "You have requested more vCPU capacity than your current limit allows"}, true
	}
	for _, pattern := range []Pool{p, {Zone: p.Zone}, {Type: p.Type}, {}} {
		if failed, ok := f.refused[pattern]; ok {
			return failed, true
		}
	}
	return failure{}, false
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
		set("errorSet", refused, func(r refusedPool) string {
			return text("errorCode", r.code) + text("errorMessage", r.message) +
				el("launchTemplateAndOverrides", el("overrides", text("subnetId", r.subnet), text("instanceType", r.pool.Type)))
		})
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
