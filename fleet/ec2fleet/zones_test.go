package ec2fleet

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/ensure"
)

// A subnet that was deleted takes its own zone away and no other; init and housekeeping name it, and keep the
// template all the same.
func TestPlan_OneSubnetIsGone_S72(t *testing.T) {
	s := ec2test.New(t)
	ready(t, s, nil)
	f := opened(t, s.URL, "test", options(s)) // after a restart: nothing is known
	gone := s.Subnets()[1]
	s.Remove(gone)
	places := frozen(t, planned(t, f, spec("l-1", 1))).Places
	if len(places) != 2 || slices.ContainsFunc(places, func(p place) bool { return p.Subnet == gone }) {
		t.Errorf("places = %v, want the two that are left", places)
	}
	o := options(s)
	o.Subnets = append(o.Subnets, gone)
	o.UserData += "# another\n"
	steps, err := opened(t, s.URL, "test", o).Ensure(t.Context(), true)
	if !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), gone) {
		t.Errorf("Ensure error = %v, want one that names %s", err, gone)
	}
	if len(steps) != 1 || steps[0].Action != ensure.Updated {
		t.Errorf("Ensure = %v, want the template updated beside the error", steps)
	}
}

// Nothing is made where a subnet never was, and nothing is launched where none is left.
func TestPlan_NoSubnetIsLeft(t *testing.T) {
	s := ec2test.New(t)
	o := options(s)
	o.Subnets = append(o.Subnets, "subnet-0000dead")
	if _, err := opened(t, s.URL, "new", o).Ensure(t.Context(), true); !errors.Is(err, fleet.ErrRefused) || writes(s) > 0 {
		t.Errorf("Ensure of a new installation = %v after %d writes, want %v and none", err, writes(s), fleet.ErrRefused)
	}
	ready(t, s, nil)
	f := opened(t, s.URL, "test", options(s))
	for _, id := range s.Subnets() {
		s.Remove(id)
	}
	if _, err := f.Plan(t.Context(), spec("l-1", 1)); !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "subnet-00000001") {
		t.Errorf("Plan error = %v, want %v that names the subnets", err, fleet.ErrRefused)
	}
}
