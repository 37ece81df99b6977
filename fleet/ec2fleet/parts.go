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
func (ts *templates) checkParts(ctx context.Context) (image types.Image, missing, err error) {
	var errs []error
	image, err = ts.wanted(ctx)
	errs = append(errs, err)
	subnets, missing, err := ts.catalog.askSubnets(ctx)
	errs = append(errs, err)
	if len(subnets) == 0 {
		errs = append(errs, missing)
	}
	groups, err := ts.askGroups(ctx)
	errs = append(errs, err)
	errs = append(errs, ts.lister.checkRole(ctx))
	if err := errors.Join(errs...); err != nil {
		return types.Image{}, nil, err
	}
	return image, missing, sameVPC(subnets, groups)
}

func (ts *templates) askGroups(ctx context.Context) ([]types.SecurityGroup, error) {
	resource := "security groups " + strings.Join(ts.opts.SecurityGroups, ", ")
	var groups []types.SecurityGroup
	in := &ec2.DescribeSecurityGroupsInput{GroupIds: ts.opts.SecurityGroups}
	for pages := ec2.NewDescribeSecurityGroupsPaginator(ts.ec2, in); pages.HasMorePages(); {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain(err, "ec2:DescribeSecurityGroups", resource)
		}
		groups = append(groups, out.SecurityGroups...)
	}
	err := allThere("ec2:DescribeSecurityGroups on "+resource, ts.opts.SecurityGroups, groups, func(g types.SecurityGroup) *string { return g.GroupId })
	return groups, err
}

// allThere reports the first id that call asked for and did not get.
func allThere[T any](call string, ids []string, got []T, idOf func(T) *string) error {
	for _, id := range ids {
		if !slices.ContainsFunc(got, func(t T) bool { return aws.ToString(idOf(t)) == id }) {
			return fmt.Errorf("%s: %s is missing in the answer: %w", call, id, fleet.ErrRefused)
		}
	}
	return nil
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
