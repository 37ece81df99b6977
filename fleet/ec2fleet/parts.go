package ec2fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
)

// checkParts looks up all that a machine is made of, and returns everything that is missing, joined:
// EC2 itself takes a launch template of parts that do not exist, and says so at the first launch. Subnets that
// are missing beside others are apart: there is where to launch.
func (ts *templates) checkParts(ctx context.Context, from *catalog) (image types.Image, missing, err error) {
	image, imageErr := ts.wanted(ctx)
	if imageErr == nil {
		imageErr = ts.checkArch(image)
	}
	subnets, missing, subnetsErr := from.askSubnets(ctx)
	if len(subnets) == 0 {
		subnetsErr = errors.Join(subnetsErr, missing)
	}
	groups, groupsErr := ts.askGroups(ctx)
	if err := errors.Join(imageErr, subnetsErr, groupsErr, ts.lister.checkRole(ctx)); err != nil {
		return types.Image{}, nil, err
	}
	return image, missing, sameVPC(subnets, groups)
}

func (ts *templates) askGroups(ctx context.Context) ([]types.SecurityGroup, error) {
	resource := "security groups " + strings.Join(ts.opts.SecurityGroups, ", ")
	pages := ec2.NewDescribeSecurityGroupsPaginator(ts.ec2, &ec2.DescribeSecurityGroupsInput{GroupIds: ts.opts.SecurityGroups})
	groups, err := collect(ctx, pages, func(out *ec2.DescribeSecurityGroupsOutput) []types.SecurityGroup { return out.SecurityGroups })
	if err != nil {
		return nil, explain(err, "ec2:DescribeSecurityGroups", resource)
	}
	for _, id := range ts.opts.SecurityGroups {
		if !slices.ContainsFunc(groups, func(g types.SecurityGroup) bool { return aws.ToString(g.GroupId) == id }) {
			return nil, fmt.Errorf("ec2:DescribeSecurityGroups on %s: %s is missing in the answer: %w", resource, id, fleet.ErrRefused)
		}
	}
	return groups, nil
}

// sameVPC: EC2 launches nothing into a subnet of one network with a security group of another.
func sameVPC(subnets []types.Subnet, groups []types.SecurityGroup) error {
	vpc := aws.ToString(subnets[0].VpcId)
	for _, s := range subnets {
		if other := aws.ToString(s.VpcId); other != vpc {
			return fmt.Errorf("subnet %s is in %s, others are in %s: all must be in one VPC: %w", aws.ToString(s.SubnetId), other, vpc, fleet.ErrRefused)
		}
	}
	for _, g := range groups {
		if other := aws.ToString(g.VpcId); other != vpc {
			return fmt.Errorf("security group %s is in %s, the subnets are in %s: all must be in one VPC: %w", aws.ToString(g.GroupId), other, vpc, fleet.ErrRefused)
		}
	}
	return nil
}
