package ec2fleet

import (
	"errors"
	"slices"
	"testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

// A pattern such as * means no GPU and nothing of the last decade: those must be named. EC2 is asked for the same.
func TestPlan_AcceleratedAndOldTypesMustBeNamed_S70(t *testing.T) {
	const x86 = "x86_64"
	all := []ec2test.Type{
		{Name: "g6f.large", CPU: 2, Mem: 8192, Arch: x86, GPU: true},
		{Name: "inf1.large", CPU: 2, Mem: 8192, Arch: x86, GPU: true},
		{Name: "g2.large", CPU: 2, Mem: 8192, Arch: x86, GPU: true, Previous: true},
		{Name: "m1.large", CPU: 2, Mem: 7680, Arch: x86, Previous: true},
		{Name: "i4i.large", CPU: 2, Mem: 16384, Arch: x86},
		{Name: "m5.large", CPU: 2, Mem: 8192, Arch: x86},
	}
	for _, tt := range []struct {
		name     string
		patterns []string
		want     []string // allowed in the call; nil: unsatisfiable
		launched string   // the first machine's type: the stand-in takes the cheapest that the call allows
	}{
		{"Star", []string{"*"}, []string{"*"}, "m5.large"},
		{"EndOfTheName", []string{"*.large"}, []string{"*.large"}, "m5.large"},
		{"LetterOfAnotherFamily", []string{"i*"}, []string{"i*"}, "i4i.large"},
		{"OldByItsLetterOnly", []string{"m*"}, []string{"m*"}, "m5.large"},
		{"Family", []string{"g*"}, []string{"g6f.large"}, "g6f.large"},
		{"FamilyInCapitals", []string{"G6F.*"}, []string{"g6f.large"}, "g6f.large"},
		{"FamilyBesideStar", []string{"*", "inf*"}, []string{"i4i.large", "inf1.large", "m5.large"}, "inf1.large"},
		{"Old", []string{"m1.*"}, []string{"m1.large"}, "m1.large"},
		{"OldAndAccelerated", []string{"g2*"}, []string{"g2.large"}, "g2.large"},
		{"NotThere", []string{"trn*"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ec2test.New(t)
			s.SetTypes(all...)
			f := ready(t, s, nil)
			sp := spec("l-1", 1)
			sp.AllowedTypes = tt.patterns
			p, err := f.Plan(t.Context(), sp)
			if tt.want == nil {
				if !errors.Is(err, fleet.ErrUnsatisfiable) {
					t.Errorf("Plan error = %v, want %v", err, fleet.ErrUnsatisfiable)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := frozen(t, p).Allowed; !slices.Equal(got, tt.want) {
				t.Errorf("allowed = %q, want %q", got, tt.want)
			}
			if got := launched(t, f, sp).Machines[0].InstanceType; got != tt.launched {
				t.Errorf("launched %s, want %s", got, tt.launched)
			}
		})
	}
}
