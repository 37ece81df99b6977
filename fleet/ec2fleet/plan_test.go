package ec2fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/glob"
)

func frozen(t testing.TB, p fleet.Plan) params {
	t.Helper()
	var in params
	if err := json.Unmarshal(p.Params, &in); err != nil {
		t.Fatal(err)
	}
	return in
}

// Whatever changes here needs a new form: see form. H66: the machines, their volumes and the fleet carry their owner.
func TestPlan_BecomesExactlyThisCall_S70_S71_S72_S73_H66(t *testing.T) {
	s, f := fresh(t, nil)
	sp := spec("l-1", 2)
	sp.AllowedTypes = []string{"C6i.*", "m5.large", "t3.*", "nosuch"}
	launched(t, f, sp)
	got := map[string]string{}
	for key, values := range s.Requests("CreateFleet")[0] {
		got[key] = values[0]
	}
	want := map[string]string{
		"Action": "CreateFleet", "Version": "2016-11-15", "Type": "instant", "ClientToken": "l-1",
		"SpotOptions.AllocationStrategy": "price-capacity-optimized", "SpotOptions.InstanceInterruptionBehavior": "terminate",
		"TargetCapacitySpecification.DefaultTargetCapacityType":                "spot",
		"TargetCapacitySpecification.SpotTargetCapacity":                       "2",
		"TargetCapacitySpecification.TotalTargetCapacity":                      "2",
		"LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version":          "1",
		"LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateId": frozen(t, planned(t, f, sp)).Template,
	}
	for i, subnet := range s.Subnets() {
		o := fmt.Sprintf("LaunchTemplateConfigs.1.Overrides.%d.", i+1)
		r := o + "InstanceRequirements."
		want[o+"SubnetId"] = subnet
		want[r+"VCpuCount.Min"], want[r+"VCpuCount.Max"], want[r+"MemoryMiB.Min"] = "2", "2", "4096"
		want[r+"AllowedInstanceType.1"], want[r+"AllowedInstanceType.2"] = "c6i.*", "m5.large"
		want[r+"BurstablePerformance"], want[r+"BareMetal"] = "excluded", "excluded"
		want[r+"AcceleratorCount.Max"], want[r+"InstanceGeneration.1"] = "0", "current"
		want[r+"SpotMaxPricePercentageOverLowestPrice"], want[r+"OnDemandMaxPricePercentageOverLowestPrice"] = "999999", "999999"
	}
	for i, kind := range []string{"fleet", "instance", "volume"} {
		spec := fmt.Sprintf("TagSpecification.%d.", i+1)
		want[spec+"ResourceType"] = kind
		for j, tag := range [][2]string{{TagClass, "small"}, {TagLaunch, "l-1"}, {TagName, "test"}, {"team", "build"}} {
			want[fmt.Sprintf("%sTag.%d.Key", spec, j+1)], want[fmt.Sprintf("%sTag.%d.Value", spec, j+1)] = tag[0], tag[1]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CreateFleet request (-want +got):\n%s", diff)
	}
}

func TestPlan_OnDemandIsLowestPrice_S73(t *testing.T) {
	s, f := fresh(t, func(o *Options) { o.PriceProtection = 50 })
	sp := spec("l-1", 3)
	sp.UsageClass = onDemand
	launched(t, f, sp)
	got := s.Requests("CreateFleet")[0]
	for key, want := range map[string]string{
		"OnDemandOptions.AllocationStrategy":                                                                 "lowest-price",
		"TargetCapacitySpecification.OnDemandTargetCapacity":                                                 "3",
		"TargetCapacitySpecification.SpotTargetCapacity":                                                     "",
		"SpotOptions.AllocationStrategy":                                                                     "",
		"TargetCapacitySpecification.DefaultTargetCapacityType":                                              "on-demand",
		"LaunchTemplateConfigs.1.Overrides.1.InstanceRequirements.OnDemandMaxPricePercentageOverLowestPrice": "50",
	} {
		if got.Get(key) != want {
			t.Errorf("%s = %q, want %q", key, got.Get(key), want)
		}
	}
}

func TestPlan_TakesOfEachZoneTheSubnetWithMostFreeAddresses_S72(t *testing.T) {
	s := ec2test.New(t)
	s.SetSubnets(
		ec2test.Subnet{ID: "subnet-00000001", Zone: "us-east-1a", Free: 10, VPC: ec2test.VPC},
		ec2test.Subnet{ID: "subnet-00000002", Zone: "us-east-1a", Free: 200, VPC: ec2test.VPC},
		ec2test.Subnet{ID: "subnet-00000003", Zone: "us-east-1b", Free: 0, VPC: ec2test.VPC},
		ec2test.Subnet{ID: "subnet-00000004", Zone: "us-east-1a", Free: 199, VPC: ec2test.VPC},
	)
	f := ready(t, s, nil)
	want := []place{{"us-east-1a", "subnet-00000002"}, {"us-east-1b", "subnet-00000003"}}
	if diff := cmp.Diff(want, frozen(t, planned(t, f, spec("l-1", 1))).Places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// EC2 takes four InstanceRequirements in a call; the server refuses more and fails the test.
func TestPlan_OfMoreThanFourZonesEachTokenDrawsItsOwn_S72(t *testing.T) {
	s := ec2test.New(t)
	var subnets []ec2test.Subnet
	for i := range 6 {
		subnets = append(subnets, ec2test.Subnet{ID: fmt.Sprintf("subnet-0000000%d", i), Zone: fmt.Sprintf("us-east-1%c", 'a'+i), VPC: ec2test.VPC})
	}
	s.SetSubnets(subnets...)
	f := ready(t, s, nil)
	drawn := map[string]int{}
	for i := range 60 {
		sp := spec(fmt.Sprintf("l-%d", i), 1)
		places := frozen(t, planned(t, f, sp)).Places
		if again := frozen(t, planned(t, f, sp)).Places; len(places) != maxPlaces || !slices.Equal(places, again) {
			t.Fatalf("places of %s = %v, then %v, want %d, always the same", sp.Token, places, again, maxPlaces)
		}
		for _, pl := range places {
			drawn[pl.Zone]++
		}
	}
	for _, sub := range subnets {
		if drawn[sub.Zone] < 20 { // of 40 on average
			t.Errorf("zone %s was drawn %d times of 60, want about 40", sub.Zone, drawn[sub.Zone])
		}
	}
	launched(t, f, spec("l-x", 5))
	excluded := spec("l-y", 1)
	for _, sub := range subnets[:4] {
		excluded.Excluded = append(excluded.Excluded, fleet.Slot{Zone: sub.Zone})
	}
	if got := frozen(t, planned(t, f, excluded)).Places; len(got) != 2 || got[0].Zone != "us-east-1e" || got[1].Zone != "us-east-1f" {
		t.Errorf("places with four zones excluded = %v, want the other two", got)
	}
}

func TestPlan_TypesThatDoNotFitAreUnsatisfiable(t *testing.T) {
	s := ec2test.New(t)
	types := ec2test.Types()
	types[2].Zones = []string{"us-east-1x"} // m5.large
	s.SetTypes(types...)
	f := ready(t, s, nil)
	for _, allowed := range []string{"c7g.*", "t3.*", "m5.large", "c6i.xlarge"} { // architecture, burstable, not offered, vCPUs
		sp := spec("l-1", 1)
		sp.AllowedTypes = []string{allowed}
		if p, err := f.Plan(t.Context(), sp); !errors.Is(err, fleet.ErrUnsatisfiable) {
			t.Errorf("Plan(%s) = %s, %v, want ErrUnsatisfiable", allowed, p.Params, err)
		}
	}
	sp := spec("l-1", 1)
	sp.AllowedTypes = []string{"*"}
	sp.Excluded = []fleet.Slot{{InstanceType: "c6i.large"}, {InstanceType: "r6i.large", Zone: "us-east-1b"}}
	in := frozen(t, planned(t, f, sp))
	if len(in.Places) != 2 || !slices.Equal(in.Allowed, []string{"r6i.large"}) {
		t.Errorf("Plan = %v in %v, want r6i.large in two zones", in.Allowed, in.Places)
	}
	sp.Excluded = append(sp.Excluded, fleet.Slot{UsageClass: spot, InstanceType: "r6i.large"})
	if _, err := f.Plan(t.Context(), sp); !errors.Is(err, fleet.ErrNoCapacity) {
		t.Errorf("Plan with everything excluded error = %v, want ErrNoCapacity", err)
	}
}

// A world for the choice of places.
type world struct {
	s      fleet.Spec
	fits   []string
	places []place
	has    offers
}

func drawWorld(t *rapid.T) world {
	w := world{s: fleet.Spec{Token: "l-1", UsageClass: spot, AllowedTypes: []string{"c*", "m5.large", "*"}}, has: offers{}}
	w.fits = []string{"c5.large", "c6i.large", "m5.large", "r5.large"}[:rapid.IntRange(1, 4).Draw(t, "types")]
	for _, zone := range []string{"a", "b", "c", "d", "e", "f"}[:rapid.IntRange(1, 6).Draw(t, "zones")] {
		w.places = append(w.places, place{Zone: zone, Subnet: "subnet-" + zone})
		w.has[zone] = map[string]bool{}
		for _, name := range w.fits {
			w.has[zone][name] = rapid.IntRange(0, 4).Draw(t, "offered") > 0
		}
	}
	return w
}

// pairs returns what a plan may launch.
func (w world) pairs(g group) []fleet.Slot {
	var out []fleet.Slot
	for _, pl := range g.places {
		for _, name := range w.fits {
			if w.has[pl.Zone][name] && glob.Any(g.allowed(w.s, w.fits, true), name) {
				out = append(out, fleet.Slot{UsageClass: spot, InstanceType: name, Zone: pl.Zone})
			}
		}
	}
	return out
}

// However the places refuse one after the other, no plan contains one that was refused, none comes
// twice, and when there is no plan any more each has been asked (S75).
func TestChoose_AsksEveryPlaceOnceAndNoneAgain_S75(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		asked := map[fleet.Slot]bool{}
		for {
			g, err := choose(w.s, w.fits, w.places, w.has)
			if err != nil {
				if total := w.total(); len(asked) != total || !errors.Is(err, fleet.ErrNoCapacity) {
					t.Fatalf("choose error = %v after %d of %d places were asked", err, len(asked), total)
				}
				return
			}
			pairs := w.pairs(g)
			if len(pairs) == 0 || len(g.places) > maxPlaces {
				t.Fatalf("choose gave %d zones with %d pairs, want 1 to %d zones and some pair", len(g.places), len(pairs), maxPlaces)
			}
			for _, pair := range pairs {
				if asked[pair] {
					t.Fatalf("%+v was refused and is planned again with %+v", pair, w.s.Excluded)
				}
			}
			refused := rapid.SampledFrom(pairs).Draw(t, "refused")
			asked[refused] = true
			w.s.Excluded = append(w.s.Excluded, refused)
		}
	})
}

func (w world) total() int {
	n := 0
	for _, zone := range w.has {
		for _, offered := range zone {
			if offered {
				n++
			}
		}
	}
	return n
}

func TestPlan_AsksEC2OnlyNowAndThen(t *testing.T) {
	s := ec2test.New(t)
	clk := testingclock.NewFakePassiveClock(time.Now())
	f := ready(t, s, func(o *Options) { o.Clock = clk })
	calls := func() int {
		n := 0
		for _, action := range []string{"DescribeSubnets", "DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeImages", "DescribeLaunchTemplateVersions"} {
			n += s.Calls(action)
		}
		return n
	}
	planned(t, f, spec("l-1", 1))
	before := calls()
	for i := range 50 {
		planned(t, f, spec(fmt.Sprintf("l-%d", i), 1))
	}
	if got := calls() - before; got != 0 {
		t.Errorf("50 more plans made %d calls, want none", got)
	}
	clk.SetTime(clk.Now().Add(typesLife))
	planned(t, f, spec("l-1", 1))
	if got := calls() - before; got != 5 {
		t.Errorf("a plan an hour later made %d calls, want 5", got)
	}
}

// What is known serves on while EC2 does not answer; what EC2 refuses for good is said.
func TestPlan_OldKnowledgeServesWhileEC2IsBusy_H53(t *testing.T) {
	s := ec2test.New(t)
	clk := testingclock.NewFakePassiveClock(time.Now())
	f := ready(t, s, func(o *Options) { o.Clock = clk })
	planned(t, f, spec("l-1", 1))
	clk.SetTime(clk.Now().Add(typesLife))
	for _, action := range []string{"DescribeSubnets", "DescribeInstanceTypes", "DescribeLaunchTemplateVersions"} {
		s.Throttle(action, 3) // as often as the SDK tries
	}
	planned(t, f, spec("l-1", 1))
	before := s.Calls("DescribeSubnets")
	if planned(t, f, spec("l-2", 1)); s.Calls("DescribeSubnets") != before {
		t.Error("EC2 was asked again at once while it wants fewer calls")
	}
	clk.SetTime(clk.Now().Add(staleLife))
	s.Deny("DescribeSubnets")
	if _, err := f.Plan(t.Context(), spec("l-1", 1)); !errors.Is(err, fleet.ErrRefused) {
		t.Errorf("Plan without permission error = %v, want ErrRefused", err)
	}
	fresh := opened(t, s.URL, "test", options(s))
	s.Throttle("DescribeLaunchTemplateVersions", 3)
	if _, err := fresh.Plan(t.Context(), spec("l-1", 1)); !errors.Is(err, fleet.ErrThrottled) {
		t.Errorf("first Plan while EC2 is busy error = %v, want ErrThrottled", err)
	}
	s.Fail("DescribeLaunchTemplateVersions", ec2test.Fault{Status: http.StatusBadRequest, Code: "RequestExpired"})
	if _, err := fresh.Plan(t.Context(), spec("l-1", 1)); err == nil || errors.Is(err, fleet.ErrRefused) {
		t.Errorf("Plan with credentials run out error = %v, want one that a retry may cure", err)
	}
}

func TestPlan_BadSpecIsInvalid_H34(t *testing.T) {
	_, f := fresh(t, nil)
	for name, change := range map[string]func(*fleet.Spec){
		"Usage":   func(sp *fleet.Spec) { sp.UsageClass = "reserved" },
		"Token":   func(sp *fleet.Spec) { sp.Token = "l-ü" },
		"Blank":   func(sp *fleet.Spec) { sp.Token = "l 1" },
		"CPU":     func(sp *fleet.Spec) { sp.CPU = 0 },
		"Mem":     func(sp *fleet.Spec) { sp.Mem = -1 },
		"HugeMem": func(sp *fleet.Spec) { sp.Mem = 1 << 40 },
		"Count":   func(sp *fleet.Spec) { sp.Count = 1 << 40 },
		"Class":   func(sp *fleet.Spec) { sp.ResourceClass = string(make([]byte, 257)) },
	} {
		sp := spec("l-1", 1)
		change(&sp)
		if _, err := f.Plan(t.Context(), sp); !errors.Is(err, fleet.ErrRefused) {
			t.Errorf("%s: Plan error = %v, want ErrRefused", name, err)
		}
	}
}
