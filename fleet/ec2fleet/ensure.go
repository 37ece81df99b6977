package ec2fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/ensure"
)

// Ensure makes each launch template, or a new default version of it where the one at EC2 is not what
// the options say, whichever of them was changed (H55); with apply false it only says so. First everything
// that a machine is made of is looked up: nothing is written if any of it is missing, but for some of several
// subnets where the template exists. Versions that nothing can need any more are deleted. Two may run at once.
func (f *Fleet) Ensure(ctx context.Context, apply bool) ([]ensure.Step, error) {
	return within(ctx, f, "ensure fleet "+f.name, func(ctx context.Context) ([]ensure.Step, error) { return f.ensure(ctx, apply) })
}

// ensure sees to the template of each class. What one lacks is found before any is written.
func (f *Fleet) ensure(ctx context.Context, apply bool) ([]ensure.Step, error) {
	var steps []ensure.Step
	var errs []error
	all := f.used()
	if len(all) > 1 {
		for _, k := range distinct(all, func(k *kind) [2]any { return [2]any{k.templates, k.catalog} }) {
			_, _, err := k.templates.checkParts(ctx, k.catalog)
			errs = append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
	}
	for _, k := range distinct(all, func(k *kind) *templates { return k.templates }) {
		step, err := k.templates.ensure(ctx, k.catalog, apply)
		steps, errs = append(steps, step...), append(errs, err)
	}
	return steps, errors.Join(errs...)
}

func (ts *templates) ensure(ctx context.Context, from *catalog, apply bool) ([]ensure.Step, error) {
	image, missing, err := ts.checkParts(ctx, from)
	if err != nil {
		return nil, err
	}
	want := ts.opts.want(image)
	live, err := ts.live(ctx)
	if err != nil {
		return nil, err
	}
	step := ensure.Step{Resource: ts.templateResource()}
	if live == nil && missing != nil {
		return nil, missing
	}
	if live == nil {
		step.Action = ensure.WouldCreate
		if !apply {
			return []ensure.Step{step}, nil
		}
		created, err := ts.create(ctx, want)
		if err != nil {
			return nil, err
		}
		if created {
			step.Action = ensure.Created
			return []ensure.Step{step}, nil
		}
		if live, err = ts.live(ctx); err != nil || live == nil {
			return nil, cmp.Or(err, errGone)
		}
	}
	changed, err := ts.update(ctx, want, live, apply, &step)
	if err != nil {
		return nil, err
	}
	if !changed && apply {
		err = ts.prune(ctx, live)
	}
	return []ensure.Step{step}, errors.Join(err, missing) // the template is kept all the same
}

// errGone: another made the template, and it cannot be seen yet, or any more.
var errGone = errors.New("another process makes the launch template at this moment: try again")

// live returns the launch template, nil if there is none. One of our name without our mark is
// someone else's.
func (ts *templates) live(ctx context.Context) (*types.LaunchTemplate, error) {
	out, err := ts.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{ts.templateName()}})
	if err != nil && awserr.ClassOf(err) != awserr.NotFound {
		return nil, explain(err, "ec2:DescribeLaunchTemplates", ts.templateResource())
	}
	var named []types.LaunchTemplate
	if err == nil {
		named = out.LaunchTemplates
	}
	at := slices.IndexFunc(named, func(t types.LaunchTemplate) bool { return aws.ToString(t.LaunchTemplateName) == ts.templateName() })
	if at < 0 {
		return nil, nil
	}
	t := named[at]
	for _, tag := range t.Tags {
		if aws.ToString(tag.Key) == TagName && aws.ToString(tag.Value) == ts.name {
			return &t, nil
		}
	}
	return nil, fmt.Errorf("%s exists and is not tagged %s=%s: it is not ours: rename it, or choose another name for this installation: %w",
		ts.templateResource(), TagName, ts.name, fleet.ErrRefused)
}

// create makes the template. It reports false if another was first.
func (ts *templates) create(ctx context.Context, want shape) (bool, error) {
	tags := map[string]string{TagName: ts.name}
	maps.Copy(tags, ts.opts.Tags)
	_, err := ts.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(ts.templateName()), VersionDescription: aws.String(want.mark()),
		LaunchTemplateData: want.data(),
		TagSpecifications:  []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: sortedTags(tags)}},
	})
	ts.template.forget()
	if awserr.ClassOf(err) == awserr.Exists {
		return false, nil
	}
	return err == nil, explain(err, "ec2:CreateLaunchTemplate", ts.templateResource())
}

// update makes the default version what is wanted: an older version of the same shape, so that its
// machines remain good, or else a new one. It reports whether anything differed.
func (ts *templates) update(ctx context.Context, want shape, live *types.LaunchTemplate, apply bool, step *ensure.Step) (bool, error) {
	versions, err := ts.versions(ctx, live)
	if err != nil {
		return false, err
	}
	var detail []string
	reuse := int64(0)
	for _, v := range versions {
		if v.LaunchTemplateData == nil {
			continue
		}
		diff := want.differs(shapeOf(v.LaunchTemplateData))
		fits := len(diff) == 0 || aws.ToString(v.VersionDescription) == want.mark()
		switch {
		case fits && aws.ToBool(v.DefaultVersion):
			step.Action = ensure.Unchanged
			return false, nil
		case fits:
			reuse = max(reuse, aws.ToInt64(v.VersionNumber))
		case aws.ToBool(v.DefaultVersion):
			detail = diff
		}
	}
	step.Detail = "differs in " + strings.Join(detail, ", ")
	if !apply {
		step.Action = ensure.WouldUpdate
		return true, nil
	}
	step.Action = ensure.Updated
	if reuse > 0 {
		err = ts.switchTo(ctx, live, reuse)
	} else {
		reuse, err = ts.switchToNew(ctx, want, live)
	}
	step.Detail += fmt.Sprintf("; version %d is the default now", reuse)
	return true, err
}

// newTries is how many versions are made for one default. The first is there unless someone deleted it.
const newTries = 10

// switchToNew makes a new version the default. If someone deleted the version that was made for just this
// change before, EC2 still answers with that to its token, for as long as it remembers; then the next
// token is named after it.
func (ts *templates) switchToNew(ctx context.Context, want shape, live *types.LaunchTemplate) (made int64, err error) {
	for range newTries {
		if made, err = ts.newVersion(ctx, want, live, made); err != nil {
			return 0, err
		}
		if err = ts.switchTo(ctx, live, made); awserr.ClassOf(err) != awserr.NotFound {
			return made, err
		}
	}
	return made, err
}

// versions returns all versions of the template.
func (ts *templates) versions(ctx context.Context, live *types.LaunchTemplate) ([]types.LaunchTemplateVersion, error) {
	pages := ec2.NewDescribeLaunchTemplateVersionsPaginator(ts.ec2, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: live.LaunchTemplateId, MaxResults: aws.Int32(200), // the largest page
	})
	all, err := collect(ctx, pages, func(out *ec2.DescribeLaunchTemplateVersionsOutput) []types.LaunchTemplateVersion {
		return out.LaunchTemplateVersions
	})
	return all, explain(err, "ec2:DescribeLaunchTemplateVersions", ts.templateResource())
}

// newVersion names its call by what it follows, so that of two at once both get the same version; gone is
// the version that the same call made before, 0 if there was none.
func (ts *templates) newVersion(ctx context.Context, want shape, live *types.LaunchTemplate, gone int64) (int64, error) {
	token := fmt.Sprintf("%s-%d", strings.ReplaceAll(want.mark(), " ", "-"), aws.ToInt64(live.LatestVersionNumber))
	if gone > 0 {
		token += fmt.Sprintf("-%d", gone)
	}
	out, err := ts.ec2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateId: live.LaunchTemplateId, VersionDescription: aws.String(want.mark()),
		LaunchTemplateData: want.data(), ClientToken: aws.String(token),
	})
	if err != nil {
		return 0, explain(err, "ec2:CreateLaunchTemplateVersion", ts.templateResource())
	}
	if out.LaunchTemplateVersion == nil || aws.ToInt64(out.LaunchTemplateVersion.VersionNumber) == 0 {
		return 0, errors.New("ec2:CreateLaunchTemplateVersion on " + ts.templateResource() + ": the answer names no version")
	}
	return aws.ToInt64(out.LaunchTemplateVersion.VersionNumber), nil
}

func (ts *templates) switchTo(ctx context.Context, live *types.LaunchTemplate, version int64) error {
	_, err := ts.ec2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{
		LaunchTemplateId: live.LaunchTemplateId, DefaultVersion: aws.String(strconv.FormatInt(version, 10)),
	})
	ts.template.forget()
	ts.mu.Lock()
	ts.switchedAt = ts.clock.Now()
	ts.mu.Unlock()
	return explain(err, "ec2:ModifyLaunchTemplate", ts.templateResource())
}
