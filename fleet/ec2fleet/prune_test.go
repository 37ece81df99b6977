package ec2fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/ensure"
)

func TestSpare_LeavesYoungUsedAndDefaultVersions(t *testing.T) {
	before := time.Now()
	var versions []types.LaunchTemplateVersion
	for n := range int64(15) {
		versions = append(versions, types.LaunchTemplateVersion{
			LaunchTemplateId: aws.String("lt-1"), VersionNumber: aws.Int64(n + 1), CreateTime: aws.Time(before), DefaultVersion: aws.Bool(n == 0),
		})
	}
	versions[1].CreateTime = aws.Time(before.Add(1))
	versions[2].CreateTime = nil
	machines := []fleet.Machine{
		{TemplateVersion: "lt-1/4", State: fleet.Ending}, {TemplateVersion: "lt-1/5", State: fleet.Ended}, {TemplateVersion: "lt-2/5", State: fleet.Up},
	}
	if got := fmt.Sprint(spare(versions, machines, before)); got != "[5]" {
		t.Errorf("spare = %s, want 5 only: 1 is the default, 2 and 3 are perhaps young, 4 is in use, the others are the newest ten", got)
	}
}

func TestEnsure_PrunesWhatNothingNeeds(t *testing.T) {
	s := ec2test.New(t)
	clk := testingclock.NewFakePassiveClock(time.Now())
	var f *Fleet
	for i := range 15 {
		f = ready(t, s, func(o *Options) {
			o.UserData, o.Clock, o.CreatedLimit = fmt.Sprintf("#!/bin/sh\n# %d\n", i), clk, time.Hour
		})
		if i == 1 { // version 2 is in use, version 3 was
			launched(t, f, spec("l-2", 1))
		}
		if i == 2 {
			if err := f.Terminate(t.Context(), idsOf(launched(t, f, spec("l-3", 1)).Machines)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	ensured(t, f, true)
	if n := s.Calls("DeleteLaunchTemplateVersions"); n != 0 {
		t.Fatalf("%d deletions within the created limit, want none", n)
	}
	clk.SetTime(clk.Now().Add(time.Hour + slow))
	for ended := false; !ended; { // the server's machine takes its time
		of, err := f.List(t.Context(), "l-3")
		if err != nil {
			t.Fatal(err)
		}
		ended = of[0].State == fleet.Ended
	}
	if got := ensured(t, f, true); got.Action != ensure.Unchanged {
		t.Errorf("Ensure = %v, want unchanged", got)
	}
	live, err := f.rest.templates.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.SetPage(4)
	versions, err := f.rest.templates.versions(t.Context(), live)
	if err != nil {
		t.Fatal(err)
	}
	var left []int64
	for _, v := range versions {
		left = append(left, *v.VersionNumber)
	}
	if want := "[2 6 7 8 9 10 11 12 13 14 15]"; fmt.Sprint(left) != want {
		t.Errorf("versions left = %v, want %s: the newest ten, and the one in use", left, want)
	}
	if err := f.rest.templates.prune(t.Context(), live); err != nil || s.Calls("DeleteLaunchTemplateVersions") != 1 {
		t.Errorf("prune again error = %v after %d deletions, want no more", err, s.Calls("DeleteLaunchTemplateVersions"))
	}
}
