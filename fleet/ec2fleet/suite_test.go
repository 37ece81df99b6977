package ec2fleet

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/ensure"
)

func TestFleet_KeepsTheContract(t *testing.T) {
	fleettest.Run(t, func(t *testing.T) fleettest.Subject {
		s := ec2test.New(t)
		f := ready(t, s, nil)
		s.SetPage(2)
		s.SetLag(50 * time.Millisecond) // EC2's eventual consistency, shortened
		return fleettest.Subject{
			Fleet: f,
			Again: func(t *testing.T) fleet.Fleet { return opened(t, s.URL, "test", options(s)) },
			Limit: s.Limit,
			Foreign: func(t *testing.T) (string, func() bool) {
				id := s.Add(ec2test.Instance{Type: "m5.large", Tags: map[string]string{TagName: "other"}})
				return id, func() bool {
					for _, alive := range s.Alive() {
						if alive == id {
							return true
						}
					}
					return false
				}
			},
			Settle: time.Minute,
		}
	})
}

func TestFleet_KeepsTheContractOnMoto(t *testing.T) {
	endpoint := awstest.Moto(t)
	fleettest.Run(t, func(t *testing.T) fleettest.Subject {
		m := onMoto(t, endpoint)
		return fleettest.Subject{
			Fleet:   m.open(t),
			Again:   func(t *testing.T) fleet.Fleet { return m.open(t) },
			Limit:   func(n int) { m.shim.Limit(m.name, n) },
			Foreign: func(t *testing.T) (string, func() bool) { return m.shim.Foreign(t) },
			Settle:  time.Minute,
		}
	})
}

// atMoto is an installation of a name of its own.
type atMoto struct {
	shim *ec2test.Shim
	name string
	opts Options
}

func onMoto(t *testing.T, endpoint string) atMoto {
	m := atMoto{shim: ec2test.NewShim(t, endpoint), name: awstest.Name(t)}
	a := m.shim.Account(t, m.name)
	m.opts = Options{
		Subnets: a.Subnets[:2], SecurityGroups: []string{a.Group}, AMI: a.AMI, InstanceProfile: a.Profile,
		UserData: "#!/bin/sh\n", RootVolumeGiB: 40, RootDevice: "/dev/xvda", Clock: clock.RealClock{},
	}
	if _, err := m.open(t).Ensure(t.Context(), true); err != nil {
		t.Fatalf("Ensure error = %v", err)
	}
	return m
}

func (m atMoto) open(t *testing.T) *Fleet { return opened(t, m.shim.URL, m.name, m.opts) }

// What moto shows of a machine is what its version of the template says: what the shim adds included.
func TestMoto_MachineIsWhatItsTemplateSays_H65(t *testing.T) {
	m := onMoto(t, awstest.Moto(t))
	m.opts.UserData = "#!/bin/sh\necho second\n"
	f := m.open(t)
	if got, err := f.Ensure(t.Context(), true); err != nil || got[0].Action != ensure.Updated {
		t.Fatalf("Ensure of another script = %v, %v, want updated", got, err)
	}
	if got, err := f.Ensure(t.Context(), true); err != nil || got[0].Action != ensure.Unchanged {
		t.Fatalf("Ensure again = %v, %v, want unchanged: what EC2 shows is what was asked for", got, err)
	}
	client := ec2.NewFromConfig(config(t, m.shim.URL))
	for _, usage := range []string{spot, onDemand} {
		sp := spec("l-"+m.name+usage, 1)
		sp.UsageClass = usage
		id := launched(t, f, sp).Machines[0].ID
		for attribute, want := range map[types.InstanceAttributeName]string{
			types.InstanceAttributeNameUserData:                          base64.StdEncoding.EncodeToString([]byte(m.opts.UserData)),
			types.InstanceAttributeNameInstanceInitiatedShutdownBehavior: "terminate",
		} {
			out, err := client.DescribeInstanceAttribute(t.Context(), &ec2.DescribeInstanceAttributeInput{InstanceId: &id, Attribute: attribute})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if v := cmp.Or(out.UserData, out.InstanceInitiatedShutdownBehavior); v != nil {
				got = aws.ToString(v.Value)
			}
			if got != want {
				t.Errorf("%s: %s = %q, want %q", usage, attribute, got, want)
			}
		}
		out, err := client.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		if err != nil {
			t.Fatal(err)
		}
		i := out.Reservations[0].Instances[0]
		if i.IamInstanceProfile == nil || !strings.HasSuffix(aws.ToString(i.IamInstanceProfile.Arn), "/"+m.opts.InstanceProfile) {
			t.Errorf("%s: instance profile = %v, want %s", usage, i.IamInstanceProfile, m.opts.InstanceProfile)
		}
		if o := i.MetadataOptions; o == nil || o.HttpTokens != types.HttpTokensStateRequired || aws.ToInt32(o.HttpPutResponseHopLimit) != 1 {
			t.Errorf("%s: metadata options = %+v, want IMDSv2 within one hop", usage, o)
		}
		if groups := i.SecurityGroups; len(groups) != 1 || aws.ToString(groups[0].GroupId) != m.opts.SecurityGroups[0] {
			t.Errorf("%s: security groups = %v, want %v", usage, groups, m.opts.SecurityGroups)
		}
	}
}

func TestMoto_PrunesVersions(t *testing.T) {
	m := onMoto(t, awstest.Moto(t))
	clk := testingclock.NewFakePassiveClock(time.Now())
	m.opts.Clock = clk
	for i := range 12 {
		m.opts.UserData = fmt.Sprintf("#!/bin/sh\n# %d\n", i)
		if _, err := m.open(t).Ensure(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	f := m.open(t)
	clk.SetTime(clk.Now().Add(DefaultCreatedLimit + slow))
	if _, err := f.Ensure(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	live, err := f.templates.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if versions, err := f.templates.versions(t.Context(), live); err != nil || len(versions) != keepVersions {
		t.Errorf("%d versions left, %v, want %d", len(versions), err, keepVersions)
	}
}
