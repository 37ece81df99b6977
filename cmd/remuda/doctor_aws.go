package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
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

// identity says who asks, and whether this machine's clock is right.
func (o *doctorOptions) identity(ctx context.Context, c config.Config) []finding.Finding {
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
	return found
}

func clockFinding(off time.Duration) finding.Finding {
	f := finding.Finding{Check: "clock", Verdict: finding.OK, Detail: "this machine's differs from that of AWS by less than " + short(maxDrift)}
	if off.Abs() >= maxDrift {
		f.Verdict, f.Remedy = finding.Failed, "set it, and let a service such as chrony keep it"
		f.Detail = fmt.Sprintf("this machine's differs from that of AWS by %s", off.Round(time.Second))
	}
	return f
}

// permissions asks IAM's simulator whether a role may do all that a policy of deploy/iam allows.
func (o *doctorOptions) permissions(ctx context.Context, c config.Config) []finding.Finding {
	const name = "permissions"
	if !c.OnEC2() || !config.HasScheme(c.Store, []string{"dynamodb"}) {
		return nil
	}
	skipped := func(why string) []finding.Finding {
		return []finding.Finding{{Check: name, Verdict: finding.Skipped, Detail: why}}
	}
	cfg, _, err := awsOf(ctx, c)
	if err != nil {
		return skipped("no credentials")
	}
	me, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
	if err != nil {
		return skipped("it is not known who asks")
	}
	caller, err := awsarn.Parse(aws.ToString(me.Arn))
	if err != nil {
		return []finding.Finding{finding.Of(name, err, "", "")}
	}
	who := o.role
	if who == "" {
		who = roleOf(caller)
	}
	asks, err := questions(o.policy, c, caller, cfg.Region)
	if err != nil {
		return []finding.Finding{finding.Of(name, err, "", "")}
	}
	var refused []string
	api := awsiam.NewFromConfig(cfg)
	for _, ask := range asks {
		ask.PolicySourceArn = aws.String(who)
		pages := awsiam.NewSimulatePrincipalPolicyPaginator(api, ask)
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			switch {
			case awserr.ClassOf(err) == awserr.Denied:
				return skipped(fmt.Sprintf("%s may not call iam:SimulatePrincipalPolicy (deploy/iam/doctor.json allows it)", caller))
			case err != nil:
				return []finding.Finding{finding.Of(name, awserr.Explain(err, "iam:SimulatePrincipalPolicy", who), "", "")}
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
		return []finding.Finding{finding.Of(name, errors.New(who+" may not: "+strings.Join(slices.Compact(refused), ", ")), "",
			fmt.Sprintf("give it deploy/iam/%s.json, or name another by --role and --policy", o.policy))}
	}
	return []finding.Finding{{Check: name, Verdict: finding.OK, Detail: fmt.Sprintf("%s may do all that deploy/iam/%s.json allows", who, o.policy)}}
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

// questions are a policy's statements as calls that must be allowed: its actions on its resources, in the context that its
// conditions ask for.
func questions(policy string, c config.Config, caller awsarn.ARN, region string) ([]*awsiam.SimulatePrincipalPolicyInput, error) {
	values, err := policyValues(c, caller, region)
	if err != nil {
		return nil, err
	}
	text, err := iam.Render(iam.Kind(policy), values)
	if err != nil {
		return nil, err
	}
	var doc struct{ Statement []statement }
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read policy %s: %w", policy, err)
	}
	var out []*awsiam.SimulatePrincipalPolicyInput
	for _, s := range doc.Statement {
		ask := &awsiam.SimulatePrincipalPolicyInput{ActionNames: s.Action, ContextEntries: contextOf(s)}
		if !slices.Equal(s.Resource, oneOrMore{"*"}) {
			ask.ResourceArns = s.Resource
		}
		out = append(out, ask)
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
	v := iam.Values{
		Partition: caller.Partition, Region: region, Account: caller.AccountID,
		Subnets: c.EC2.Subnets, SecurityGroups: c.EC2.SecurityGroups,
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
	if _, name, ok := strings.Cut(c.EC2.InstanceProfile, ":instance-profile/"); ok {
		v.AgentProfile = name
	} else {
		v.AgentProfile = c.EC2.InstanceProfile
	}
	return v, nil
}
