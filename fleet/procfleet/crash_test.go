//go:build linux

package procfleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
)

// crashEnv makes the test binary a fleet process that a failpoint kills. Its value is a crash.
const crashEnv = "REMUDA_PROCFLEET_CRASH"

type crash struct {
	Dir       string
	At        string // failpoint
	Terminate bool   // once all machines are up
	Notice    bool
}

// childLimit ends a child whose failpoint was never reached.
const childLimit = 2 * patience

const crashToken = "l-crash"

// crashChild launches two machines in c.Dir and works on until it dies. It returns only if something
// went wrong.
func crashChild(value string) int {
	ctx, cancel := context.WithTimeout(context.Background(), childLimit)
	defer cancel()
	if err := crashWork(ctx, value); err != nil {
		fmt.Fprintln(os.Stderr, "crash child:", err)
	}
	return 3
}

func crashWork(ctx context.Context, value string) error {
	var c crash
	if err := json.Unmarshal([]byte(value), &c); err != nil {
		return err
	}
	o := Options{Command: script(sleeper), Clock: clock.RealClock{}}
	if c.Notice {
		o.NoticeAfter, o.NoticeLead = time.Millisecond, time.Hour
	}
	f, err := open(ctx, c.Dir, o)
	if err != nil {
		return err
	}
	up := make(chan struct{})
	var arrived int
	f.failpoint = func(step string) {
		if step == c.At {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // does not return
		}
		if step != string(stepArrive) {
			return
		}
		if arrived++; arrived == 2 {
			close(up)
		}
	}
	p, err := f.Plan(ctx, spec(crashToken, 2))
	if err != nil {
		return err
	}
	out, err := f.Launch(ctx, p)
	if err != nil {
		return err
	}
	if c.Terminate {
		go func() {
			<-up
			_ = f.Terminate(ctx, out.Machines[0].ID, out.Machines[1].ID) // shown by the failpoint never reached
		}()
	}
	return f.Run(ctx)
}

// crashAt runs a fleet process in dir until it dies at a failpoint.
func crashAt(t *testing.T, c crash) {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+string(b))
	cmd.Stderr = os.Stderr
	t.Cleanup(func() { killAll(t, newDisk(c.Dir)) })
	err = cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("fleet process ended with %v, want it killed at %q", err, c.At)
	}
}

// H32, S79: whatever the step at which the fleet's process dies, repeating the launch gives two
// machines, each of which runs its agent exactly once.
func TestLaunch_KilledAtAnyStep_RepeatedRunsEachOnce_H01_H32_S79(t *testing.T) {
	for _, at := range []string{
		"journal written", "machine made", "journal complete", "spawned", "recorded", "let go", string(stepArrive),
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			crashAt(t, crash{Dir: dir, At: at})
			f := running(t, dir, Options{})
			journaled, err := readJournal(f.disk.launch(crashToken))
			if err != nil {
				t.Fatalf("journal after the crash: %v", err)
			}
			out := launch(t, f, spec(crashToken, 2))
			var got []string
			for _, m := range out.Machines {
				got = append(got, m.ID)
			}
			if want := []string{journaled.Machines[0].ID, journaled.Machines[1].ID}; !slices.Equal(got, want) {
				t.Errorf("repeated Launch gave %v, want %v", got, want)
			}
			for _, id := range got {
				wantState(t, f, id, fleet.Up)
			}
			wantRuns(t, f, got...)
			if all, err := f.List(t.Context(), ""); err != nil || len(all) != 2 {
				t.Errorf("List = %d machines, %v, want 2", len(all), err)
			}
		})
	}
}

// S28: an order to terminate survives the process that took it.
func TestTerminate_KilledAtAnyStep_IsCarriedOut_S28_S79(t *testing.T) {
	for _, at := range []string{"stopped", string(stepStop), "ended"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			crashAt(t, crash{Dir: dir, At: at, Terminate: true})
			f := running(t, dir, Options{})
			for _, m := range launch(t, f, spec(crashToken, 2)).Machines {
				wantState(t, f, m.ID, fleet.Ended)
				wantGone(t, m.ID)
			}
		})
	}
}

func TestNotice_KilledBeforeItIsRecorded_IsGivenAgain(t *testing.T) {
	dir := t.TempDir()
	crashAt(t, crash{Dir: dir, At: "notice written", Notice: true})
	f := running(t, dir, Options{NoticeLead: time.Hour})
	for _, m := range launch(t, f, spec(crashToken, 2)).Machines {
		eventually(t, "the notice of "+m.ID+" says what its record says", func() bool {
			var n Notice
			if text := content(t, f, m.ID, interruptionFile); text != "" {
				if err := json.Unmarshal([]byte(text), &n); err != nil {
					t.Fatalf("notice %q: %v", text, err)
				}
			}
			r := loaded(t, f, m.ID)
			return !r.EndAt.IsZero() && n.Time.Equal(r.EndAt) && n.Action == "terminate"
		})
	}
}

func TestRun_AdoptsTheMachinesOfAKilledProcess_H01_S11(t *testing.T) {
	dir := t.TempDir()
	crashAt(t, crash{Dir: dir, At: string(stepArrive)})
	f := running(t, dir, Options{})
	all, err := f.List(t.Context(), crashToken)
	if err != nil || len(all) != 2 {
		t.Fatalf("List = %d machines, %v, want 2", len(all), err)
	}
	for _, m := range all {
		wantState(t, f, m.ID, fleet.Up)
	}
	wantRuns(t, f, all[0].ID, all[1].ID)
	if err := syscall.Kill(loaded(t, f, all[0].ID).Leader.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantState(t, f, all[0].ID, fleet.Ended) // seen though it is no one's child here
	terminate(t, f, all[1].ID)
	wantState(t, f, all[1].ID, fleet.Ended)
	if got := loaded(t, f, all[1].ID).Cause; got != causeTerminated {
		t.Errorf("cause = %q, want %q", got, causeTerminated)
	}
}
