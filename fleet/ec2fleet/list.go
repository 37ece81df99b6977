package ec2fleet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
)

// listPage is the largest page (EC2 API, DescribeInstances).
const listPage = 1000

// lister finds our machines.
type lister struct {
	*client
	catalog *catalog
	role    cached[string]
	own     *own
	byClass map[string]*kind // whose roles their machines have
}

// List keeps the contract of fleet.Fleet. EC2 lists ended machines for about an hour.
func (f *Fleet) List(ctx context.Context, token string) ([]fleet.Machine, error) {
	return within(ctx, f, "list machines", func(ctx context.Context) ([]fleet.Machine, error) { return f.lister.list(ctx, token) })
}

func (l *lister) list(ctx context.Context, token string) ([]fleet.Machine, error) {
	role, err := l.roleID(ctx)
	if err != nil {
		return nil, err
	}
	filters := []types.Filter{filter("tag:"+TagName, l.name)}
	if token != "" {
		filters = append(filters, filter("tag:"+TagLaunch, token))
	}
	found, err := l.instances(ctx, filters...)
	if err != nil {
		return nil, err
	}
	var machines []fleet.Machine
	for _, i := range found {
		m := l.machineOf(i, role)
		if k := l.byClass[m.ResourceClass]; k != nil && k.lister != l {
			own, err := k.lister.roleID(ctx)
			if err != nil {
				return nil, err
			}
			m.Principal = principal(own, m.ID)
		}
		if token == "" || m.LaunchToken == token { // a filter takes * and ? for wildcards
			machines = append(machines, m)
		}
	}
	if err := l.size(ctx, machines); err != nil {
		return nil, err
	}
	now := l.clock.Now()
	for _, m := range machines {
		l.own.add(now, m.ID)
	}
	slices.SortFunc(machines, func(a, b fleet.Machine) int {
		return cmp.Or(a.LaunchedAt.Compare(b.LaunchedAt), cmp.Compare(a.ID, b.ID))
	})
	return machines, nil
}

// instances returns those that all of the filters let through.
func (l *lister) instances(ctx context.Context, filters ...types.Filter) ([]types.Instance, error) {
	pages := ec2.NewDescribeInstancesPaginator(l.ec2, &ec2.DescribeInstancesInput{Filters: filters, MaxResults: aws.Int32(listPage)})
	reservations, err := collect(ctx, prompt[ec2.DescribeInstancesOutput]{pages}, func(out *ec2.DescribeInstancesOutput) []types.Reservation {
		return out.Reservations
	})
	var all []types.Instance
	for _, r := range reservations {
		all = append(all, r.Instances...)
	}
	return all, explain(err, "ec2:DescribeInstances", "instances tagged "+TagName+"="+l.name)
}

func (l *lister) machineOf(i types.Instance, role string) fleet.Machine {
	tags := make(map[string]string, len(i.Tags))
	for _, t := range i.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	id := aws.ToString(i.InstanceId)
	m := fleet.Machine{
		ID: id, Principal: principal(role, id), State: stateOf(i), InstanceType: string(i.InstanceType),
		UsageClass: onDemand, ResourceClass: tags[TagClass], LaunchToken: tags[TagLaunch],
		TemplateVersion: templateVersion(tags[tagTemplate], tags[tagTemplateVersion]),
		LaunchedAt:      aws.ToTime(i.LaunchTime).UTC(),
	}
	if i.InstanceLifecycle == types.InstanceLifecycleTypeSpot {
		m.UsageClass = spot
	}
	if r := i.StateReason; r != nil {
		m.StateReason = stateReason(aws.ToString(r.Code), aws.ToString(r.Message))
	}
	if i.Placement != nil {
		m.Zone = aws.ToString(i.Placement.AvailabilityZone)
	}
	return m
}

// stateOf takes a machine that was stopped for one that is up: only so is it terminated in any
// case, as an orphan or, by the silence of its agent, as lost, and its disk is not paid
// for for ever (H65). Ending it must not be, since it can be started again.
func stateOf(i types.Instance) fleet.State {
	if i.State == nil {
		return fleet.Starting
	}
	switch i.State.Name {
	case types.InstanceStateNameRunning, types.InstanceStateNameStopping, types.InstanceStateNameStopped:
		return fleet.Up
	case types.InstanceStateNameShuttingDown:
		return fleet.Ending
	case types.InstanceStateNameTerminated:
		return fleet.Ended
	case types.InstanceStateNamePending:
		return fleet.Starting
	}
	return fleet.Starting
}

// principal is what STS calls the instance's own role session (aws:userid in policies).
func principal(role, id string) string { return role + ":" + id }

// roleID returns the unique id of the role that machines have. Once known it stands whatever IAM says: no
// machine changes its role because the profile is gone, or the permission to look at it.
func (l *lister) roleID(ctx context.Context) (string, error) {
	return l.role.lasting(l.clock.Now(), roleLife, func() (string, error) { return l.askRole(ctx) }, func(err error) {
		l.log.Warn("the agents' role could not be read; the one seen last is used", logkey.Error, err)
	})
}

// checkRole asks for the role anew and reports what keeps us from seeing it.
func (l *lister) checkRole(ctx context.Context) error {
	l.role.expire()
	_, err := l.role.get(l.clock.Now(), roleLife, func() (string, error) { return l.askRole(ctx) })
	return err
}

func (l *lister) askRole(ctx context.Context) (string, error) {
	if l.opts.RoleID != "" {
		return l.opts.RoleID, nil
	}
	role, err := l.askProfile(ctx)
	return aws.ToString(role.RoleId), err
}

// askProfile asks for the one role of the instance profile.
func (l *lister) askProfile(ctx context.Context) (iamtypes.Role, error) {
	resource := "instance profile " + l.opts.profileName()
	out, err := l.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(l.opts.profileName())})
	if err != nil {
		return iamtypes.Role{}, explain(err, "iam:GetInstanceProfile", resource)
	}
	if out.InstanceProfile == nil || len(out.InstanceProfile.Roles) != 1 {
		return iamtypes.Role{}, fmt.Errorf("iam:GetInstanceProfile on %s: it has no role: add one: %w", resource, fleet.ErrRefused)
	}
	return out.InstanceProfile.Roles[0], nil
}

// ownLife is above the hour for which EC2 lists ended machines.
const ownLife = 2 * time.Hour

// own is the machines that were seen to carry our mark, or were launched by us, lately.
type own struct {
	mu    sync.Mutex
	seen  map[string]time.Time
	swept time.Time
}

func newOwn() *own { return &own{seen: map[string]time.Time{}} }

func (o *own) add(now time.Time, id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen[id] = now
	if now.Sub(o.swept) >= ownLife {
		o.swept = now
		maps.DeleteFunc(o.seen, func(_ string, at time.Time) bool { return now.Sub(at) >= ownLife })
	}
}

func (o *own) has(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.seen[id]
	return ok
}
