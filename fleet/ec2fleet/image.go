package ec2fleet

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/remuda-run/remuda/fleet"
)

// parameterMark begins an AMI option that names a parameter of Systems Manager.
const parameterMark = "resolve:ssm:"

var amiForm = regexp.MustCompile(`^ami-[0-9a-f]{8,17}$`)

// wanted looks up the image that new machines get. The launch template takes its id, never the parameter:
// EC2 refuses a parameter in a fleet that chooses types by attributes (EC2 User Guide, "Use a Systems Manager
// parameter instead of an AMI ID", Limitations). So a new value is a new version of the template (H56).
func (f *Fleet) wanted(ctx context.Context) (types.Image, error) {
	parameter, named := strings.CutPrefix(f.opts.AMI, parameterMark)
	if !named {
		return f.askImage(ctx, f.opts.AMI)
	}
	id, err := f.askParameter(ctx, parameter)
	if err != nil {
		return types.Image{}, err
	}
	return f.askImage(ctx, id)
}

func (f *Fleet) askParameter(ctx context.Context, name string) (string, error) {
	resource := "parameter " + name
	out, err := f.ssm.GetParameters(ctx, &ssm.GetParametersInput{Names: []string{name}})
	if err != nil {
		return "", explain(err, "ssm:GetParameters", resource)
	}
	if len(out.Parameters) != 1 {
		return "", fmt.Errorf("ssm:GetParameters on %s: not found: it must exist in this region: %w", resource, fleet.ErrInvalid)
	}
	id := aws.ToString(out.Parameters[0].Value)
	if !amiForm.MatchString(id) { // not told: it may be a secret
		return "", fmt.Errorf("ssm:GetParameters on %s: the value must be the id of an image, such as ami-0123456789abcdef0: %w", resource, fleet.ErrInvalid)
	}
	return id, nil
}

// image is an AMI and its architecture.
type image struct {
	id   string
	arch string
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
