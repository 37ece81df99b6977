//go:build linux

package procfleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/machinelog"
)

// end ends all machines without a Run of their own.
func end(t *testing.T, f *Fleet, ids ...string) {
	t.Helper()
	terminate(t, f, ids...)
	look := looker(t, f)
	for range 1 + quietLooks {
		look()
	}
	for _, id := range ids {
		wantState(t, f, id, fleet.Ended)
	}
}

func TestLaunch_BootDelayHoldsTheAgentBack(t *testing.T) {
	now := clocktesting.NewFakeClock(noon)
	f := opened(t, t.TempDir(), Options{Clock: now, BootDelay: 16 * time.Second, BootJitter: 4 * time.Second})
	id := launch(t, f, spec("l-1", 1)).Machines[0].ID
	bootAt := loaded(t, f, id).BootAt
	if d := bootAt.Sub(noon); d < 16*time.Second || d >= 20*time.Second {
		t.Fatalf("boots after %s, want 16 s and up to 4 s more", d)
	}
	look := looker(t, f)
	now.SetTime(bootAt.Add(-1))
	if wake := look(); len(processes(t, id)) != 0 || !wake.Equal(bootAt) {
		t.Errorf("one tick before: wake at %s, processes %v, want none and to wake at %s", wake, processes(t, id), bootAt)
	}
	wantState(t, f, id, fleet.Starting)
	now.SetTime(bootAt)
	eventually(t, "the agent is up", func() bool { look(); return loaded(t, f, id).State == fleet.Up })
	wantRuns(t, f, id)
}

func TestList_EndedStayForAnHour_TokenForAWeek_H32(t *testing.T) {
	now := clocktesting.NewFakeClock(noon)
	f := opened(t, t.TempDir(), Options{Clock: now, BootDelay: time.Hour})
	id := launch(t, f, spec("l-1", 1)).Machines[0].ID
	end(t, f, id)
	take := looker(t, f)
	look := func(at time.Time) []fleet.Machine {
		t.Helper()
		now.SetTime(at)
		take()
		all, err := f.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := look(noon.Add(keepEnded - 1)); len(all) != 1 || all[0].State != fleet.Ended {
		t.Errorf("one tick before the hour List = %+v, want the ended machine", all)
	}
	if all := look(noon.Add(keepEnded)); len(all) != 0 {
		t.Errorf("after an hour List = %+v, want none", all)
	}
	if _, err := os.Stat(f.disk.folder(id)); !os.IsNotExist(err) {
		t.Errorf("folder of a forgotten machine: %v, want it removed", err)
	}
	if again := launch(t, f, spec("l-1", 1)).Machines; len(again) != 1 || again[0].ID != id || again[0].State != fleet.Ended {
		t.Errorf("repeated Launch = %+v, want %s, ended", again, id)
	}
	look(noon.Add(keepLaunch - 1))
	if _, err := readJournal(f.disk.launch("l-1")); err != nil {
		t.Errorf("one tick before the week the journal: %v", err)
	}
	look(noon.Add(keepLaunch + tidyPeriod))
	if _, err := readJournal(f.disk.launch("l-1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the week the journal: %v, want it removed", err)
	}
}

// A launch that was broken off and not repeated is over once one of its machines is forgotten.
func TestLaunch_BrokenOffAndForgotten_LaunchesNoMore_H32(t *testing.T) {
	now := clocktesting.NewFakeClock(noon)
	f := opened(t, t.TempDir(), Options{Clock: now})
	f.failpoint = func(step string) {
		if step == "machine made" {
			panic(step)
		}
	}
	func() {
		defer func() { _ = recover() }() // the call is broken off with one of two machines made
		launch(t, f, spec("l-1", 2))
	}()
	f.failpoint = func(string) {}
	all, err := f.List(t.Context(), "l-1")
	if err != nil || len(all) != 1 {
		t.Fatalf("List = %+v, %v, want one machine", all, err)
	}
	end(t, f, all[0].ID)
	now.Step(keepEnded)
	looker(t, f)()
	for _, m := range launch(t, f, spec("l-1", 2)).Machines {
		if m.State != fleet.Ended {
			t.Errorf("repeated Launch gave %s in state %s, want it ended", m.ID, m.State)
		}
	}
	if all, err := f.List(t.Context(), ""); err != nil || len(all) != 0 {
		t.Errorf("List = %+v, %v, want none", all, err)
	}
}

func TestLaunch_Refusals_S75(t *testing.T) {
	two := []TypeInfo{{Name: "c6i.large", CPU: 2, Mem: 4096, Zones: []string{"a", "b"}}, {Name: "m5.large", CPU: 2, Mem: 8192}}
	capped := slices.Clone(two)
	capped[0].Capacity = 1
	for _, tt := range []struct {
		name string
		o    Options
		want int
		slot fleet.Slot
		code string
	}{
		{"Unlimited", Options{Types: two}, 3, fleet.Slot{}, ""},
		{"Total", Options{Types: two, Capacity: 2}, 2, fleet.Slot{UsageClass: spot}, codeLimit},
		{"Spot", Options{Types: two, SpotCapacity: 1}, 1, fleet.Slot{UsageClass: spot}, codeNoCapacity},
		{"Type", Options{Types: capped}, 3, fleet.Slot{UsageClass: spot, InstanceType: "c6i.large"}, codeNoCapacity},
		{"AllAtRandom", Options{Types: two[1:], RefusalRate: 1}, 0, fleet.Slot{UsageClass: spot, InstanceType: "m5.large", Zone: localZone}, codeNoCapacity},
	} {
		tt.o.BootDelay = time.Hour
		f := opened(t, t.TempDir(), tt.o)
		out := launch(t, f, spec("l-1", 3))
		if len(out.Machines) != tt.want {
			t.Errorf("%s: launched %d, want %d", tt.name, len(out.Machines), tt.want)
		}
		if tt.code == "" && len(out.Refused) != 0 || tt.code != "" && (len(out.Refused) != 1 || out.Refused[0].Slot != tt.slot || out.Refused[0].Code != tt.code) {
			t.Errorf("%s: refused %+v, want %s for %+v", tt.name, out.Refused, tt.code, tt.slot)
		}
	}
}

func TestLaunch_SpreadsOverZones(t *testing.T) {
	f := opened(t, t.TempDir(), Options{BootDelay: time.Hour, Types: []TypeInfo{{Name: "c6i.large", CPU: 2, Mem: 4096, Zones: []string{"a", "b"}}}})
	zones := make(map[string]int)
	for _, m := range launch(t, f, spec("l-1", 4)).Machines {
		zones[m.Zone]++
	}
	if zones["a"] != 2 || zones["b"] != 2 {
		t.Errorf("machines per zone = %v, want two each", zones)
	}
}

func TestLaunch_SameSeedSameFate(t *testing.T) {
	fate := func(seed uint64) string {
		f := opened(t, t.TempDir(), Options{
			Clock: clocktesting.NewFakeClock(noon), Seed: seed, RefusalRate: 0.3, MeanLife: time.Hour, BootDelay: time.Second, BootJitter: time.Minute,
		})
		j := f.place(fleet.Plan{Token: "l-1", Count: 20}, params{UsageClass: spot, Places: places(f)}, nil, noon)
		var b strings.Builder
		for _, r := range j.Machines {
			fmt.Fprintln(&b, r.InstanceType, r.BootAt, r.VanishAt)
		}
		for _, r := range j.Refused {
			fmt.Fprintln(&b, r.Slot)
		}
		return b.String()
	}
	first := fate(1)
	if again := fate(1); again != first {
		t.Errorf("same seed gave\n%s\nand\n%s", first, again)
	}
	if other := fate(2); other == first {
		t.Errorf("another seed gave the same:\n%s", first)
	}
}

func places(f *Fleet) []place {
	var out []place
	for _, t := range f.opts.Types {
		out = append(out, place{InstanceType: t.Name, CPU: t.CPU, Mem: t.Mem, Zone: localZone})
	}
	return out
}

// Two processes that launch at once do not exceed the capacity together.
func TestLaunch_TwoProcessesShareTheCapacity(t *testing.T) {
	dir := t.TempDir()
	o := Options{Capacity: 5, BootDelay: time.Hour}
	handles := []*Fleet{opened(t, dir, o), opened(t, dir, o)}
	var calls sync.WaitGroup
	for i := range 10 {
		f := handles[i%2]
		calls.Go(func() {
			p, err := f.Plan(t.Context(), spec(fmt.Sprintf("l-%d", i), 1))
			if err == nil {
				_, err = f.Launch(t.Context(), p)
			}
			if err != nil {
				t.Errorf("Launch error = %v", err)
			}
		})
	}
	calls.Wait()
	if all, err := handles[0].List(t.Context(), ""); err != nil || len(all) != 5 {
		t.Errorf("List = %d machines, %v, want 5", len(all), err)
	}
}

func TestLaunch_LockedElsewhere_WaitsAsLongAsItsContext(t *testing.T) {
	dir := t.TempDir()
	f, other := opened(t, dir, Options{BootDelay: time.Hour}), opened(t, dir, Options{})
	unlock, err := other.disk.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Plan(t.Context(), spec("l-1", 1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := f.Launch(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Launch while locked error = %v, want the deadline", err)
	}
	if err := f.Terminate(ctx, newID()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Terminate while locked error = %v, want the deadline", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if out, err := f.Launch(t.Context(), p); err != nil || len(out.Machines) != 1 {
		t.Errorf("Launch after unlock = %+v, %v, want one machine", out, err)
	}
}

func TestLaunch_TokenNamesNoOtherPath(t *testing.T) {
	dir := t.TempDir()
	f := opened(t, dir, Options{BootDelay: time.Hour})
	for _, token := range []string{"../../x", "..", ".", "a/b", "%2e%2e"} {
		launch(t, f, spec(token, 1))
	}
	entries, err := os.ReadDir(f.disk.launches())
	if err != nil || len(entries) != 5 {
		t.Errorf("%d journals, %v, want 5 of different names", len(entries), err)
	}
}

// H56: a machine says which template it really runs.
func TestLaunch_PlanOfAnOlderTemplate_H56(t *testing.T) {
	dir := t.TempDir()
	p, err := opened(t, dir, Options{TemplateVersion: "1"}).Plan(t.Context(), spec("l-1", 1))
	if err != nil {
		t.Fatal(err)
	}
	f := opened(t, dir, Options{TemplateVersion: "2", BootDelay: time.Hour})
	out, err := f.Launch(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Machines[0].TemplateVersion; got != *f.template.Load() || !strings.HasPrefix(got, "2-") || got == p.TemplateVersion {
		t.Errorf("template of the machine = %q, want the present one, %q", got, *f.template.Load())
	}
}

// H70: a record that cannot be understood hides no other, and no one answers for its machine.
func TestRun_UnreadableRecordIsEndedAlone_H70(t *testing.T) {
	for _, bad := range []string{"", "{", `{"id":"i-other"}`, `{"id":"%s","state":"sleeping"}`} {
		f := running(t, t.TempDir(), Options{})
		out := launch(t, f, spec("l-1", 2))
		sick, well := out.Machines[0].ID, out.Machines[1].ID
		wantState(t, f, sick, fleet.Up)
		wantState(t, f, well, fleet.Up)
		if strings.Contains(bad, "%s") {
			bad = fmt.Sprintf(bad, sick)
		}
		unlock, err := f.disk.lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.disk.folder(sick), recordFile), []byte(bad), fileMode); err != nil {
			t.Fatal(err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
		wantState(t, f, sick, fleet.Ended)
		if left := processes(t, sick); len(left) != 0 {
			t.Errorf("record %q: processes left: %v", bad, left)
		}
		if r := loaded(t, f, well); r.State != fleet.Up || !r.Leader.Alive() {
			t.Errorf("record %q: the other machine is %s", bad, r.State)
		}
	}
}

// What cannot be done is tried again, less and less often, and holds up no other machine.
func TestRun_FailedStepIsRepeatedAndStopsNoOther(t *testing.T) {
	now := clocktesting.NewFakeClock(noon)
	f := opened(t, t.TempDir(), Options{Clock: now})
	out := launch(t, f, spec("l-1", 2))
	sick, well := out.Machines[0].ID, out.Machines[1].ID
	if err := os.Mkdir(filepath.Join(f.disk.folder(sick), machinelog.AgentFile), dirMode); err != nil { // so that no log can be opened
		t.Fatal(err)
	}
	look := looker(t, f)
	look()
	wantRuns(t, f, well)
	if len(processes(t, sick)) != 0 {
		t.Fatal("the machine started without its log")
	}
	if err := os.Remove(filepath.Join(f.disk.folder(sick), machinelog.AgentFile)); err != nil {
		t.Fatal(err)
	}
	look()
	if len(processes(t, sick)) != 0 {
		t.Error("a failed step was repeated at once")
	}
	now.Step(2 * retryFirst) // the first pause is 1.5 times retryFirst at most
	look()
	wantRuns(t, f, sick)
}
