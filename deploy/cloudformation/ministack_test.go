package cloudformation_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/awstest"
)

// alarmOfMath is the alarm of the stack that is made of an expression.
var alarmOfMath = regexp.MustCompile(`(?ms)^  NoLeader:\n.*?^  LoggedErrors:`)

// The template is deployed by a CloudFormation of other authors than moto's: it checks parameters and quotas, and makes all resources
// itself. Two subnets are one value of their parameter there. Gaps of ministack 1.5.33: it has no OIDC provider and no alarm of an
// expression, so that ProviderArn is given and the alarm NoLeader is left out.
func TestStack_DeployedByMiniStack_Review_F1(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a dozen calls of the AWS CLI: make check runs it")
	}
	c := cloud{t, awstest.MiniStack(t)}
	body := filepath.Join(t.TempDir(), "stack.yaml")
	if err := os.WriteFile(body, alarmOfMath.ReplaceAll(read(t), []byte("  LoggedErrors:")), 0o600); err != nil {
		t.Fatal(err)
	}
	vpc := c.ask("ec2", "create-vpc", "--cidr-block", "10.9.0.0/16", "--query", "Vpc.VpcId").(string)
	var subnets []string
	for i, zone := range []string{"a", "b"} {
		subnets = append(subnets, c.ask("ec2", "create-subnet", "--vpc-id", vpc, "--cidr-block", []string{"10.9.0.0/24", "10.9.1.0/24"}[i],
			"--availability-zone", region+zone, "--query", "Subnet.SubnetId").(string))
	}
	name := "remuda"
	c.ask("cloudformation", "create-stack", "--stack-name", name, "--template-body", "file://"+body, "--capabilities", "CAPABILITY_NAMED_IAM", "--parameters",
		"ParameterKey=Owner,ParameterValue=mona_acme", "ParameterKey=Repo,ParameterValue=app", "ParameterKey=Vpc,ParameterValue="+vpc,
		"ParameterKey=Subnets,ParameterValue='"+strings.Join(subnets, ",")+"'",
		"ParameterKey=ProviderArn,ParameterValue=arn:aws:iam::"+account+":oidc-provider/token.actions.githubusercontent.com")
	if _, err := c.try("cloudformation", "wait", "stack-create-complete", "--stack-name", name); err != nil {
		events, _ := c.try("cloudformation", "describe-stack-events", "--stack-name", name, "--query", "StackEvents[?contains(ResourceStatus,'FAILED')].[LogicalResourceId,ResourceStatusReason]")
		t.Fatalf("%v\n%s", err, events)
	}
	config := c.ask("ssm", "get-parameter", "--name", "/"+name+"/config", "--query", "Parameter.Value").(string)
	for _, want := range append(subnets, "https://github.com/mona_acme/app", "dynamodb://"+name+"?region="+region) {
		if !strings.Contains(config, want) {
			t.Errorf("the configuration lacks %q:\n%s", want, config)
		}
	}
	trust := text(c.ask("iam", "get-role", "--role-name", name+"-workflow", "--query", "Role.AssumeRolePolicyDocument"))
	for _, want := range []string{"repo:mona_acme/app:*", "repo:mona_acme@*/app@*:*"} {
		if !strings.Contains(trust, want) {
			t.Errorf("the workflows' role trusts %s, want %s in it", trust, want)
		}
	}
	c.ask("cloudformation", "delete-stack", "--stack-name", name)
	if _, err := c.try("cloudformation", "wait", "stack-delete-complete", "--stack-name", name); err != nil {
		t.Error(err)
	}
	if out, err := c.try("dynamodb", "describe-table", "--table-name", name); err == nil {
		t.Errorf("the table is left: %s", out)
	}
}
