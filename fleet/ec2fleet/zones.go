package ec2fleet

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// place is a zone and the subnet that stands for it: two of one zone are one pool to EC2, which
// refuses it twice (S72).
type place struct {
	Zone   string `json:"zone"`
	Subnet string `json:"subnet"`
}

// offers are the names of the types that each zone has.
type offers map[string]map[string]bool

// anywhere reports whether any zone has the type.
func (o offers) anywhere(name string) bool {
	for _, zone := range o {
		if zone[name] {
			return true
		}
	}
	return false
}

// places returns the zones of the configured subnets, by name.
func (f *Fleet) places(ctx context.Context) ([]place, error) {
	return f.zones.get(f.clock.Now(), zonesLife, func() ([]place, error) {
		subnets, err := f.askSubnets(ctx)
		if err != nil {
			return nil, err
		}
		return perZone(subnets), nil
	})
}

// askSubnets returns the configured subnets; none may be missing.
func (f *Fleet) askSubnets(ctx context.Context) ([]types.Subnet, error) {
	resource := "subnets " + strings.Join(f.opts.Subnets, ", ")
	var subnets []types.Subnet
	in := &ec2.DescribeSubnetsInput{SubnetIds: f.opts.Subnets}
	for pages := ec2.NewDescribeSubnetsPaginator(f.ec2, in); pages.HasMorePages(); {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain(err, "ec2:DescribeSubnets", resource)
		}
		subnets = append(subnets, out.Subnets...)
	}
	err := allThere("ec2:DescribeSubnets on "+resource, f.opts.Subnets, subnets, func(s types.Subnet) *string { return s.SubnetId })
	return subnets, err
}

// perZone takes of each zone the subnet with most free addresses.
func perZone(subnets []types.Subnet) []place {
	slices.SortFunc(subnets, func(a, b types.Subnet) int {
		return cmp.Or(
			cmp.Compare(aws.ToString(a.AvailabilityZone), aws.ToString(b.AvailabilityZone)),
			-cmp.Compare(aws.ToInt32(a.AvailableIpAddressCount), aws.ToInt32(b.AvailableIpAddressCount)),
			cmp.Compare(aws.ToString(a.SubnetId), aws.ToString(b.SubnetId)),
		)
	})
	var places []place
	for _, s := range subnets {
		if zone := aws.ToString(s.AvailabilityZone); len(places) == 0 || places[len(places)-1].Zone != zone {
			places = append(places, place{Zone: zone, Subnet: aws.ToString(s.SubnetId)})
		}
	}
	return places
}

// offered returns which types each of the places has.
func (f *Fleet) offered(ctx context.Context, places []place) (offers, error) {
	return f.offers.get(f.clock.Now(), typesLife, func() (offers, error) {
		var zones []string
		for _, p := range places {
			zones = append(zones, p.Zone)
		}
		has := make(offers)
		in := &ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: types.LocationTypeAvailabilityZone, Filters: []types.Filter{filter("location", zones...)},
		}
		for pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(f.ec2, in); pages.HasMorePages(); {
			out, err := pages.NextPage(ctx)
			if err != nil {
				return nil, explain(err, "ec2:DescribeInstanceTypeOfferings", "zones "+strings.Join(zones, ", "))
			}
			for _, o := range out.InstanceTypeOfferings {
				zone := aws.ToString(o.Location)
				if has[zone] == nil {
					has[zone] = make(map[string]bool)
				}
				has[zone][string(o.InstanceType)] = true
			}
		}
		return has, nil
	})
}
