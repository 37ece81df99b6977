package ec2fleet

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/fleet"
)

// FuzzDecode reads whatever may be stored with a launch. What is accepted says the same again, and asks
// EC2 for exactly that: a number that EC2's fields cannot hold is refused, not cut. S73
func FuzzDecode_S73(f *testing.F) {
	const good = `{"form":1,"name":"test","template":"lt-1","version":"3","usageClass":"spot","resourceClass":"small","cpu":2,"mem":4096,` +
		`"allowed":["c*"],"priceProtection":100,"places":[{"zone":"a","subnet":"s-a"}]}`
	f.Add([]byte(good), "l-1", 1, "lt-1/3")
	f.Add([]byte(`null`), "", 0, "")
	f.Add([]byte(good[:len(good)-1]+`,"cpu":4294967298}`), "l-1", 1, "lt-1/3")
	f.Add([]byte(good+`{}`), "l-1", 1<<40, "lt-1/3")
	f.Fuzz(func(t *testing.T, raw []byte, token string, count int, version string) {
		fl := &Fleet{client: &client{name: "test"}}
		p := fleet.Plan{Token: token, Count: count, TemplateVersion: version, Params: raw}
		in, err := fl.decode(p)
		if err != nil {
			if !errors.Is(err, fleet.ErrRefused) {
				t.Errorf("decode(%q) = %v, want ErrRefused", raw, err)
			}
			return
		}
		if !json.Valid(raw) {
			t.Errorf("decode(%q) = %+v: it is not JSON", raw, in)
		}
		call := in.input(p)
		capacity, needs := call.TargetCapacitySpecification, call.LaunchTemplateConfigs[0].Overrides[0].InstanceRequirements
		if int(aws.ToInt32(capacity.TotalTargetCapacity)) != count || int(aws.ToInt32(needs.VCpuCount.Min)) != in.CPU ||
			int(aws.ToInt32(needs.VCpuCount.Max)) != in.CPU || int(aws.ToInt32(needs.MemoryMiB.Min)) != in.Mem {
			t.Errorf("%+v asks for %+v and %+v", in, capacity, needs)
		}
		again, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		p.Params = again
		if second, err := fl.decode(p); err != nil || !gocmp.Equal(in, second) {
			t.Errorf("decoded again: %v\n%s", err, gocmp.Diff(in, second))
		}
	})
}

// FuzzRefusals: whatever EC2 says of what it did not launch, what is left out of later launches is never
// everything, is of this launch's usage class or of one zone, and has a code. S75
func FuzzRefusals_S75(f *testing.F) {
	f.Add("InsufficientInstanceCapacity", "no capacity", "c6i.large", "a", "", byte(7))
	f.Add("InsufficientFreeAddressesInSubnet", "", "", "", "s-a", byte(7))
	f.Add("VcpuLimitExceeded", "", "c6i.large", "a", "s-a", byte(7))
	f.Add("", "\x00\xff", "", "", "", byte(0))
	f.Add("UnauthorizedOperation.X", "", "", "", "", byte(1))
	f.Fuzz(func(t *testing.T, code, message, instanceType, zone, subnet string, has byte) {
		in := params{UsageClass: spot, ResourceClass: "small", Places: []place{{"a", "s-a"}, {"b", "s-b"}}}
		e := types.CreateFleetError{}
		text := func(bit byte, s string) *string {
			if has&bit == 0 {
				return nil
			}
			return &s
		}
		e.ErrorCode, e.ErrorMessage = text(1, code), text(2, message)
		if has&4 != 0 {
			e.LaunchTemplateAndOverrides = &types.LaunchTemplateAndOverridesResponse{}
		}
		if has&12 == 12 {
			e.LaunchTemplateAndOverrides.Overrides = &types.FleetLaunchTemplateOverrides{
				InstanceType: types.InstanceType(instanceType), AvailabilityZone: text(16, zone), SubnetId: text(32, subnet),
			}
		}
		out := refusals(in, "", []types.CreateFleetError{e, e})
		if len(out) != 1 || out[0].Code == "" {
			t.Fatalf("refusals = %+v, want one with a code", out)
		}
		slot := out[0].Slot
		if slot == (fleet.Slot{}) || slot.UsageClass != spot && (slot.UsageClass != "" || slot.Zone == "") {
			t.Errorf("refusal %+v leaves out %+v", e, slot)
		}
		if err := unsatisfiable([]types.CreateFleetError{e}); err != nil && capacity[aws.ToString(e.ErrorCode)] != 0 {
			t.Errorf("unsatisfiable = %v of what another place cures", err)
		}
	})
}

// FuzzMachine: an instance that EC2 tells little of is still one with an id and a principal of its own,
// and in a state that someone ends it from. H65
func FuzzMachine_H65(f *testing.F) {
	f.Add("i-0abc", "running", "spot", "c6i.large", "a", "remuda-launch", "l-1")
	f.Add("", "", "", "", "", "", "")
	f.Add("i-\xff\x00", "new-state", "capacity-block", "T3.\x00", "a", "remuda-class", "\xff")
	f.Fuzz(func(t *testing.T, id, state, lifecycle, instanceType, zone, key, value string) {
		l := &lister{client: &client{name: "test"}}
		i := types.Instance{InstanceId: &id, InstanceLifecycle: types.InstanceLifecycleType(lifecycle), InstanceType: types.InstanceType(instanceType)}
		if state != "" {
			i.State = &types.InstanceState{Name: types.InstanceStateName(state)}
		}
		if zone != "" {
			i.Placement = &types.Placement{AvailabilityZone: &zone}
		}
		i.Tags = []types.Tag{{}, {Key: &key, Value: &value}}
		m := l.machineOf(i, "role")
		over := state == string(types.InstanceStateNameShuttingDown) || state == string(types.InstanceStateNameTerminated)
		if m.ID != id || m.Principal != "role:"+id || (m.State == fleet.Ending || m.State == fleet.Ended) != over {
			t.Errorf("machineOf(%+v) = %+v", i, m)
		}
		if m.UsageClass != spot && m.UsageClass != onDemand || m.LaunchToken != "" && (key != TagLaunch || m.LaunchToken != value) {
			t.Errorf("machineOf(%+v) = %+v", i, m)
		}
		if info := infoOf(types.InstanceTypeInfo{InstanceType: i.InstanceType}); info.name != instanceType || slices.Contains(info.usages, "") {
			t.Errorf("infoOf = %+v", info)
		}
	})
}
