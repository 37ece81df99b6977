package ec2fleet

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
)

// template is the default version of the launch template, as it was seen.
type template struct {
	id      string
	version string // number
	image   string // id, of a parameter its present value
}

func (f *Fleet) nameOf(t template) string {
	return templateVersion(t.id, t.version, f.aliasOf(t.image))
}

// aliasOf returns image if it is the value of a parameter, so that a new value is a new version (H56).
func (f *Fleet) aliasOf(image string) string {
	if f.opts.aliased() {
		return image
	}
	return ""
}

// image is an AMI and its architecture.
type image struct {
	id   string
	arch string
}

// templateName is the name of the installation's launch template.
func (f *Fleet) templateName() string { return f.name + "-machine" }

func (f *Fleet) templateResource() string { return "launch template " + f.templateName() }

// Template returns the id of the launch template and its default version as they are now at EC2, in
// one string, and the AMI where a parameter names it. The id is part of it because numbers begin anew
// when somebody deletes the template. While EC2 does not answer, it is what was seen last.
func (f *Fleet) Template(ctx context.Context) (string, error) {
	ctx, cancel, err := f.begin(ctx)
	if err != nil {
		return "", fmt.Errorf("read template: %w", err)
	}
	defer cancel()
	f.template.expire()
	t, err := f.present(ctx)
	if err != nil {
		return "", fmt.Errorf("read template: %w", err)
	}
	return f.nameOf(t), nil
}

// present returns what a machine launched now would be made from.
func (f *Fleet) present(ctx context.Context) (template, error) {
	return f.template.get(f.clock.Now(), templateLife, func() (template, error) {
		out, err := f.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
			LaunchTemplateName: aws.String(f.templateName()), Versions: []string{"$Default"},
			ResolveAlias: f.resolveAlias(),
		})
		if awserr.ClassOf(err) == awserr.NotFound { // somebody deleted it: Ensure is about to make it again (H55)
			return template{}, awserr.Explain(err, "ec2:DescribeLaunchTemplateVersions", f.templateResource())
		}
		if err != nil {
			return template{}, explain(err, "ec2:DescribeLaunchTemplateVersions", f.templateResource())
		}
		if len(out.LaunchTemplateVersions) != 1 || out.LaunchTemplateVersions[0].LaunchTemplateData == nil {
			return template{}, fmt.Errorf("ec2:DescribeLaunchTemplateVersions on %s: no default version: %w", f.templateResource(), fleet.ErrInvalid)
		}
		return templateOf(out.LaunchTemplateVersions[0]), nil
	})
}

// resolveAlias asks for the value of a parameter only where there is one: it takes one more
// permission, ssm:GetParameters.
func (f *Fleet) resolveAlias() *bool {
	if f.opts.aliased() {
		return aws.Bool(true)
	}
	return nil
}

func templateOf(v types.LaunchTemplateVersion) template {
	return template{
		id:      aws.ToString(v.LaunchTemplateId),
		version: strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10),
		image:   aws.ToString(v.LaunchTemplateData.ImageId),
	}
}

// architecture returns that of the template's image: EC2 takes only types that fit it.
func (f *Fleet) architecture(ctx context.Context, t template) (string, error) {
	ask := func() (image, error) {
		i, err := f.askImage(ctx, t.image)
		return image{id: t.image, arch: string(i.Architecture)}, err
	}
	i, err := f.images.get(f.clock.Now(), typesLife, ask)
	if err == nil && i.id != t.image {
		f.images.forget()
		i, err = f.images.get(f.clock.Now(), typesLife, ask)
	}
	return i.arch, err
}

func (f *Fleet) askImage(ctx context.Context, id string) (types.Image, error) {
	out, err := f.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{id}})
	if err != nil {
		return types.Image{}, explain(err, "ec2:DescribeImages", "AMI "+id)
	}
	if len(out.Images) != 1 {
		return types.Image{}, fmt.Errorf("ec2:DescribeImages on AMI %s: not found: it must exist in this region and be shared with this account: %w", id, fleet.ErrInvalid)
	}
	return out.Images[0], nil
}
