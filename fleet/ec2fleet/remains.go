package ec2fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/ensure"
)

// Remains is what an installation has at EC2, known by its mark alone: what its configuration names, such as the
// instance profile or what is published, may be gone.
type Remains struct{ fleet *Fleet }

// OpenRemains is Open for who only ends things. It calls nothing.
func OpenRemains(u *url.URL, cfg aws.Config) (*Remains, error) {
	name, err := installation(u, cfg.Region)
	if err != nil {
		return nil, fmt.Errorf("open fleet: %w", err)
	}
	c := &client{name: name, ec2: ec2.NewFromConfig(cfg), log: slog.New(slog.DiscardHandler)}
	return &Remains{&Fleet{client: c, lister: &lister{client: c, own: newOwn()}}}, nil
}

// Name is the value of the tag TagName on all of it.
func (r *Remains) Name() string { return r.fleet.name }

// Machines returns how many machines have not ended, and the ids of those that do not end yet.
func (r *Remains) Machines(ctx context.Context) (left int, up []string, err error) {
	found, err := within(ctx, r.fleet, "list machines", func(ctx context.Context) ([]types.Instance, error) {
		return r.fleet.lister.instances(ctx, filter("tag:"+TagName, r.fleet.name))
	})
	for _, i := range found {
		switch stateOf(i) {
		case fleet.Ended:
			continue
		case fleet.Starting, fleet.Up:
			up = append(up, aws.ToString(i.InstanceId))
		case fleet.Ending:
		}
		left++
	}
	return left, up, err
}

// Terminate ends machines, whatever runs on them, as Fleet.Terminate does.
func (r *Remains) Terminate(ctx context.Context, ids ...string) error {
	return r.fleet.Terminate(ctx, ids...)
}

// RemoveTemplates deletes the launch templates, also those of classes that are not configured any more, or only says so
// unless apply is true. Each fails alone. A controller that leads would make them again.
func (r *Remains) RemoveTemplates(ctx context.Context, apply bool) ([]ensure.Step, error) {
	return within(ctx, r.fleet, "remove launch templates of "+r.fleet.name, func(ctx context.Context) (steps []ensure.Step, _ error) {
		pages := ec2.NewDescribeLaunchTemplatesPaginator(r.fleet.ec2, &ec2.DescribeLaunchTemplatesInput{
			Filters: []types.Filter{filter("tag:"+TagName, r.fleet.name)}, MaxResults: aws.Int32(200), // the largest page
		})
		found, err := collect(ctx, pages, func(out *ec2.DescribeLaunchTemplatesOutput) []types.LaunchTemplate { return out.LaunchTemplates })
		errs := []error{explain(err, "ec2:DescribeLaunchTemplates", "launch templates tagged "+TagName+"="+r.fleet.name)}
		for _, t := range found {
			resource := "launch template " + aws.ToString(t.LaunchTemplateName)
			if apply {
				_, err := r.fleet.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: t.LaunchTemplateId})
				if awserr.ClassOf(err) == awserr.NotFound { // another was first
					continue
				}
				if err != nil {
					errs = append(errs, explain(err, "ec2:DeleteLaunchTemplate", resource))
					continue
				}
			}
			steps = append(steps, ensure.Removal(resource, apply))
		}
		return steps, errors.Join(errs...)
	})
}
