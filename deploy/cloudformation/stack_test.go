package cloudformation_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/awstest"
)

func TestMain(m *testing.M) { awstest.Main(m) }

const (
	region  = awstest.Region
	account = "123456789012" // moto's
)

var subst = regexp.MustCompile(`\$\{[^}]+\}`)

// maxBody is the longest template that CloudFormation takes without a bucket, in bytes (CloudFormation User Guide, "Quotas").
const maxBody = 51_200

// cloud is moto, by the AWS CLI.
type cloud struct {
	t        *testing.T
	endpoint string
}

// try runs one command of the CLI.
func (c cloud) try(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(c.t.Context(), filepath.Join(awstest.CLI(c.t), "aws"), append(args, "--endpoint-url", c.endpoint)...)
	cmd.Env = append(awstest.Env(nil), "AWS_DEFAULT_REGION="+region, "AWS_PAGER=", "AWS_DEFAULT_OUTPUT=json")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("aws %s: %w: %s", strings.Join(args, " "), err, &failed)
	}
	return out, err
}

// ask runs one that must succeed, and reads its answer; words beside numbers, as the template's are.
func (c cloud) ask(args ...string) any {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(out, &v); err != nil {
		c.t.Fatalf("aws %q: %v", args, err)
	}
	return plain(v)
}

// plain writes numbers and truth as texts.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, one := range v {
			v[k] = plain(one)
		}
		return v
	case []any:
		for i, one := range v {
			v[i] = plain(one)
		}
		return v
	case nil:
		return nil
	}
	return fmt.Sprint(v)
}

// look is how a type is looked at: a command whose answer has properties as the template names them. ID is what Ref gives,
// and what the answer leaves out is not compared, for the reason given.
type look struct {
	command string
	without map[string]string
}

var looks = map[string]look{
	"AWS::DynamoDB::Table": {"dynamodb describe-table --table-name ID --query Table.{TableName:TableName,BillingMode:BillingModeSummary.BillingMode,AttributeDefinitions:AttributeDefinitions,KeySchema:KeySchema}",
		map[string]string{"TimeToLiveSpecification": "moto leaves it off: replaced"}},
	"AWS::SQS::Queue": {"sqs get-queue-attributes --queue-url ID --attribute-names All --query Attributes.{MessageRetentionPeriod:MessageRetentionPeriod,VisibilityTimeout:VisibilityTimeout,ReceiveMessageWaitTimeSeconds:ReceiveMessageWaitTimeSeconds,DelaySeconds:DelaySeconds,SqsManagedSseEnabled:SqsManagedSseEnabled}",
		map[string]string{"QueueName": "is in the URL"}},
	"AWS::S3::Bucket": {"s3api list-buckets --query {BucketName:Buckets[?Name=='ID']|[0].Name}",
		map[string]string{"PublicAccessBlockConfiguration": "replaced", "BucketEncryption": "moto's default", "LifecycleConfiguration": "replaced"}},
	"AWS::EC2::SecurityGroup": {"ec2 describe-security-groups --group-ids ID --query SecurityGroups[0].{GroupDescription:Description,VpcId:VpcId}",
		map[string]string{"SecurityGroupEgress": "moto adds its own"}},
	"AWS::Logs::LogGroup": {"logs describe-log-groups --log-group-name-prefix ID --query logGroups[0].{LogGroupName:logGroupName,RetentionInDays:retentionInDays}", nil},
	"AWS::IAM::Role": {"iam get-role --role-name ID --query Role.{RoleName:RoleName,AssumeRolePolicyDocument:AssumeRolePolicyDocument}",
		map[string]string{"Policies": "compared one by one", "Description": "moto leaves it out"}},
	"AWS::IAM::InstanceProfile":          {"iam get-instance-profile --instance-profile-name ID --query InstanceProfile.{InstanceProfileName:InstanceProfileName,Roles:Roles[].RoleName}", nil},
	"AWS::IAM::ManagedPolicy":            {"iam get-policy-version --policy-arn ID --version-id v1 --query {PolicyDocument:PolicyVersion.Document}", map[string]string{"ManagedPolicyName": "is in the ARN"}},
	"AWS::SSM::Parameter":                {"ssm get-parameter --name ID --query Parameter.{Name:Name,Type:Type,Value:Value}", map[string]string{"Tier": "moto leaves it out"}},
	"AWS::EC2::LaunchTemplate":           {"ec2 describe-launch-template-versions --launch-template-id ID --query LaunchTemplateVersions[0].{LaunchTemplateName:LaunchTemplateName,LaunchTemplateData:LaunchTemplateData}", nil},
	"AWS::AutoScaling::AutoScalingGroup": {"autoscaling describe-auto-scaling-groups --auto-scaling-group-names ID --query AutoScalingGroups[0].{AutoScalingGroupName:AutoScalingGroupName,MinSize:MinSize,MaxSize:MaxSize,DesiredCapacity:DesiredCapacity,VPCZoneIdentifier:[VPCZoneIdentifier],LaunchTemplate:LaunchTemplate.{LaunchTemplateId:LaunchTemplateId,Version:Version}}", nil},
}

// passed are what moto's CloudFormation passes over in silence, and the calls of the services that take what is declared.
var passed = map[string]func(c cloud, id string, p map[string]any){
	"AWS::S3::BucketPolicy": func(c cloud, _ string, p map[string]any) {
		c.ask("s3api", "put-bucket-policy", "--bucket", p["Bucket"].(string), "--policy", text(p["PolicyDocument"]))
	},
	"AWS::SecretsManager::Secret": func(c cloud, _ string, p map[string]any) {
		c.ask("secretsmanager", "create-secret", "--name", p["Name"].(string), "--description", p["Description"].(string))
	},
	"AWS::IAM::OIDCProvider": func(c cloud, _ string, p map[string]any) {
		c.ask("iam", "create-open-id-connect-provider", "--url", p["Url"].(string), "--client-id-list", p["ClientIdList"].([]any)[0].(string))
	},
	"AWS::Logs::MetricFilter": func(c cloud, id string, p map[string]any) {
		m := p["MetricTransformations"].([]any)[0].(map[string]any)
		c.ask("logs", "put-metric-filter", "--log-group-name", p["LogGroupName"].(string), "--filter-name", id, "--filter-pattern", p["FilterPattern"].(string),
			"--metric-transformations", fmt.Sprintf("metricName=%s,metricNamespace=%s,metricValue=%s", m["MetricName"], m["MetricNamespace"], m["MetricValue"]))
	},
	"AWS::CloudWatch::Alarm": func(c cloud, _ string, p map[string]any) {
		c.ask("cloudwatch", "put-metric-alarm", "--cli-input-json", text(numbered(p)))
	},
}

// numbered has numbers and truth where the CLI wants them, in place of their texts.
func numbered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, one := range v {
			out[key] = numbered(one)
			if word, ok := one.(string); ok && slices.Contains([]string{"Period", "EvaluationPeriods", "DatapointsToAlarm", "Threshold", "ReturnData"}, key) {
				out[key] = json.RawMessage(word)
			}
		}
		return out
	case []any:
		var out []any
		for _, one := range v {
			out = append(out, numbered(one))
		}
		return out
	}
	return v
}

func text(v any) string {
	b, _ := json.Marshal(v) // of maps, lists and texts
	return string(b)
}

// The lint of CloudFormation finds nothing, and the template goes without a bucket.
func TestTemplate_Lint(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), filepath.Join(awstest.CLI(t), "cfn-lint"), file).CombinedOutput()
	if err != nil {
		t.Errorf("cfn-lint: %v\n%s", err, out)
	}
	if n := len(read(t)); n > maxBody {
		t.Errorf("%d bytes, CloudFormation takes %d", n, maxBody)
	}
}

// A stack is created, updated and deleted; what there is then is what the template declares.
func TestStack_CreatedUpdatedDeleted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some sixty calls of the AWS CLI, and most of a minute")
	}
	c := cloud{t, awstest.Moto(t)}
	tt := parsed(t)
	network := c.ask("ec2", "describe-subnets", "--query", "Subnets[0].[VpcId,SubnetId]").([]any)
	name := strings.ToLower(awstest.Name(t))
	name = "s" + name[len(name)-8:]
	maps.Copy(tt.values, map[string]string{"Name": name, "Owner": "octo", "Repo": "app", "Vpc": network[0].(string), "Subnets": network[1].(string), "AlarmTopic": "arn:aws:sns:" + region + ":" + account + ":pager"})
	parameters := func() (args []string) {
		for _, key := range slices.Sorted(maps.Keys(tt.entries("Parameters"))) {
			args = append(args, "ParameterKey="+key+",ParameterValue='"+tt.values[key]+"'")
		}
		return append([]string{"--parameters"}, args...)
	}
	base := []string{"--stack-name", name, "--template-body", "file://" + file, "--capabilities", "CAPABILITY_NAMED_IAM"}
	c.ask(append(append([]string{"cloudformation", "create-stack"}, base...), parameters()...)...)
	tt.refer(c, name)
	for id, p := range tt.entries("Resources") {
		if replace, ok := passed[at(t, p, "Type").Value]; ok {
			replace(c, id, tt.declared(id))
		}
	}
	tt.compare(c)
	tt.outputs(c, name)

	tt.values["Hosts"], tt.values["MaxInstances"], tt.values["Settings"] = "0", "7", "limits: {idle: 20m}"
	c.ask(append(append([]string{"cloudformation", "update-stack"}, base...), parameters()...)...)
	c.ask("ssm", "put-parameter", "--overwrite", "--name", tt.values["Config"], "--value", tt.declared("Config")["Value"].(string)) // moto passes over its update
	tt.compare(c, "Config", "HostScaling")                                                                                          // what the parameters changed

	bucket, group := tt.values["Bucket"], tt.values["MachineGroup"]
	c.ask("s3api", "delete-bucket-policy", "--bucket", bucket) // refuses all that is not by TLS, here too
	c.ask("s3api", "put-object", "--bucket", bucket, "--key", "release.json")
	eni := c.ask("ec2", "create-network-interface", "--subnet-id", tt.values["Subnets"], "--groups", group, "--query", "NetworkInterface.NetworkInterfaceId").(string)
	if err := tt.delete(c, name); err == nil || !strings.Contains(err.Error(), "BucketNotEmpty") || !strings.Contains(err.Error(), group+" is used by "+eni) {
		t.Errorf("with a full bucket and a group in use: %v", err)
	}
	c.ask("ec2", "delete-network-interface", "--network-interface-id", eni)
	c.ask("s3api", "delete-object", "--bucket", bucket, "--key", "release.json")
	if err := tt.delete(c, name); err != nil {
		t.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(tt.entries("Resources"))) {
		kind := at(t, tt.entries("Resources")[id], "Type").Value
		if kind == "AWS::IAM::ManagedPolicy" { // which moto leaves
			c.ask("iam", "delete-policy", "--policy-arn", tt.values[id])
		}
		if l, ok := looks[kind]; ok {
			if out, err := c.try(l.of(tt.values[id])...); err == nil && hasValue(out) {
				t.Errorf("%s %s is left: %s", id, tt.values[id], out)
			}
		}
	}
}

// delete deletes the stack as CloudFormation does, which refuses a full bucket and a security group in use. moto does not.
func (tt *template) delete(c cloud, stack string) error {
	tt.t.Helper()
	var errs []error
	bucket := tt.values["Bucket"]
	if _, err := c.try("s3api", "delete-bucket", "--bucket", bucket); err != nil {
		errs = append(errs, err)
	} else {
		c.ask("s3api", "create-bucket", "--bucket", bucket) // for the stack to delete
	}
	group := tt.values["MachineGroup"]
	for _, user := range list(c.ask("ec2", "describe-network-interfaces", "--filters", "Name=group-id,Values="+group, "--query", "NetworkInterfaces[].NetworkInterfaceId")) {
		errs = append(errs, fmt.Errorf("%s is used by %v", group, user))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	_, err := c.try("cloudformation", "delete-stack", "--stack-name", stack)
	return err
}

func hasValue(answer []byte) bool {
	var v any
	if json.Unmarshal(answer, &v) != nil {
		return false
	}
	m, ok := v.(map[string]any)
	if !ok {
		return v != nil
	}
	for _, one := range m {
		if one != nil {
			return true
		}
	}
	return false
}

func (l look) of(id string) []string {
	args := strings.Fields(l.command)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "ID", id)
	}
	return args
}

// refer takes what Ref gives of each resource.
func (tt *template) refer(c cloud, stack string) {
	tt.t.Helper()
	made := c.ask("cloudformation", "describe-stack-resources", "--stack-name", stack, "--query", "StackResources[?LogicalResourceId].[LogicalResourceId,PhysicalResourceId]")
	for _, one := range made.([]any) {
		pair := one.([]any)
		tt.values[pair[0].(string)] = strings.Replace(pair[1].(string), "https://sqs."+region+".amazonaws.com", c.endpoint, 1)
	}
	tt.values["Provider"] = "arn:aws:iam::" + account + ":oidc-provider/token.actions.githubusercontent.com"
}

// compare holds what was made, or only some of it, to what is declared.
func (tt *template) compare(c cloud, only ...string) {
	tt.t.Helper()
	for id, node := range tt.entries("Resources") {
		if len(only) > 0 && !slices.Contains(only, id) {
			continue
		}
		kind := at(tt.t, node, "Type").Value
		l, ok := looks[kind]
		if _, replaced := passed[kind]; !ok && !replaced {
			tt.t.Errorf("%s: nothing looks at a %s", id, kind)
		}
		if !ok {
			continue
		}
		got, want := c.ask(l.of(tt.ref(id))...).(map[string]any), tt.declared(id)
		if data, ok := got["LaunchTemplateData"].(map[string]any); ok {
			script, err := base64.StdEncoding.DecodeString(data["UserData"].(string))
			if err != nil {
				tt.t.Error(err)
			}
			data["UserData"] = string(script)
		}
		for i, one := range list(want["Policies"]) {
			p := one.(map[string]any)
			document := c.ask("iam", "get-role-policy", "--role-name", tt.ref(id), "--policy-name", p["PolicyName"].(string), "--query", "PolicyDocument")
			if words, ok := document.(string); ok { // as moto keeps it: as Python writes it
				if err := json.Unmarshal([]byte(strings.ReplaceAll(words, "'", `"`)), &document); err != nil {
					tt.t.Errorf("%s, policy %d: %v in %s", id, i, err, words)
				}
			}
			if !reflect.DeepEqual(document, plain(p["PolicyDocument"])) {
				tt.t.Errorf("%s, policy %d: got %v, want %v", id, i, document, p["PolicyDocument"])
			}
		}
		for left := range l.without {
			delete(want, left)
		}
		if !reflect.DeepEqual(got, plain(want)) {
			tt.t.Errorf("%s:\ngot  %v\nwant %v", id, got, want)
		}
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// outputs holds them to what they say.
func (tt *template) outputs(c cloud, stack string) {
	tt.t.Helper()
	got := map[string]string{}
	for _, one := range c.ask("cloudformation", "describe-stacks", "--stack-name", stack, "--query", "Stacks[0].Outputs").([]any) {
		o := one.(map[string]any)
		got[o["OutputKey"].(string)] = o["OutputValue"].(string)
	}
	want := map[string]string{"Config": "ssm:/" + tt.ref("Name") + "/config", "Region": region, "WorkflowRoleArn": "arn:aws:iam::" + account + ":role/" + tt.ref("Name") + "-workflow"}
	if !maps.Equal(got, want) {
		tt.t.Errorf("outputs: got %v, want %v", got, want)
	}
}
