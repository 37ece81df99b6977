package ec2fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/ec2form"
)

// parameterMark begins an AMI option that names a parameter of Systems Manager.
const parameterMark = "resolve:ssm:"

// wanted looks up the image that new machines get. The launch template takes its id, never the parameter:
// EC2 refuses a parameter in a fleet that chooses types by attributes (EC2 User Guide, "Use a Systems Manager
// parameter instead of an AMI ID", Limitations). So a new value is a new version of the template (H56).
func (ts *templates) wanted(ctx context.Context) (types.Image, error) {
	parameter, named := strings.CutPrefix(ts.opts.AMI, parameterMark)
	if !named {
		return ts.askImage(ctx, ts.opts.AMI)
	}
	id, err := ts.askParameter(ctx, parameter)
	if err != nil {
		return types.Image{}, err
	}
	return ts.askImage(ctx, id)
}

func (ts *templates) askParameter(ctx context.Context, name string) (string, error) {
	resource := "parameter " + name
	out, err := ts.ssm.GetParameters(ctx, &ssm.GetParametersInput{Names: []string{name}})
	if err != nil {
		return "", explain(err, "ssm:GetParameters", resource)
	}
	if len(out.Parameters) != 1 {
		return "", fmt.Errorf("ssm:GetParameters on %s: not found: it must exist in this region: %w", resource, fleet.ErrRefused)
	}
	id := aws.ToString(out.Parameters[0].Value)
	if !ec2form.ImageID.Match(id) { // not shown: it may be a secret
		return "", fmt.Errorf("ssm:GetParameters on %s: the value must be %s: %w", resource, ec2form.ImageID, fleet.ErrRefused)
	}
	return id, nil
}

// image is an AMI and its architecture.
type image struct {
	id   string
	arch types.ArchitectureType
}

// architecture returns that of the template's image: EC2 takes only types that fit it.
func (ts *templates) architecture(ctx context.Context, t template) (types.ArchitectureType, error) {
	ask := func() (image, error) {
		i, err := ts.askImage(ctx, t.image)
		return image{id: t.image, arch: types.ArchitectureType(i.Architecture)}, err
	}
	i, err := ts.images.get(ts.clock.Now(), typesLife, ask)
	if err == nil && i.id != t.image {
		ts.images.forget()
		i, err = ts.images.get(ts.clock.Now(), typesLife, ask)
	}
	return i.arch, err
}

func (ts *templates) askImage(ctx context.Context, id string) (types.Image, error) {
	out, err := ts.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{id}})
	if err != nil {
		return types.Image{}, explain(err, "ec2:DescribeImages", "AMI "+id)
	}
	if len(out.Images) != 1 {
		return types.Image{}, fmt.Errorf("ec2:DescribeImages on AMI %s: not found: it must exist in this region and be shared with this account: %w", id, fleet.ErrRefused)
	}
	return out.Images[0], nil
}
