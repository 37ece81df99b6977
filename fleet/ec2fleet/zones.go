package ec2fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
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
func (c *catalog) places(ctx context.Context) ([]place, error) {
	return c.zones.get(c.clock.Now(), zonesLife, func() ([]place, error) {
		subnets, missing, err := c.askSubnets(ctx)
		if err != nil {
			return nil, err
		}
		if len(subnets) == 0 {
			return nil, missing
		}
		c.logMissing(missing)
		return perZone(subnets), nil
	})
}

// askSubnets returns the configured subnets that there are, and an error that names those that are missing.
// It asks by a filter: EC2 refuses the whole call for one id that it does not know, and a zone that is gone
// must not take the others with it.
func (c *catalog) askSubnets(ctx context.Context) (subnets []types.Subnet, missing, err error) {
	resource := "subnets " + strings.Join(c.opts.Subnets, ", ")
	for chunk := range slices.Chunk(c.opts.Subnets, maxFilter) {
		in := &ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("subnet-id", chunk...)}}
		found, err := collect(ctx, ec2.NewDescribeSubnetsPaginator(c.ec2, in), func(out *ec2.DescribeSubnetsOutput) []types.Subnet { return out.Subnets })
		if err != nil {
			return nil, nil, explain(err, "ec2:DescribeSubnets", resource)
		}
		subnets = append(subnets, found...)
	}
	var gone []string
	for _, id := range c.opts.Subnets {
		if !slices.ContainsFunc(subnets, func(s types.Subnet) bool { return aws.ToString(s.SubnetId) == id }) {
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		missing = fmt.Errorf("ec2:DescribeSubnets on %s: not found: %s: take what was deleted out of ec2.subnets: %w", resource, strings.Join(gone, ", "), fleet.ErrRefused)
	}
	return subnets, missing, nil
}

// logMissing logs, once until that changes, which subnets are missing.
func (c *catalog) logMissing(missing error) {
	text := ""
	if missing != nil {
		text = missing.Error()
	}
	switch was, _ := c.missing.Swap(text).(string); {
	case was == text:
	case missing != nil:
		c.log.Error("a configured subnet does not exist; launches use the others", logkey.Error, missing)
	default:
		c.log.Info("all configured subnets exist again")
	}
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
func (c *catalog) offered(ctx context.Context, places []place) (offers, error) {
	return c.offers.get(c.clock.Now(), typesLife, func() (offers, error) {
		var zones []string
		for _, p := range places {
			zones = append(zones, p.Zone)
		}
		pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(c.ec2, &ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: types.LocationTypeAvailabilityZone, Filters: []types.Filter{filter("location", zones...)},
		})
		all, err := collect(ctx, pages, func(out *ec2.DescribeInstanceTypeOfferingsOutput) []types.InstanceTypeOffering {
			return out.InstanceTypeOfferings
		})
		if err != nil {
			return nil, explain(err, "ec2:DescribeInstanceTypeOfferings", "zones "+strings.Join(zones, ", "))
		}
		has := make(offers)
		for _, o := range all {
			zone := aws.ToString(o.Location)
			if has[zone] == nil {
				has[zone] = make(map[string]bool)
			}
			has[zone][string(o.InstanceType)] = true
		}
		return has, nil
	})
}
