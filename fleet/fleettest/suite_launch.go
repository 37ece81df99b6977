package fleettest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/remuda-run/remuda/fleet"
)

func launchAnswers(t *testing.T, s Subject) {
	sp := spec(3)
	out := launched(t, s.Fleet, plan(t, s.Fleet, sp))
	if len(out.Machines) != 3 || len(out.Refused) != 0 {
		t.Fatalf("Launch of 3 = %d machines, refusals %+v", len(out.Machines), out.Refused)
	}
	if n := len(slices.Compact(ids(out.Machines))); n != 3 {
		t.Errorf("%d different ids, want 3", n)
	}
	principals := make(map[string]bool)
	for _, m := range out.Machines {
		principals[m.Principal] = m.Principal != ""
		if m.ResourceClass != sp.ResourceClass || m.UsageClass != sp.UsageClass || m.LaunchToken != sp.Token {
			t.Errorf("machine = %+v, want class %s, usage %s, token %s", m, sp.ResourceClass, sp.UsageClass, sp.Token)
		}
		if m.CPU != sp.CPU || m.Mem < sp.Mem || m.Zone == "" || m.LaunchedAt.IsZero() {
			t.Errorf("machine = %+v, want its real size, its zone and its launch time", m)
		}
		if m.State != fleet.Starting && m.State != fleet.Up {
			t.Errorf("state of a new machine = %q, want starting or up", m.State)
		}
	}
	if len(principals) != 3 || principals[""] {
		t.Errorf("principals = %v, want one for each machine", principals)
	}
	wantLiving(t, s, s.Fleet, sp.Token, ids(out.Machines))
}

func launchUsage(t *testing.T, s Subject) {
	for _, usage := range []string{"spot", "on-demand"} {
		sp := spec(2)
		sp.UsageClass = usage
		for _, m := range launched(t, s.Fleet, plan(t, s.Fleet, sp)).Machines {
			if m.UsageClass != usage {
				t.Errorf("launched %s, want %s", m.UsageClass, usage)
			}
		}
	}
}

func launchRepeated(t *testing.T, s Subject) {
	p, want := start(t, s.Fleet, 2)
	if got := ids(launched(t, s.Fleet, p).Machines); !slices.Equal(got, want) {
		t.Errorf("second Launch gave %v, want %v", got, want)
	}
	var stored fleet.Plan // as it comes back from a store
	raw, err := json.Marshal(p)
	if err := errors.Join(err, json.Unmarshal(raw, &stored)); err != nil {
		t.Fatal(err)
	}
	if got := ids(launched(t, s.Again(t), stored).Machines); !slices.Equal(got, want) {
		t.Errorf("Launch through another handle gave %v, want %v", got, want)
	}
	wantLiving(t, s, s.Fleet, "", want)
}

func launchRepeatedEnded(t *testing.T, s Subject) {
	p, want := start(t, s.Fleet, 2)
	wantLiving(t, s, s.Fleet, p.Token, want) // listed, so that absence later means ended
	terminate(t, s.Fleet, want...)
	wantEnded(t, s, s.Fleet, want...)
	for _, m := range launched(t, s.Fleet, p).Machines {
		if !slices.Contains(want, m.ID) || m.State != fleet.Ended {
			t.Errorf("repeated Launch gave %s in state %s, want the ended ones of the first call", m.ID, m.State)
		}
	}
	wantLiving(t, s, s.Fleet, "", nil)
}

// launchConcurrent lets calls fail: their outcome is unknown, and the repetition tells it.
func launchConcurrent(t *testing.T, s Subject) {
	p := plan(t, s.Fleet, spec(2))
	handles := []fleet.Fleet{s.Fleet, s.Again(t)}
	var got [8][]string
	var calls sync.WaitGroup
	for i := range got {
		calls.Go(func() {
			if out, err := handles[i%len(handles)].Launch(t.Context(), p); err == nil {
				got[i] = ids(out.Machines)
			}
		})
	}
	calls.Wait()
	want := ids(launched(t, s.Fleet, p).Machines)
	if len(want) != 2 {
		t.Fatalf("Launch after concurrent ones gave %v, want 2 machines", want)
	}
	for i, g := range got {
		if g != nil && !slices.Equal(g, want) {
			t.Errorf("concurrent Launch %d gave %v, want %v", i, g, want)
		}
	}
	wantLiving(t, s, s.Fleet, "", want)
}

func launchTwoTokens(t *testing.T, s Subject) {
	_, first := start(t, s.Fleet, 2)
	_, second := start(t, s.Fleet, 2)
	both := slices.Concat(first, second)
	slices.Sort(both)
	if len(slices.Compact(slices.Clone(both))) != 4 {
		t.Errorf("two launches gave %v and %v, want four machines", first, second)
	}
	wantLiving(t, s, s.Fleet, "", both)
}

func launchOtherPlan(t *testing.T, s Subject) {
	p, want := start(t, s.Fleet, 1)
	sp := spec(2)
	sp.Token = p.Token
	if out, err := s.Fleet.Launch(t.Context(), plan(t, s.Fleet, sp)); !errors.Is(err, fleet.ErrRefused) {
		t.Errorf("Launch of another plan with a used token = %v, %v, want ErrRefused", ids(out.Machines), err)
	}
	wantLiving(t, s, s.Fleet, "", want)
}

func launchMalformed(t *testing.T, s Subject) {
	for _, raw := range []string{``, `null`, `{}`, `[1]`, `{"what":1}`, `{`} {
		p := plan(t, s.Fleet, spec(1))
		p.Params = json.RawMessage(raw)
		if _, err := s.Fleet.Launch(t.Context(), p); !errors.Is(err, fleet.ErrRefused) {
			t.Errorf("Launch(params %s) error = %v, want ErrRefused", raw, err)
		}
	}
	wantLiving(t, s, s.Fleet, "", nil)
}

func launchCancelled(t *testing.T, s Subject) {
	p := plan(t, s.Fleet, spec(2))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Fleet.Launch(ctx, p); err == nil {
		t.Error("Launch with a cancelled context error = nil")
	}
	want := ids(launched(t, s.Fleet, p).Machines)
	if len(want) != 2 {
		t.Errorf("Launch after a cancelled one gave %v, want 2 machines", want)
	}
	wantLiving(t, s, s.Fleet, "", want)
}

func launchPartial(t *testing.T, s Subject) {
	s.Limit(2)
	sp := spec(5)
	p := plan(t, s.Fleet, sp)
	out := launched(t, s.Fleet, p)
	if len(out.Machines) != 2 || len(out.Refused) == 0 {
		t.Fatalf("Launch of 5 with room for 2 = %d machines, refusals %+v", len(out.Machines), out.Refused)
	}
	for _, r := range out.Refused {
		if r.Code == "" || (r.Slot.UsageClass != "" && r.Slot.UsageClass != sp.UsageClass) {
			t.Errorf("refusal = %+v, want a code and no other usage class than %s", r, sp.UsageClass)
		}
	}
	s.Limit(10)
	if got, want := ids(launched(t, s.Fleet, p).Machines), ids(out.Machines); !slices.Equal(got, want) {
		t.Errorf("repeated with room for 10 gave %v, want %v: a launch is answered once", got, want)
	}
	wantLiving(t, s, s.Fleet, "", ids(out.Machines))
}

func launchNone(t *testing.T, s Subject) {
	s.Limit(0)
	out, err := s.Fleet.Launch(t.Context(), plan(t, s.Fleet, spec(2)))
	if err != nil && !errors.Is(err, fleet.ErrNoCapacity) {
		t.Errorf("Launch without capacity error = %v, want none or ErrNoCapacity", err)
	}
	if len(out.Machines) != 0 || len(out.Refused) == 0 || out.Refused[0].Code == "" {
		t.Errorf("Launch without capacity = %+v, want no machine and why", out)
	}
	s.Limit(10)
	_, want := start(t, s.Fleet, 2)
	wantLiving(t, s, s.Fleet, "", want)
}
