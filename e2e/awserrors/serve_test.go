package awserrors

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/faults"
)

// Further exit codes, of a request.
const (
	exitFailed      = 6
	exitInterrupted = 130
)

// request waits far longer than the tests do: one that ends within their patience has said at once what only an
// operator can cure.
var request = []string{"request", "--id", "4711", "--resource-class", "small", "--timeout", "30m"}

// Clients say at once that the table is missing, and what to do.
func TestClient_NoTable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	missing := []string{" on table " + s.name + ": not found", "remuda init"}
	for _, args := range [][]string{request, {"release", "--id", "4711"}, {"status"}, {"drain", "--all"}} {
		s.ends(exitFailure, missing, args...)
	}
	s.untouched()
}

// Clients name the permission they lack.
func TestClient_MissingPermission(t *testing.T) {
	tests := []struct {
		op   string
		args []string
	}{
		{"dynamodb.GetItem", request},
		{"dynamodb.PutItem", request},
		{"dynamodb.GetItem", []string{"release", "--id", "4711"}},
		{"dynamodb.Scan", []string{"status"}},
		{"dynamodb.PutItem", []string{"drain", "--all"}},
	}
	for _, tt := range tests {
		t.Run(tt.op+"/"+tt.args[0], func(t *testing.T) {
			t.Parallel()
			s := newSite(t, faults.Rule{Op: tt.op, Kind: faults.Deny, Rate: 1})
			s.ends(exitDone, nil, "init")
			call := strings.Replace(tt.op, ".", ":", 1)
			s.ends(exitFailure, []string{call + " on table " + s.name + ": access denied: allow " + call + " for this role (deploy/iam)"}, tt.args...)
		})
	}
}

// A client that may not notify is served all the same, later. It says why nothing happens meanwhile.
func TestClient_NoNotification(t *testing.T) {
	t.Parallel()
	s := newSite(t, faults.Rule{Op: "sqs.SendMessage", Kind: faults.Deny, Rate: 1})
	s.ends(exitDone, nil, "init")
	d := s.start(request...)
	d.Says("sqs:SendMessage on queue " + s.name + "-events: access denied: allow sqs:SendMessage for this role")
	s.exits(exitInterrupted, d.End(os.Interrupt), d)
}

// A controller without its table says so once, not with every try, and works once there is one.
func TestController_NoTable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	// An answer that is late is other news: then it would be told again.
	s.env = append(s.env, "REMUDA_LEASE_TTL=4s", "REMUDA_LEASE_REQUEST_TIMEOUT=3s")
	d := s.start("controller")
	const line = `dynamodb:GetItem on table \S+: not found\b.*remuda init`
	d.Says(line)
	time.Sleep(3 * time.Second)                                            // of tries, twice a second
	if n := strings.Count(string(d.Output()), "GetItem on table"); n > 2 { // as the one who asked for it says it
		t.Errorf("told %d times within 3 s, want once", n)
	}
	s.ends(exitDone, nil, "init")
	d.Says(`"msg":"this controller leads"`)
}

// A controller names every permission that it lacks, and needs no restart when it gets it.
func TestController_MissingPermission(t *testing.T) {
	tests := []struct{ op, resource, healed string }{
		{"dynamodb.GetItem", "table %", `"msg":"this controller leads"`},
		{"dynamodb.PutItem", "table %", `"msg":"this controller leads"`},
		{"dynamodb.Scan", "table %", "records read"},
		{"sqs.ReceiveMessage", "queue %-events", ""},
		{"ec2.DescribeInstances", "instances tagged remuda-name=%", ""},
	}
	for _, tt := range tests {
		t.Run(tt.op, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, faults.Rule{Op: tt.op, Kind: faults.Deny, Rate: 1})
			s.ends(exitDone, nil, "init")
			d := s.start("controller")
			call := strings.Replace(tt.op, ".", ":", 1)
			d.Says(call + " on " + strings.ReplaceAll(tt.resource, "%", s.name) + ": access denied: allow " + call + " for this role")
			s.heal()
			if tt.healed != "" {
				d.Says(tt.healed)
			}
		})
	}
}

// Queues that somebody deleted are made again: that of notifications by housekeeping, which says so, that of a class by
// whichever is quicker of housekeeping and the first look into the pool.
func TestController_DeletedQueue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ends(exitDone, nil, "init")
	api := sqs.NewFromConfig(awstest.Config(t, s.moto))
	for _, name := range []string{s.name + "-events", s.name + "-small"} {
		url, err := api.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
		s.Check(err)
		_, err = api.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: url.QueueUrl})
		s.Check(err)
	}
	d := s.start("controller")
	d.Says("a resource was made or repaired.*queue " + s.name + "-events.*created")
	s.Check(program.Until(patience, "the queue of class small exists again", func() bool {
		_, err := api.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(s.name + "-small")})
		return err == nil
	}))
}

// What EC2 refuses at a launch reaches the client, with the missing permission.
func TestRequest_LaunchRefused(t *testing.T) {
	program.Long(t, "waits for the timeout of a request")
	t.Parallel()
	s := newSite(t, faults.Rule{Op: "ec2.CreateFleet", Kind: faults.Deny, Rate: 1})
	s.ends(exitDone, nil, "init")
	s.start("controller").Says(`"msg":"this controller leads"`)
	s.ends(exitFailed, []string{"ec2:CreateFleet", "access denied: allow ec2:CreateFleet"}, request...)
}

// The table is deleted while a client waits.
func TestClient_TableDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ends(exitDone, nil, "init")
	d := s.start(request...)
	d.Says("4711 +waiting for the controller")
	_, err := dynamodb.NewFromConfig(awstest.Config(t, s.dynamo)).DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &s.name})
	s.Check(err)
	d.Says("on table " + s.name + ": not found")
	s.exits(exitFailure, d.Exit(), d)
}
