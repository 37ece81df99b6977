package contain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// world is an installation with a simulated GitHub and one machine at a time, whose jobs run as a user that
// nobody else uses.
type world struct {
	program.T
	program.Fleet
	user     program.User
	dir      string // of the test, which jobs can reach
	programs string // folder with programs for jobs
	state    string // the store's file and the fleet's folder
	env      []string
	store    *store.Store
	*reports
}

// jobUsers are users of every Debian that have no processes. e2e has others.
var jobUsers = []string{"irc", "list", "uucp", "news"}

// patience is how long one step may take on a busy computer, and stepTimeout how long the commands themselves
// wait, which then say more.
const (
	patience    = 3 * time.Minute
	stepTimeout = "170s"
)

// newWorld starts an installation. env adds settings to those of e2e/testdata/remuda.yaml.
func newWorld(t testing.TB, env ...string) *world {
	t.Helper()
	program.Long(t, "plays hostile jobs on a machine that is scrubbed in full")
	w := &world{T: program.T{TB: t}, user: program.JobUser(t, jobUsers...), dir: t.TempDir(), reports: newReports(t)}
	w.programs, w.state = filepath.Join(w.dir, "programs"), filepath.Join(w.dir, "state")
	w.Fleet = program.Fleet(filepath.Join(w.state, "instances"))
	for _, dir := range []string{w.programs, w.state} {
		w.Check(os.Mkdir(dir, 0o755))
	}
	// Jobs must reach the program, their machine and these folders, which tests keep to themselves.
	for _, dir := range []string{filepath.Dir(program.Binary), w.dir} {
		w.Check(os.Chmod(dir, 0o755))
	}
	w.user.Enters(t, filepath.Dir(w.dir))
	program.Help(t, w.programs, "plain", 0o755)
	program.Help(t, w.programs, "rooted", 0o755|fs.ModeSetuid)
	w.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "REMUDA_AGENT_RUNNER_USER=" + w.user.Name, "REMUDA_PROCESS_CAPACITY=1",
		"REMUDA_CLASSES={small: {cpu: 2, mem: 4096, scrub: full}}", "REMUDA_PROCESS_BOOT_DELAY=50ms",
	}, env...)
	w.install()
	return w
}

// install starts the simulated GitHub and a controller, and opens the store beside them.
func (w *world) install() {
	w.Helper()
	gitHub := w.start("github", "dev", "github", "--silence", "30s").GitHub()
	settings, err := os.ReadFile(filepath.Join("..", "testdata", "remuda.yaml"))
	w.Check(err)
	settings = fmt.Appendf(settings, "%sstore: sqlite://%s/remuda.db\nfleet: process://%s\n", gitHub.Settings, w.state, w.Fleet)
	file := filepath.Join(w.state, "remuda.yaml")
	w.Check(os.WriteFile(file, settings, 0o600))
	w.env = append(w.env, "REMUDA_CONFIG="+file, "REMUDA_SIMULATED_TOKEN="+gitHub.Token)
	table, err := sqlitestore.Open(w.Context(), &url.URL{Scheme: "sqlite", Path: filepath.Join(w.state, "remuda.db")}, clock.RealClock{})
	w.Check(err)
	w.store = store.New(table)
	w.Cleanup(func() { w.Check(table.Close()) })
	w.Cleanup(w.endMachines)
	w.start("controller", "controller")
}

func (w *world) start(name string, args ...string) *program.Daemon {
	w.Helper()
	return program.Start(w, program.Command{Name: name, Args: args, Dir: w.dir, Env: w.env, Patience: patience})
}

// endMachines ends what the controller leaves when it is stopped: its machines outlive it.
func (w *world) endMachines() {
	w.Check(program.KillLeft(patience, func() ([]process.Ref, error) {
		left, err := w.Left()
		return slices.Concat(slices.Collect(maps.Values(left))...), err
	}))
	if w.Failed() {
		machines, err := w.Machines()
		w.Check(err)
		for _, id := range machines {
			w.Logf("--- %s\n%s", id, w.log(id))
		}
	}
}

// run plays one run with one job and gives its machine back. It returns the machine.
func (w *world) run(id, script string) string {
	w.Helper()
	machine := w.request(id)
	w.job(id, script)
	w.release(id)
	return machine
}

// request asks for one runner.
func (w *world) request(id string) (machine string) {
	w.Helper()
	out := w.remuda("request", "--id", id, "--count", "1", "--resource-class", "small", "--timeout", stepTimeout, "-o", "json")
	answer, err := program.JSON[struct{ Instances []store.Seat }](out, nil)
	w.Check(err)
	if len(answer.Instances) != 1 {
		w.Fatalf("request %s: %d instances, want 1", id, len(answer.Instances))
	}
	return string(answer.Instances[0].InstanceID)
}

// job runs one job, which must succeed. It finds the programs of w.does.
func (w *world) job(id, script string) {
	w.Helper()
	w.remuda("dev", "submit", "--run", id, "--wait", "--script", "set -e\n"+script)
}

// does is a line of a job's script that starts a helper, "stay:"+name for one that outlives the job. program is
// plain, or rooted for what root alone can do.
func (w *world) does(program, what string) string {
	return fmt.Sprintf("env %s='%s' %s=%s '%s'\n", helpEnv, what, tellEnv, w.listener.Addr(), filepath.Join(w.programs, program))
}

// release gives a run's machine back, and waits until it is pooled or gone.
func (w *world) release(id string) {
	w.Helper()
	w.remuda("release", "--id", id)
	w.until("every machine is pooled or terminated", func() bool {
		return !slices.ContainsFunc(w.instances(), func(in store.Instance) bool {
			return in.State != statemachine.Terminated && (in.State != statemachine.Idle || in.PooledAt.IsZero())
		})
	})
}

// instances returns every record of a machine.
func (w *world) instances() []store.Instance {
	w.Helper()
	var all []store.Instance
	w.Check(w.store.Scan(w.Context(), store.Visitor{
		Instance: func(in store.Instance) { all = append(all, in) },
		Bad:      func(k store.Key, err error) { w.Errorf("record %v: %v", k, err) },
	}))
	return all
}

// clean wants a machine to be pooled again after its run.
func (w *world) clean(machine string) {
	w.Helper()
	for _, in := range w.instances() {
		if string(in.ID) == machine && in.State != statemachine.Idle {
			w.Errorf("machine %s is %s, want it pooled again\n%s", machine, in.State, w.log(machine))
		}
	}
}

// terminated wants a machine to be given up after its run, for a reason that its agent's log holds.
func (w *world) terminated(machine, reason string) {
	w.Helper()
	for _, in := range w.instances() {
		if string(in.ID) == machine && in.State != statemachine.Terminated {
			w.Errorf("machine %s is %s, want it terminated", machine, in.State)
		}
	}
	if log := w.log(machine); !strings.Contains(log, reason) {
		w.Errorf("the agent's log does not say %q:\n%s", reason, log)
	}
}

func (w *world) log(machine string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.Machine(machine), "agent.log"))
	w.Check(err)
	return string(text)
}

// remuda runs one command line, which must succeed, and returns what it printed.
func (w *world) remuda(args ...string) []byte {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	out, err := program.Run(ctx, w.dir, w.env, args...)
	w.Check(err)
	return out
}

// until waits for what another process brings about.
func (w *world) until(what string, cond func() bool) {
	w.Helper()
	w.Check(program.Until(patience, what, cond))
}

// threads counts those of a process that run, as the kernel lists them: 0 once all of it has ended.
func threads(t testing.TB, pid string) int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/" + pid + "/task/*/stat")
	if err != nil || pid == "" {
		t.Fatalf("process %q: %v", pid, err)
	}
	n := 0
	for _, name := range tasks {
		line, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if state := line[bytes.LastIndexByte(line, ')')+1:]; !bytes.HasPrefix(state, []byte(" Z")) && !bytes.HasPrefix(state, []byte(" X")) {
			n++
		}
	}
	return n
}
