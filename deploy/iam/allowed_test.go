package iam_test

import (
	"slices"

	"github.com/remuda-run/remuda/deploy/iam"
)

// look returns one call that names no resource.
func look(kind iam.Kind, calls ...string) []scenario {
	var out []scenario
	for _, call := range calls {
		out = append(out, when(kind, call, "", ask(call, "*", "aws:RequestedRegion", "eu-west-1")))
	}
	return out
}

// on returns calls of the same name as their action, on each of resources.
func on(kind iam.Kind, resources []string, calls ...string) []scenario {
	var out []scenario
	for _, call := range calls {
		for _, resource := range resources {
			out = append(out, when(kind, call, "on "+resource, ask(call, resource)))
		}
	}
	return out
}

// keepTemplate is what becomes of a launch template after it was created.
func keepTemplate(kind iam.Kind, calls ...string) []scenario {
	var out []scenario
	for _, call := range calls {
		out = append(out, when(kind, call, "its own", ask(call, ec2Name+"launch-template/lt-0a", resourceTag, "remuda")))
	}
	return out
}

// notifying is done by everyone who writes.
func notifying(kind iam.Kind) []scenario {
	return []scenario{
		when(kind, "sqs:GetQueueUrl", "of the events", ask("sqs:GetQueueUrl", events)),
		when(kind, "sqs:SendMessage", "notifies", ask("sqs:SendMessage", events)),
		when(kind, "sqs:SendMessageBatch", "notifies several", ask("sqs:SendMessage", events)), // has no action of its own
	}
}

// allowed are the calls that the code makes. Each row of the table in calls_test.go has one here.
func allowed() []scenario {
	queues := []string{events, classQueue}
	return slices.Concat(
		[]scenario{
			when(iam.Agent, "dynamodb:GetItem", "its record", item("GetItem", ownKey, "")),
			when(iam.Agent, "dynamodb:UpdateItem", "heartbeat", item("UpdateItem", ownKey, beatAttributes)),
			when(iam.Agent, "dynamodb:UpdateItem", "signal", item("UpdateItem", ownKey, reportAttributes)),
		},
		notifying(iam.Agent),
		[]scenario{
			when(iam.Workflow, "dynamodb:GetItem", "status", item("GetItem", "RUN#4711", "")),
			when(iam.Workflow, "dynamodb:PutItem", "request", item("PutItem", "RUN#4711", requestAttributes)),
			when(iam.Workflow, "dynamodb:PutItem", "request of an earlier client", item("PutItem", "RUN#4711", plainAttributes)),
			when(iam.Workflow, "dynamodb:PutItem", "sign of life", item("PutItem", "RUN#4711-b", clientAttributes)),
			when(iam.WorkflowSession, "dynamodb:GetItem", "status", item("GetItem", "RUN#4711", "")),
			when(iam.WorkflowSession, "dynamodb:PutItem", "request", item("PutItem", "RUN#4711", requestAttributes)),
			when(iam.WorkflowSession, "dynamodb:PutItem", "second request", item("PutItem", "RUN#4711-b", requestAttributes)),
		},
		notifying(iam.Workflow), notifying(iam.WorkflowSession),
		[]scenario{
			when(iam.Operator, "dynamodb:GetItem", "an instance", item("GetItem", ownKey, "")),
			when(iam.Operator, "dynamodb:BatchGetItem", "a request", item("BatchGetItem", "RUN#4711", "")),
			when(iam.Operator, "dynamodb:BatchGetItem", "the demand of a day", item("BatchGetItem", "META#demand-2026-01-02", "")),
			when(iam.Operator, "dynamodb:Scan", "everything", item("Scan", "", "")),
			when(iam.Operator, "dynamodb:PutItem", "drain order", item("PutItem", "META#drain-1", drainAttributes)),
			when(iam.Operator, "ssm:GetParameters", "the configuration", ask("ssm:GetParameters", ownConfig)),
			when(iam.Operator, "ec2:GetConsoleOutput", "of its own", ask("ec2:GetConsoleOutput", ec2Name+"instance/"+ownID, resourceTag, "remuda")),
		},
		notifying(iam.Operator),
		[]scenario{
			when(iam.Controller, "dynamodb:GetItem", "the lease", item("GetItem", "META#lease", "")),
			when(iam.Controller, "dynamodb:BatchGetItem", "reports", item("BatchGetItem", ownKey, "")),
			when(iam.Controller, "dynamodb:PutItem", "an instance", item("PutItem", ownKey, "PK SK version state")),
			when(iam.Controller, "dynamodb:PutItem", "the demand of a day", item("PutItem", "META#demand-2026-01-02", "PK SK version rows")),
			when(iam.Controller, "dynamodb:PutItem", "a status", item("PutItem", "RUN#4711", "PK SK version phase")),
			when(iam.Controller, "dynamodb:PutItem", "a request of a run that goes on", item("PutItem", "RUN#4711", requestAttributes)),
			when(iam.Controller, "dynamodb:Scan", "everything", item("Scan", "", "")),
		},
		on(iam.Controller, []string{ownTable}, "dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive"),
		on(iam.Controller, queues, "sqs:CreateQueue", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage",
			"sqs:SendMessage", "sqs:SetQueueAttributes"),
		[]scenario{
			when(iam.Controller, "sqs:SendMessageBatch", "notifies several", ask("sqs:SendMessage", events)),
			when(iam.Controller, "sqs:DeleteMessageBatch", "seen", ask("sqs:DeleteMessage", classQueue)), // the same
		},
		look(iam.Controller, "sqs:ListQueues", "ec2:DescribeImages", "ec2:DescribeInstances", "ec2:DescribeInstanceTypeOfferings",
			"ec2:DescribeInstanceTypes", "ec2:DescribeLaunchTemplates", "ec2:DescribeLaunchTemplateVersions",
			"ec2:DescribeSecurityGroups", "ec2:DescribeSpotPriceHistory", "ec2:DescribeSubnets"),
		[]scenario{
			when(iam.Controller, "pricing:GetProducts", "which answers from another region",
				ask("pricing:GetProducts", "*", "aws:RequestedRegion", "eu-central-1")),
			when(iam.Controller, "ec2:CreateFleet", "marked, of its template", launch()...),
			when(iam.Controller, "ec2:CreateFleet", "the first ever",
				ask("iam:CreateServiceLinkedRole", "arn:aws:iam::111122223333:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot",
					"iam:AWSServiceName", "spot.amazonaws.com"),
				ask("iam:CreateServiceLinkedRole", "arn:aws:iam::111122223333:role/aws-service-role/ec2fleet.amazonaws.com/AWSServiceRoleForEC2Fleet",
					"iam:AWSServiceName", "ec2fleet.amazonaws.com")),
			when(iam.Controller, "ssm:GetParameters", "a public one", ask("ssm:GetParameters", publicImage)),
			when(iam.Controller, "ssm:GetParameters", "its own", ask("ssm:GetParameters", ownImage)),
			when(iam.Controller, "ssm:GetParameters", "the configuration", ask("ssm:GetParameters", ownConfig)),
			when(iam.Controller, "ssm:GetParameters", "the credentials", ask("ssm:GetParameters", storedKey)),
			when(iam.Controller, "ec2:TerminateInstances", "its own", ask("ec2:TerminateInstances", ec2Name+"instance/"+ownID, resourceTag, "remuda")),
			when(iam.Controller, "ec2:CreateLaunchTemplate", "marked", createTemplate()...),
			when(iam.Controller, "iam:GetInstanceProfile", "the agents'", ask("iam:GetInstanceProfile", profile)),
		},
		keepTemplate(iam.Controller, "ec2:CreateLaunchTemplateVersion", "ec2:ModifyLaunchTemplate", "ec2:DeleteLaunchTemplateVersions"),
		on(iam.Init, []string{ownTable}, "dynamodb:CreateTable", "dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive", "dynamodb:UpdateTable", "dynamodb:UpdateTimeToLive"),
		on(iam.Init, queues, "sqs:CreateQueue", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SetQueueAttributes"),
		look(iam.Init, "sqs:ListQueues", "ec2:DescribeImages", "ec2:DescribeLaunchTemplates", "ec2:DescribeLaunchTemplateVersions",
			"ec2:DescribeSecurityGroups", "ec2:DescribeSubnets"),
		[]scenario{
			when(iam.Init, "dynamodb:GetItem", "the lease", item("GetItem", "META#lease", "")),
			when(iam.Init, "ec2:CreateLaunchTemplate", "marked", createTemplate()...),
			when(iam.Init, "iam:GetInstanceProfile", "the agents'", ask("iam:GetInstanceProfile", profile)),
			when(iam.Init, "ssm:GetParameters", "a public one", ask("ssm:GetParameters", publicImage)),
			when(iam.Init, "ssm:GetParameters", "its own", ask("ssm:GetParameters", ownImage)),
			when(iam.Init, "ssm:GetParameters", "the configuration", ask("ssm:GetParameters", ownConfig)),
		},
		keepTemplate(iam.Init, "ec2:CreateLaunchTemplateVersion", "ec2:ModifyLaunchTemplate"),
		[]scenario{
			when(iam.Doctor, "iam:SimulatePrincipalPolicy", "of a role of the installation", ask("iam:SimulatePrincipalPolicy", agentRole)),
			when(iam.Doctor, "servicequotas:GetServiceQuota", "of vCPUs", ask("servicequotas:GetServiceQuota", "arn:aws:servicequotas:eu-west-1:111122223333:ec2/L-1216C47A")),
		},
		look(iam.Doctor, "ec2:DescribeRouteTables"),
		notifying(iam.Uninstall), uninstalling(queues),
		on(iam.Controller, []string{credentials}, "secretsmanager:GetSecretValue"),
		on(iam.Init, []string{credentials}, "secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue"),
		[]scenario{
			when(iam.Agent, "s3:GetObject", "the program", ask("s3:GetObject", objects+"program/0a/remuda")),
			when(iam.Agent, "s3:GetObject", "the runner", ask("s3:GetObject", objects+"runner/0a/actions-runner.tar.gz")),
			when(iam.Agent, "s3:PutObject", "its own output", ask("s3:PutObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
			when(iam.Controller, "s3:GetObject", "what is published", ask("s3:GetObject", objects+"release.json")),
			when(iam.Operator, "s3:GetObject", "a machine's output", ask("s3:GetObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
			when(iam.Operator, "s3:ListObjectsV2", "roles of machines", ask("s3:ListBucket", ownBucket, "s3:prefix", "logs/")),
			when(iam.Operator, "s3:ListObjectsV2", "a machine's output", ask("s3:ListBucket", ownBucket, "s3:prefix", "logs/"+agentRoleID+":"+ownID+"/last.json")),
		},
		[]scenario{
			when(iam.Host, "s3:GetObject", "what is published", ask("s3:GetObject", objects+"release.json")),
			when(iam.Host, "s3:GetObject", "the program", ask("s3:GetObject", objects+"program/0a/remuda")),
			when(iam.Host, "ssm:GetParameters", "the configuration", ask("ssm:GetParameters", ownConfig)),
			when(iam.Host, "cloudwatchlogs:CreateLogStream", "its stream", ask("logs:CreateLogStream", logGroup+":log-stream:host-1")),
			when(iam.Host, "cloudwatchlogs:PutLogEvents", "its log", ask("logs:PutLogEvents", logGroup+":log-stream:host-1")),
		},
		publish("s3:PutObject", "s3:PutObject"), publish("s3:GetObject", "s3:GetObject"), publish("s3:HeadObject", "s3:GetObject"),
		[]scenario{
			when(iam.AgentTrust, "", "an instance", request{Principal: "ec2.amazonaws.com", Action: "sts:AssumeRole", Resource: agentRole}),
			when(iam.ControllerTrust, "", "an instance", request{Principal: "ec2.amazonaws.com", Action: "sts:AssumeRole", Resource: controllerRole}),
			when(iam.ControllerTrust, "", "a task of this account", task(installation.Account, controllerRole)),
			when(iam.WorkflowTrust, "", "a release branch", oidc("repo:octo/app:ref:refs/heads/release-1", "sts.amazonaws.com")),
			when(iam.WorkflowTrust, "", "a release branch of a repository created since July 2026",
				oidc("repo:octo@583231/app@1296269:ref:refs/heads/release-1", "sts.amazonaws.com")),
		},
	)
}

// uninstalling ends what is the installation's own.
func uninstalling(queues []string) []scenario {
	const kind = iam.Uninstall
	return slices.Concat(
		[]scenario{
			when(kind, "dynamodb:GetItem", "the lease", item("GetItem", "META#lease", "")),
			when(kind, "dynamodb:Scan", "everything", item("Scan", "", "")),
			when(kind, "dynamodb:PutItem", "drain order", item("PutItem", "META#drain-1", drainAttributes)),
			when(kind, "ec2:TerminateInstances", "its own", ask("ec2:TerminateInstances", ec2Name+"instance/"+ownID, resourceTag, "remuda")),
			when(kind, "s3:ListObjectVersions", "all", ask("s3:ListBucketVersions", ownBucket)),
			when(kind, "s3:DeleteObjects", "a program", ask("s3:DeleteObject", objects+"program/0a/remuda"), ask("s3:DeleteObjectVersion", objects+"program/0a/remuda")),
			when(kind, "s3:DeleteObjects", "a runner", ask("s3:DeleteObject", objects+"runner/0a/actions-runner.tar.gz")),
			when(kind, "s3:DeleteObjects", "output", ask("s3:DeleteObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
			when(kind, "s3:DeleteObjects", "what is published", ask("s3:DeleteObject", objects+"release.json")),
			when(kind, "ssm:GetParameters", "the configuration", ask("ssm:GetParameters", ownConfig)),
		},
		on(kind, []string{ownTable}, "dynamodb:DeleteTable", "dynamodb:DescribeTable"),
		on(kind, queues, "sqs:DeleteQueue", "sqs:GetQueueUrl"),
		look(kind, "sqs:ListQueues", "ec2:DescribeInstances", "ec2:DescribeLaunchTemplates"),
		keepTemplate(kind, "ec2:DeleteLaunchTemplate"),
	)
}

// Bucket and objects of the installation.
const (
	ownBucket = "arn:aws:s3:::remuda-111122223333-eu-west-1"
	objects   = ownBucket + "/"
)

// logGroup is where the stack's controller keeps its log.
const logGroup = "arn:aws:logs:eu-west-1:111122223333:log-group:/remuda/controller"

// publish is a call on each object that is published; who is to be told that one is absent must be allowed to list.
func publish(call, action string) (out []scenario) {
	for _, key := range []string{"program/0a/remuda", "runner/0a/actions-runner.tar.gz", "release.json"} {
		out = append(out, when(iam.Init, call, "on "+key, ask(action, objects+key), ask("s3:ListBucket", ownBucket)))
	}
	return out
}

// Parameters: those that name an image, the configuration, and one with GitHub's credentials. Of a public one AWS leaves the
// account empty; the simulator knows no such name.
const (
	publicImage = "arn:aws:ssm:eu-west-1:111122223333:parameter/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
	ownImage    = "arn:aws:ssm:eu-west-1:111122223333:parameter/remuda/ami-x86_64"
	ownConfig   = "arn:aws:ssm:eu-west-1:111122223333:parameter/remuda/config"
	storedKey   = "arn:aws:ssm:eu-west-1:111122223333:parameter/remuda/github"
)

// task is ECS that takes a role for a task of an account.
func task(account, role string) request {
	r := ask("sts:AssumeRole", role, "aws:SourceAccount", account)
	r.Principal = "ecs-tasks.amazonaws.com"
	return r
}

// oidc is a job of GitHub that asks for the workflows' role.
func oidc(subject, audience string) request {
	r := ask("sts:AssumeRoleWithWebIdentity", "arn:aws:iam::111122223333:role/remuda-workflow",
		knownProvider+"sub", subject, knownProvider+"aud", audience)
	r.Principal = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"
	return r
}

// credentials is the secret with GitHub's; Secrets Manager gives each name six characters.
const credentials = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:remuda/github-AbCdEf"
