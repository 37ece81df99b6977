package ec2fleet

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awserr"
)

func TestTerminate_OneThatCannotBeEndedKeepsNoOtherAlive_H67_H09(t *testing.T) {
	s, f := fresh(t, nil)
	ids := idsOf(launched(t, f, spec("l-1", 5)).Machines)
	s.Stick(ids[2], "OperationNotPermitted")
	err := f.Terminate(t.Context(), append(slices.Clone(ids), "i-00000000000000bad", ids[0])...)
	if got := failedIDs(err); !slices.Equal(got, ids[2:3]) {
		t.Errorf("Terminate error = %v, want one *TerminateError for %s", err, ids[2])
	}
	if got := s.Alive(); !slices.Equal(got, ids[2:3]) {
		t.Errorf("alive = %v, want %s only", got, ids[2])
	}
	s.Stick(ids[2], "")
	if err := f.Terminate(t.Context(), ids...); err != nil || len(s.Alive()) != 0 {
		t.Errorf("Terminate again error = %v, alive %v, want none", err, s.Alive())
	}
}

func failedIDs(err error) []string {
	var out []string
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		if one := (*fleet.TerminateError)(nil); errors.As(e, &one) {
			if nested := failedIDs(e); nested != nil {
				out = append(out, nested...)
				continue
			}
			out = append(out, one.ID)
		}
	}
	return out
}

// One of our machines is gone for EC2, in the middle of a chunk.
func TestTerminate_GoneIsDone_H67(t *testing.T) {
	s, f := fresh(t, nil)
	ids := idsOf(launched(t, f, spec("l-1", 3)).Machines)
	s.Stick(ids[1], "InvalidInstanceID.NotFound")
	if err := f.Terminate(t.Context(), ids...); err != nil {
		t.Errorf("Terminate error = %v, want none", err)
	}
	if got := s.Alive(); !slices.Equal(got, ids[1:2]) {
		t.Errorf("alive = %v, want the others ended", got)
	}
}

// To a policy whose condition is the mark, a machine that EC2 has forgotten is someone else's. That must not
// be reported as a missing permission, nor keep the others alive.
func TestTerminate_GoneIsDeniedUnderAPolicyOfTags_H67(t *testing.T) {
	s, f := fresh(t, nil)
	ids := idsOf(launched(t, f, spec("l-1", 20)).Machines)
	s.Fence(TagName, "test")
	for _, id := range ids[3:18] {
		s.Forget(id)
	}
	if err := f.Terminate(t.Context(), ids...); err != nil || len(s.Alive()) != 0 {
		t.Errorf("Terminate error = %v, alive %v, want none", err, s.Alive())
	}
	if n := s.Calls("TerminateInstances"); n != 2 {
		t.Errorf("%d calls, want one for all, and one for those that are left", n)
	}
	if err := f.Terminate(t.Context(), ids[4]); err != nil {
		t.Errorf("Terminate of one that is gone error = %v, want none", err)
	}
	s.Throttle("DescribeInstances", 3)
	if err := f.Terminate(t.Context(), ids[4:6]...); len(failedIDs(err)) != 2 || awserr.ClassOf(err) != awserr.Denied || !errors.Is(err, fleet.ErrThrottled) {
		t.Errorf("Terminate of two that cannot be looked up error = %v, want both errors for each", err)
	}
}

func TestTerminate_InChunks(t *testing.T) {
	s, f := fresh(t, nil)
	ids := idsOf(launched(t, f, spec("l-1", 250)).Machines)
	if err := f.Terminate(t.Context(), ids...); err != nil || len(s.Alive()) != 0 {
		t.Errorf("Terminate error = %v, %d alive, want none", err, len(s.Alive()))
	}
	if n := s.Calls("TerminateInstances"); n != 3 {
		t.Errorf("%d calls for 250 machines, want 3", n)
	}
}

// While EC2 wants fewer calls, a hundred single ones would be the wrong answer.
func TestTerminate_ThrottledIsNotTriedOneByOne(t *testing.T) {
	s, f := fresh(t, nil)
	ids := idsOf(launched(t, f, spec("l-1", 20)).Machines)
	s.Throttle("TerminateInstances", 3)
	err := f.Terminate(t.Context(), ids...)
	if !errors.Is(err, fleet.ErrThrottled) || len(failedIDs(err)) != 20 {
		t.Errorf("Terminate error = %v, want ErrThrottled for each", err)
	}
	if n := s.Calls("TerminateInstances"); n != 3 {
		t.Errorf("%d calls, want the SDK's 3", n)
	}
	s.Deny("TerminateInstances")
	if err := f.Terminate(t.Context(), ids[0]); awserr.ClassOf(err) != awserr.Denied || !errors.Is(err, fleet.ErrRefused) {
		t.Errorf("Terminate without permission error = %v, want it said", err)
	}
}

// A handle that never saw the machines looks for the mark first.
func TestTerminate_OnlyWhatCarriesOurMark_H59(t *testing.T) {
	s := ec2test.New(t)
	ours := idsOf(launched(t, ready(t, s, nil), spec("l-1", 2)).Machines)
	theirs := []string{
		s.Add(ec2test.Instance{Type: "m5.large"}),
		s.Add(ec2test.Instance{Type: "m5.large", Tags: map[string]string{TagName: "other"}}),
	}
	f := opened(t, s.URL, "test", options(s))
	if err := f.Terminate(t.Context(), theirs...); err != nil || s.Calls("TerminateInstances") != 0 {
		t.Errorf("Terminate of others error = %v after %d calls, want none", err, s.Calls("TerminateInstances"))
	}
	if err := f.Terminate(t.Context(), slices.Concat(theirs, ours)...); err != nil {
		t.Errorf("Terminate error = %v", err)
	}
	if got := s.Alive(); !slices.Equal(got, theirs) {
		t.Errorf("alive = %v, want those of others: %v", got, theirs)
	}
	s.Throttle("DescribeInstances", 3)
	if err := f.Terminate(t.Context(), "i-0123456789abcdef0"); len(failedIDs(err)) != 1 || !errors.Is(err, fleet.ErrThrottled) {
		t.Errorf("Terminate of an unknown one that cannot be looked up error = %v, want it to be said", err)
	}
}

// EC2 does not show a new machine to every call at once. The one who launched it may end it, and says
// no error if EC2 does not know it yet: the caller repeats until it is listed as ended.
func TestTerminate_NotYetVisible(t *testing.T) {
	s, f := fresh(t, nil)
	s.SetLag(time.Hour)
	out := launched(t, f, spec("l-1", 2))
	if len(out.Machines) != 2 || out.Machines[0].State != fleet.Starting || out.Machines[0].Mem == 0 {
		t.Fatalf("Launch = %+v, want two machines though none is listed", out)
	}
	if err := f.Terminate(t.Context(), idsOf(out.Machines)...); err != nil {
		t.Errorf("Terminate error = %v, want none", err)
	}
	s.SetLag(0)
	if err := f.Terminate(t.Context(), idsOf(out.Machines)...); err != nil || len(s.Alive()) != 0 {
		t.Errorf("Terminate error = %v, alive %v, want none", err, s.Alive())
	}
}

func TestList_PagesStatesAndOthersMachines_H05_H59_H65(t *testing.T) {
	s, f := fresh(t, nil)
	s.SetPage(3)
	ids := idsOf(launched(t, f, spec("l-1", 10)).Machines)
	slices.Sort(ids)
	s.Add(ec2test.Instance{Type: "a1.nosuch", Tags: map[string]string{TagName: "other"}})
	bare := s.Add(ec2test.Instance{Type: "t3.micro", Tags: map[string]string{TagName: "test"}})
	s.Stop(ids[0])
	all, err := f.List(t.Context(), "")
	if err != nil || len(all) != 11 {
		t.Fatalf("List = %d machines, %v, want ours, 11", len(all), err)
	}
	for _, m := range all {
		switch {
		case m.ID == ids[0] && m.State != fleet.Up:
			t.Errorf("stopped machine is %s, want up: it is to be terminated", m.State)
		case m.ID == bare && (m.CPU != 2 || m.Mem != 1024 || m.TemplateVersion != "" || m.LaunchToken != ""):
			t.Errorf("machine that no launch made = %+v", m)
		}
	}
	if of, err := f.List(t.Context(), "l-1"); err != nil || len(of) != 10 {
		t.Errorf("List of the launch = %d, %v, want 10", len(of), err)
	}
}

// One machine of a type that EC2 does not tell about hides no other, or nothing could be confirmed as ended, and
// every instance would look lost. It has no size, so that no request gets it; that is logged, and EC2 not asked
// for it all the time. H15
func TestList_TypeOfUnknownSize_H15(t *testing.T) {
	s := ec2test.New(t)
	clk := testingclock.NewFakePassiveClock(time.Now())
	var log bytes.Buffer
	launched(t, ready(t, s, nil), spec("l-1", 2))
	f := opened(t, s.URL, "test", options(s))
	f.log, f.clock = slog.New(slog.NewTextHandler(&log, nil)), clk
	odd := s.Add(ec2test.Instance{Type: "a1.nosuch", Tags: map[string]string{TagName: "test"}})
	for range 3 {
		all, err := f.List(t.Context(), "")
		if err != nil || len(all) != 3 {
			t.Fatalf("List = %d machines, %v, want 3", len(all), err)
		}
		for _, m := range all {
			if unknown := m.CPU == 0 && m.Mem == 0; unknown != (m.ID == odd) {
				t.Errorf("%s has %d vCPU and %d MiB", m.ID, m.CPU, m.Mem)
			}
		}
	}
	if n := s.Calls("DescribeInstanceTypes"); n != 2 { // one by the other fleet's plan
		t.Errorf("EC2 was asked for types %d times, want once more", n)
	}
	if logged := log.String(); strings.Count(logged, "ERROR") != 1 || !strings.Contains(logged, "a1.nosuch") {
		t.Errorf("log = %q, want one alarm that names the type", logged)
	}
	s.SetTypes(append(ec2test.Types(), ec2test.Type{Name: "a1.nosuch", CPU: 2, Mem: 4096, Arch: "arm64"})...)
	clk.SetTime(clk.Now().Add(unknownLife))
	all, err := f.List(t.Context(), "")
	if err != nil || slices.ContainsFunc(all, func(m fleet.Machine) bool { return m.CPU == 0 }) {
		t.Errorf("List once EC2 knows the type = %+v, %v", all, err)
	}
}

// A permission that someone takes away, or a profile that someone deletes, changes no machine: its principal is
// what it was. So List goes on, and it is Ensure that tells. H53
func TestList_KeepsTheRoleItKnows_H53(t *testing.T) {
	s := ec2test.New(t)
	clk := testingclock.NewFakePassiveClock(time.Now())
	f := ready(t, s, func(o *Options) { o.Clock = clk })
	want := launched(t, f, spec("l-1", 1)).Machines[0].Principal
	s.Deny("GetInstanceProfile")
	clk.SetTime(clk.Now().Add(roleLife))
	asked := s.Calls("GetInstanceProfile")
	for range 3 {
		all, err := f.List(t.Context(), "")
		if err != nil || len(all) != 1 || all[0].Principal != want {
			t.Fatalf("List = %+v, %v, want the machine as %s", all, err, want)
		}
	}
	if n := s.Calls("GetInstanceProfile") - asked; n != 1 {
		t.Errorf("IAM was asked %d times, want once", n)
	}
	if _, err := f.Ensure(t.Context(), true); !errors.Is(err, fleet.ErrRefused) || !strings.Contains(err.Error(), "allow iam:GetInstanceProfile") {
		t.Errorf("Ensure error = %v, want it to name the permission", err)
	}
}

func TestOwn_ForgetsAfterAWhile(t *testing.T) {
	o := own{seen: map[string]time.Time{}}
	now := time.Now()
	o.add(now, "i-old")
	for i := range 10 {
		o.add(now.Add(ownLife+time.Duration(i)), fmt.Sprint("i-", i))
	}
	if o.has("i-old") || !o.has("i-9") {
		t.Errorf("seen = %v, want the old one forgotten", o.seen)
	}
}
