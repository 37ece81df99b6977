package ec2fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/finding"
)

// Diagnose looks at what Ensure does not: which roles machines have, whether images are to be had for long, whether subnets have room and a way out,
// and whether the account's quotas are below what is allowed at once, vCPUs by resource class. What may not be asked is
// skipped. It changes nothing.
func (f *Fleet) Diagnose(ctx context.Context, vCPUs map[string]int) []finding.Finding {
	ctx, cancel, err := f.begin(ctx)
	if err != nil {
		return []finding.Finding{finding.Of("fleet", err, "", "")}
	}
	defer cancel()
	var out []finding.Finding
	for _, k := range distinct(f.used(), func(k *kind) *lister { return k.lister }) {
		out = append(out, f.diagnoseProfile(ctx, k.lister)...)
	}
	for _, k := range distinct(f.used(), func(k *kind) *templates { return k.templates }) {
		out = append(out, f.diagnoseImage(ctx, k.templates)...)
	}
	for _, k := range distinct(f.used(), func(k *kind) *catalog { return k.catalog }) {
		out = append(out, f.diagnoseSubnets(ctx, k.catalog)...)
	}
	return append(out, f.diagnoseQuotas(ctx, vCPUs)...)
}

// skipped turns a refusal for want of permission, which is no fault of the installation, into a finding of its own.
func skipped(check string, err error) []finding.Finding {
	f := finding.Of(check, err, "", "")
	if awserr.ClassOf(err) == awserr.Denied {
		f.Verdict = finding.Skipped
	}
	return []finding.Finding{f}
}

// diagnoseProfile says which role machines have. It asks IAM also where the configuration names the role's id.
func (f *Fleet) diagnoseProfile(ctx context.Context, l *lister) []finding.Finding {
	const check = "instance profile"
	role, err := l.askProfile(ctx)
	if err != nil {
		return skipped(check, err)
	}
	id, want := aws.ToString(role.RoleId), l.opts.RoleID
	if want != "" && id != want {
		err = fmt.Errorf("%s has the role %s (%s), and ec2.roleId is %s", l.opts.profileName(), aws.ToString(role.RoleName), id, want)
	}
	return []finding.Finding{finding.Of(check, err, fmt.Sprintf("%s has the role %s (%s)", l.opts.profileName(), aws.ToString(role.RoleName), id),
		"correct ec2.roleId, or leave it out: no agent finds its record so")}
}

func (f *Fleet) diagnoseImage(ctx context.Context, ts *templates) []finding.Finding {
	const check = "image"
	image, err := ts.wanted(ctx)
	if err != nil {
		return skipped(check, err)
	}
	id := aws.ToString(image.ImageId)
	out := finding.Finding{Check: check, Verdict: finding.OK, Detail: fmt.Sprintf("%s (%s), %s", id, aws.ToString(image.Name), image.Architecture)}
	switch ends, err := time.Parse(time.RFC3339, aws.ToString(image.DeprecationTime)); {
	case image.Architecture == "":
		out.Verdict, out.Remedy = finding.Failed, "register it with its architecture: EC2 takes only types that fit it"
		out.Detail = id + " has no architecture"
	case image.State != "" && image.State != types.ImageStateAvailable:
		out.Verdict, out.Detail, out.Remedy = finding.Failed, fmt.Sprintf("%s is %s", id, image.State), "wait until it is available, or name another"
	case err == nil && ends.Before(f.clock.Now()):
		out.Verdict, out.Remedy = finding.Warning, "name a newer one: its owner may take it away at any time"
		out.Detail += ", deprecated since " + ends.Format(time.DateOnly)
	}
	return []finding.Finding{out}
}

// quotas are those of vCPUs that classes of standard types count towards (Amazon EC2 User Guide, "Amazon EC2 service quotas").
var quotas = []struct{ usage, code string }{{onDemand, "L-1216C47A"}, {spot, "L-34B43A08"}}

func (f *Fleet) diagnoseQuotas(ctx context.Context, vCPUs map[string]int) []finding.Finding {
	most, smallest := 0, 0
	classes := f.standard()
	for name, n := range vCPUs {
		if f.opts.Classes[name].GPU.Count == 0 {
			most = max(most, n)
		}
	}
	if len(classes) > 0 {
		smallest = f.opts.Classes[classes[0]].CPU
	}
	var out []finding.Finding
	for _, q := range quotas {
		check := "quota"
		answer, err := f.quotas.GetServiceQuota(ctx, &servicequotas.GetServiceQuotaInput{ServiceCode: aws.String("ec2"), QuotaCode: aws.String(q.code)})
		if err != nil {
			out = append(out, skipped(check, awserr.Explain(err, "servicequotas:GetServiceQuota", "quota "+q.code+" of EC2"))...)
			continue
		}
		have := 0.0
		if answer.Quota != nil {
			have = aws.ToFloat64(answer.Quota.Value)
		}
		is := finding.Finding{Check: check, Verdict: finding.OK, Detail: fmt.Sprintf("%.0f vCPUs of standard %s types; the caps allow %d at once", have, q.usage, most)}
		if have < float64(most) {
			is.Verdict = finding.Warning
			is.Remedy = fmt.Sprintf("request an increase of quota %s of EC2, or lower caps.maxInstances: EC2 refuses launches beyond the quota", q.code)
		}
		if tooLarge := f.above(classes, have); len(tooLarge) > 0 {
			is.Detail += "; too few for one instance of class " + strings.Join(tooLarge, ", ")
		}
		if have < float64(smallest) {
			is.Verdict = finding.Failed
			is.Remedy = fmt.Sprintf("request an increase of quota %s of EC2 to at least %d vCPUs, or add a smaller class", q.code, smallest)
		}
		out = append(out, is)
	}
	return out
}

// standard returns the classes without GPUs whose vCPUs are known, smallest first. They count toward the quotas of standard types.
func (f *Fleet) standard() []string {
	cpu := func(name string) int { return f.opts.Classes[name].CPU }
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(f.opts.Classes)), func(name string) bool {
		return cpu(name) == 0 || f.opts.Classes[name].GPU.Count > 0
	})
	slices.SortStableFunc(names, func(a, b string) int { return cpu(a) - cpu(b) })
	return names
}

// above returns the classes whose instances need more vCPUs than the quota.
func (f *Fleet) above(classes []string, quota float64) (out []string) {
	for _, name := range classes {
		if cpu := f.opts.Classes[name].CPU; float64(cpu) > quota {
			out = append(out, fmt.Sprintf("%s (%d vCPUs)", name, cpu))
		}
	}
	return out
}

// fewAddresses is when a subnet is nearly full: a /28, the smallest, has 11 that can be used.
const fewAddresses = 8

func (f *Fleet) diagnoseSubnets(ctx context.Context, from *catalog) []finding.Finding {
	const check = "subnets"
	subnets, missing, err := from.askSubnets(ctx)
	if err != nil {
		return skipped(check, err)
	}
	var out []finding.Finding
	if missing != nil {
		out = append(out, finding.Of(check, missing, "", ""))
	}
	for _, s := range subnets {
		free := aws.ToInt32(s.AvailableIpAddressCount)
		is := finding.Finding{Check: check, Verdict: finding.OK, Detail: fmt.Sprintf("%s in %s has %d free addresses", aws.ToString(s.SubnetId), aws.ToString(s.AvailabilityZone), free)}
		if free < fewAddresses {
			is.Verdict, is.Remedy = finding.Warning, "name larger subnets, or more of them"
		}
		out = append(out, is)
	}
	return append(out, f.diagnoseRoutes(ctx, subnets)...)
}

// diagnoseRoutes says of each subnet how its machines reach what is outside, GitHub mostly.
func (f *Fleet) diagnoseRoutes(ctx context.Context, subnets []types.Subnet) []finding.Finding {
	const check = "route"
	var vpcs []string
	for _, s := range subnets {
		vpcs = append(vpcs, aws.ToString(s.VpcId))
	}
	slices.Sort(vpcs)
	if vpcs = slices.Compact(vpcs); len(vpcs) == 0 {
		return nil
	}
	pages := ec2.NewDescribeRouteTablesPaginator(f.ec2, &ec2.DescribeRouteTablesInput{Filters: []types.Filter{filter("vpc-id", vpcs...)}})
	tables, err := collect(ctx, pages, func(out *ec2.DescribeRouteTablesOutput) []types.RouteTable { return out.RouteTables })
	if err != nil {
		return skipped(check, awserr.Explain(err, "ec2:DescribeRouteTables", "network "+strings.Join(vpcs, ", ")))
	}
	var out []finding.Finding
	for _, s := range subnets {
		out = append(out, routeFinding(check, s, wayOut(routesOf(s, tables))))
	}
	return out
}

// routesOf returns the routes of the table that a subnet is associated with, or else of its network's main one.
func routesOf(s types.Subnet, tables []types.RouteTable) []types.Route {
	var main []types.Route
	for _, t := range tables {
		for _, a := range t.Associations {
			if aws.ToString(a.SubnetId) == aws.ToString(s.SubnetId) {
				return t.Routes
			}
			if aws.ToBool(a.Main) && aws.ToString(t.VpcId) == aws.ToString(s.VpcId) {
				main = t.Routes
			}
		}
	}
	return main
}

// wayOut returns where what is for no other route goes, "" if nowhere.
func wayOut(routes []types.Route) string {
	for _, r := range routes {
		if aws.ToString(r.DestinationCidrBlock) != "0.0.0.0/0" || r.State == types.RouteStateBlackhole {
			continue
		}
		for _, to := range []*string{r.GatewayId, r.NatGatewayId, r.TransitGatewayId, r.NetworkInterfaceId, r.InstanceId, r.VpcPeeringConnectionId} {
			if id := aws.ToString(to); id != "" {
				return id
			}
		}
	}
	return ""
}

func routeFinding(check string, s types.Subnet, by string) finding.Finding {
	id := aws.ToString(s.SubnetId)
	switch {
	case by == "":
		return finding.Finding{
			Check: check, Verdict: finding.Warning, Detail: id + " has no default route: its machines reach GitHub and AWS by endpoints and proxies alone",
			Remedy: "route 0.0.0.0/0 to a NAT or internet gateway, unless that is meant",
		}
	case strings.HasPrefix(by, "igw-") && !aws.ToBool(s.MapPublicIpOnLaunch):
		return finding.Finding{
			Check: check, Verdict: finding.Failed, Detail: id + " leads to an internet gateway and gives its machines no public addresses: nothing outside answers them",
			Remedy: "let it assign public addresses, or route it to a NAT gateway",
		}
	}
	return finding.Finding{Check: check, Verdict: finding.OK, Detail: id + " leads out by " + by}
}
