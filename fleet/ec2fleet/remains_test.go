package ec2fleet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/ensure"
)

// remaining is what is left of an installation.
func remaining(t *testing.T, s *ec2test.Server, name string) *Remains {
	t.Helper()
	r, err := OpenRemains(fleetURL(name), config(t, s.URL))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// twoTemplates has class large differ in what a launch template says.
func twoTemplates(o *Options) {
	small := Class{AMI: o.AMI, UserData: o.UserData, Subnets: o.Subnets, SecurityGroups: o.SecurityGroups, RootVolumeGiB: o.RootVolumeGiB, InstanceProfile: o.InstanceProfile}
	large := small
	large.RootVolumeGiB = 99
	o.Classes = map[string]Class{"small": small, "large": large}
}

// Everything with the mark of one installation ends, and nothing of another whose name begins alike, though nothing is
// known of either but the name.
func TestRemains_EndsItsOwn_H59(t *testing.T) {
	s, f := fresh(t, twoTemplates)
	s.SetPage(1) // of each list
	launched(t, f, spec("l-1", 2))
	other := opened(t, s.URL, "test-2", options(s))
	if _, err := other.Ensure(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	stays := idsOf(launched(t, other, spec("l-2", 1)).Machines)
	r := remaining(t, s, "test")
	n, up, err := r.Machines(t.Context())
	if err != nil || n != 2 || len(up) != 2 {
		t.Fatalf("Machines = %d, %v, %v, want two", n, up, err)
	}
	if err := r.Terminate(t.Context(), append(up, stays...)...); err != nil {
		t.Fatal(err)
	}
	for left := n; left > 0; { // the server's machines take their time
		if left, up, err = r.Machines(t.Context()); err != nil || len(up) > 0 {
			t.Fatalf("Machines = %d, %v, %v, want none that is up", left, up, err)
		}
	}
	if got := fmt.Sprint(s.Alive()); got != fmt.Sprint(stays) {
		t.Errorf("alive = %s, want %s", got, stays)
	}
	for _, tt := range []struct {
		apply bool
		want  string
	}{
		{false, "[launch template test-machine-large: would delete launch template test-machine: would delete]"},
		{true, "[launch template test-machine-large: deleted launch template test-machine: deleted]"},
		{true, "[]"},
	} {
		if steps, err := r.RemoveTemplates(t.Context(), tt.apply); err != nil || fmt.Sprint(steps) != tt.want {
			t.Errorf("RemoveTemplates(%t) = %v, %v, want %s", tt.apply, steps, err, tt.want)
		}
	}
	if steps, err := other.Ensure(t.Context(), false); err != nil || len(steps) != 1 || steps[0].Action != ensure.Unchanged {
		t.Errorf("the other's template: %v, %v, want unchanged", steps, err)
	}
}

// A template that may not be deleted keeps no other; one that another deleted is no error.
func TestRemoveTemplates_EachFailsAlone(t *testing.T) {
	s, _ := fresh(t, twoTemplates)
	r := remaining(t, s, "test")
	s.Fail("DeleteLaunchTemplate", ec2test.Fault{Status: 403, Code: "UnauthorizedOperation"}, ec2test.Fault{Status: 400, Code: "InvalidLaunchTemplateId.NotFound"})
	steps, err := r.RemoveTemplates(t.Context(), true)
	if err == nil || len(steps) != 0 || !strings.Contains(err.Error(), "ec2:DeleteLaunchTemplate on launch template test-machine-large: access denied: allow ec2:DeleteLaunchTemplate") {
		t.Errorf("RemoveTemplates = %v, %v", steps, err)
	}
	if steps, err := r.RemoveTemplates(t.Context(), true); err != nil || len(steps) != 2 {
		t.Errorf("again = %v, %v, want both", steps, err)
	}
}

func TestOpenRemains_Invalid(t *testing.T) {
	if _, err := OpenRemains(fleetURL("a/b"), config(t, "http://127.0.0.1:1")); err == nil || !strings.Contains(err.Error(), "want ec2://<name>") {
		t.Errorf("OpenRemains = %v", err)
	}
}
