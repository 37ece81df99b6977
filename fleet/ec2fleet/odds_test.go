package ec2fleet

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
)

// What EC2 does now and then: each is reported as the contract says, and launches nothing twice.
func TestLaunch_Odds_S74_S75(t *testing.T) {
	t.Run("ImageIsGone", func(t *testing.T) {
		s, f := fresh(t, nil)
		p := planned(t, f, spec("l-1", 1))
		s.Remove(ec2test.AMI)
		_, err := f.Launch(t.Context(), p)
		if !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "InvalidAMIID.NotFound") {
			t.Errorf("Launch error = %v, want %v with EC2's code", err, fleet.ErrRefused)
		}
	})
	t.Run("NewVersionIsNotSeenYet", func(t *testing.T) {
		s, f := fresh(t, nil)
		p := planned(t, f, spec("l-1", 1))
		unseen := ec2test.Fault{Status: http.StatusBadRequest, Code: "InvalidLaunchTemplateId.VersionNotFound", Message: "Could not find launch template version"}
		s.Fail("CreateFleet", unseen, unseen) // EC2 API, "Eventual consistency"
		for range 2 {
			if _, err := f.Launch(t.Context(), p); err == nil || errors.Is(err, fleet.ErrRefused) {
				t.Fatalf("Launch error = %v, want one that is not definite", err)
			}
		}
		if out, err := f.Launch(t.Context(), p); err != nil || len(out.Machines) != 1 {
			t.Errorf("Launch = %v, %v, want a machine once the version is seen", out, err)
		}
	})
	t.Run("TokenOfMachinesThatHaveEnded", func(t *testing.T) {
		s := ec2test.New(t)
		s.Odd(ec2test.Odds{EndedTokens: true})
		f := ready(t, s, nil)
		sp := spec("l-1", 2)
		out := launched(t, f, sp)
		if err := f.Terminate(t.Context(), out.Machines[0].ID); err != nil {
			t.Fatal(err)
		}
		p := planned(t, f, sp)
		if again, err := f.Launch(t.Context(), p); err != nil || len(again.Machines) != 2 {
			t.Errorf("Launch while one lives = %v, %v, want the same two", again, err)
		}
		if err := f.Terminate(t.Context(), out.Machines[1].ID); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Launch(t.Context(), p); !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "IdempotentInstanceTerminated") {
			t.Errorf("Launch after both ended: %v, want %v with EC2's code", err, fleet.ErrRefused)
		}
		if n := len(s.Alive()); n != 0 {
			t.Errorf("%d machines live, want none launched anew", n)
		}
	})
	t.Run("ErrorsWithoutAType", func(t *testing.T) {
		s := ec2test.New(t)
		s.Odd(ec2test.Odds{Typeless: true})
		s.Refuse(ec2test.Pool{}, "InsufficientInstanceCapacity")
		f := ready(t, s, nil)
		out, err := f.Launch(t.Context(), planned(t, f, spec("l-1", 1)))
		if err != nil || len(out.Machines) > 0 || len(out.Refused) == 0 {
			t.Fatalf("Launch = %v, %v, want refusals only", out, err)
		}
		for _, r := range out.Refused {
			if r.Slot.InstanceType != "" || r.Slot.ResourceClass != "small" || r.Slot.Zone == "" {
				t.Errorf("refused %+v, want the zone for the class, whatever type", r.Slot)
			}
		}
	})
}
