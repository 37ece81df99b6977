package ec2fleet

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

func TestLaunch_MachineIsWhatEC2SaysOfIt_H15(t *testing.T) {
	s, f := fresh(t, nil)
	sp := spec("l-1", 1)
	sp.AllowedTypes, sp.UsageClass = []string{"r6i.large"}, onDemand
	m := launched(t, f, sp).Machines[0]
	i := s.Instances()[0]
	want := fleet.Machine{
		ID: i.ID, Principal: ec2test.RoleID + ":" + i.ID, State: m.State, InstanceType: "r6i.large", UsageClass: onDemand,
		ResourceClass: "small", CPU: 2, Mem: 16384, Zone: i.Zone, LaunchToken: "l-1",
		TemplateVersion: i.Tags[tagTemplate] + "/1", LaunchedAt: m.LaunchedAt,
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
	if i.VolumeTags[TagName] != "test" {
		t.Errorf("tags of the volumes = %v, want ours", i.VolumeTags)
	}
	listed, err := f.List(t.Context(), "l-1")
	if err != nil || len(listed) != 1 {
		t.Fatalf("List = %v, %v, want one machine", listed, err)
	}
	want.State, want.LaunchedAt = listed[0].State, listed[0].LaunchedAt
	if diff := cmp.Diff(want, listed[0]); diff != "" {
		t.Errorf("listed machine (-want +got):\n%s", diff)
	}
}

// Errors beside instances: what came is kept, and every refusal names its place.
func TestLaunch_ErrorsBesideInstances_S74_S75_H29_H33(t *testing.T) {
	s, f := fresh(t, nil)
	s.Refuse(ec2test.Pool{Type: "c6i.large"}, "InsufficientInstanceCapacity")
	s.Refuse(ec2test.Pool{Zone: "us-east-1b"}, "InsufficientFreeAddressesInSubnet")
	sp := spec("l-1", 4)
	sp.AllowedTypes = []string{"c6i.large", "m5.large"}
	out := launched(t, f, sp)
	if len(out.Machines) != 4 {
		t.Fatalf("Launch gave %d machines, want 4 elsewhere", len(out.Machines))
	}
	for _, m := range out.Machines {
		if m.InstanceType != "m5.large" || m.Zone == "us-east-1b" {
			t.Errorf("launched %s in %s", m.InstanceType, m.Zone)
		}
	}
	for _, want := range []fleet.Slot{
		{UsageClass: spot, InstanceType: "c6i.large", Zone: "us-east-1a"},
		{UsageClass: spot, InstanceType: "c6i.large", Zone: "us-east-1c"},
		{Zone: "us-east-1b"},
	} {
		if !slices.ContainsFunc(out.Refused, func(r fleet.Refusal) bool { return r.Slot == want && r.Code != "" && r.Message != "" }) {
			t.Errorf("refusals = %+v, want one for %+v", out.Refused, want)
		}
	}
}

func TestRefusals_ReachAsFarAsTheirCode_S75(t *testing.T) {
	in := params{UsageClass: spot, ResourceClass: "small", Places: []place{{"z-a", "subnet-a"}, {"z-b", "subnet-b"}}}
	at := func(kind, zone, subnet string) *types.LaunchTemplateAndOverridesResponse {
		return &types.LaunchTemplateAndOverridesResponse{Overrides: &types.FleetLaunchTemplateOverrides{
			InstanceType: types.InstanceType(kind), AvailabilityZone: aws.String(zone), SubnetId: aws.String(subnet),
		}}
	}
	tests := []struct {
		code   string
		at     *types.LaunchTemplateAndOverridesResponse
		want   fleet.Slot
		reason string
	}{
		{"InsufficientInstanceCapacity", at("c6i.large", "", "subnet-b"), fleet.Slot{UsageClass: spot, InstanceType: "c6i.large", Zone: "z-b"}, "the zone is known by its subnet"},
		{"InsufficientInstanceCapacity", at("", "z-a", ""), fleet.Slot{UsageClass: spot, Zone: "z-a", ResourceClass: "small"}, "attribute-based: no type may be named"},
		{"InsufficientInstanceCapacity", nil, fleet.Slot{UsageClass: spot, ResourceClass: "small"}, "nothing is named"},
		{"UnfulfillableCapacity", at("c6i.large", "z-a", ""), fleet.Slot{UsageClass: spot, InstanceType: "c6i.large", Zone: "z-a"}, "a pool"},
		{"InvalidFleetConfiguration", at("c6i.large", "z-a", ""), fleet.Slot{UsageClass: spot, InstanceType: "c6i.large", Zone: "z-a"}, "not offered there"},
		{"MaxSpotInstanceCountExceeded", at("p4d.24xlarge", "z-a", ""), fleet.Slot{UsageClass: spot, InstanceType: "quota:p", ResourceClass: "small"}, "a quota of some families"},
		{"VcpuLimitExceeded", at("c6i.large", "z-a", ""), fleet.Slot{UsageClass: spot, InstanceType: "quota:standard", ResourceClass: "small"}, "a quota of some families"},
		{"VcpuLimitExceeded", at("", "z-a", ""), fleet.Slot{UsageClass: spot, InstanceType: "quota:x", ResourceClass: "small"}, "all types of the launch count towards it"},
		{"MaxFleetCountExceeded", nil, fleet.Slot{UsageClass: spot}, "a quota"},
		{"InsufficientFreeAddressesInSubnet", at("c6i.large", "", "subnet-a"), fleet.Slot{Zone: "z-a"}, "whatever the type and usage class"},
	}
	for _, tt := range tests {
		e := types.CreateFleetError{ErrorCode: aws.String(tt.code), ErrorMessage: aws.String("m"), LaunchTemplateAndOverrides: tt.at}
		want := []fleet.Refusal{{Slot: tt.want, Code: tt.code, Message: "m"}}
		if diff := cmp.Diff(want, refusals(in, "x", []types.CreateFleetError{e, e})); diff != "" {
			t.Errorf("refusals(%s twice): %s (-want +got):\n%s", tt.code, tt.reason, diff)
		}
	}
}

// An attribute-based refusal names a zone and no type: it is about what the class demands, and another
// class is launched there all the same.
func TestPlan_RefusedRequirementsConcernTheirClassOnly_S75(t *testing.T) {
	_, f := fresh(t, nil)
	in := params{UsageClass: spot, ResourceClass: "small"}
	refused := refusals(in, "", []types.CreateFleetError{{ErrorCode: aws.String("UnfulfillableCapacity")}})
	sp := spec("l-1", 1)
	sp.Excluded = []fleet.Slot{refused[0].Slot}
	if _, err := f.Plan(t.Context(), sp); !errors.Is(err, fleet.ErrNoCapacity) {
		t.Errorf("Plan of the class error = %v, want ErrNoCapacity", err)
	}
	sp.ResourceClass = "other"
	if _, err := f.Plan(t.Context(), sp); err != nil {
		t.Errorf("Plan of another class error = %v", err)
	}
}

// A call refused as a whole for capacity is an answer: nothing was launched, and the same call would
// not do better.
func TestLaunch_WholeCallRefusedForCapacity_S75(t *testing.T) {
	for _, code := range []string{"InsufficientInstanceCapacity", "MaxFleetCountExceeded", "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded"} {
		s, f := fresh(t, nil)
		status := http.StatusBadRequest
		if code == "InsufficientInstanceCapacity" {
			status = http.StatusInternalServerError // a server error to EC2, which the SDK repeats
		}
		for range 3 {
			s.Fail("CreateFleet", ec2test.Fault{Status: status, Code: code, Message: "none left"})
		}
		out := launched(t, f, spec("l-1", 2))
		slot := fleet.Slot{UsageClass: spot}
		switch code {
		case "InsufficientInstanceCapacity":
			slot.ResourceClass = "small" // no quota: another class may fare better
		case "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded":
			slot.InstanceType, slot.ResourceClass = "quota:standard", "small" // other families, and smaller machines
		}
		want := fleet.Outcome{Refused: []fleet.Refusal{{Slot: slot, Code: code, Message: "none left"}}}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("%s: outcome (-want +got):\n%s", code, diff)
		}
	}
}

func TestLaunch_FewerWithoutAReasonIsSaid_S75(t *testing.T) {
	s, f := fresh(t, nil)
	p := planned(t, f, spec("l-1", 2))
	s.SetTypes() // EC2 finds nothing, and says nothing
	out, err := f.Launch(t.Context(), p)
	if err != nil || len(out.Refused) != 1 || out.Refused[0].Code == "" {
		t.Errorf("Launch = %+v, %v, want one refusal", out, err)
	}
}

// The reply is lost after the effect, by the network or a 500, once or as often as the SDK tries: the
// identical call finds the same machines (H32, H02).
func TestLaunch_LostReplyLaunchesNoneTwice_H32_H02(t *testing.T) {
	for name, fault := range map[string]ec2test.Fault{
		"broken": {After: true},
		"500":    {After: true, Status: http.StatusInternalServerError, Code: "InternalError"},
		"503":    {After: true, Status: http.StatusServiceUnavailable, Code: "RequestLimitExceeded"},
	} {
		for _, times := range []int{1, 3} {
			s, f := fresh(t, nil)
			for range times {
				s.Fail("CreateFleet", fault)
			}
			p := planned(t, f, spec("l-1", 3))
			out, err := f.Launch(t.Context(), p)
			if (err != nil) != (times == 3) || errors.Is(err, fleet.ErrRefused) {
				t.Errorf("%s %d times: Launch = %d machines, %v, want an unknown outcome after 3", name, times, len(out.Machines), err)
			}
			out, err = f.Launch(t.Context(), p)
			if err != nil || len(out.Machines) != 3 || len(s.Instances()) != 3 {
				t.Errorf("%s %d times: repeated Launch = %d machines, %v, and %d at EC2, want 3", name, times, len(out.Machines), err, len(s.Instances()))
			}
		}
	}
}

func TestLaunch_ThrottledIsDroppedByNobody(t *testing.T) {
	s, f := fresh(t, nil)
	p := planned(t, f, spec("l-1", 1))
	s.Throttle("CreateFleet", 3)
	if _, err := f.Launch(t.Context(), p); !errors.Is(err, fleet.ErrThrottled) {
		t.Errorf("Launch error = %v, want ErrThrottled", err)
	}
	if out, err := f.Launch(t.Context(), p); err != nil || len(out.Machines) != 1 {
		t.Errorf("repeated Launch = %v, %v, want its machine", out, err)
	}
	p = planned(t, f, spec("l-2", 1))
	s.Throttle("DescribeInstances", 3) // after the launch
	if _, err := f.Launch(t.Context(), p); !errors.Is(err, fleet.ErrThrottled) {
		t.Errorf("Launch with the look refused error = %v, want ErrThrottled", err)
	}
	if out, err := f.Launch(t.Context(), p); err != nil || len(out.Machines) != 1 || len(s.Alive()) != 2 {
		t.Errorf("repeated Launch = %v, %v, want its machine", out, err)
	}
}

// A launch template that was just made, or is about to be made again, costs no request its life.
func TestLaunch_TemplateNotSeenYet_H55(t *testing.T) {
	s, f := fresh(t, nil)
	p := planned(t, f, spec("l-1", 1))
	s.Fail("CreateFleet", ec2test.Fault{Status: http.StatusBadRequest, Code: "InvalidLaunchTemplateId.VersionNotFound", Message: "no"})
	if _, err := f.Launch(t.Context(), p); err == nil || errors.Is(err, fleet.ErrRefused) {
		t.Errorf("Launch error = %v, want one that a repetition cures", err)
	}
	if out, err := f.Launch(t.Context(), p); err != nil || len(out.Machines) != 1 {
		t.Errorf("repeated Launch = %v, %v, want its machine", out, err)
	}
	s.Remove(f.rest.templates.templateName())
	f.rest.templates.template.forget()
	if _, err := f.Plan(t.Context(), spec("l-2", 1)); err == nil || errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "not found") {
		t.Errorf("Plan without a template error = %v, want one that time cures", err)
	}
	if _, err := f.Ensure(t.Context(), true); err != nil {
		t.Fatalf("Ensure error = %v", err)
	}
	if out := launched(t, f, spec("l-2", 1)); len(out.Machines) != 1 {
		t.Errorf("Launch from the new template gave %d machines, want 1", len(out.Machines))
	}
}

// Once EC2 has launched, no missing permission to look makes that undone: ErrRefused would be definite.
func TestLaunch_RefusedLookIsNotDefinite_H01(t *testing.T) {
	s, f := fresh(t, nil)
	p := planned(t, f, spec("l-1", 2))
	s.Fail("DescribeInstances", ec2test.Fault{Status: http.StatusForbidden, Code: "UnauthorizedOperation", Message: "no"})
	if _, err := f.Launch(t.Context(), p); err == nil || errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "allow ec2:DescribeInstances") {
		t.Errorf("Launch error = %v, want an unknown outcome that names the permission", err)
	}
	if out, err := f.Launch(t.Context(), p); err != nil || len(out.Machines) != 2 || len(s.Instances()) != 2 {
		t.Errorf("repeated Launch = %v, %v, want its two machines", out, err)
	}
}

// What a launch brought gets a record with its size, so one that EC2 does not return is no answer yet, nor a definite error. H15 H01
func TestLaunch_SizeMustBeTold_H15_H01(t *testing.T) {
	s := ec2test.New(t)
	p := planned(t, ready(t, s, nil), spec("l-1", 1))
	if _, err := opened(t, s.URL, "test", options(s)).Launch(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	s.SetTypes()
	f := opened(t, s.URL, "test", options(s)) // knows of no type yet
	if out, err := f.Launch(t.Context(), p); err == nil || errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "c6i.large") {
		t.Errorf("Launch = %+v, %v, want an unknown outcome that names the type", out, err)
	}
}

// What a machine is made of went away, or a permission did: a clear error, and no machine.
func TestLaunch_ClearErrors(t *testing.T) {
	tests := []struct {
		name   string
		breaks func(s *ec2test.Server, template string)
		want   []string
	}{
		{"AMI", func(s *ec2test.Server, _ string) { s.Remove(ec2test.AMI) }, []string{"ec2:CreateFleet", "launch template lt-", ec2test.AMI, "not found"}},
		{"Group", func(s *ec2test.Server, _ string) { s.Remove(ec2test.Group) }, []string{"ec2:CreateFleet", ec2test.Group, "not found"}},
		{"Template", func(s *ec2test.Server, name string) { s.Remove(name) }, []string{"ec2:CreateFleet", "launch template lt-", "not found", "remuda init"}},
		{"Permission", func(s *ec2test.Server, _ string) { s.Deny("CreateFleet") }, []string{"ec2:CreateFleet", "launch template lt-", "allow ec2:CreateFleet"}},
		{"SpotRole", func(s *ec2test.Server, _ string) {
			s.Refuse(ec2test.Pool{}, "AuthFailure.ServiceLinkedRoleCreationNotPermitted")
		}, []string{"ec2:CreateFleet", "ServiceLinkedRole"}},
		{"PassRole", func(s *ec2test.Server, _ string) { s.Refuse(ec2test.Pool{}, "UnauthorizedOperation") }, []string{"ec2:CreateFleet", "access denied"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, f := fresh(t, nil)
			p := planned(t, f, spec("l-1", 2))
			tt.breaks(s, f.rest.templates.templateName())
			out, err := f.Launch(t.Context(), p)
			if !errors.Is(err, fleet.ErrRefused) || len(out.Machines) != 0 || len(s.Instances()) != 0 {
				t.Fatalf("Launch = %+v, %v, want ErrRefused and no machine", out, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
			if len(err.Error()) > 700 || strings.Contains(err.Error(), "xxxxx") {
				t.Errorf("error has %d bytes and EC2's encoded message: %v", len(err.Error()), err)
			}
		})
	}
}

// Some of the places lack a permission or the like, others have no capacity: time may help.
func TestLaunch_MixedErrorsAreRefusals_S75(t *testing.T) {
	s, f := fresh(t, nil)
	s.Refuse(ec2test.Pool{}, "UnauthorizedOperation")
	s.Refuse(ec2test.Pool{Zone: "us-east-1b"}, "InsufficientInstanceCapacity")
	if out := launched(t, f, spec("l-1", 2)); len(out.Machines) != 0 || len(out.Refused) < 2 {
		t.Errorf("Launch = %+v, want refusals of both kinds", out)
	}
}

// Its name looks like a mistake of ours, but only the pool is wrong.
func TestLaunch_TypeNotOfferedThereIsARefusal_S75(t *testing.T) {
	s, f := fresh(t, nil)
	s.Refuse(ec2test.Pool{}, "InvalidFleetConfiguration")
	if out := launched(t, f, spec("l-1", 1)); len(out.Refused) != 9 || out.Refused[0].Slot.Zone == "" {
		t.Errorf("Launch = %+v, want a refusal for each of 3 types in 3 zones", out)
	}
}

func TestLaunch_ProfileIsLookedUpBefore_H01(t *testing.T) {
	s := ec2test.New(t)
	p := planned(t, ready(t, s, nil), spec("l-1", 1))
	f := opened(t, s.URL, "test", options(s))
	s.Deny("GetInstanceProfile")
	if _, err := f.Launch(t.Context(), p); !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "allow iam:GetInstanceProfile") {
		t.Errorf("Launch error = %v, want ErrRefused that names iam:GetInstanceProfile", err)
	}
	if n := s.Calls("CreateFleet"); n != 0 {
		t.Errorf("%d launches were called, want none before their principal is known", n)
	}
	o := options(s)
	o.RoleID = "AROAANOTHERROLE12345"
	out, err := opened(t, s.URL, "test", o).Launch(t.Context(), p)
	if err != nil || !strings.HasPrefix(out.Machines[0].Principal, o.RoleID+":i-") {
		t.Errorf("Launch with RoleID = %+v, %v, want its principal and no question to IAM", out, err)
	}
}

func TestLaunch_PlanOfAnotherInstallationOrFormIsInvalid(t *testing.T) {
	s, f := fresh(t, nil)
	for name, change := range map[string]func(*params){
		"Name":    func(in *params) { in.Name = "other" },
		"Form":    func(in *params) { in.Form++ },
		"Version": func(in *params) { in.Version = "7" },
		"Places":  func(in *params) { in.Places = append(in.Places, in.Places[0]) },
		"Usage":   func(in *params) { in.UsageClass = "" },
		"Allowed": func(in *params) { in.Allowed = nil },
	} {
		p := planned(t, f, spec("l-1", 1))
		in := frozen(t, p)
		change(&in)
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		p.Params = raw
		if _, err := f.Launch(t.Context(), p); !errors.Is(err, fleet.ErrRefused) {
			t.Errorf("%s: Launch error = %v, want ErrRefused", name, err)
		}
	}
	if n := s.Calls("CreateFleet"); n != 0 {
		t.Errorf("%d launches were called, want none", n)
	}
}
