package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/remuda-run/remuda/deploy/iam"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/finding"
)

// awsOf returns the configuration for the region of the first back end on AWS; ok is false if there is none.
func awsOf(ctx context.Context, c config.Config) (cfg aws.Config, ok bool, err error) {
	for _, raw := range []string{c.Store, c.PoolURL(), c.Fleet} {
		if !config.HasScheme(raw, []string{"dynamodb", "sqs", "ec2"}) {
			continue
		}
		u, err := url.Parse(raw)
		if err != nil {
			return cfg, true, err
		}
		cfg, err = loadAWS(ctx, u, "")
		return cfg, true, err
	}
	return cfg, false, nil
}

// maxDrift is how far the clock of this machine may be off: AWS refuses signatures at 5 minutes, GitHub those of Apps at one
// (docs/goals.md, G12).
const maxDrift = clockSkew

// account says who asks, whether this machine's clock is right, and what roles may do.
func (o *doctorOptions) account(ctx context.Context, c config.Config) []finding.Finding {
	const name = "credentials"
	cfg, ok, err := awsOf(ctx, c)
	if !ok {
		return []finding.Finding{{Check: name, Verdict: finding.Skipped, Detail: "nothing is on AWS"}}
	}
	if err != nil {
		return []finding.Finding{finding.Of(name, err, "", "")}
	}
	out, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
	if err != nil {
		return []finding.Finding{finding.Of(name, awserr.Explain(err, "sts:GetCallerIdentity", "region "+cfg.Region), "", "")}
	}
	found := []finding.Finding{{Check: name, Verdict: finding.OK, Detail: fmt.Sprintf("%s, region %s", aws.ToString(out.Arn), cfg.Region)}}
	if at, ok := awsmiddleware.GetServerTime(out.ResultMetadata); ok {
		found = append(found, clockFinding(o.clock.Now().Sub(at)))
	}
	if !c.OnEC2() || !config.HasScheme(c.Store, []string{"dynamodb"}) {
		return found
	}
	caller, err := awsarn.Parse(aws.ToString(out.Arn))
	if err != nil {
		return append(found, finding.Of(permissions, err, "", ""))
	}
	return append(found, o.permissions(ctx, c, cfg, caller)...)
}

func clockFinding(off time.Duration) finding.Finding {
	f := finding.Finding{Check: "clock", Verdict: finding.OK, Detail: "this machine's differs from that of AWS by less than " + short(maxDrift)}
	if off.Abs() >= maxDrift {
		f.Verdict, f.Remedy = finding.Failed, "set it, and let a service such as chrony keep it"
		f.Detail = fmt.Sprintf("this machine's differs from that of AWS by %s", off.Round(time.Second))
	}
	return f
}

const (
	permissions = "permissions"
	nameRole    = "name the role by --role, as IAM calls it"
	maySimulate = "deploy/iam/doctor.json allows it of roles NAME-*: ask as who has that, for any other as who may simulate it, or name the role by --role"
)

// permissions asks IAM's simulator whether a role may do all that a policy of deploy/iam allows, and the role of each
// instance profile what agents need.
func (o *doctorOptions) permissions(ctx context.Context, c config.Config, cfg aws.Config, caller awsarn.ARN) []finding.Finding {
	api := awsiam.NewFromConfig(cfg)
	base, err := policyValues(c, caller, cfg.Region)
	if err != nil {
		return []finding.Finding{finding.Of(permissions, err, "", "")}
	}
	base.Accounts = owners(ctx, ec2.NewFromConfig(cfg), base)
	var each []iam.Values
	agents := map[string]iam.Values{} // by the ARN of their role
	for _, profile := range c.InstanceProfiles() {
		v := base
		if _, name, ok := strings.Cut(profile, ":instance-profile/"); ok {
			profile = name
		}
		v.AgentProfile = profile
		out, err := api.GetInstanceProfile(ctx, &awsiam.GetInstanceProfileInput{InstanceProfileName: aws.String(path.Base(profile))})
		if err == nil && out.InstanceProfile != nil && len(out.InstanceProfile.Roles) == 1 { // else Diagnose says what is wrong
			role := aws.ToString(out.InstanceProfile.Roles[0].Arn)
			_, v.AgentRole, _ = strings.Cut(role, ":role/")
			agents[role] = v
		}
		each = append(each, v)
	}
	whose := []string{o.role}
	if o.role == "" {
		whose = principals(o.policy, base, caller)
	}
	found := []finding.Finding{askSimulator(ctx, api, whose, o.policy, each...)}
	if o.role != "" && found[0].Remedy == nameRole {
		found[0].Verdict = finding.Failed // it was named
	}
	for _, role := range slices.Sorted(maps.Keys(agents)) {
		found = append(found, askSimulator(ctx, api, []string{role}, "agent", agents[role]))
	}
	return found
}

// owners returns the owning account of each subnet and security group of v. Other accounts can share them (AWS RAM). If an owner cannot be
// read, owners assumes this account; the checks of the fleet report the error.
func owners(ctx context.Context, api *ec2.Client, v iam.Values) map[string]string {
	out := map[string]string{}
	for _, id := range slices.Concat(v.Subnets, v.SecurityGroups) {
		out[id] = v.Account
	}
	if subnets, err := api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: v.Subnets}); err == nil {
		for _, s := range subnets.Subnets {
			out[aws.ToString(s.SubnetId)] = cmp.Or(aws.ToString(s.OwnerId), v.Account)
		}
	}
	if groups, err := api.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: v.SecurityGroups}); err == nil {
		for _, g := range groups.SecurityGroups {
			out[aws.ToString(g.GroupId)] = cmp.Or(aws.ToString(g.OwnerId), v.Account)
		}
	}
	return out
}

// principals are those that a policy is for, the likeliest first: for the controller's the role that the stack makes for it
// (deploy/cloudformation), then who asks, which is the controller's own role on its host.
func principals(policy string, v iam.Values, caller awsarn.ARN) (out []string) {
	if policy == doctorPolicies[0] {
		out = append(out, fmt.Sprintf("arn:%s:iam::%s:role/%s-controller", v.Partition, v.Account, v.Name))
	}
	if who := roleOf(caller); caller.Resource != "root" && !slices.Contains(out, who) { // of root nothing can be simulated
		out = append(out, who)
	}
	return out
}

// askSimulator asks whether the first of some principals that exists may do all that a policy allows with each of some values.
func askSimulator(ctx context.Context, api *awsiam.Client, whose []string, policy string, each ...iam.Values) finding.Finding {
	for i, who := range whose {
		if f, known := simulatePrincipal(ctx, api, who, policy, each...); known {
			if i > 0 {
				f.Detail += " (asked since IAM can simulate no " + strings.Join(whose[:i], " and no ") + ")"
			}
			return f
		}
	}
	f := finding.Finding{Check: permissions, Verdict: finding.Skipped, Detail: "nobody is known who should have deploy/iam/" + policy + ".json", Remedy: nameRole}
	if len(whose) > 0 {
		f.Detail = "IAM can simulate no " + strings.Join(whose, " and no ")
	}
	return f
}

// simulatePrincipal asks of one principal. known is false if IAM has no such role and no such user.
func simulatePrincipal(ctx context.Context, api *awsiam.Client, who, policy string, each ...iam.Values) (_ finding.Finding, known bool) {
	asks, err := questions(policy, each...)
	if err != nil {
		return finding.Of(permissions, err, "", ""), true
	}
	var refused []string
	for _, ask := range asks {
		ask.PolicySourceArn = aws.String(who)
		pages := awsiam.NewSimulatePrincipalPolicyPaginator(api, ask)
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			switch {
			case awserr.ClassOf(err) == awserr.Denied:
				return finding.Finding{
					Check: permissions, Verdict: finding.Skipped,
					Detail: "this shell may not call iam:SimulatePrincipalPolicy on " + who, Remedy: maySimulate,
				}, true
			case awserr.Code(err) == "NoSuchEntity", awserr.Code(err) == "InvalidInput": // a role with a path has another ARN than its sessions tell
				return finding.Finding{}, false
			case err != nil:
				return finding.Of(permissions, awserr.Explain(err, "iam:SimulatePrincipalPolicy", who), "", ""), true
			}
			for _, r := range page.EvaluationResults {
				if r.EvalDecision != iamtypes.PolicyEvaluationDecisionTypeAllowed {
					refused = append(refused, fmt.Sprintf("%s on %s", aws.ToString(r.EvalActionName), aws.ToString(r.EvalResourceName)))
				}
			}
		}
	}
	if len(refused) > 0 {
		slices.Sort(refused)
		err = errors.New(who + " may not: " + strings.Join(slices.Compact(refused), ", "))
	}
	return finding.Of(permissions, err, fmt.Sprintf("%s may do all that deploy/iam/%s.json allows", who, policy),
		fmt.Sprintf("give it deploy/iam/%s.json, or name another by --role and --policy", policy)), true
}

// roleOf returns the ARN of the role of a session; IAM simulates no sessions. A role with a path must be named by --role.
func roleOf(caller awsarn.ARN) string {
	if name, ok := strings.CutPrefix(caller.Resource, "assumed-role/"); ok {
		name, _, _ = strings.Cut(name, "/")
		caller.Service, caller.Resource = "iam", "role/"+name
	}
	return caller.String()
}

// statement is what is read of a policy.
type statement struct {
	Action    oneOrMore
	Resource  oneOrMore
	Condition map[string]map[string]oneOrMore
}

// oneOrMore is a text, or a list of them.
type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if err := json.Unmarshal(text, &one); err == nil {
		*l = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(l))
}

// session is who asks for an agent, in place of the variable of policies.
const session = "AROAREMUDADOCTOR:i-0123456789abcdef0"

// questions are a policy's statements as calls that must be allowed: its actions on its resources, in the context that its
// conditions ask for. What several values say alike is asked once.
func questions(policy string, each ...iam.Values) (out []*awsiam.SimulatePrincipalPolicyInput, _ error) {
	seen := map[string]bool{}
	for _, values := range each {
		text, err := iam.Render(iam.Kind(policy), values)
		if err != nil {
			return nil, err
		}
		var doc struct{ Statement []json.RawMessage }
		if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("${aws:userid}"), []byte(session)), &doc); err != nil {
			return nil, fmt.Errorf("read policy %s: %w", policy, err)
		}
		for _, text := range doc.Statement {
			if seen[string(text)] {
				continue
			}
			seen[string(text)] = true
			var s statement
			if err := json.Unmarshal(text, &s); err != nil {
				return nil, fmt.Errorf("read policy %s: %w", policy, err)
			}
			ask := &awsiam.SimulatePrincipalPolicyInput{ActionNames: s.Action, ContextEntries: append(contextOf(s), iamtypes.ContextEntry{
				ContextKeyName: aws.String("aws:userid"), ContextKeyType: iamtypes.ContextKeyTypeEnumString, ContextKeyValues: []string{session},
			})}
			if !slices.Equal(s.Resource, oneOrMore{"*"}) {
				ask.ResourceArns = s.Resource
			}
			out = append(out, ask)
		}
	}
	return out, nil
}

// contextOf returns values that fulfil a statement's conditions.
func contextOf(s statement) []iamtypes.ContextEntry {
	var out []iamtypes.ContextEntry
	for operator, keys := range s.Condition {
		if operator == "Null" {
			continue // asks that a key is there, which another condition gives a value
		}
		for key, values := range keys {
			kind := iamtypes.ContextKeyTypeEnumString
			if strings.HasPrefix(operator, "ForAllValues:") {
				kind = iamtypes.ContextKeyTypeEnumStringList
			}
			value := strings.ReplaceAll(values[0], "*", "x")
			out = append(out, iamtypes.ContextEntry{ContextKeyName: aws.String(key), ContextKeyType: kind, ContextKeyValues: []string{value}})
		}
	}
	return out
}

// policyValues are those of this installation.
func policyValues(c config.Config, caller awsarn.ARN, region string) (iam.Values, error) {
	v := iam.Values{Partition: caller.Partition, Region: region, Account: caller.AccountID, Bucket: c.EC2.Bucket}
	if name, ok := strings.CutPrefix(c.GitHub.Secret, "secretsmanager:"); ok && !strings.HasPrefix(name, "arn:") {
		v.Secret = name
	}
	v.Subnets, v.SecurityGroups = slices.Clone(c.EC2.Subnets), slices.Clone(c.EC2.SecurityGroups)
	for _, class := range c.Classes {
		v.Subnets, v.SecurityGroups = append(v.Subnets, class.Subnets...), append(v.SecurityGroups, class.SecurityGroups...)
	}
	for raw, take := range map[string]func(*url.URL){
		c.Store: func(u *url.URL) { v.Table, v.Events = u.Host, u.Query().Get("events") },
		c.Pool:  func(u *url.URL) { v.Queues = u.Host },
		c.Fleet: func(u *url.URL) { v.Name = u.Host },
	} {
		u, err := url.Parse(raw)
		if err != nil {
			return v, err
		}
		take(u)
	}
	return v, nil
}
