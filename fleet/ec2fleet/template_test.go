package ec2fleet

import (
	"errors"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/ensure"
)

// A parameter names the AMI: the template has the id, since EC2 takes no parameter beside requirements, and a
// new value makes a new version.
func TestTemplate_FollowsTheParameter_H56(t *testing.T) {
	s := ec2test.New(t)
	s.SetParameter("/remuda/ami", ec2test.AMI)
	f := ready(t, s, func(o *Options) { o.AMI = "resolve:ssm:/remuda/ami" })
	before := version(t, f)
	old := launched(t, f, spec("l-1", 1)).Machines[0]
	if old.TemplateVersion != before || !strings.HasSuffix(before, "/1") {
		t.Errorf("machine of %s, want %s, version 1", old.TemplateVersion, before)
	}
	if got := ensured(t, f, true); got.Action != ensure.Unchanged {
		t.Errorf("Ensure = %v, want unchanged while the value is the same", got)
	}
	s.SetImage("ami-00000002")
	s.SetParameter("/remuda/ami", "ami-00000002")
	if got := ensured(t, f, true); got.Action != ensure.Updated || !strings.Contains(got.Detail, "Image") {
		t.Errorf("Ensure = %v, want updated for the image", got)
	}
	if after := version(t, f); after == before || planned(t, f, spec("l-2", 1)).TemplateVersion != after {
		t.Errorf("version = %s, want another, in plans too", after)
	}
	listed, err := f.List(t.Context(), "")
	if err != nil || len(listed) != 1 || listed[0].TemplateVersion != before {
		t.Errorf("List = %+v, %v, want the machine still of %s", listed, err, before)
	}
}

func TestTemplate_IsTheLastSeenWhileEC2IsBusy_H53(t *testing.T) {
	s, f := fresh(t, nil)
	want := version(t, f)
	s.Throttle("DescribeLaunchTemplateVersions", 3)
	if got := version(t, f); got != want {
		t.Errorf("Template = %s, want %s", got, want)
	}
}

// What a parameter cannot give is reported by init, and changes nothing while machines are served.
func TestTemplate_ParameterOfNoUse(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		change     func(*ec2test.Server)
	}{
		{"Unknown", "ssm:GetParameters on parameter /remuda/ami: not found", nil},
		{"NoImage", "the value must be the id of an image", func(s *ec2test.Server) { s.SetParameter("/remuda/ami", "s3cr3t") }},
		{"ImageGone", "AMI ami-0000dead", func(s *ec2test.Server) { s.SetParameter("/remuda/ami", "ami-0000dead") }},
		{"Denied", "ssm:GetParameters", func(s *ec2test.Server) { s.Deny("GetParameters") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ec2test.New(t)
			o := options(s)
			o.AMI = "resolve:ssm:/remuda/ami"
			f := opened(t, s.URL, "build", o)
			if tt.change != nil {
				tt.change(s)
			}
			_, err := f.Ensure(t.Context(), true)
			if !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("Ensure error = %v, want %v with %q and without the value", err, fleet.ErrRefused, tt.want)
			}
			if n := writes(s); n > 0 {
				t.Errorf("%d writes, want none", n)
			}
		})
	}
}
