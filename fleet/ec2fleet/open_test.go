package ec2fleet

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

// H66: a fleet that names no region, or another than its client, is none.
func TestOpen_BadURL_H66(t *testing.T) {
	s := ec2test.New(t)
	for _, raw := range []string{
		"ec2://", "ec2:name", "sqs://name", "ec2://name/path", "ec2://name?zone=a", "ec2://user@name", "ec2://-name",
		"ec2://name?region=eu-west-1", "ec2://" + strings.Repeat("x", 101), "ec2://name#f",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := Open(t.Context(), u, aws.Config{Region: "us-east-1"}, options(s)); err == nil {
			t.Errorf("Open(%s) = %v, want an error", raw, f.name)
		}
	}
	u := &url.URL{Scheme: "ec2", Host: "name", RawQuery: "region=us-east-1"}
	if _, err := Open(t.Context(), u, aws.Config{Region: "us-east-1"}, options(s)); err != nil {
		t.Errorf("Open(%s) error = %v", u, err)
	}
	if _, err := Open(t.Context(), fleetURL("name"), aws.Config{}, options(s)); err == nil {
		t.Error("Open without a region error = nil")
	}
}

func TestOpen_BadOptionsAreAllNamed_H34_H47(t *testing.T) {
	s := ec2test.New(t)
	tests := []struct {
		want   string
		change func(*Options)
	}{
		{"Clock is required", func(o *Options) { o.Clock = nil }},
		{"Subnets must name", func(o *Options) { o.Subnets = nil }},
		{`got "subnet-1"`, func(o *Options) { o.Subnets = []string{"subnet-1"} }},
		{"different ids", func(o *Options) { o.Subnets = append(o.Subnets, o.Subnets[0]) }},
		{"SecurityGroups must", func(o *Options) { o.SecurityGroups = []string{"default"} }},
		{"AMI must be", func(o *Options) { o.AMI = "" }},
		{"InstanceProfile must be", func(o *Options) { o.InstanceProfile = "" }},
		{"RoleID must be", func(o *Options) { o.RoleID = "remuda-agent" }},
		{"UserData must be at most 16384 bytes, got 16385", func(o *Options) { o.UserData = strings.Repeat("x", MaxUserData+1) }},
		{"RootVolumeGiB must be 0 to 16384, got -1", func(o *Options) { o.RootVolumeGiB = -1 }},
		{"PriceProtection must be", func(o *Options) { o.PriceProtection = -1 }},
		{"CreatedLimit must not", func(o *Options) { o.CreatedLimit = -1 }},
		{`"aws:x"`, func(o *Options) { o.Tags = map[string]string{"aws:x": ""} }},
		{`"cost center"`, func(o *Options) { o.Tags = map[string]string{"cost center": ""} }}, // instance metadata do not take it
		{`"a/b"`, func(o *Options) { o.Tags = map[string]string{"a/b": ""} }},
		{`"_index"`, func(o *Options) { o.Tags = map[string]string{"_index": ""} }},
		{`"Remuda-Name"`, func(o *Options) { o.Tags = map[string]string{"Remuda-Name": ""} }},
	}
	all, text := Options{}, ""
	for _, tt := range tests {
		o := options(s)
		tt.change(&o)
		tt.change(&all)
		_, err := Open(t.Context(), fleetURL("test"), config(t, s.URL), o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Open error = %v, want %q in it", err, tt.want)
		}
	}
	if _, err := Open(t.Context(), fleetURL("test"), config(t, s.URL), all); err != nil {
		text = err.Error()
	}
	if n := strings.Count(text, "\n"); n < 8 {
		t.Errorf("Open with everything wrong named %d problems: %s", n+1, text)
	}
	for _, action := range []string{"DescribeSubnets", "CreateLaunchTemplate", "GetInstanceProfile"} {
		if s.Calls(action) != 0 {
			t.Errorf("%s was called, want nothing before the options are good", action)
		}
	}
	o := options(s)
	o.UserData, o.InstanceProfile = strings.Repeat("x", MaxUserData), "arn:aws:iam::123456789012:instance-profile/path/"+ec2test.Profile
	f := opened(t, s.URL, "test", o)
	if _, err := f.Ensure(t.Context(), true); err != nil {
		t.Errorf("Ensure with user data of exactly %d bytes and a profile by ARN error = %v", MaxUserData, err)
	}
}

func TestClose_LaterCallsFail(t *testing.T) {
	_, f := fresh(t, nil)
	p := planned(t, f, spec("l-1", 1))
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("Close error = %v", err)
		}
	}
	_, launchErr := f.Launch(t.Context(), p)
	_, planErr := f.Plan(t.Context(), spec("l-2", 1))
	_, listErr := f.List(t.Context(), "")
	_, templateErr := f.Templates(t.Context(), "small")
	_, ensureErr := f.Ensure(t.Context(), true)
	for _, err := range []error{launchErr, planErr, listErr, templateErr, ensureErr, f.Terminate(t.Context(), "i-0123456789abcdef0")} {
		if !errors.Is(err, errClosed) {
			t.Errorf("call after Close error = %v, want %v", err, errClosed)
		}
	}
}
