package ec2fleet

import (
	"errors"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

func TestQuotaOf(t *testing.T) {
	for name, want := range map[string]string{
		"c6i.large": "standard", "m7i-flex.xlarge": "standard", "im4gn.large": "standard", "hpc7a.96xlarge": "hpc", "inf2.xlarge": "inf",
		"dl1.24xlarge": "dl", "d3.xlarge": "standard", "trn1n.32xlarge": "trn", "g4dn.xlarge": "g", "gr6.4xlarge": "g", "vt1.3xlarge": "g",
		"p5.48xlarge": "p", "x2iedn.xlarge": "x", "f1.2xlarge": "f", "u-6tb1.metal": "u", "mac2.metal": "mac", "": "", "7x": "",
	} {
		if got := quotaOf(name); got != want {
			t.Errorf("quotaOf(%q) = %q, want %q", name, got, want)
		}
	}
}

// A quota that is used up, or was never given, concerns its own families at the size that was asked for: neither
// other families of the usage class nor smaller machines wait for it. H33 S75
func TestPlan_QuotaExcludesItsFamiliesOnly_H33_S75(t *testing.T) {
	s := ec2test.New(t)
	s.SetTypes(append(ec2test.Types(), ec2test.Type{Name: "g4dn.large", CPU: 2, Mem: 3072, Arch: "x86_64"})...)
	f := ready(t, s, nil)
	tests := []struct {
		name    string
		allowed []string
		pool    ec2test.Pool
		want    string
	}{
		{"TypeIsNamed", []string{"*"}, ec2test.Pool{Type: "g4dn.large"}, "quota:g"},
		{"AllOfOneQuota", []string{"g*"}, ec2test.Pool{}, "quota:g"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.Refuse(tt.pool, "VcpuLimitExceeded")
			defer s.Refuse(tt.pool, "")
			sp := spec("l-"+tt.name, 1)
			sp.Mem, sp.AllowedTypes = 2048, tt.allowed // so that it is the cheapest
			var slots []fleet.Slot
			for _, r := range launched(t, f, sp).Refused {
				slots = append(slots, r.Slot)
			}
			if want := (fleet.Slot{UsageClass: spot, InstanceType: tt.want, ResourceClass: "small"}); len(slots) != 1 || slots[0] != want {
				t.Fatalf("refused = %+v, want %+v once", slots, want)
			}
			sp = spec("l-again-"+tt.name, 1)
			sp.Mem, sp.Excluded = 2048, slots
			if allowed := frozen(t, planned(t, f, sp)).Allowed; len(allowed) != 3 {
				t.Errorf("allowed = %v, want the three of another quota", allowed)
			}
			sp.AllowedTypes = []string{"g*"}
			if _, err := f.Plan(t.Context(), sp); !errors.Is(err, fleet.ErrNoCapacity) {
				t.Errorf("Plan of the quota's types error = %v, want ErrNoCapacity", err)
			}
			sp.ResourceClass = "smaller"
			if _, err := f.Plan(t.Context(), sp); err != nil {
				t.Errorf("Plan of another class error = %v", err)
			}
		})
	}
}

// EC2 may be busy with the calls that it makes for a launch itself. No place is bad for that, and the same launch
// would get the same answer, so nothing is excluded, and the next one waits some seconds. H33
func TestLaunch_ThrottledWithinExcludesNothing_H33(t *testing.T) {
	s := ec2test.New(t)
	clk := testingclock.NewFakePassiveClock(time.Now())
	f := ready(t, s, func(o *Options) { o.Clock = clk })
	s.Refuse(ec2test.Pool{Type: "c6i.large"}, "RequestLimitExceeded")
	s.Refuse(ec2test.Pool{Type: "m5.large"}, "InsufficientInstanceCapacity")
	s.Refuse(ec2test.Pool{Type: "r6i.large"}, "RequestLimitExceeded")
	out := launched(t, f, spec("l-1", 2))
	if len(out.Machines) != 0 || len(out.Refused) == 0 {
		t.Fatalf("Launch = %+v, want refusals", out)
	}
	for _, r := range out.Refused {
		if r.Slot.InstanceType != "m5.large" {
			t.Errorf("refused %+v, want only where there is no capacity", r)
		}
	}
	if _, err := f.Plan(t.Context(), spec("l-2", 2)); !errors.Is(err, fleet.ErrThrottled) {
		t.Errorf("Plan at once error = %v, want ErrThrottled", err)
	}
	clk.SetTime(clk.Now().Add(busyPause))
	s.Refuse(ec2test.Pool{Type: "m5.large"}, "RequestLimitExceeded")
	if out := launched(t, f, spec("l-3", 2)); len(out.Machines)+len(out.Refused) != 0 {
		t.Errorf("Launch with nothing but throttling = %+v, want an empty outcome", out)
	}
	for _, kind := range []string{"c6i.large", "m5.large", "r6i.large"} {
		s.Refuse(ec2test.Pool{Type: kind}, "")
	}
	clk.SetTime(clk.Now().Add(busyPause))
	if out := launched(t, f, spec("l-4", 2)); len(out.Machines) != 2 {
		t.Errorf("Launch after the pause = %+v, want two machines", out)
	}
}
