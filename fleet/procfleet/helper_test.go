//go:build linux

package procfleet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/process"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashEnv) != "" {
		os.Exit(crashChild(os.Getenv(crashEnv)))
	}
	goleak.VerifyTestMain(m)
}

// sleeper notes each of its runs and stays.
const sleeper = `echo run >>runs; exec sleep 600`

// script makes a shell script the agent of every machine.
func script(text string) func(id, dir string) (argv, env []string) {
	return func(string, string) ([]string, []string) {
		return []string{"/bin/sh", "-c", text}, []string{"PATH=/usr/bin:/bin"}
	}
}

// opened opens a fleet whose agents are sleepers unless o says otherwise. All its processes are
// killed in the end.
func opened(t *testing.T, dir string, o Options) *Fleet {
	t.Helper()
	if o.Command == nil {
		o.Command = script(sleeper)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	f, err := open(t.Context(), dir, o)
	if err != nil {
		t.Fatalf("open error = %v", err)
	}
	t.Cleanup(func() { killAll(t, f.disk) })
	return f
}

// running is opened with a Run that ends with the test.
func running(t *testing.T, dir string, o Options) *Fleet {
	t.Helper()
	f := opened(t, dir, o)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := f.Run(ctx); err != nil {
			t.Errorf("Run error = %v", err)
		}
	})
	t.Cleanup(func() { cancel(); run.Wait() })
	return f
}

// looker returns what takes one look as Run does, for tests that own the clock.
func looker(t *testing.T, f *Fleet) (look func() (wake time.Time)) {
	run := newRunner(f)
	return func() time.Time {
		t.Helper()
		wake, err := run.look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return wake
	}
}

// killAll kills every process of every machine in the folder.
func killAll(t *testing.T, d *disk) {
	t.Helper()
	all, err := d.all(time.Now())
	if err != nil {
		t.Errorf("list machines error = %v", err)
	}
	for _, r := range all {
		quiet := 0 // looks in a row: one misses a process in the middle of exec
		eventually(t, "no process is left of "+r.ID, func() bool {
			refs, err := process.Find(EnvInstance, r.ID)
			if err != nil || process.KillAll(append(refs, r.Leader)...) != nil {
				return false
			}
			if quiet++; len(refs) > 0 || r.Leader.Alive() {
				quiet = 0
			}
			return quiet > quietLooks
		})
	}
}

// patience is far above what anything here takes, for machines whose disk is busy: every record is
// synced.
const patience = 2 * time.Minute

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// foreignProcess starts a process that looks like a machine of another fleet.
func foreignProcess(t *testing.T) (id string, alive func() bool) {
	t.Helper()
	id = newID()
	return id, sleeping(t, EnvInstance+"="+id).Alive
}

// sleeping starts a process that no fleet knows.
func sleeping(t *testing.T, env ...string) process.Ref {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(env, "PATH=/usr/bin:/bin")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ref, err := process.Lookup(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.KillAll(ref); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // killed: its status says only that
	})
	return ref
}

func spec(token string, count int) fleet.Spec {
	return fleet.Spec{
		Token: token, Count: count, ResourceClass: "small", UsageClass: spot, CPU: 2, Mem: 4096, AllowedTypes: []string{"*"},
	}
}

func launch(t *testing.T, f *Fleet, s fleet.Spec) fleet.Outcome {
	t.Helper()
	p, err := f.Plan(t.Context(), s)
	if err != nil {
		t.Fatalf("Plan error = %v", err)
	}
	out, err := f.Launch(t.Context(), p)
	if err != nil {
		t.Fatalf("Launch error = %v", err)
	}
	return out
}

func terminate(t *testing.T, f *Fleet, ids ...string) {
	t.Helper()
	if err := f.Terminate(t.Context(), ids...); err != nil {
		t.Fatal(err)
	}
}

// launchOne launches one machine and waits until its agent has made the file ready.
func launchOne(t *testing.T, f *Fleet, ready string) record {
	t.Helper()
	out := launch(t, f, spec("l-1", 1))
	if len(out.Machines) != 1 {
		t.Fatalf("Launch = %+v, want one machine", out)
	}
	id := out.Machines[0].ID
	wantState(t, f, id, fleet.Up)
	eventually(t, "the agent has made "+ready, func() bool { return content(t, f, id, ready) != "" })
	return loaded(t, f, id)
}

func loaded(t *testing.T, f *Fleet, id string) record {
	t.Helper()
	r, err := f.disk.load(id, time.Now())
	if err != nil {
		t.Fatalf("load %s error = %v", id, err)
	}
	return r
}

// content returns a file of the machine's folder, "" if it is not there.
func content(t *testing.T, f *Fleet, id, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(f.disk.folder(id), name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// wantState waits until List shows the machine in state.
func wantState(t *testing.T, f *Fleet, id string, state fleet.State) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is %s", id, state), func() bool {
		all, err := f.List(t.Context(), "")
		if err != nil {
			t.Fatalf("List error = %v", err)
		}
		return slices.ContainsFunc(all, func(m fleet.Machine) bool { return m.ID == id && m.State == state })
	})
}

// processes returns the processes that carry the machine's mark.
func processes(t *testing.T, id string) []process.Ref {
	t.Helper()
	refs, err := process.Find(EnvInstance, id)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// wantGone checks that no process of an ended machine is left.
func wantGone(t *testing.T, id string) {
	t.Helper()
	if left := processes(t, id); len(left) != 0 {
		t.Errorf("processes of an ended machine: %v", left)
	}
}

// wantRuns checks that each machine's agent has started exactly once and that one process is it.
func wantRuns(t *testing.T, f *Fleet, ids ...string) {
	t.Helper()
	for _, id := range ids {
		eventually(t, "one process carries the mark of "+id, func() bool { return len(processes(t, id)) == 1 })
		eventually(t, id+" has run", func() bool { return content(t, f, id, "runs") != "" })
		if n := strings.Count(content(t, f, id, "runs"), "run"); n != 1 {
			t.Errorf("agent of %s started %d times, want once", id, n)
		}
	}
}
