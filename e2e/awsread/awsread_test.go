package awsread_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/awsread"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/sqspool"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

func TestMain(m *testing.M) { awstest.Main(m) }

// classes has one whose queue has a plain name, and one whose queue has a hash in it.
var classes = []string{"small", "gpu-large"}

// What is on AWS is exactly what docs/data-model.md says: no more, no less, nothing of another kind.
func TestReader_FindsWhatThePageSays(t *testing.T) {
	in := written(t)
	differences(t, in)

	// The reader can be wrong only in silence, so each kind of drift must be told.
	t.Run("AttributeWithoutARow", func(t *testing.T) {
		differences(t, without(in, "| `pooledAt` | instant |"), ".pooledAt: is not documented")
	})
	t.Run("RowWithoutAnAttribute", func(t *testing.T) {
		page := in
		page.Page = strings.Replace(in.Page, "| `holder` | text |", "| `ghost` | text | boo |\n| `holder` | text |", 1)
		differences(t, page, ".ghost: is documented and absent", "Lease.ghost: is documented and was never seen")
	})
	t.Run("OptionalRowThatIsNeverThere", func(t *testing.T) {
		page := in
		page.Page = strings.Replace(in.Page, "| `holder` | text |", "| `ghost` | text | optional: boo |\n| `holder` | text |", 1)
		differences(t, page, "Lease.ghost: is documented and was never seen")
	})
	t.Run("OtherType", func(t *testing.T) {
		page := in
		page.Page = strings.Replace(in.Page, "| `term` | number |", "| `term` | text |", 1)
		differences(t, page, ".term: is N, documented as text")
	})
	t.Run("PartOfARecord", func(t *testing.T) {
		differences(t, without(in, "| `runnerId` | number | GitHub's id of the runner"), ".beat.runnerId: is not documented")
	})
	t.Run("Queue", func(t *testing.T) {
		differences(t, without(in, "| `VisibilityTimeout` |"), ".VisibilityTimeout: is '30', documented as None")
	})
	t.Run("Tag", func(t *testing.T) {
		differences(t, without(in, "| `remuda-class` |"), "instance.remuda-class: is True", "volume.remuda-class: is True")
	})
	t.Run("Template", func(t *testing.T) {
		differences(t, without(in, "| `MetadataOptions.HttpTokens` |"), "MetadataOptions.HttpTokens: is ['required'] and not documented")
	})
	t.Run("UnknownItem", func(t *testing.T) {
		item(t, in, map[string]types.AttributeValue{"PK": text("RUN#1"), "SK": text("TYPE#Other")})
		differences(t, in, "RUN#1 TYPE#Other: has the key of 0 documented records")
	})
}

// differences runs the reader, which must find what is wanted and nothing else. Messages are hidden from
// the second reader on.
func differences(t *testing.T, in awsread.Installation, want ...string) {
	t.Helper()
	got, err := in.Differences(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			t.Errorf("the reader does not tell %q", w)
		}
	}
	for _, line := range got {
		expected := len(want) > 0 && (strings.HasPrefix(line, "Notification.") || strings.HasPrefix(line, "Ticket."))
		for _, w := range want {
			expected = expected || strings.Contains(line, w)
		}
		if !expected {
			t.Errorf("the reader tells: %s", line)
		}
	}
}

// without removes the lines that begin so from the page.
func without(in awsread.Installation, start string) awsread.Installation {
	var kept []string
	for line := range strings.Lines(in.Page) {
		if !strings.HasPrefix(line, start) {
			kept = append(kept, line)
		}
	}
	in.Page = strings.Join(kept, "")
	return in
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func item(t *testing.T, in awsread.Installation, item map[string]types.AttributeValue) {
	t.Helper()
	db := dynamodb.NewFromConfig(awstest.Config(t, in.Endpoints["dynamodb"]))
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(in.Table), Item: item}); err != nil {
		t.Fatal(err)
	}
}

// installation is one whose parts all write to AWS.
type installation struct {
	program.T
	at    awsread.Installation
	cloud *ec2test.Server
	table *dynamostore.Table
	pool  *sqspool.Pool
	fleet *ec2fleet.Fleet
}

// written makes an installation and lets it write a record of each kind, with a value in every attribute.
func written(t *testing.T) awsread.Installation {
	t.Helper()
	dynamo, moto := awstest.DynamoDBLocal(t), awstest.Moto(t)
	name := awstest.Name(t)
	i := &installation{T: program.T{TB: t}, cloud: ec2test.New(t)}
	page, err := os.ReadFile("../../docs/data-model.md")
	i.Check(err)
	i.at = awsread.Installation{
		Page: string(page), Endpoints: map[string]string{"dynamodb": dynamo, "sqs": moto, "ec2": i.cloud.URL, "iam": i.cloud.URL},
		Table: name, Prefix: name, Classes: classes, Name: name, Tags: map[string]string{"team": "build"},
		Settings: map[string][]string{
			"ec2.ami": {ec2test.AMI}, "ec2.securityGroups": {ec2test.Group}, "ec2.instanceProfile": {ec2test.Profile}, "ec2.rootVolume": {"40"},
		},
		Tagged: []string{"launch template", "instance", "volume"}, Records: true,
	}
	i.open()
	i.write()
	return i.at
}

// open opens the back ends as the binary does, and makes what they need.
func (i *installation) open() {
	i.Helper()
	for _, e := range awstest.Env(i.at.Endpoints) {
		name, value, _ := strings.Cut(e, "=")
		i.Setenv(name, value)
	}
	ctx, log, clk := i.Context(), slog.New(slog.DiscardHandler), clock.RealClock{}
	cfg, err := awscfg.Load(ctx, awstest.Region)
	i.Check(err)
	cfg.HTTPClient = awstest.Config(i, "").HTTPClient // whose connections end with the test
	of := func(scheme string) *url.URL { return &url.URL{Scheme: scheme, Host: i.at.Name} }
	var errs [3]error
	i.table, errs[0] = dynamostore.Open(ctx, of("dynamodb"), cfg, clk, log)
	i.pool, errs[1] = sqspool.Open(of("sqs"), cfg)
	i.fleet, errs[2] = ec2fleet.Open(ctx, of("ec2"), cfg, ec2fleet.Options{
		Subnets: i.cloud.Subnets()[:2], SecurityGroups: []string{ec2test.Group}, AMI: ec2test.AMI, InstanceProfile: ec2test.Profile,
		UserData: "#!/bin/sh\n", RootVolumeGiB: 40, RootDevice: "/dev/xvda", Tags: i.at.Tags, Clock: clk,
	})
	i.Check(errors.Join(errs[:]...))
	i.Cleanup(func() { i.Check(errors.Join(i.table.Close(), i.pool.Close(), i.fleet.Close())) })
	_, errs[0] = i.table.Ensure(ctx, true)
	_, errs[1] = i.pool.Ensure(ctx, true, classes...)
	_, errs[2] = i.fleet.Ensure(ctx, true)
	i.Check(errors.Join(errs[:]...))
}

// launch launches one machine and returns its plan.
func (i *installation) launch(ctx context.Context) (fleet.Plan, fleet.Machine) {
	i.Helper()
	plan, err := i.fleet.Plan(ctx, fleet.Spec{
		Token: "l-" + i.at.Name, Count: 1, ResourceClass: classes[0], UsageClass: store.Spot, CPU: 2, Mem: 4096, AllowedTypes: []string{"c6i.*"},
	})
	i.Check(err)
	out, err := i.fleet.Launch(ctx, plan)
	if err != nil || len(out.Machines) != 1 {
		i.Fatalf("Launch() = %+v, %v, want a machine", out, err)
	}
	i.at.Tokens = []string{plan.Token}
	return plan, out.Machines[0]
}

func ticket(in store.Instance, class string) pool.Ticket {
	return pool.Ticket{
		InstanceID: string(in.ID), UsageClass: in.UsageClass, InstanceType: in.InstanceType, CPU: in.CPU, Mem: in.Mem,
		ResourceClass: class, Threshold: in.Threshold.Time,
	}
}

// soon is above the time that a test takes.
const soon = time.Hour
