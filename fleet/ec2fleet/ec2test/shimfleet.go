package ec2test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// familyT is the burstable family: moto's data of newer ones do not say so.
var familyT = regexp.MustCompile(`^t[0-9]`)

// createFleet checks the call, answers a known token from memory, and lets moto launch with the
// requirements resolved to a type. One call at a time: a token is remembered before it can come again.
func (s *Shim) createFleet(q *node, request url.Values) (string, *failure) {
	if f := malformed(s.tb, "CreateFleet", checkFleet(q)); f != nil {
		return "", f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.odd(); f != nil {
		return "", f
	}
	token, form := q.str("ClientToken"), canonical(q)
	if known, ok := s.tokens[token]; ok {
		if known.form != form {
			return "", bad("IdempotentParameterMismatch", "The client token '%s' was used with other parameters", token)
		}
		return s.replayed(known)
	}
	out, failed := s.launch(q, request)
	if failed != nil {
		return "", failed
	}
	s.tokens[token] = memory{form, out}
	return out, nil
}

func (s *Shim) launch(q *node, request url.Values) (string, *failure) {
	config := q.list("LaunchTemplateConfigs")[0]
	data, failed := s.template(config.at("LaunchTemplateSpecification"))
	if failed != nil {
		return "", failed
	}
	if f := malformed(s.tb, "CreateFleet", checkImage(data.get("imageId"), config.list("Overrides"))); f != nil {
		return "", f
	}
	if missing := s.parts(data); missing != nil { // EC2 finds it out only while it launches
		return fleetAnswer(newID("fleet-"), nil, []refusedPool{{failure: *missing}}), nil
	}
	pools, failed := s.pools(config.list("Overrides"))
	if failed != nil {
		return "", failed
	}
	want := q.int("TargetCapacitySpecification", "TotalTargetCapacity")
	room, failed := s.room(q.list("TagSpecification")[0].tags()["remuda-name"], want)
	if failed != nil {
		return "", failed
	}
	usage := q.str("TargetCapacitySpecification", "DefaultTargetCapacityType")
	var refused []refusedPool
	pools = slices.DeleteFunc(pools, func(p refusedPool) bool {
		for _, pattern := range []Pool{p.pool, {Zone: p.pool.Zone}, {Type: p.pool.Type}, {}} {
			if f, ok := s.refused[pattern]; ok {
				p.failure = f
				refused = append(refused, p)
				return true
			}
		}
		return false
	})
	if room < want && len(pools) > 0 {
		p := pools[0]
		p.failure = failure{code: map[bool]string{true: "MaxSpotInstanceCountExceeded", false: "VcpuLimitExceeded"}[usage == "spot"], message: "limit of the test"}
		refused = append(refused, p)
	}
	if room == 0 || len(pools) == 0 {
		return s.named(fleetAnswer(newID("fleet-"), nil, refused)), nil
	}
	machines, failed := s.spread(q, request, pools, room, data)
	if failed != nil {
		return "", failed
	}
	return text("fleetId", newID("fleet-")) + el("fleetInstanceSet", machines) + s.named(errorSet(refused)), nil
}

// spread launches count machines in two pools, other ones each time: EC2 answers with lists of mixed types
// and zones.
func (s *Shim) spread(q *node, request url.Values, pools []refusedPool, count int, data *element) (string, *failure) {
	var machines strings.Builder
	first := count - count/2
	for _, n := range []int{first, count - first} {
		s.turn++
		if n == 0 {
			continue
		}
		pool := pools[s.turn%min(len(pools), 2*zonesOfFirst(pools))]
		call := explicit(request, q, pool, n)
		call.Set("ClientToken", fmt.Sprintf("%s-%d", q.str("ClientToken"), s.turn))
		root, failed := s.call("ec2", call)
		if failed != nil {
			return "", failed
		}
		if failed := s.complete(root, data); failed != nil {
			return "", failed
		}
		for _, item := range root.all("fleetInstanceSet", "item") {
			machines.WriteString(item.String())
		}
	}
	return machines.String(), nil
}

// typeOf is the part of an answer's error that names a type.
var typeOf = regexp.MustCompile(`(<overrides><subnetId>[^<]*</subnetId>)<instanceType>[^<]*</instanceType>`)

// named takes the types out of errors if the shim is told to.
func (s *Shim) named(answer string) string {
	if s.odds.Typeless {
		return typeOf.ReplaceAllString(answer, "$1")
	}
	return answer
}

// explicit is the request that moto understands: one override with a type, count machines, and the
// tags that EC2 sets by itself.
func explicit(request url.Values, q *node, p refusedPool, count int) url.Values {
	out := url.Values{}
	for key, values := range request {
		if !strings.Contains(key, ".Overrides.") {
			out[key] = values
		}
	}
	out.Set("LaunchTemplateConfigs.1.Overrides.1.InstanceType", p.pool.Type)
	out.Set("LaunchTemplateConfigs.1.Overrides.1.SubnetId", p.subnet)
	for _, key := range []string{"TotalTargetCapacity", "SpotTargetCapacity", "OnDemandTargetCapacity"} {
		if key = "TargetCapacitySpecification." + key; out.Has(key) {
			out.Set(key, strconv.Itoa(count))
		}
	}
	spec := q.list("LaunchTemplateConfigs")[0].at("LaunchTemplateSpecification")
	for i, t := range q.list("TagSpecification") {
		if t.str("ResourceType") == "instance" {
			prefix, n := fmt.Sprintf("TagSpecification.%d.Tag.", i+1), len(t.list("Tag"))
			out.Set(fmt.Sprintf("%s%d.Key", prefix, n+1), "aws:ec2launchtemplate:id")
			out.Set(fmt.Sprintf("%s%d.Value", prefix, n+1), spec.str("LaunchTemplateId"))
			out.Set(fmt.Sprintf("%s%d.Key", prefix, n+2), "aws:ec2launchtemplate:version")
			out.Set(fmt.Sprintf("%s%d.Value", prefix, n+2), spec.str("Version"))
		}
	}
	return out
}

// template returns the data of the version that a launch names.
func (s *Shim) template(spec *node) (*element, *failure) {
	versions, failed := s.call("ec2", form("DescribeLaunchTemplateVersions",
		"LaunchTemplateId", spec.str("LaunchTemplateId"), "LaunchTemplateVersion.1", spec.str("Version")))
	if failed != nil {
		return nil, failed
	}
	data := versions.all("launchTemplateVersionSet", "item", "launchTemplateData")
	if len(data) != 1 {
		return nil, bad("InvalidLaunchTemplateId.VersionNotFound", "version %s", spec.str("Version"))
	}
	return data[0], nil
}

// complete gives new machines what moto loses of their template.
func (s *Shim) complete(root, data *element) *failure {
	for _, id := range root.all("fleetInstanceSet", "item", "instanceIds", "item") {
		for _, call := range completions(id.text, data) {
			if _, failed := s.call("ec2", call); failed != nil {
				return failed
			}
		}
	}
	return nil
}

func completions(id string, data *element) []url.Values {
	groups := form("ModifyInstanceAttribute", "InstanceId", id)
	for i, group := range data.all("securityGroupIdSet", "item") {
		groups.Set(fmt.Sprintf("GroupId.%d", i+1), group.text)
	}
	calls := []url.Values{
		groups,
		form("ModifyInstanceAttribute", "InstanceId", id, "Attribute", "instanceInitiatedShutdownBehavior",
			"Value", data.get("instanceInitiatedShutdownBehavior")),
		form("ModifyInstanceMetadataOptions", "InstanceId", id, "HttpEndpoint", data.get("metadataOptions", "httpEndpoint"),
			"HttpTokens", data.get("metadataOptions", "httpTokens"),
			"HttpPutResponseHopLimit", data.get("metadataOptions", "httpPutResponseHopLimit"),
			"InstanceMetadataTags", data.get("metadataOptions", "instanceMetadataTags")),
	}
	for as, key := range map[string]string{"name": "IamInstanceProfile.Name", "arn": "IamInstanceProfile.Arn"} {
		if value := data.get("iamInstanceProfile", as); value != "" {
			calls = append(calls, form("AssociateIamInstanceProfile", "InstanceId", id, key, value))
		}
	}
	return calls
}

// room returns how many of want the installation's limit allows.
func (s *Shim) room(name string, want int) (int, *failure) {
	limit, ok := s.limits[name]
	if !ok {
		return want, nil
	}
	root, failed := s.call("ec2", form("DescribeInstances", "Filter.1.Name", "tag:remuda-name", "Filter.1.Value.1", name,
		"Filter.2.Name", "instance-state-name", "Filter.2.Value.1", "pending", "Filter.2.Value.2", "running"))
	if failed != nil {
		return 0, failed
	}
	living := len(root.all("reservationSet", "item", "instancesSet", "item"))
	return min(want, max(limit-living, 0)), nil
}

// pools resolves the overrides, whose requirements are all the same, with moto's own types.
func (s *Shim) pools(overrides []*node) ([]refusedPool, *failure) {
	r := overrides[0].at("InstanceRequirements")
	types, failed := s.typesOf(r.str("VCpuCount", "Min"))
	if failed != nil {
		return nil, failed
	}
	zones := make(map[string]string)
	for i, o := range overrides {
		root, failed := s.call("ec2", form("DescribeSubnets", "SubnetId.1", o.str("SubnetId")))
		if failed != nil {
			return nil, failed
		}
		zone := root.get("subnetSet", "item", "availabilityZone")
		if zones[zone] != "" {
			return nil, malformed(s.tb, "CreateFleet", bad("InvalidFleetConfig", "The fleet configuration contains duplicate instance pools."))
		}
		zones[zone] = overrides[i].str("SubnetId")
	}
	var out []refusedPool
	for _, t := range resolve(r, "x86_64", types) {
		for _, zone := range sortedKeys(zones) {
			out = append(out, refusedPool{pool: Pool{t.Name, zone}, subnet: zones[zone]})
		}
	}
	return out, nil
}

func (s *Shim) typesOf(cpu string) ([]Type, *failure) {
	root, failed := s.staticTree(form("DescribeInstanceTypes", "Filter.1.Name", "vcpu-info.default-vcpus", "Filter.1.Value.1", cpu))
	if failed != nil {
		return nil, failed
	}
	var types []Type
	for _, item := range root.all("instanceTypeSet", "item") {
		t := Type{Name: item.get("instanceType"), Burstable: item.get("burstablePerformanceSupported") == "true" || familyT.MatchString(item.get("instanceType")), BareMetal: item.get("bareMetal") == "true",
			Previous: item.get("currentGeneration") == "false"}
		for _, accelerator := range []string{"gpuInfo", "fpgaInfo", "inferenceAcceleratorInfo", "mediaAcceleratorInfo", "neuronInfo"} {
			t.GPU = t.GPU || len(item.all(accelerator)) > 0
		}
		t.CPU, _ = strconv.Atoi(item.get("vCpuInfo", "defaultVCpus"))
		t.Mem, _ = strconv.Atoi(item.get("memoryInfo", "sizeInMiB"))
		for _, arch := range item.all("processorInfo", "supportedArchitectures", "item") {
			if t.Arch == "" || arch.text == "x86_64" {
				t.Arch = arch.text
			}
		}
		types = append(types, t)
	}
	return types, nil
}
