package ec2fleet

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"golang.org/x/time/rate"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
)

// What EC2 does now and then, at moto: each is told as the contract says, and launches nothing twice.
func TestMoto_Odds_S74_S75(t *testing.T) {
	endpoint := awstest.Moto(t)
	lives := func(t *testing.T, f *Fleet, token string) int {
		t.Helper()
		machines, err := f.List(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range machines {
			if m.State == fleet.Starting || m.State == fleet.Up {
				n++
			}
		}
		return n
	}

	t.Run("MixedTypesAndZones", func(t *testing.T) {
		m := onMoto(t, endpoint)
		f := m.open(t)
		places := map[string]bool{}
		for _, machine := range launched(t, f, spec("l-"+m.name, 3)).Machines {
			places[machine.InstanceType+" "+machine.Zone] = true
		}
		if n := lives(t, f, "l-"+m.name); n != 3 || len(places) < 2 {
			t.Errorf("%d machines in %v, want 3 in two pools", n, places)
		}
	})
	t.Run("ImageIsGone", func(t *testing.T) {
		m := onMoto(t, endpoint)
		f := m.open(t)
		p := planned(t, f, spec("l-"+m.name, 1))
		m.shim.Odd(ec2test.Odds{ImageGone: true})
		_, err := f.Launch(t.Context(), p)
		if !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "InvalidAMIID.NotFound") {
			t.Errorf("Launch error = %v, want %v with EC2's code", err, fleet.ErrInvalid)
		}
	})
	t.Run("NewVersionIsNotSeenYet", func(t *testing.T) {
		m := onMoto(t, endpoint)
		m.shim.Odd(ec2test.Odds{Unseen: 2})
		m.opts.UserData = "#!/bin/sh\necho second\n"
		f := m.open(t)
		if _, err := f.Ensure(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		p := planned(t, f, spec("l-"+m.name, 1))
		for range 2 {
			if _, err := f.Launch(t.Context(), p); err == nil || errors.Is(err, fleet.ErrInvalid) {
				t.Fatalf("Launch error = %v, want one that is not definite", err)
			}
		}
		if out, err := f.Launch(t.Context(), p); err != nil || len(out.Machines) != 1 {
			t.Errorf("Launch = %v, %v, want a machine once the version is seen", out, err)
		}
	})
	t.Run("TokenOfMachinesThatHaveEnded", func(t *testing.T) {
		m := onMoto(t, endpoint)
		m.shim.Odd(ec2test.Odds{EndedTokens: true})
		f := m.open(t)
		sp := spec("l-"+m.name, 2)
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
		if _, err := f.Launch(t.Context(), p); !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "IdempotentInstanceTerminated") {
			t.Errorf("Launch after both ended: %v, want %v with EC2's code", err, fleet.ErrInvalid)
		}
		if n := lives(t, f, sp.Token); n != 0 {
			t.Errorf("%d machines live, want none launched anew", n)
		}
	})
	t.Run("BucketIsEmpty", func(t *testing.T) {
		m := onMoto(t, endpoint)
		m.shim.Odd(ec2test.Odds{Bucket: rate.NewLimiter(0, 1)})
		f := m.open(t)
		first, second := planned(t, f, spec("l-1-"+m.name, 1)), planned(t, f, spec("l-2-"+m.name, 1))
		if _, err := f.Launch(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Launch(t.Context(), second); !errors.Is(err, fleet.ErrThrottled) {
			t.Errorf("Launch error = %v, want %v", err, fleet.ErrThrottled)
		}
	})
	t.Run("ErrorsWithoutAType", func(t *testing.T) {
		m := onMoto(t, endpoint)
		m.shim.Odd(ec2test.Odds{Typeless: true})
		m.shim.Refuse(ec2test.Pool{}, "InsufficientInstanceCapacity")
		out, err := m.open(t).Launch(t.Context(), planned(t, m.open(t), spec("l-"+m.name, 1)))
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

// S70: an image named by a parameter of Systems Manager, as moto keeps it, becomes machines of that image.
func TestMoto_ImageByParameter_S70(t *testing.T) {
	m := onMoto(t, awstest.Moto(t))
	name := "/" + m.name + "/image"
	parameters := ssm.NewFromConfig(config(t, m.shim.URL))
	_, err := parameters.PutParameter(t.Context(), &ssm.PutParameterInput{Name: &name, Value: &m.opts.AMI, Type: types.ParameterTypeString})
	if err != nil {
		t.Fatal(err)
	}
	image := m.opts.AMI
	m.opts.AMI, m.opts.RootDevice = "resolve:ssm:"+name, ""
	f := m.open(t)
	if got, err := f.Ensure(t.Context(), true); err != nil {
		t.Fatalf("Ensure = %v, %v", got, err)
	}
	id := launched(t, f, spec("l-"+m.name, 1)).Machines[0].ID
	out, err := ec2.NewFromConfig(config(t, m.shim.URL)).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	if got := *out.Reservations[0].Instances[0].ImageId; got != image {
		t.Errorf("machine of image %s, want %s", got, image)
	}
}
