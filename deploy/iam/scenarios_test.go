package iam_test

import (
	"strings"

	"github.com/remuda-run/remuda/deploy/iam"
)

// installation is what the scenarios are about.
var installation = iam.Values{
	Region: "eu-west-1", Account: "111122223333", Name: "remuda", Events: "doorbell",
	Subnets:        []string{"subnet-0aaaaaaaaaaaaaaaa", "subnet-0bbbbbbbbbbbbbbbb"},
	SecurityGroups: []string{"sg-0aaaaaaaaaaaaaaaa"},
	Owner:          "octo", Repo: "app", Subject: "ref:refs/heads/release-*", RunID: "4711",
}

const (
	agentRoleID = "AROAEXAMPLEAGENT00001" // unique id of the agent's role
	ownID       = "i-0aaaaaaaaaaaaaaaa"
	ownKey      = "INSTANCE#" + agentRoleID + ":" + ownID
	otherKey    = "INSTANCE#" + agentRoleID + ":i-0bbbbbbbbbbbbbbbb"

	ownTable   = "arn:aws:dynamodb:eu-west-1:111122223333:table/remuda"
	otherTable = "arn:aws:dynamodb:eu-west-1:111122223333:table/payroll"
	events     = "arn:aws:sqs:eu-west-1:111122223333:doorbell"
	classQueue = "arn:aws:sqs:eu-west-1:111122223333:remuda-small"
	otherQueue = "arn:aws:sqs:eu-west-1:111122223333:payroll"

	ec2Name        = "arn:aws:ec2:eu-west-1:111122223333:"
	sharedName     = "arn:aws:ec2:eu-west-1:444455556666:" // another account's, which shares it by AWS RAM
	image          = "arn:aws:ec2:eu-west-1::image/ami-0aaaaaaaaaaaaaaaa"
	agentRole      = "arn:aws:iam::111122223333:role/remuda-agent"
	controllerRole = "arn:aws:iam::111122223333:role/remuda-controller"
	adminRole      = "arn:aws:iam::111122223333:role/admin"
	profile        = "arn:aws:iam::111122223333:instance-profile/remuda-agent"

	otherProfile = "arn:aws:iam::111122223333:instance-profile/admin"

	requestTag  = "aws:RequestTag/remuda-name"
	resourceTag = "aws:ResourceTag/remuda-name"
)

// request is one question to IAM. A call of an API may lead to several, which must all be granted.
type request struct {
	Principal string              `json:"principal"`
	Action    string              `json:"action"`
	Resource  string              `json:"resource"`
	Account   string              `json:"account"`
	Context   map[string][]string `json:"context"`
	Policy    string              `json:"policy,omitempty"`
	Session   string              `json:"session,omitempty"`
	Trust     string              `json:"trust,omitempty"`
}

// ask returns a request for action on resource. context is pairs of key and value; a key without a
// value follows another value of the same key by being repeated.
func ask(action, resource string, context ...string) request {
	r := request{Action: action, Resource: resource, Context: map[string][]string{}}
	for i := 0; i+1 < len(context); i += 2 {
		r.Context[context[i]] = append(r.Context[context[i]], context[i+1])
	}
	return r
}

// item returns a request for an item of the table by the key of its partition, "" for none, naming
// attributes, separated by spaces.
func item(action, partition, attributes string) request {
	r := ask("dynamodb:"+action, ownTable)
	if partition != "" {
		r.Context["dynamodb:LeadingKeys"] = []string{partition}
	}
	if attributes != "" {
		r.Context["dynamodb:Attributes"] = strings.Fields(attributes)
	}
	return r
}

// scenario is one call of an API by one principal.
type scenario struct {
	kind     iam.Kind
	call     string // of the table in calls_test.go; "" if it is none of ours
	what     string
	requests []request
}

func when(kind iam.Kind, call, what string, requests ...request) scenario {
	return scenario{kind, call, what, requests}
}

const (
	plainAttributes   = "PK SK version expiresAt attempt count usageClass allowedInstanceTypes resourceClass maxRuntime timeout releasedAttempt release createdAt"
	runAttributes     = "repository workflowRun workflowAttempt noWait originalCount releaseReason" // absent where they are unset
	requestAttributes = plainAttributes + " " + runAttributes
	clientAttributes  = "PK SK expiresAt attempt seenAt"
	reportAttributes  = "PK SK value updatedAt expiresAt"
	beatAttributes    = "PK SK value updatedAt beat expiresAt"
	drainAttributes   = "PK SK instanceId resourceClass createdAt expiresAt"
)

// launch is everything that IAM is asked when a fleet is created: EC2 checks the caller for the fleet
// and for the instances that it runs for it.
func launch() []request {
	return []request{
		ask("ec2:CreateFleet", ec2Name+"fleet/fleet-0a", requestTag, "remuda"),
		ask("ec2:CreateFleet", ec2Name+"instance/"+ownID, requestTag, "remuda"),
		ask("ec2:CreateFleet", ec2Name+"launch-template/lt-0a", resourceTag, "remuda"),
		ask("ec2:CreateFleet", ec2Name+"subnet/subnet-0aaaaaaaaaaaaaaaa"),
		ask("ec2:CreateFleet", ec2Name+"subnet/subnet-0bbbbbbbbbbbbbbbb"),
		ask("ec2:CreateFleet", ec2Name+"volume/vol-0a", requestTag, "remuda"),
		ask("ec2:CreateFleet", image),
		ask("ec2:RunInstances", ec2Name+"instance/"+ownID, requestTag, "remuda"),
		ask("ec2:RunInstances", ec2Name+"launch-template/lt-0a", resourceTag, "remuda"),
		ask("ec2:RunInstances", ec2Name+"subnet/subnet-0aaaaaaaaaaaaaaaa"),
		ask("ec2:RunInstances", ec2Name+"security-group/sg-0aaaaaaaaaaaaaaaa"),
		ask("ec2:CreateFleet", sharedName+"subnet/subnet-0bbbbbbbbbbbbbbbb"),
		ask("ec2:RunInstances", sharedName+"subnet/subnet-0bbbbbbbbbbbbbbbb"),
		ask("ec2:RunInstances", sharedName+"security-group/sg-0aaaaaaaaaaaaaaaa"),
		ask("ec2:RunInstances", ec2Name+"network-interface/eni-0a"),
		ask("ec2:RunInstances", ec2Name+"volume/vol-0a", requestTag, "remuda"),
		ask("ec2:RunInstances", ec2Name+"spot-instances-request/sir-0a"),
		ask("ec2:RunInstances", image),
		ask("ec2:CreateTags", ec2Name+"fleet/fleet-0a", requestTag, "remuda", "ec2:CreateAction", "CreateFleet"),
		ask("ec2:CreateTags", ec2Name+"instance/"+ownID, requestTag, "remuda", "ec2:CreateAction", "CreateFleet"),
		ask("ec2:CreateTags", ec2Name+"instance/"+ownID, requestTag, "remuda", "ec2:CreateAction", "RunInstances"),
		ask("ec2:CreateTags", ec2Name+"volume/vol-0a", requestTag, "remuda", "ec2:CreateAction", "RunInstances"),
		ask("ec2:CreateTags", ec2Name+"network-interface/eni-0a", requestTag, "remuda", "ec2:CreateAction", "RunInstances"),
		ask("ec2:CreateTags", ec2Name+"spot-instances-request/sir-0a", requestTag, "remuda", "ec2:CreateAction", "RunInstances"),
		ask("iam:PassRole", agentRole, "iam:PassedToService", "ec2.amazonaws.com"),
	}
}

func createTemplate() []request {
	return []request{
		ask("ec2:CreateLaunchTemplate", ec2Name+"launch-template/lt-0a", requestTag, "remuda"),
		ask("ec2:CreateTags", ec2Name+"launch-template/lt-0a", requestTag, "remuda", "ec2:CreateAction", "CreateLaunchTemplate"),
	}
}
