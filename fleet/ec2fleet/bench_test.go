package ec2fleet

import (
	"fmt"
	"testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

// BenchmarkPlan plans with everything known, as all plans but the first of some minutes are made.
func BenchmarkPlan(b *testing.B) {
	s := ec2test.New(b)
	types := ec2test.Types()
	for i := range 150 { // about as many as EC2 has with 2 vCPUs
		types = append(types, ec2test.Type{Name: fmt.Sprintf("x%d.large", i), CPU: 2, Mem: 8192, Arch: "x86_64"})
	}
	s.SetTypes(types...)
	f := ready(b, s, nil)
	for name, excluded := range map[string][]fleet.Slot{
		"plain":    nil,
		"excluded": {{InstanceType: "c6i.large"}, {InstanceType: "m5.large", Zone: "us-east-1a"}, {UsageClass: onDemand}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sp := spec("l-1", 10)
				sp.Excluded = excluded
				planned(b, f, sp)
			}
		})
	}
}

// BenchmarkLaunch is the time a launch costs on our side and the server's: two calls.
func BenchmarkLaunch(b *testing.B) {
	for _, count := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			s := ec2test.New(b)
			f := ready(b, s, nil)
			b.ReportAllocs()
			before := s.Calls("CreateFleet") + s.Calls("DescribeInstances")
			n := 0
			for b.Loop() {
				n++
				if out := launched(b, f, spec(fmt.Sprintf("l-%d", n), count)); len(out.Machines) != count {
					b.Fatalf("%d machines, want %d", len(out.Machines), count)
				}
			}
			b.ReportMetric(float64(s.Calls("CreateFleet")+s.Calls("DescribeInstances")-before)/float64(n), "calls/op")
		})
	}
}
