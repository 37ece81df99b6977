package ec2fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/logkey"
)

// Launch keeps the contract of fleet.Fleet. It makes one CreateFleet call and then looks at the
// launch's machines, since the answer to a repetition does not say what became of them.
//
// Errors beside instances are refusals (S74, S75). A call that brought nothing for reasons that
// neither time nor another place cures, such as a missing permission, is fleet.ErrRefused.
func (f *Fleet) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	return within(ctx, f, "launch "+p.Token, func(ctx context.Context) (fleet.Outcome, error) { return f.launch(ctx, p) })
}

func (f *Fleet) launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	in, err := f.decode(p)
	if err != nil {
		return fleet.Outcome{}, err
	}
	role, err := f.kindOf(in.ResourceClass).lister.roleID(ctx) // what may fail without machines goes first
	if err != nil {
		return fleet.Outcome{}, err
	}
	answer := f.answers.of(p.Token)
	if answer == nil {
		if answer, err = f.ec2.CreateFleet(ctx, in.input(p)); err != nil {
			return f.refusedWhole(ctx, in, err)
		}
	}
	came, err := f.answered(ctx, in, p, role, answer.Instances)
	if err != nil {
		f.answers.keep(p.Token, answer, f.clock.Now())
		return fleet.Outcome{}, indefinite(err)
	}
	f.answers.drop(p.Token)
	out := fleet.Outcome{Machines: came, Refused: refusals(in, f.quotaOfAll(in), f.unthrottled(answer.Errors))}
	if err := unsatisfiable(answer.Errors); err != nil && len(came) == 0 {
		return fleet.Outcome{}, explain(err, "ec2:CreateFleet", in.resource())
	}
	if len(came) < p.Count && len(answer.Errors) == 0 {
		out.Refused = []fleet.Refusal{{
			Slot: fleet.Slot{UsageClass: in.UsageClass, ResourceClass: in.ResourceClass}, Code: codeUnexplained,
			Message: fmt.Sprintf("EC2 gave %d of %d machines and no reason", len(came), p.Count),
		}}
	}
	if n := len(out.Refused); n > 0 {
		f.log.Debug("launch was refused in part", logkey.Launch, p.Token, logkey.Count, len(came), logkey.Refused, n)
	}
	return out, nil
}

// resource names what a launch is made of, for an error.
func (in params) resource() string {
	return "launch template " + templateVersion(in.Template, in.Version)
}

// answers holds the answers of CreateFleet, by launch token, whose machines could not be listed yet. A repeated launch uses the stored
// answer. Only after a restart of the controller does it call CreateFleet again.
type answers struct {
	mu      sync.Mutex
	byToken map[string]keptAnswer
}

// keptAnswer is an answer and the time when it was stored.
type keptAnswer struct {
	out *ec2.CreateFleetOutput
	at  time.Time
}

func (a *answers) of(token string) *ec2.CreateFleetOutput {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byToken[token].out
}

// keep stores an answer, and drops old answers whose launch was never repeated.
func (a *answers) keep(token string, out *ec2.CreateFleetOutput, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.byToken, func(_ string, k keptAnswer) bool { return now.Sub(k.at) >= ownLife })
	if a.byToken == nil {
		a.byToken = map[string]keptAnswer{}
	}
	a.byToken[token] = keptAnswer{out, now}
}

func (a *answers) drop(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byToken, token)
}

// indefinite returns err, of a call after CreateFleet's answer, without the kind fleet.ErrRefused: the
// machines may be there, whatever keeps us from seeing them, and only the repeated call shows it (H01).
func indefinite(err error) error {
	if errors.Is(err, fleet.ErrRefused) {
		return fmt.Errorf("machines may have been launched: %v", err) //nolint:errorlint // not of that kind
	}
	return err
}

// unseen reports whether EC2 does not find the launch template of in, and yet shows just that version
// as the default: what was made a moment ago is not known to all of EC2 at once (EC2 API,
// "Eventual consistency").
func (f *Fleet) unseen(ctx context.Context, in params, err error) bool {
	if !strings.HasPrefix(awserr.Code(err), "InvalidLaunchTemplate") || awserr.ClassOf(err) != awserr.NotFound {
		return false
	}
	ts := f.kindOf(in.ResourceClass).templates
	ts.template.forget()
	t, lookErr := ts.present(ctx)
	return lookErr == nil && t.id == in.Template && t.version == in.Version
}

// refusedWhole turns the error of a whole call into an answer where it says that there is no
// capacity: it is definite, and only another launch can do better.
func (f *Fleet) refusedWhole(ctx context.Context, in params, err error) (fleet.Outcome, error) {
	if f.unseen(ctx, in, err) {
		return fleet.Outcome{}, awserr.Explain(err, "ec2:CreateFleet", in.resource())
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || capacity[api.ErrorCode()] == 0 {
		return fleet.Outcome{}, explain(err, "ec2:CreateFleet", in.resource())
	}
	slot := slotOf(in, f.quotaOfAll(in), types.CreateFleetError{ErrorCode: aws.String(api.ErrorCode())})
	return fleet.Outcome{Refused: []fleet.Refusal{{Slot: slot, Code: api.ErrorCode(), Message: api.ErrorMessage()}}}, nil
}

// answered returns the machines of the answer, as they are listed now where they are listed.
func (f *Fleet) answered(ctx context.Context, in params, p fleet.Plan, role string, came []types.CreateFleetInstance) ([]fleet.Machine, error) {
	now := f.clock.Now().UTC()
	var machines []fleet.Machine
	for _, c := range came {
		for _, id := range c.InstanceIds {
			machines = append(machines, f.machine(in, p, c, id, role))
			f.lister.own.add(now, id)
		}
	}
	if len(machines) == 0 {
		return nil, nil
	}
	if err := f.lister.size(ctx, machines); err != nil {
		return nil, err
	}
	listed, err := f.lister.list(ctx, p.Token)
	if err != nil {
		return nil, err
	}
	for i, m := range machines {
		machines[i].LaunchedAt = now
		if at := slices.IndexFunc(listed, func(l fleet.Machine) bool { return l.ID == m.ID }); at >= 0 {
			machines[i] = listed[at]
			// EC2 adds its own tags and the lifecycle to a listing later than the instance itself.
			machines[i].TemplateVersion = cmp.Or(listed[at].TemplateVersion, m.TemplateVersion)
			if m.UsageClass == spot {
				machines[i].UsageClass = spot
			}
		}
		if machines[i].CPU == 0 {
			return nil, fmt.Errorf("ec2:DescribeInstanceTypes returns no size for %s", m.InstanceType)
		}
	}
	return machines, nil
}

// machine is an instance of CreateFleet's answer. Size and launch time are not in it.
func (f *Fleet) machine(in params, p fleet.Plan, c types.CreateFleetInstance, id, role string) fleet.Machine {
	zone, subnet := aws.ToString(c.AvailabilityZone), aws.ToString(c.SubnetId)
	if o := c.LaunchTemplateAndOverrides; zone == "" && o != nil && o.Overrides != nil {
		zone = aws.ToString(o.Overrides.AvailabilityZone)
		if subnet == "" {
			subnet = aws.ToString(o.Overrides.SubnetId)
		}
	}
	m := fleet.Machine{
		ID: id, Principal: principal(role, id), State: fleet.Starting, InstanceType: string(c.InstanceType),
		UsageClass: in.UsageClass, ResourceClass: in.ResourceClass, Zone: in.zone(zone, subnet),
		LaunchToken: p.Token, TemplateVersion: p.TemplateVersion,
	}
	if c.Lifecycle != "" {
		m.UsageClass = string(c.Lifecycle)
	}
	return m
}

// size fills in what machines really have (H15). Of a type that EC2 does not know both stay 0, so that it
// satisfies no request, and the others are listed all the same.
func (l *lister) size(ctx context.Context, machines []fleet.Machine) error {
	var names []string
	for _, m := range machines {
		names = append(names, m.InstanceType)
	}
	if err := l.catalog.learnTypes(ctx, names); err != nil {
		return err
	}
	for i := range machines {
		t := l.catalog.types.named(machines[i].InstanceType)
		machines[i].CPU, machines[i].Mem = t.cpu, t.mem
	}
	return nil
}
