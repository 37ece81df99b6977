package ec2fleet

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/ensure"
)

// writes are the calls that change a launch template.
func writes(s *ec2test.Server) int {
	n := 0
	for _, action := range []string{"CreateLaunchTemplate", "CreateLaunchTemplateVersion", "ModifyLaunchTemplate", "DeleteLaunchTemplateVersions"} {
		n += s.Calls(action)
	}
	return n
}

func ensured(t *testing.T, f *Fleet, apply bool) ensure.Step {
	t.Helper()
	got, err := f.Ensure(t.Context(), apply)
	if err != nil || len(got) != 1 || got[0].Resource != "launch template test-machine" {
		t.Fatalf("Ensure(%t) = %v, %v, want one step for the launch template", apply, got, err)
	}
	return got[0]
}

func version(t *testing.T, f *Fleet) string {
	t.Helper()
	versions, err := f.Templates(t.Context(), "small")
	v := versions["small"]
	if err != nil {
		t.Fatalf("Template error = %v", err)
	}
	return v
}

func TestEnsure_MakesTheTemplateOnce_H65(t *testing.T) {
	s := ec2test.New(t)
	f := opened(t, s.URL, "test", options(s))
	if _, err := f.Templates(t.Context(), "small"); err == nil || errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "remuda init") {
		t.Errorf("Template before Ensure error = %v, want one that says what to do, and that time cures", err)
	}
	if got := ensured(t, f, false); got.Action != ensure.WouldCreate || writes(s) != 0 {
		t.Errorf("dry run = %v after %d writes, want would create and none", got, writes(s))
	}
	if got := ensured(t, f, true); got.Action != ensure.Created {
		t.Errorf("Ensure = %v, want created", got)
	}
	for _, apply := range []bool{true, false} {
		if got := ensured(t, f, apply); got.Action != ensure.Unchanged || writes(s) != 1 {
			t.Errorf("Ensure(%t) again = %v after %d writes, want unchanged and 1", apply, got, writes(s))
		}
	}
	got := s.Requests("CreateLaunchTemplate")[0]
	for key, want := range map[string]string{
		"LaunchTemplateName":                                              "test-machine",
		"LaunchTemplateData.ImageId":                                      ec2test.AMI,
		"LaunchTemplateData.IamInstanceProfile.Name":                      ec2test.Profile,
		"LaunchTemplateData.SecurityGroupId.1":                            ec2test.Group,
		"LaunchTemplateData.InstanceInitiatedShutdownBehavior":            "terminate",
		"LaunchTemplateData.MetadataOptions.HttpTokens":                   "required",
		"LaunchTemplateData.MetadataOptions.HttpPutResponseHopLimit":      "1",
		"LaunchTemplateData.MetadataOptions.InstanceMetadataTags":         "enabled",
		"LaunchTemplateData.MetadataOptions.HttpEndpoint":                 "enabled",
		"LaunchTemplateData.Monitoring.Enabled":                           "false",
		"LaunchTemplateData.BlockDeviceMapping.1.DeviceName":              "/dev/xvda",
		"LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeSize":          "40",
		"LaunchTemplateData.UserData":                                     base64.StdEncoding.EncodeToString([]byte(f.opts.UserData)),
		"TagSpecification.1.ResourceType":                                 "launch-template",
		"TagSpecification.1.Tag.1.Key":                                    TagName,
		"TagSpecification.1.Tag.1.Value":                                  "test",
		"LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeType":          "gp3",
		"LaunchTemplateData.BlockDeviceMapping.1.Ebs.DeleteOnTermination": "true",
	} {
		if got.Get(key) != want {
			t.Errorf("%s = %q, want %q", key, got.Get(key), want)
		}
	}
}

func TestEnsure_ChangedOptionsMakeANewDefaultVersion_H56(t *testing.T) {
	s, f := fresh(t, nil)
	before := version(t, f)
	changes := map[string]func(*Options){
		"UserData":     func(o *Options) { o.UserData += "true\n" },
		"Profile":      func(o *Options) { o.InstanceProfile = "arn:aws:iam::123456789012:instance-profile/" + ec2test.Profile },
		"RootGiB":      func(o *Options) { o.RootVolumeGiB = 80 },
		"Groups":       func(o *Options) { o.SecurityGroups = append(o.SecurityGroups, "sg-00000002") },
		"no RootGiB":   func(o *Options) { o.RootVolumeGiB = 0 },
		"RootDevice":   func(o *Options) { o.RootDevice = "/dev/sda1" },
		"no user data": func(o *Options) { o.UserData = "" },
	}
	s.SetGroup("sg-00000002", ec2test.VPC)
	seen := map[string]string{before: "the first"}
	for name, change := range changes {
		o := options(s)
		change(&o)
		g := opened(t, s.URL, "test", o)
		if got := ensured(t, g, false); got.Action != ensure.WouldUpdate {
			t.Errorf("%s: dry run = %v, want would update", name, got)
		}
		got := ensured(t, g, true)
		if got.Action != ensure.Updated || !strings.Contains(got.Detail, strings.TrimPrefix(strings.TrimPrefix(name, "no "), "user data")) || strings.Contains(got.Detail, "echo") {
			t.Errorf("%s: Ensure = %v, want updated, naming the field and not its value", name, got)
		}
		v := version(t, g)
		if seen[v] != "" {
			t.Errorf("%s: version %s is that of %s", name, v, seen[v])
		}
		seen[v] = name
		if got := ensured(t, g, true); got.Action != ensure.Unchanged {
			t.Errorf("%s: Ensure again = %v, want unchanged", name, got)
		}
		if p := planned(t, g, spec("l-"+name[:2], 1)); p.TemplateVersion != v {
			t.Errorf("%s: plan is of %s, want %s", name, p.TemplateVersion, v)
		}
	}
	if got := ensured(t, f, true); got.Action != ensure.Updated || version(t, f) != before {
		t.Errorf("Ensure of the first options = %v, version %s, want %s again: its machines are good", got, version(t, f), before)
	}
}

// Someone edits the template at EC2, or deletes it: it is compared with EC2, not with a copy.
func TestEnsure_RepairsWhatOthersDid_H55(t *testing.T) {
	s, f := fresh(t, nil)
	before := version(t, f)
	id := before[:strings.IndexByte(before, '/')]
	edits := map[string]func(*types.RequestLaunchTemplateData){
		"Shutdown": func(d *types.RequestLaunchTemplateData) {
			d.InstanceInitiatedShutdownBehavior = types.ShutdownBehaviorStop
		},
		"Tokens": func(d *types.RequestLaunchTemplateData) {
			d.MetadataOptions.HttpTokens = types.LaunchTemplateHttpTokensStateOptional
		},
		"Endpoint": func(d *types.RequestLaunchTemplateData) {
			d.MetadataOptions.HttpEndpoint = types.LaunchTemplateInstanceMetadataEndpointStateDisabled
		},
		"Hops":           func(d *types.RequestLaunchTemplateData) { d.MetadataOptions.HttpPutResponseHopLimit = aws.Int32(2) },
		"Tokens of none": func(d *types.RequestLaunchTemplateData) { d.MetadataOptions = nil },
		"Others of metadata by IPv6": func(d *types.RequestLaunchTemplateData) { // which no firewall of the agent's closes
			d.MetadataOptions.HttpProtocolIpv6 = types.LaunchTemplateInstanceMetadataProtocolIpv6Enabled
		},
		"Others of the root volume": func(d *types.RequestLaunchTemplateData) {
			d.BlockDeviceMappings[0].Ebs.KmsKeyId = aws.String("mine")
		},
		"KeyName": func(d *types.RequestLaunchTemplateData) { d.KeyName = aws.String("mine") },
		"BlockDeviceMappings": func(d *types.RequestLaunchTemplateData) {
			d.BlockDeviceMappings = append(d.BlockDeviceMappings, types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: aws.String("/dev/sdz")})
		},
		"TagSpecifications": func(d *types.RequestLaunchTemplateData) {
			d.TagSpecifications = []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeInstance, Tags: sortedTags(map[string]string{TagName: "other"})}}
		},
	}
	for name, edit := range edits {
		data := f.opts.want(parted("/dev/xvda")).data()
		edit(data)
		out, err := f.ec2.CreateLaunchTemplateVersion(t.Context(), &ec2.CreateLaunchTemplateVersionInput{
			LaunchTemplateId: aws.String(id), LaunchTemplateData: data,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.rest.templates.switchTo(t.Context(), &types.LaunchTemplate{LaunchTemplateId: aws.String(id)}, *out.LaunchTemplateVersion.VersionNumber); err != nil {
			t.Fatal(err)
		}
		if version(t, f) == before {
			t.Fatalf("%s: the edit had no effect", name)
		}
		got := ensured(t, f, true)
		want, _, _ := strings.Cut(name, " ")
		if name == "KeyName" || strings.HasSuffix(name, "s") && want != "Tokens" && want != "Hops" {
			want = "Others"
		}
		if got.Action != ensure.Updated || !strings.Contains(got.Detail, want) || version(t, f) != before {
			t.Errorf("%s: Ensure = %v, version %s, want %s the default again", name, got, version(t, f), before)
		}
	}
	s.Remove("test-machine")
	if got := ensured(t, f, true); got.Action != ensure.Created {
		t.Errorf("Ensure after deletion = %v, want created", got)
	}
	if after := version(t, f); after == before || !strings.HasSuffix(after, "/1") {
		t.Errorf("version = %s, want another than %s though its number is the same", after, before)
	}
}

// Someone deletes the version that was made for a change. EC2 numbers on, and answers the same call with the version
// that is gone, for as long as it remembers its token: the change must come all the same. H55 H56
func TestEnsure_VersionDeletedByHand_H55_H56(t *testing.T) {
	s, f := fresh(t, nil)
	o := options(s)
	o.UserData += "true\n"
	g := opened(t, s.URL, "test", o)
	for round := range 3 {
		got := ensured(t, g, true)
		if want := fmt.Sprintf("version %d is the default now", round+2); got.Action != ensure.Updated || !strings.Contains(got.Detail, want) {
			t.Fatalf("round %d: Ensure = %v, want updated, and %s", round, got, want)
		}
		live, err := f.rest.templates.live(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.rest.templates.switchTo(t.Context(), live, 1), f.rest.templates.deleteVersions(t.Context(), live, []string{fmt.Sprint(round + 2)})); err != nil {
			t.Fatal(err)
		}
	}
}

// EC2 may show what no one set, as off: that is no difference.
func TestShape_OffIsAsNotSet(t *testing.T) {
	shown := &types.ResponseLaunchTemplateData{
		EbsOptimized: aws.Bool(false), ImageId: aws.String(ec2test.AMI),
		MetadataOptions: &types.LaunchTemplateInstanceMetadataOptions{
			State: types.LaunchTemplateInstanceMetadataOptionsStateApplied, HttpProtocolIpv6: types.LaunchTemplateInstanceMetadataProtocolIpv6Disabled,
		},
	}
	if got := shapeOf(shown).differs(shape{Image: ec2test.AMI}); len(got) != 0 {
		t.Errorf("differs in %v, want in nothing", got)
	}
}

// EC2 shows a field otherwise than it was given: that must not make a version at every look.
func TestEnsure_TrustsItsMark(t *testing.T) {
	_, f := fresh(t, nil)
	want := f.opts.want(parted("/dev/xvda"))
	data := want.data()
	data.EbsOptimized = aws.Bool(true) // as if EC2 had added it
	live, err := f.rest.templates.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.ec2.CreateLaunchTemplateVersion(t.Context(), &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateId: live.LaunchTemplateId, LaunchTemplateData: data, VersionDescription: aws.String(want.mark()),
	})
	if err == nil {
		err = f.rest.templates.switchTo(t.Context(), live, *out.LaunchTemplateVersion.VersionNumber)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := ensured(t, f, true); got.Action != ensure.Unchanged {
		t.Errorf("Ensure = %v, want unchanged", got)
	}
}

func TestEnsure_TwoAtOnce(t *testing.T) {
	s := ec2test.New(t)
	o := options(s)
	for round := range 5 {
		o.UserData = fmt.Sprintf("#!/bin/sh\n# %d\n", round)
		var all sync.WaitGroup
		fleets := []*Fleet{opened(t, s.URL, "test", o), opened(t, s.URL, "test", o), opened(t, s.URL, "test", o)}
		for _, f := range fleets {
			all.Go(func() {
				if _, err := f.Ensure(t.Context(), true); err != nil {
					t.Errorf("Ensure error = %v", err)
				}
			})
		}
		all.Wait()
		for _, f := range fleets {
			if got := ensured(t, f, false); got.Action != ensure.Unchanged {
				t.Errorf("round %d: Ensure after all = %v, want unchanged", round, got)
			}
		}
	}
}

func TestEnsure_LeavesAnothersTemplateAlone_H59(t *testing.T) {
	s, f := fresh(t, nil)
	g := opened(t, s.URL, "other", options(s))
	_, err := f.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String("other-machine"), LaunchTemplateData: f.opts.want(parted("")).data(),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: sortedTags(map[string]string{TagName: "somebody"})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := writes(s)
	if _, err := g.Ensure(t.Context(), true); !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "launch template other-machine") || writes(s) != before {
		t.Errorf("Ensure error = %v after %d writes, want ErrRefused and none", err, writes(s)-before)
	}
}

// Each thing that is missing or forbidden is named, with the call and what to do, and nothing is made.
func TestEnsure_ClearErrors(t *testing.T) {
	tests := []struct {
		name   string
		breaks func(*ec2test.Server)
		want   []string
	}{
		{"AMI", func(s *ec2test.Server) { s.Remove(ec2test.AMI) }, []string{"ec2:DescribeImages", "AMI " + ec2test.AMI, "not found", "region"}},
		{"Subnet", func(s *ec2test.Server) { s.Remove("subnet-00000002") }, []string{"ec2:DescribeSubnets", "subnet-00000002", "not found"}},
		{"Group", func(s *ec2test.Server) { s.Remove(ec2test.Group) }, []string{"ec2:DescribeSecurityGroups", ec2test.Group, "not found"}},
		{"Profile", func(s *ec2test.Server) { s.Remove(ec2test.Profile) }, []string{"iam:GetInstanceProfile", "instance profile " + ec2test.Profile, "not found"}},
		{"Everything", func(s *ec2test.Server) {
			s.Remove(ec2test.AMI)
			s.Remove(ec2test.Group)
			s.Remove(ec2test.Profile)
		}, []string{"ec2:DescribeImages", "ec2:DescribeSecurityGroups", "iam:GetInstanceProfile"}},
		{"Network", func(s *ec2test.Server) { s.SetGroup(ec2test.Group, "vpc-2") }, []string{ec2test.Group, "vpc-2", ec2test.VPC, "one VPC"}},
		{"DescribeImages", func(s *ec2test.Server) { s.Deny("DescribeImages") }, []string{"allow ec2:DescribeImages"}},
		{"DescribeSubnets", func(s *ec2test.Server) { s.Deny("DescribeSubnets") }, []string{"allow ec2:DescribeSubnets"}},
		{"DescribeSecurityGroups", func(s *ec2test.Server) { s.Deny("DescribeSecurityGroups") }, []string{"allow ec2:DescribeSecurityGroups"}},
		{"GetInstanceProfile", func(s *ec2test.Server) { s.Deny("GetInstanceProfile") }, []string{"allow iam:GetInstanceProfile"}},
		{"DescribeLaunchTemplates", func(s *ec2test.Server) { s.Deny("DescribeLaunchTemplates") }, []string{"allow ec2:DescribeLaunchTemplates", "launch template test-machine"}},
		{"CreateLaunchTemplate", func(s *ec2test.Server) { s.Deny("CreateLaunchTemplate") }, []string{"allow ec2:CreateLaunchTemplate", "launch template test-machine"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ec2test.New(t)
			f := opened(t, s.URL, "test", options(s))
			tt.breaks(s)
			got, err := f.Ensure(t.Context(), true)
			if !errors.Is(err, fleet.ErrRefused) || len(got) != 0 {
				t.Fatalf("Ensure = %v, %v, want ErrRefused", got, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
			if n := writes(s); n > 0 && tt.name != "CreateLaunchTemplate" {
				t.Errorf("%d writes, want none", n)
			}
		})
	}
}
