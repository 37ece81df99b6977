//go:build linux

package procfleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/internal/process"
)

// S11: the machine ends with its leader, and takes with it what left the process group, the session
// and its parent.
func TestRun_LeaderKilled_WholeMachineGone_S11(t *testing.T) {
	t.Parallel()
	f := running(t, t.TempDir(), Options{Command: script(
		`sleep 600 & setsid sleep 600 & (setsid sleep 600 &) ; echo ok >ready; wait`)})
	r := launchOne(t, f, "ready")
	eventually(t, "agent and its three children carry the mark", func() bool { return len(processes(t, r.ID)) == 4 })
	if err := syscall.Kill(r.Leader.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is told that a machine ended", func() bool {
		select {
		case <-f.Ended():
			return true
		default:
			return false
		}
	})
	wantState(t, f, r.ID, fleet.Ended)
	wantGone(t, r.ID)
	if got := loaded(t, f, r.ID).Cause; got != causeExited {
		t.Errorf("cause = %q, want %q", got, causeExited)
	}
	eventually(t, "the leader is reaped", func() bool {
		_, err := os.Stat("/proc/" + strconv.Itoa(r.Leader.PID))
		return os.IsNotExist(err)
	})
}

func TestTerminate_AgentMayEndInPeace(t *testing.T) {
	t.Parallel()
	f := running(t, t.TempDir(), Options{Command: script(
		`trap 'echo bye >bye; exit 0' TERM; echo ok >ready; while :; do sleep 0.01; done`), TerminateGrace: time.Minute})
	r := launchOne(t, f, "ready")
	terminate(t, f, r.ID)
	wantState(t, f, r.ID, fleet.Ended) // long before the grace is over
	if content(t, f, r.ID, "bye") == "" {
		t.Error("the agent was not asked to end before it was killed")
	}
}

// S12: an agent that does not listen is killed, with its setsid escapees, after the grace.
func TestTerminate_DeafAgentAndEscapeesAreKilledAfterTheGrace_S12(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakeClock(noon)
	f := opened(t, t.TempDir(), Options{Clock: now, TerminateGrace: 5 * time.Second, Command: script(
		`trap 'echo seen >>seen' TERM; setsid sh -c 'trap "" TERM; sleep 600' & echo ok >ready; while :; do sleep 0.01; done`)})
	look := looker(t, f)
	id := launch(t, f, spec("l-1", 1)).Machines[0].ID
	eventually(t, "the agent is ready", func() bool { look(); return content(t, f, id, "ready") != "" })
	terminate(t, f, id)
	look()
	eventually(t, "the agent has got its signal", func() bool { return content(t, f, id, "seen") != "" })
	now.Step(5*time.Second - 1)
	look()
	if r := loaded(t, f, id); r.State != fleet.Ending || !r.Leader.Alive() {
		t.Errorf("one tick before the end of the grace the machine is %s, its leader lives = %v, want it ending and alive", r.State, r.Leader.Alive())
	}
	now.Step(1)
	eventually(t, "the machine has ended", func() bool { look(); return loaded(t, f, id).State == fleet.Ended })
	wantGone(t, id)
	if n := strings.Count(content(t, f, id, "seen"), "seen"); n != 1 {
		t.Errorf("the agent got SIGTERM %d times, want once", n)
	}
}

// An agent that cleared its own environment is still known by its record.
func TestTerminate_LeaderWithoutMarkIsKilled(t *testing.T) {
	t.Parallel()
	f := running(t, t.TempDir(), Options{Command: script(
		`trap '' TERM; echo ok >ready; exec env -i /bin/sleep 600`), TerminateGrace: time.Millisecond})
	r := launchOne(t, f, "ready")
	eventually(t, "the leader carries no mark", func() bool { return len(processes(t, r.ID)) == 0 })
	terminate(t, f, r.ID)
	wantState(t, f, r.ID, fleet.Ended)
	if r.Leader.Alive() {
		t.Error("the leader lives on")
	}
}

// A pid that was given to another process, in this boot or another, names no machine of ours.
func TestRun_ReusedPIDIsLeftAlone(t *testing.T) {
	t.Parallel()
	ref := sleeping(t)
	for _, tt := range []struct {
		name   string
		change func(*record)
	}{
		{"OtherStartTime", func(r *record) { r.Leader.Start++ }},
		{"OtherBoot", func(r *record) { r.Boot = "another boot" }},
	} {
		for _, state := range []fleet.State{fleet.Up, fleet.Ending} {
			f := opened(t, t.TempDir(), Options{})
			r := record{ID: newID(), State: state, LaunchedAt: time.Now(), EndingAt: time.Now(), Boot: f.boot, Leader: ref}
			tt.change(&r)
			if err := f.disk.add(r); err != nil {
				t.Fatal(err)
			}
			if all, err := f.List(t.Context(), ""); err != nil || len(all) != 1 || all[0].State != fleet.Ending {
				t.Errorf("%s: List of a machine that was %s = %+v, %v, want it ending", tt.name, state, all, err)
			}
			look := looker(t, f)
			eventually(t, "the machine has ended", func() bool { look(); return loaded(t, f, r.ID).State == fleet.Ended })
			if !ref.Alive() {
				t.Fatalf("%s: a process that was never ours was killed", tt.name)
			}
		}
	}
}

func TestRun_NoticeThenEnd(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakeClock(noon)
	f := opened(t, t.TempDir(), Options{
		Clock: now, NoticeAfter: time.Hour,
		Command: script(`while ! [ -s "$REMUDA_INTERRUPTION_FILE" ]; do sleep 0.01; done; echo seen >seen; exec sleep 600`),
	})
	look := looker(t, f)
	s := spec("l-2", 1)
	s.UsageClass = "on-demand"
	demand := launch(t, f, s).Machines[0].ID
	id := launch(t, f, spec("l-1", 1)).Machines[0].ID
	eventually(t, "both are up", func() bool {
		look()
		return loaded(t, f, id).State == fleet.Up && loaded(t, f, demand).State == fleet.Up
	})
	now.Step(time.Hour - 1)
	look()
	if got := content(t, f, id, interruptionFile); got != "" {
		t.Errorf("one tick before it is due there is a notice: %s", got)
	}
	now.Step(1)
	look()
	var n Notice
	if err := json.Unmarshal([]byte(content(t, f, id, interruptionFile)), &n); err != nil {
		t.Fatal(err)
	}
	if want := (Notice{Action: "terminate", Time: noon.Add(time.Hour + DefaultNoticeLead)}); n != want {
		t.Errorf("notice = %+v, want %+v", n, want)
	}
	eventually(t, "the agent has seen it", func() bool { return content(t, f, id, "seen") != "" })
	now.Step(DefaultNoticeLead - 1)
	look()
	if got := loaded(t, f, id).State; got != fleet.Up {
		t.Errorf("one tick before its time is over the machine is %s, want up", got)
	}
	now.Step(1)
	eventually(t, "the machine has ended", func() bool { look(); return loaded(t, f, id).State == fleet.Ended })
	if got := loaded(t, f, id).Cause; got != causeInterrupted {
		t.Errorf("cause = %q, want %q", got, causeInterrupted)
	}
	if content(t, f, demand, interruptionFile) != "" || loaded(t, f, demand).State != fleet.Up {
		t.Error("an on-demand machine was interrupted")
	}
}

func TestRun_SpotMachineVanishes_S11(t *testing.T) {
	t.Parallel()
	f := running(t, t.TempDir(), Options{
		Command: script(`trap 'echo bye >bye' TERM; setsid sleep 600 & echo ok >ready; while :; do sleep 0.01; done`), MeanLife: time.Millisecond, TerminateGrace: time.Hour,
	})
	s := spec("l-2", 1)
	s.UsageClass = "on-demand"
	demand := launch(t, f, s).Machines[0].ID
	lost := launch(t, f, spec("l-1", 1)).Machines[0].ID
	wantState(t, f, lost, fleet.Ended) // in spite of the grace
	if r := loaded(t, f, lost); r.Cause != causeVanished || content(t, f, lost, "bye") != "" {
		t.Errorf("cause = %q, farewell %q, want a sudden loss", r.Cause, content(t, f, lost, "bye"))
	}
	wantState(t, f, demand, fleet.Up)
}

// S34: nothing of this process's environment reaches the agent, and the command line is no shell text.
func TestSpawn_GivesTheAgentOnlyWhatCommandSays(t *testing.T) {
	t.Setenv("REMUDA_TEST_SECRET", "hunter2")
	args := []string{`$(touch pwned)`, "`touch pwned`", `a  b"c'd`, "", "*", ";touch pwned"}
	f := running(t, t.TempDir(), Options{Command: func(id, dir string) ([]string, []string) {
		text := `printf '%s|' "$@" >args; env >env; if [ -e /proc/$$/fd/3 ]; then echo open >gate; fi; echo ok >ready; exec sleep 600`
		return append([]string{"/bin/sh", "-c", text, "sh"}, args...),
			[]string{"PATH=/usr/bin:/bin", EnvInstance + "=forged", "A=b c"}
	}})
	r := launchOne(t, f, "ready")
	if got, want := content(t, f, r.ID, "args"), strings.Join(args, "|")+"|"; got != want {
		t.Errorf("arguments = %q, want %q", got, want)
	}
	if content(t, f, r.ID, "pwned") != "" {
		t.Error("an argument was run as shell text")
	}
	env := strings.Split(content(t, f, r.ID, "env"), "\n")
	for _, want := range []string{EnvInstance + "=" + r.ID, EnvInterruption + "=" + filepath.Join(f.disk.folder(r.ID), interruptionFile), "A=b c"} {
		if !slices.Contains(env, want) {
			t.Errorf("environment = %q, want %q in it", env, want)
		}
	}
	for _, e := range env {
		if strings.Contains(e, "hunter2") || strings.Contains(e, "forged") {
			t.Errorf("environment has %q", e)
		}
	}
	if content(t, f, r.ID, "gate") != "" {
		t.Error("the agent holds the gate's pipe")
	}
	if sid, err := sessionOf(r.Leader.PID); err != nil || sid != r.Leader.PID {
		t.Errorf("session of the agent = %d, %v, want its own, %d", sid, err, r.Leader.PID)
	}
}

func sessionOf(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	return strconv.Atoi(fields[3])
}

// A command that cannot be started ends the machine and says so in its log.
func TestSpawn_NoSuchProgram_Ends(t *testing.T) {
	t.Parallel()
	f := running(t, t.TempDir(), Options{Command: func(string, string) ([]string, []string) {
		return []string{"/nosuch/agent"}, nil
	}})
	id := launch(t, f, spec("l-1", 1)).Machines[0].ID
	wantState(t, f, id, fleet.Ended)
	if got := content(t, f, id, machinelog.AgentFile); !strings.Contains(got, "/nosuch/agent") {
		t.Errorf("agent.log = %q, want the name of what is missing", got)
	}
}

// One look at all processes can miss one in the middle of exec: it takes quietLooks of them in a row.
func TestKill_EndedOnlyAfterQuietLooksInARow(t *testing.T) {
	t.Parallel()
	f := opened(t, t.TempDir(), Options{})
	r := record{ID: newID(), State: fleet.Ending, EndingAt: noon, KillAt: noon}
	if err := f.disk.add(r); err != nil {
		t.Fatal(err)
	}
	run := newRunner(f)
	none := map[string][]process.Ref{}
	one := map[string][]process.Ref{r.ID: {{PID: 1 << 30, Start: 1}}}
	for i, l := range []struct {
		marks map[string][]process.Ref
		want  fleet.State
	}{
		{none, fleet.Ending}, {none, fleet.Ending}, {one, fleet.Ending},
		{none, fleet.Ending}, {none, fleet.Ending}, {none, fleet.Ended},
	} {
		if _, err := run.kill(r, noon, func() (map[string][]process.Ref, error) { return l.marks, nil }); err != nil {
			t.Fatal(err)
		}
		if got := loaded(t, f, r.ID).State; got != l.want {
			t.Errorf("after look %d the machine is %s, want %s", i, got, l.want)
		}
	}
	broken := errors.New("no /proc")
	if _, err := run.kill(r, noon, func() (map[string][]process.Ref, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("kill without a look error = %v, want its cause", err)
	}
}

// An order is carried out when it is given, not when Run would have looked anyway.
func TestRun_OrdersWakeIt(t *testing.T) {
	t.Parallel()
	f := running(t, t.TempDir(), Options{Clock: clocktesting.NewFakeClock(noon)}) // whose timers never fire
	id := launch(t, f, spec("l-1", 1)).Machines[0].ID
	wantRuns(t, f, id)
	terminate(t, f, id)
	eventually(t, "the agent has ended", func() bool { return len(processes(t, id)) == 0 })
}

func TestTerminate_PathToAMachineIsNoID(t *testing.T) {
	t.Parallel()
	f := opened(t, t.TempDir(), Options{BootDelay: time.Hour})
	id := launch(t, f, spec("l-1", 1)).Machines[0].ID
	for _, alias := range []string{"./" + id, id + "/", "../instances/" + id, id + "\n"} {
		if err := f.Terminate(t.Context(), alias); err != nil {
			t.Errorf("Terminate(%q) error = %v, want none", alias, err)
		}
	}
	if got := loaded(t, f, id).State; got != fleet.Starting {
		t.Errorf("the machine is %s, want starting: none of these is its id", got)
	}
}

func TestEnvironment_OursReplaceOthers(t *testing.T) {
	t.Parallel()
	got := environment([]string{"A=1", EnvInstance + "=forged", EnvInterruption + "=forged", "B=2"}, "i-1", "/x")
	want := []string{"A=1", "B=2", EnvInstance + "=i-1", EnvInterruption + "=/x"}
	if !slices.Equal(got, want) {
		t.Errorf("environment = %q, want %q", got, want)
	}
}

// A process that was missed when its machine ended is found before the machine is forgotten.
func TestRemove_LastLook(t *testing.T) {
	t.Parallel()
	f := opened(t, t.TempDir(), Options{Clock: clocktesting.NewFakeClock(noon.Add(keepEnded))})
	missed, alive := foreignProcess(t)
	if err := f.disk.add(record{ID: missed, State: fleet.Ended, EndedAt: noon}); err != nil {
		t.Fatal(err)
	}
	looker(t, f)()
	eventually(t, "the process is killed", func() bool { return !alive() })
	if _, err := os.Stat(f.disk.folder(missed)); err != nil {
		t.Errorf("folder of a machine that had a process: %v, want it kept until the next look", err)
	}
}
