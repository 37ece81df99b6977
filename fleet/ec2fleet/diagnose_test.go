package ec2fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/finding"
)

// Everything that keeps machines from coming, or soon will, is found, each alone; what may not be asked is skipped.
func TestDiagnose(t *testing.T) {
	subnet := ec2test.Subnet{ID: "subnet-00000001", Zone: "us-east-1a", Free: 250, VPC: ec2test.VPC}
	const other = "subnet-00000002"
	for name, tt := range map[string]struct {
		spoil   func(*ec2test.Server)
		check   string
		verdict finding.Verdict
		says    string
	}{
		"Full":        {func(s *ec2test.Server) { full := subnet; full.Free = 3; s.SetSubnets(full) }, "subnets", finding.Warning, "has 3 free addresses"},
		"Gone":        {func(s *ec2test.Server) { s.Remove(other) }, "subnets", finding.Failed, "not found: " + other},
		"NoRoute":     {func(s *ec2test.Server) { s.SetRoute(other, "") }, "route", finding.Warning, other + " has no default route"},
		"NoAddress":   {func(s *ec2test.Server) { s.SetRoute(other, "igw-0123") }, "route", finding.Failed, other + " leads to an internet gateway and gives its machines no public addresses"},
		"NoRouteSeen": {func(s *ec2test.Server) { s.Deny("DescribeRouteTables") }, "route", finding.Skipped, "allow ec2:DescribeRouteTables"},
		"Quota":       {func(s *ec2test.Server) { s.SetQuota("L-34B43A08", 5) }, "quota", finding.Warning, "5 vCPUs of standard spot types; the caps allow 64 at once"},
		"QuotaOfSome": {func(s *ec2test.Server) { s.SetQuota("L-1216C47A", 5) }, "quota", finding.Warning, "too few for one instance of class large (8 vCPUs)"},
		"QuotaOfNone": {func(s *ec2test.Server) { s.SetQuota("L-34B43A08", 1) }, "quota", finding.Failed, "too few for one instance of class small (2 vCPUs), large (8 vCPUs)"},
		"QuotaOfZero": {func(s *ec2test.Server) { s.SetQuota("L-1216C47A", 0) }, "quota", finding.Failed, "0 vCPUs of standard on-demand types"},
		"QuotaUnseen": {func(s *ec2test.Server) { s.Deny("GetServiceQuota") }, "quota", finding.Skipped, "allow servicequotas:GetServiceQuota"},
		"Deprecated":  {func(s *ec2test.Server) { s.SetDeprecation(ec2test.AMI, "2020-01-02T00:00:00.000Z") }, "image", finding.Warning, "deprecated since 2020-01-02"},
		"NoProfile":   {func(s *ec2test.Server) { s.Remove("gpu") }, "instance profile", finding.Failed, "instance profile gpu: not found"},
		"NoRole":      {func(s *ec2test.Server) { s.SetProfile("gpu", "") }, "instance profile", finding.Failed, "instance profile gpu: it has no role"},
		"OtherRole":   {func(s *ec2test.Server) { s.SetProfile(ec2test.Profile, "AROAOTHER") }, "instance profile", finding.Failed, "and ec2.roleId is "},
		"NoImage":     {func(s *ec2test.Server) { s.Remove(ec2test.AMI) }, "image", finding.Failed, "not found: check name and region"},
	} {
		t.Run(name, func(t *testing.T) {
			s := ec2test.New(t)
			s.SetProfile("gpu", "AROAGPU")
			f := ready(t, s, func(o *Options) {
				o.RoleID = ec2test.RoleID
				class := Class{AMI: o.AMI, UserData: o.UserData, RootVolumeGiB: o.RootVolumeGiB, Subnets: o.Subnets, SecurityGroups: o.SecurityGroups, InstanceProfile: o.InstanceProfile}
				gpu := class
				gpu.InstanceProfile = "gpu"
				class.CPU, gpu.CPU = 2, 8
				o.Classes = map[string]Class{"small": class, "large": gpu}
			})
			for _, found := range f.Diagnose(t.Context(), map[string]int{"small": 64, "large": 8}) {
				if found.Verdict != finding.OK {
					t.Errorf("before: %v", found)
				}
			}
			tt.spoil(s)
			found := f.Diagnose(t.Context(), map[string]int{"small": 64, "large": 8})
			if !slices.ContainsFunc(found, func(f finding.Finding) bool {
				return f.Check == tt.check && f.Verdict == tt.verdict && strings.Contains(f.Detail, tt.says)
			}) {
				t.Errorf("Diagnose() = %v, want %s of %s that says %q", found, tt.verdict, tt.check, tt.says)
			}
			if n := writes(s); n != 2 { // those of ready
				t.Errorf("%d writes: it changes nothing", n)
			}
		})
	}
}
