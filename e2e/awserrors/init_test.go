package awserrors

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/e2e/awsread"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/faults"
)

// Exit codes, as `remuda init --help` has them.
const (
	exitDone    = 0
	exitFailure = 1
	exitUsage   = 2
)

// drift makes what init then has to repair.
func drift(s *site) []string {
	s.Helper()
	s.ends(exitDone, nil, "init")
	api := sqs.NewFromConfig(awstest.Config(s, s.moto))
	for _, name := range []string{s.name + "-events", s.name + "-small"} {
		url, err := api.GetQueueUrl(s.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
		s.Check(err)
		_, err = api.SetQueueAttributes(s.Context(), &sqs.SetQueueAttributesInput{QueueUrl: url.QueueUrl, Attributes: map[string]string{"VisibilityTimeout": "77"}})
		s.Check(err)
	}
	return []string{"--set", "ec2.rootVolume=50"}
}

// Whatever permission is missing, init names it with call and resource and ends with 1; what it made until
// then is ours, and the next init, with the permission, completes it. H53
func TestInit_MissingPermission(t *testing.T) {
	calls := []struct {
		op, resource string
		before       func(*site) []string
	}{
		{"dynamodb.DescribeTable", "table %", nil},
		{"dynamodb.CreateTable", "table %", nil},
		{"dynamodb.DescribeTimeToLive", "table %", nil},
		{"dynamodb.UpdateTimeToLive", "table %", nil},
		{"sqs.GetQueueUrl", "queue %-events", nil},
		{"sqs.CreateQueue", "queue %-small", nil},
		{"sqs.GetQueueAttributes", "queue %-small", drift},
		{"sqs.SetQueueAttributes", "queue %-events", drift},
		{"sqs.ListQueues", "queue %-*", nil},
		{"iam.GetInstanceProfile", "instance profile %", nil},
		{"ec2.DescribeImages", "AMI ", nil},
		{"ec2.DescribeSubnets", "subnets ", nil},
		{"ec2.DescribeSecurityGroups", "security groups ", nil},
		{"ec2.DescribeLaunchTemplates", "launch template %-machine", nil},
		{"ec2.CreateLaunchTemplate", "launch template %-machine", nil},
		{"ec2.DescribeLaunchTemplateVersions", "launch template %-machine", drift},
		{"ec2.CreateLaunchTemplateVersion", "launch template %-machine", drift},
		{"ec2.ModifyLaunchTemplate", "launch template %-machine", drift},
	}
	for _, tt := range calls {
		t.Run(tt.op, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, faults.Rule{Op: tt.op, Kind: faults.Deny, Rate: 1})
			args := []string{"init"}
			if tt.before != nil {
				s.heal()
				args = append(args, tt.before(s)...)
				s.fail()
			}
			call := strings.Replace(tt.op, ".", ":", 1)
			resource := strings.ReplaceAll(tt.resource, "%", s.name)
			s.ends(exitFailure, []string{call + " on " + resource, ": access denied: allow " + call + " for this role (deploy/iam)"}, args...)
			s.owned()
			s.heal()
			s.completes(args)
		})
	}
}

// What init makes, read by others: table, queues, launch template with the machine's first script.
func TestInit_MakesWhatThePageSays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ends(exitDone, nil, "init", "--set", "ec2.rootVolume=50", "--set", "ec2.tags={team: build}")
	page, err := os.ReadFile("../../docs/data-model.md")
	s.Check(err)
	differences, err := awsread.Installation{
		Page: string(page), Endpoints: map[string]string{"dynamodb": s.dynamo, "sqs": s.moto, "ec2": s.ec2},
		Table: s.name, Prefix: s.name, Classes: []string{"small"}, Name: s.name, Tags: map[string]string{"team": "build"},
		Settings: map[string][]string{
			"ec2.ami": {ec2test.AMI}, "ec2.securityGroups": {ec2test.Group}, "ec2.instanceProfile": {s.name}, "ec2.rootVolume": {"50"},
		},
		Tagged: []string{"launch template"},
	}.Differences(t.Context())
	s.Check(err)
	for _, line := range differences {
		t.Errorf("the reader tells: %s", line)
	}
}

// completes runs init again: then nothing is left to do.
func (s *site) completes(args []string) {
	s.Helper()
	s.ends(exitDone, nil, args...)
	out, problems, code := s.run(nil, append(args, "--dry-run")...)
	ours, reachable := strings.CutSuffix(out, "github octo/repo: reachable\n")
	lines := strings.Split(strings.TrimSpace(ours), "\n")
	if code != exitDone || !reachable || len(lines) != 4 || slices.ContainsFunc(lines, func(l string) bool { return !strings.Contains(l, "unchanged") }) {
		s.Errorf("remuda init, once it has succeeded: exit code %d\n%s%swant table, two queues and launch template unchanged, and github reachable", code, out, problems)
	}
}

// owned fails the test if anything is in the account that does not say whose it is.
func (s *site) owned() {
	s.Helper()
	tables, err := dynamodb.NewFromConfig(awstest.Config(s, s.dynamo)).ListTables(s.Context(), nil)
	s.Check(err)
	queues, err := sqs.NewFromConfig(awstest.Config(s, s.moto)).ListQueues(s.Context(), nil)
	s.Check(err)
	templates, err := ec2.NewFromConfig(awstest.Config(s, s.ec2)).DescribeLaunchTemplates(s.Context(), nil)
	s.Check(err)
	for _, name := range tables.TableNames {
		if !strings.HasPrefix(name, namePrefix) {
			s.Errorf("table %s is nobody's", name)
		}
	}
	for _, url := range queues.QueueUrls {
		if name := filepath.Base(url); !strings.HasPrefix(name, namePrefix) {
			s.Errorf("queue %s is nobody's", name)
		}
	}
	for _, template := range templates.LaunchTemplates {
		name, owner := aws.ToString(template.LaunchTemplateName), ""
		for _, tag := range template.Tags {
			if aws.ToString(tag.Key) == "remuda-name" {
				owner = aws.ToString(tag.Value)
			}
		}
		if owner == "" || name != owner+"-machine" {
			s.Errorf("launch template %s is tagged remuda-name=%q, want its own installation", name, owner)
		}
	}
}

// untouched fails the test if anything of the installation exists.
func (s *site) untouched() {
	s.Helper()
	tables, err := dynamodb.NewFromConfig(awstest.Config(s, s.dynamo)).ListTables(s.Context(), nil)
	s.Check(err)
	queues, err := sqs.NewFromConfig(awstest.Config(s, s.moto)).ListQueues(s.Context(), &sqs.ListQueuesInput{QueueNamePrefix: &s.name})
	s.Check(err)
	if slices.Contains(tables.TableNames, s.name) || len(queues.QueueUrls) > 0 {
		s.Errorf("although nothing was to be done, there are tables %v, queues %v", tables.TableNames, queues.QueueUrls)
	}
}

// Parts of a machine that do not exist are found by init, before there is a launch template of them.
func TestInit_MissingParts(t *testing.T) {
	const (
		ami    = "ami-00000000000000bad"
		subnet = "subnet-00000000000000bad"
		group  = "sg-00000000000000bad"
	)
	tests := []struct {
		name string
		set  []string
		want []string
	}{
		{"AMI", []string{"ec2.ami=" + ami}, []string{"ec2:DescribeImages on AMI " + ami + ": not found"}},
		{"Subnet", []string{"ec2.subnets=[" + subnet + "]"}, []string{"ec2:DescribeSubnets on subnets " + subnet + ": not found"}},
		{"SecurityGroup", []string{"ec2.securityGroups=[" + group + "]"}, []string{"ec2:DescribeSecurityGroups on security groups " + group + ": not found"}},
		{"InstanceProfile", []string{"ec2.instanceProfile=nobody"}, []string{"iam:GetInstanceProfile on instance profile nobody: not found"}},
		{"All", []string{"ec2.ami=" + ami, "ec2.subnets=[" + subnet + "]", "ec2.instanceProfile=nobody"}, []string{ami, subnet, "nobody"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			args := []string{"init"}
			for _, set := range tt.set {
				args = append(args, "--set", set)
			}
			s.ends(exitFailure, append(tt.want, "fleet"), args...)
			s.owned()
			templates, err := ec2.NewFromConfig(awstest.Config(s, s.ec2)).DescribeLaunchTemplates(s.Context(), &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{s.name + "-machine"}})
			if err == nil && len(templates.LaunchTemplates) > 0 {
				t.Error("there is a launch template of parts that do not exist")
			}
			s.completes([]string{"init"})
		})
	}
}

// Mistakes in the configuration end init before it makes anything.
func TestInit_WrongConfiguration(t *testing.T) {
	tests := []struct {
		name string
		args func(*site) []string
		env  []string
		want []string
	}{
		{"NoRegion", func(s *site) []string {
			return []string{"--set", "store=dynamodb://" + s.name, "--set", "pool=sqs://" + s.name, "--set", "fleet=ec2://" + s.name}
		}, []string{"AWS_REGION="}, []string{"no region: set ?region= in the URL, AWS_REGION"}},
		{"NoSuchRegion", func(s *site) []string { return []string{"--set", "store=dynamodb://" + s.name + "?region=europe"} }, nil,
			[]string{`region: must be a name such as eu-west-1, got "europe"`}},
		{"TableName", func(*site) []string { return []string{"--set", "store=dynamodb://a?region=eu-west-1"} }, nil, []string{`table: must be 3 to 255`}},
		{"AMIForm", func(*site) []string { return []string{"--set", "ec2.ami=ubuntu"} }, nil, []string{`ec2.ami: must be an id such as`, `"ubuntu"`}},
		{"NoSubnets", func(*site) []string { return []string{"--set", "ec2.subnets=[]"} }, nil, []string{"section ec2", "Subnets must name at least one id"}},
		{"NoChecksum", func(*site) []string { return []string{"--set", "ec2.binaryUrl=https://example.com/remuda"} }, nil, []string{"ec2.binarySha256: must be 64 hexadecimal digits, since ec2.binaryUrl is set"}},
		{"UserDataTooLong", func(s *site) []string {
			script := filepath.Join(s.dir, "script")
			s.Check(os.WriteFile(script, []byte("#!/bin/sh\n"+incompressible(20<<10)), 0o600))
			return []string{"--set", "agent.script=" + script}
		}, nil, []string{"16384 bytes"}},
		{"NoScript", func(*site) []string { return []string{"--set", "agent.script=/no/such/script"} }, nil, []string{"agent.script: must be a readable file on this host", "/no/such/script"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			args := append([]string{"init"}, tt.args(s)...)
			out, problems, code := s.run(tt.env, args...)
			s.judge(strings.Join(args, " "), out, problems, code, exitUsage, tt.want)
			s.untouched()
		})
	}
}

// No credentials, and a service that cannot be reached: failures, which may be over later.
func TestInit_Unreachable(t *testing.T) {
	program.Long(t, "waits for the SDK to give up")
	s := newSite(t)
	out, problems, code := s.run([]string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, "init")
	s.judge("init", out, problems, code, exitFailure, []string{"no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"})
	out, problems, code = s.run([]string{"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1"}, "init")
	s.judge("init", out, problems, code, exitFailure, []string{"dynamodb:DescribeTable on table " + s.name + ": no usable answer: ", "connection refused"})
	s.completes([]string{"init"})
}

// incompressible is text of n bytes that no compression makes short.
func incompressible(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString("# " + rand.Text() + "\n")
	}
	return b.String()
}
