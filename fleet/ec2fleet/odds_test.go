package ec2fleet

import (
	"errors"
	"net/http"
	"slices"
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
	t.Run("OtherTemplatesAreListed", func(t *testing.T) {
		s := ec2test.New(t)
		opened(t, s.URL, "another", options(s)).mustEnsure(t)
		s.Odd(ec2test.Odds{AllTemplates: true})
		f := opened(t, s.URL, "test", options(s))
		f.mustEnsure(t)
		if got := s.Templates(); len(got) != 2 {
			t.Errorf("templates = %v, want one for each installation", got)
		}
	})
}

func (f *Fleet) mustEnsure(t *testing.T) {
	t.Helper()
	if _, err := f.Ensure(t.Context(), true); err != nil {
		t.Fatalf("Ensure error = %v", err)
	}
}

// A listing may lack what the launch knows: EC2's own tags, which name the template's version, and the lifecycle.
func TestLaunch_ListingWithoutTagsAndLifecycle_Review_F4(t *testing.T) {
	for _, usage := range []string{spot, onDemand} {
		s, f := fresh(t, nil)
		sp := spec("l-1", 2)
		sp.UsageClass = usage
		p := planned(t, f, sp)
		s.Odd(ec2test.Odds{Plain: true})
		out, err := f.Launch(t.Context(), p)
		if err != nil || len(out.Machines) != 2 {
			t.Fatalf("Launch = %v, %v, want two machines", out, err)
		}
		for _, m := range out.Machines {
			if m.TemplateVersion != p.TemplateVersion || m.UsageClass != usage {
				t.Errorf("machine of template %q, %s, want %q, %s", m.TemplateVersion, m.UsageClass, p.TemplateVersion, usage)
			}
		}
	}
}

// CreateFleet has answered with ids: only the listing is asked again, however often it fails.
func TestLaunch_ListingFailsAfterTheAnswer_Review_F5(t *testing.T) {
	for name, fault := range map[string]ec2test.Fault{
		"Broken":    {},
		"Internal":  {Status: http.StatusInternalServerError, Code: "InternalError"},
		"Throttled": {Status: http.StatusServiceUnavailable, Code: "RequestLimitExceeded"},
		"Denied":    {Status: http.StatusForbidden, Code: "UnauthorizedOperation"},
	} {
		t.Run(name, func(t *testing.T) {
			s, f := fresh(t, nil)
			p := planned(t, f, spec("l-1", 3))
			tries := 0
			s.Fail("DescribeInstances", slices.Repeat([]ec2test.Fault{fault}, 8)...)
			for ; ; tries++ {
				out, err := f.Launch(t.Context(), p)
				if errors.Is(err, fleet.ErrRefused) || tries > 10 {
					t.Fatalf("Launch error = %v after %d tries, want one that is not definite, then machines", err, tries)
				}
				if err != nil {
					continue
				}
				if ids := idsOf(out.Machines); len(ids) != 3 || len(s.Alive()) != 3 {
					t.Errorf("Launch = %v with %v alive, want the three of the answer", ids, s.Alive())
				}
				break
			}
			if n := s.Calls("CreateFleet"); n != 1 || tries == 0 {
				t.Errorf("%d calls of CreateFleet in %d tries, want one call", n, tries+1)
			}
		})
	}
}

// EC2 reports why an instance ended or stopped, and a listing has it, no matter what ended it.
func TestList_StateReason_Review_B2(t *testing.T) {
	s, f := fresh(t, nil)
	s.Odd(ec2test.Odds{EndAs: [2]string{"Client.InvalidKMSKey.InvalidState", "The KMS key provided is in an incorrect state"}})
	failed := launched(t, f, spec("l-1", 1)).Machines
	s.Odd(ec2test.Odds{})
	others := launched(t, f, spec("l-2", 4)).Machines
	s.End(others[0].ID, "Server.SpotInstanceTermination", "Instance terminated due to a price or capacity constraint")
	s.PowerOff(others[1].ID)
	if err := f.Terminate(t.Context(), others[2].ID); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		failed[0].ID: "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state",
		others[0].ID: "Server.SpotInstanceTermination: Instance terminated due to a price or capacity constraint",
		others[1].ID: "Client.InstanceInitiatedShutdown: Instance initiated shutdown",
		others[2].ID: "Client.UserInitiatedShutdown: User initiated shutdown",
		others[3].ID: "",
	}
	listed, err := f.List(t.Context(), "")
	if err != nil || len(listed) != len(want) {
		t.Fatalf("List = %v, %v, want %d machines", listed, err, len(want))
	}
	for _, m := range listed {
		if got := m.StateReason.String(); got != want[m.ID] || m.StateReason.Code != "" && !strings.HasPrefix(got, m.StateReason.Code+": ") {
			t.Errorf("state reason of %s = %+v, want %q", m.ID, m.StateReason, want[m.ID])
		}
	}
	if got := failed[0]; got.State != fleet.Ending || got.StateReason.Code != "Client.InvalidKMSKey.InvalidState" {
		t.Errorf("the launch returned %s with %+v, want ending with EC2's reason", got.State, got.StateReason)
	}
}
