package iam_test

import (
	"slices"

	"github.com/remuda-run/remuda/deploy/iam"
)

// foreign is refused to everyone: what is no part of the installation.
func foreign(kind iam.Kind) []scenario {
	return slices.Concat(
		on(kind, []string{otherTable}, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Scan", "dynamodb:CreateTable"),
		on(kind, []string{otherQueue}, "sqs:SendMessage", "sqs:ReceiveMessage", "sqs:CreateQueue", "sqs:GetQueueUrl"),
		[]scenario{
			when(kind, "", "deletes a record", item("DeleteItem", "RUN#4711", "")),
			when(kind, "", "asks in another language", item("PartiQLUpdate", "RUN#4711", "")),
			when(kind, "", "ends another's instance", ask("ec2:TerminateInstances", ec2Name+"instance/"+ownID, resourceTag, "payroll")),
			when(kind, "", "ends an instance without mark", ask("ec2:TerminateInstances", ec2Name+"instance/"+ownID)),
			when(kind, "", "takes the agents' role", ask("sts:AssumeRole", agentRole)),
			when(kind, "", "attaches a policy", ask("iam:AttachRolePolicy", agentRole)),
		},
	)
}

// elsewhere is the same request on a table that is not ours.
func elsewhere(r request) request {
	r.Resource = otherTable
	return r
}

// noEC2 is refused to everyone who launches nothing.
func noEC2(kind iam.Kind) []scenario {
	return []scenario{
		when(kind, "", "runs an instance", ask("ec2:RunInstances", ec2Name+"instance/"+ownID, requestTag, "remuda")),
		when(kind, "", "ends an instance", ask("ec2:TerminateInstances", ec2Name+"instance/"+ownID, resourceTag, "remuda")),
		when(kind, "", "sees instances", ask("ec2:DescribeInstances", "*", "aws:RequestedRegion", "eu-west-1")),
		when(kind, "", "passes the agents' role", ask("iam:PassRole", agentRole, "iam:PassedToService", "ec2.amazonaws.com")),
	}
}

// refused is what must not be possible.
func refused() []scenario {
	out := slices.Concat(refusedAgent(), refusedWorkflow(), refusedController(), refusedUninstall(), []scenario{
		when(iam.Operator, "", "changes an instance", item("PutItem", ownKey, "PK SK state")),
		when(iam.Operator, "", "takes the lease", item("PutItem", "META#lease", "PK SK holder")),
		when(iam.Operator, "", "writes a day's demand", item("PutItem", "META#demand-2026-01-02", drainAttributes)),
		when(iam.Operator, "", "puts no key", item("PutItem", "", drainAttributes)),
		when(iam.Operator, "", "orders a drain elsewhere", elsewhere(item("PutItem", "META#drain-1", drainAttributes))),
		when(iam.Operator, "", "reads another's console", ask("ec2:GetConsoleOutput", ec2Name+"instance/"+ownID, resourceTag, "payroll")),
		when(iam.Doctor, "", "asks of another's role", ask("iam:SimulatePrincipalPolicy", "arn:aws:iam::111122223333:role/payroll")),
		when(iam.Doctor, "", "looks into another region", ask("ec2:DescribeRouteTables", "*", "aws:RequestedRegion", "us-east-1")),
		when(iam.Doctor, "", "asks of another service's quotas", ask("servicequotas:GetServiceQuota", "arn:aws:servicequotas:eu-west-1:111122223333:s3/L-1")),
		when(iam.Operator, "", "reads a program", ask("s3:GetObject", objects+"program/0a/remuda")),
		when(iam.Operator, "", "forges output", ask("s3:PutObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
		when(iam.Operator, "", "lists what is published", ask("s3:ListBucket", ownBucket, "s3:prefix", "program/")),
		when(iam.Operator, "", "lists another bucket", ask("s3:ListBucket", "arn:aws:s3:::payroll", "s3:prefix", "logs/")),
		when(iam.Controller, "", "publishes", ask("s3:PutObject", objects+"release.json")),
		when(iam.Controller, "", "reads output", ask("s3:GetObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
		when(iam.Controller, "", "reads beside the release", ask("s3:GetObject", objects+"other.json")),
		when(iam.Controller, "", "lists the bucket", ask("s3:ListBucket", ownBucket)),
		when(iam.Init, "", "forges output", ask("s3:PutObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
		when(iam.Init, "", "writes beside the release", ask("s3:PutObject", objects+"other.json")),
		when(iam.Init, "", "deletes a program", ask("s3:DeleteObject", objects+"program/0a/remuda")),
		when(iam.Init, "", "lists another bucket", ask("s3:ListBucket", "arn:aws:s3:::payroll")),
		when(iam.Operator, "", "reads another's parameter", ask("ssm:GetParameters", "arn:aws:ssm:eu-west-1:111122223333:parameter/payroll/key")),
		when(iam.Operator, "", "reads the credentials", ask("secretsmanager:GetSecretValue", credentials)),
		when(iam.Controller, "", "reads another secret", ask("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:eu-west-1:111122223333:secret:payroll/github-AbCdEf")),
		when(iam.Controller, "", "reads a secret whose name begins alike", ask("secretsmanager:GetSecretValue", credentials+"-AbCdEf")),
		when(iam.Controller, "", "replaces the credentials", ask("secretsmanager:PutSecretValue", credentials)),
		when(iam.Init, "", "replaces another secret", ask("secretsmanager:PutSecretValue", "arn:aws:secretsmanager:eu-west-1:111122223333:secret:payroll/github-AbCdEf")),
		when(iam.Init, "", "replaces a secret whose name begins alike", ask("secretsmanager:PutSecretValue", credentials+"-AbCdEf")),
		when(iam.Host, "", "publishes", ask("s3:PutObject", objects+"release.json")),
		when(iam.Host, "", "reads output", ask("s3:GetObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
		when(iam.Host, "", "reads beside the release", ask("s3:GetObject", objects+"other.json")),
		when(iam.Host, "", "changes the configuration", ask("ssm:PutParameter", ownConfig)),
		when(iam.Host, "", "reads another's parameter", ask("ssm:GetParameters", "arn:aws:ssm:eu-west-1:111122223333:parameter/payroll/key")),
		when(iam.Host, "", "makes a stream in another group", ask("logs:CreateLogStream", "arn:aws:logs:eu-west-1:111122223333:log-group:/remuda/other:log-stream:host-1")),
		when(iam.Host, "", "writes another's log", ask("logs:PutLogEvents", "arn:aws:logs:eu-west-1:111122223333:log-group:/payroll/controller:log-stream:host-1")),
		when(iam.Host, "", "reads the log", ask("logs:GetLogEvents", logGroup+":log-stream:host-1")),
		when(iam.Host, "", "deletes the log", ask("logs:DeleteLogGroup", logGroup)),
		when(iam.Host, "", "reads the credentials", ask("secretsmanager:GetSecretValue", credentials)),
		when(iam.Operator, "", "takes a notification", ask("sqs:ReceiveMessage", events)),
		when(iam.Init, "", "reads a record", item("GetItem", ownKey, "")),
		when(iam.Init, "", "reads without saying which", item("GetItem", "", "")),
		when(iam.Init, "", "reads a lease elsewhere", elsewhere(item("GetItem", "META#lease", ""))),
		when(iam.Init, "", "reads all records", item("Scan", "", "")),
		when(iam.Init, "", "takes a notification", ask("sqs:ReceiveMessage", events)),
		when(iam.Init, "", "looks at another profile", ask("iam:GetInstanceProfile", otherProfile)),
	}, templates(iam.Init), templates(iam.Controller), noEC2(iam.Agent), noEC2(iam.Workflow), noEC2(iam.Operator), noEC2(iam.Init), noEC2(iam.Host))
	for _, kind := range []iam.Kind{iam.Agent, iam.Workflow, iam.WorkflowSession, iam.Operator, iam.Controller, iam.Init, iam.Host} {
		out = append(out, foreign(kind)...)
		out = append(out, on(kind, []string{ownTable}, "dynamodb:DeleteTable")...)
	}
	out = append(out, foreign(iam.Uninstall)...)
	return out
}

// together is a request that names an item of another partition, too.
func together(r request, partition string) request {
	r.Context["dynamodb:LeadingKeys"] = append(r.Context["dynamodb:LeadingKeys"], partition)
	return r
}

// refusedAgent: H43 was a role of instances that could re-own and kill every one of them.
func refusedAgent() []scenario {
	return []scenario{
		when(iam.Agent, "", "reads another instance's record", item("GetItem", otherKey, "")),
		when(iam.Agent, "", "reads another's beside its own, in one transaction", together(item("GetItem", ownKey, ""), otherKey)),
		when(iam.Agent, "", "reports for another beside itself, in one transaction", together(item("UpdateItem", ownKey, reportAttributes), otherKey)),
		when(iam.Agent, "", "reads a request", item("GetItem", "RUN#4711", "")),
		when(iam.Agent, "", "reads the lease", item("GetItem", "META#lease", "")),
		when(iam.Agent, "", "writes a day's demand", item("UpdateItem", "META#demand-2026-01-02", reportAttributes)),
		when(iam.Agent, "", "writes a floor", item("UpdateItem", "META#pool-small", reportAttributes)),
		when(iam.Agent, "", "reads a launch", item("GetItem", "LAUNCH#l-1", "")),
		when(iam.Agent, "", "reads no key", item("GetItem", "", "")),
		when(iam.Agent, "", "reads its key elsewhere", elsewhere(item("GetItem", ownKey, ""))),
		when(iam.Agent, "", "reports elsewhere", elsewhere(item("UpdateItem", ownKey, reportAttributes))),
		when(iam.Agent, "", "reads several", item("BatchGetItem", ownKey, "")),
		when(iam.Agent, "", "queries", item("Query", ownKey, "")),
		when(iam.Agent, "", "scans", item("Scan", "", "")),
		when(iam.Agent, "", "reports for another", item("UpdateItem", otherKey, reportAttributes)),
		when(iam.Agent, "", "answers a request", item("UpdateItem", "RUN#4711", "PK SK value")),
		when(iam.Agent, "", "updates no key", item("UpdateItem", "", reportAttributes)),
		when(iam.Agent, "", "names no attribute", item("UpdateItem", ownKey, "")),
		when(iam.Agent, "", "changes its state", item("UpdateItem", ownKey, "PK SK state")),
		when(iam.Agent, "", "changes its owner beside a report", item("UpdateItem", ownKey, reportAttributes+" runId")),
		when(iam.Agent, "", "moves its threshold", item("UpdateItem", ownKey, "PK SK threshold")),
		when(iam.Agent, "", "changes a version", item("UpdateItem", ownKey, "PK SK version")),
		when(iam.Agent, "", "puts a whole record", item("PutItem", ownKey, reportAttributes)),
		when(iam.Agent, "", "writes another's output", ask("s3:PutObject", objects+"logs/"+agentRoleID+":i-0bbbbbbbbbbbbbbbb/last.json")),
		when(iam.Agent, "", "writes output of all", ask("s3:PutObject", objects+"logs/last.json")),
		when(iam.Agent, "", "reads its own output", ask("s3:GetObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
		when(iam.Agent, "", "reads another's output", ask("s3:GetObject", objects+"logs/"+agentRoleID+":i-0bbbbbbbbbbbbbbbb/last.json")),
		when(iam.Agent, "", "replaces its program", ask("s3:PutObject", objects+"program/0a/remuda")),
		when(iam.Agent, "", "publishes", ask("s3:PutObject", objects+"release.json")),
		when(iam.Agent, "", "lists the bucket", ask("s3:ListBucket", ownBucket)),
		when(iam.Agent, "", "deletes output", ask("s3:DeleteObject", objects+"logs/"+agentRoleID+":"+ownID+"/last.json")),
		when(iam.Agent, "", "offers itself", ask("sqs:SendMessage", classQueue)),
		when(iam.Agent, "", "takes a notification", ask("sqs:ReceiveMessage", events)),
		when(iam.AgentTrust, "", "a function", request{Principal: "lambda.amazonaws.com", Action: "sts:AssumeRole", Resource: agentRole}),
		when(iam.AgentTrust, "", "a task, which is no instance", task(installation.Account, agentRole)),
		when(iam.AgentTrust, "", "a person, under the name of an instance",
			request{Principal: "arn:aws:iam::111122223333:user/mallory", Action: "sts:AssumeRole", Resource: agentRole}),
	}
}

func refusedWorkflow() []scenario {
	return []scenario{
		when(iam.Workflow, "", "reads an instance's record", item("GetItem", ownKey, "")),
		when(iam.Workflow, "", "reads the lease", item("GetItem", "META#lease", "")),
		when(iam.Workflow, "", "reads no key", item("GetItem", "", "")),
		when(iam.Workflow, "", "reads a run elsewhere", elsewhere(item("GetItem", "RUN#4711", ""))),
		when(iam.Workflow, "", "requests elsewhere", elsewhere(item("PutItem", "RUN#4711", requestAttributes))),
		when(iam.WorkflowSession, "", "requests elsewhere", elsewhere(item("PutItem", "RUN#4711", requestAttributes))),
		when(iam.Workflow, "", "scans", item("Scan", "", "")),
		when(iam.Workflow, "", "changes an instance", item("PutItem", ownKey, "PK SK version")),
		when(iam.Workflow, "", "writes a day's demand", item("PutItem", "META#demand-2026-01-02", clientAttributes)),
		when(iam.Workflow, "", "orders a drain", item("PutItem", "META#drain-1", clientAttributes)),
		when(iam.Workflow, "", "writes a floor", item("PutItem", "META#pool-small", clientAttributes)),
		when(iam.Workflow, "", "invents a launch", item("PutItem", "LAUNCH#l-1", clientAttributes)),
		when(iam.Workflow, "", "puts no key", item("PutItem", "", requestAttributes)),
		when(iam.Workflow, "", "names no attribute", item("PutItem", "RUN#4711", "")),
		when(iam.Workflow, "", "writes a status", item("PutItem", "RUN#4711", "PK SK version attempt phase instances")),
		when(iam.Workflow, "", "updates", item("UpdateItem", "RUN#4711", "PK SK attempt")),
		when(iam.Workflow, "", "offers an instance", ask("sqs:SendMessage", classQueue)),
		when(iam.Workflow, "", "takes a notification", ask("sqs:ReceiveMessage", events)),
		when(iam.WorkflowSession, "", "reads another run's status", item("GetItem", "RUN#4712", "")),
		when(iam.WorkflowSession, "", "reads a run whose id begins alike", item("GetItem", "RUN#47110", "")),
		when(iam.WorkflowSession, "", "releases another run", item("PutItem", "RUN#4712", requestAttributes)),
		when(iam.WorkflowSession, "", "puts no key", item("PutItem", "", requestAttributes)),
		when(iam.WorkflowSession, "", "writes a status", item("PutItem", "RUN#4711", "PK SK version attempt phase instances")),
		when(iam.WorkflowTrust, "", "another repository", oidc("repo:octo/other:ref:refs/heads/main", "sts.amazonaws.com")),
		when(iam.WorkflowTrust, "", "a repository whose name begins alike", oidc("repo:octo/app2:ref:refs/heads/main", "sts.amazonaws.com")),
		when(iam.WorkflowTrust, "", "a token for another service", oidc("repo:octo/app:ref:refs/heads/release-1", "vault")),
		when(iam.WorkflowTrust, "", "another branch", oidc("repo:octo/app:ref:refs/heads/feature", "sts.amazonaws.com")),
		when(iam.WorkflowTrust, "", "a pull request", oidc("repo:octo/app:pull_request", "sts.amazonaws.com")),
		when(iam.WorkflowTrust, "", "another repository, with ids", oidc("repo:octo@1/other@2:ref:refs/heads/release-1", "sts.amazonaws.com")),
		when(iam.WorkflowTrust, "", "a repository whose name begins alike, with ids", oidc("repo:octo@1/app2@2:ref:refs/heads/release-1", "sts.amazonaws.com")),
		when(iam.WorkflowTrust, "", "another owner, with ids", oidc("repo:octo2@1/app@2:ref:refs/heads/release-1", "sts.amazonaws.com")),
		when(iam.WorkflowTrust, "", "another branch, with ids", oidc("repo:octo@1/app@2:ref:refs/heads/feature", "sts.amazonaws.com")),
		when(iam.WorkflowTrust, "", "a branch of another repository that imitates this one", oidc("repo:octo@1/other@2:ref:refs/heads/x/app@3", "sts.amazonaws.com")),
	}
}

// refusedUninstall: who ends one installation ends no other, and makes nothing.
func refusedUninstall() []scenario {
	const kind = iam.Uninstall
	return slices.Concat(
		on(kind, []string{otherTable}, "dynamodb:DeleteTable", "dynamodb:DescribeTable"),
		on(kind, []string{otherQueue, events + "2"}, "sqs:DeleteQueue", "sqs:GetQueueUrl", "sqs:SendMessage"),
		on(kind, []string{classQueue}, "sqs:SendMessage", "sqs:ReceiveMessage", "sqs:CreateQueue"),
		on(kind, []string{"arn:aws:s3:::payroll"}, "s3:ListBucketVersions"),
		on(kind, []string{"arn:aws:s3:::payroll/key", objects + "release.json.old", objects + "payroll/key"}, "s3:DeleteObject", "s3:DeleteObjectVersion"),
		on(kind, []string{ownBucket}, "s3:DeleteBucket"),
		on(kind, []string{objects + "release.json"}, "s3:GetObject", "s3:PutObject"),
		[]scenario{
			when(kind, "", "changes an instance", item("PutItem", ownKey, "PK SK state")),
			when(kind, "", "takes the lease", item("PutItem", "META#lease", "PK SK holder")),
			when(kind, "", "puts no key", item("PutItem", "", drainAttributes)),
			when(kind, "", "orders a drain elsewhere", elsewhere(item("PutItem", "META#drain-1", drainAttributes))),
			when(kind, "", "deletes another's template", ask("ec2:DeleteLaunchTemplate", ec2Name+"launch-template/lt-0b", resourceTag, "payroll")),
			when(kind, "", "deletes an unmarked template", ask("ec2:DeleteLaunchTemplate", ec2Name+"launch-template/lt-0b")),
			when(kind, "", "launches", ask("ec2:CreateFleet", ec2Name+"fleet/fleet-0a", requestTag, "remuda")),
			when(kind, "", "looks into another region", ask("ec2:DescribeInstances", "*", "aws:RequestedRegion", "us-east-1")),
			when(kind, "", "reads another's parameter", ask("ssm:GetParameters", "arn:aws:ssm:eu-west-1:111122223333:parameter/payroll/key")),
			when(kind, "", "reads the credentials", ask("secretsmanager:GetSecretValue", credentials)),
		},
	)
}

func refusedController() []scenario {
	out := []scenario{
		when(iam.Controller, "", "creates the table", ask("dynamodb:CreateTable", ownTable)),
		when(iam.Controller, "", "changes the table's expiry", ask("dynamodb:UpdateTimeToLive", ownTable)),
		when(iam.Controller, "", "deletes a queue", ask("sqs:DeleteQueue", classQueue)),
		when(iam.Controller, "", "looks into another region", ask("ec2:DescribeInstances", "*", "aws:RequestedRegion", "us-east-1")),
		when(iam.Controller, "", "launches from another's template", ask("ec2:RunInstances", ec2Name+"launch-template/lt-0b", resourceTag, "payroll")),
		when(iam.Controller, "", "launches from an unmarked template", ask("ec2:CreateFleet", ec2Name+"launch-template/lt-0b")),
		when(iam.Controller, "", "launches into another subnet", ask("ec2:RunInstances", ec2Name+"subnet/subnet-0cccccccccccccccc")),
		when(iam.Controller, "", "launches into another account's subnet that is not configured", ask("ec2:RunInstances", sharedName+"subnet/subnet-0cccccccccccccccc")),
		when(iam.Controller, "", "launches with another security group", ask("ec2:RunInstances", ec2Name+"security-group/sg-0bbbbbbbbbbbbbbbb")),
		when(iam.Controller, "", "launches with a key pair", ask("ec2:RunInstances", ec2Name+"key-pair/mallory")),
		when(iam.Controller, "", "passes another role", ask("iam:PassRole", adminRole, "iam:PassedToService", "ec2.amazonaws.com")),
		when(iam.Controller, "", "passes the role to another service", ask("iam:PassRole", agentRole, "iam:PassedToService", "lambda.amazonaws.com")),
		when(iam.Controller, "", "looks at another profile", ask("iam:GetInstanceProfile", otherProfile)),
		when(iam.Controller, "", "marks an instance later",
			ask("ec2:CreateTags", ec2Name+"instance/i-0cccccccccccccccc", requestTag, "remuda")),
		when(iam.Controller, "", "marks at another creation",
			ask("ec2:CreateTags", ec2Name+"volume/vol-0a", requestTag, "remuda", "ec2:CreateAction", "CreateVolume")),
		when(iam.Controller, "", "marks as another's at creation",
			ask("ec2:CreateTags", ec2Name+"instance/"+ownID, requestTag, "payroll", "ec2:CreateAction", "RunInstances")),
		when(iam.Controller, "", "removes a mark", ask("ec2:DeleteTags", ec2Name+"instance/"+ownID, resourceTag, "remuda")),
		when(iam.Controller, "", "creates another service's role",
			ask("iam:CreateServiceLinkedRole", "arn:aws:iam::111122223333:role/aws-service-role/rds.amazonaws.com/AWSServiceRoleForRDS",
				"iam:AWSServiceName", "rds.amazonaws.com")),
		when(iam.Controller, "", "creates a role of spot for another service",
			ask("iam:CreateServiceLinkedRole", "arn:aws:iam::111122223333:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot",
				"iam:AWSServiceName", "rds.amazonaws.com")),
		when(iam.ControllerTrust, "", "a task of another account", task("444455556666", controllerRole)),
		when(iam.ControllerTrust, "", "a function", request{Principal: "lambda.amazonaws.com", Action: "sts:AssumeRole", Resource: controllerRole}),
		when(iam.ControllerTrust, "", "a person", request{Principal: "arn:aws:iam::111122223333:user/mallory", Action: "sts:AssumeRole", Resource: controllerRole}),
		when(iam.Controller, "", "reads a secret parameter", ask("ssm:GetParameters", "arn:aws:ssm:eu-west-1:111122223333:parameter/payroll/key")),
		when(iam.Init, "", "reads a secret parameter", ask("ssm:GetParameters", "arn:aws:ssm:eu-west-1:111122223333:parameter/payroll/key")),
	}
	for _, mark := range []string{"", "payroll"} {
		for _, action := range []string{"ec2:RunInstances", "ec2:CreateFleet"} {
			r := ask(action, ec2Name+"instance/"+ownID)
			if mark != "" {
				r = ask(action, ec2Name+"instance/"+ownID, requestTag, mark)
			}
			out = append(out, when(iam.Controller, "", "launches marked "+mark, r))
		}
	}
	for _, kind := range []iam.Kind{iam.Agent, iam.Doctor, iam.Host, iam.Init, iam.Operator, iam.Uninstall, iam.Workflow} {
		out = append(out, when(kind, "", "reads GitHub's credentials beside the configuration", ask("ssm:GetParameters", storedKey)))
	}
	return append(out, when(iam.Controller, "", "creates an unmarked fleet", ask("ec2:CreateFleet", ec2Name+"fleet/fleet-0a")))
}

// templates of others are nobody's business.
func templates(kind iam.Kind) []scenario {
	var out []scenario
	for _, call := range []string{"ec2:CreateLaunchTemplateVersion", "ec2:ModifyLaunchTemplate", "ec2:DeleteLaunchTemplateVersions"} {
		out = append(out,
			when(kind, "", call+" of another", ask(call, ec2Name+"launch-template/lt-0b", resourceTag, "payroll")),
			when(kind, "", call+" of one without mark", ask(call, ec2Name+"launch-template/lt-0b")))
	}
	return append(out,
		when(kind, "", "creates an unmarked template", ask("ec2:CreateLaunchTemplate", ec2Name+"launch-template/lt-0b")),
		when(kind, "", "deletes its template", ask("ec2:DeleteLaunchTemplate", ec2Name+"launch-template/lt-0a", resourceTag, "remuda")),
		when(kind, "", "marks a template later", ask("ec2:CreateTags", ec2Name+"launch-template/lt-0b", requestTag, "remuda")),
		when(kind, "", "marks a template as another's",
			ask("ec2:CreateTags", ec2Name+"launch-template/lt-0b", requestTag, "payroll", "ec2:CreateAction", "CreateLaunchTemplate")),
		when(kind, "", "looks into another region", ask("ec2:DescribeSubnets", "*", "aws:RequestedRegion", "us-east-1")))
}
