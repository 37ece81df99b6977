package contain

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/attack"
	"github.com/remuda-run/remuda/e2e/program"
)

// allowSubordinateIDs lets the agent serve a user that has subordinate uids at level full.
const allowSubordinateIDs = "REMUDA_AGENT_ALLOW_SUBORDINATE_IDS=true"

// attacks is a world whose jobs' user has subordinate uids, and whose jobs call program hostile.
type attacks struct {
	*world
	lines          *attack.Lines
	hostile, mapID string // the program, and the same set-uid root in place of newuidmap
	sub            int    // the first subordinate uid
}

// newAttacks starts an installation. The test is left out where users may not make user namespaces.
func newAttacks(t *testing.T) *attacks {
	t.Helper()
	program.Long(t, "plays attacks on a machine that is scrubbed in full")
	root := t.TempDir()
	a := &attacks{lines: attack.Listen(t)}
	a.world = newWorld(t, "REMUDA_ROOT="+root, allowSubordinateIDs)
	a.sub = 2_100_000_000 + a.user.UID // no user's
	a.Check(os.Chmod(filepath.Dir(root), 0o755))
	a.Check(os.Chmod(root, 0o755))
	a.Check(os.Mkdir(filepath.Join(root, "etc"), 0o755))
	for _, name := range []string{"subuid", "subgid"} {
		a.Check(os.WriteFile(filepath.Join(root, "etc", name), fmt.Appendf(nil, "%s:%d:2\n", a.user.Name, a.sub), 0o644))
	}
	a.hostile, a.mapID = filepath.Join(a.programs, "hostile"), filepath.Join(a.programs, "hostile-map")
	attack.Build(t, a.hostile)
	text, err := os.ReadFile(a.hostile)
	a.Check(err)
	a.Check(os.WriteFile(a.mapID, text, 0o755))
	a.Check(os.Chmod(a.mapID, 0o755|fs.ModeSetuid))
	probe := exec.Command("unshare", "--user", "true")
	probe.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.user.UID), Gid: uint32(a.user.GID)}}
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("users may not make user namespaces here: %v: %s", err, out)
	}
	return a
}

// leaves is a job that leaves one attack, whose flags are those of hostile leave. The lifeline has the name of the run.
func (a *attacks) leaves(run, flags string) string {
	common := fmt.Sprintf("-plain '%s' -file \"$HOME/hostile\" -mapper '%s' -sub %d -line %s", a.hostile, a.mapID, a.sub, a.lines.Address())
	return fmt.Sprintf("'%[1]s' arm %[2]s\n'%[1]s' leave %[2]s -name %[3]s %[4]s\n", a.hostile, common, run, flags)
}

// token is the secret of each second run.
const token = "ghs_of_the_second_run"

// serves plays a run whose job has a secret, and calls while with the machine while the job runs.
func (a *attacks) serves(run string, while func(machine string)) {
	a.Helper()
	machine := a.request(run)
	a.remuda("dev", "submit", "--run", run, "--script",
		fmt.Sprintf("exec env GITHUB_TOKEN=%s '%s' hold -line %s -name %s", token, a.hostile, a.lines.Address(), run))
	a.until("the job of run "+run+" runs", func() bool { return len(a.lines.Alive(run)) == 1 })
	while(machine)
	a.lines.Stood(run)[0].End()
	a.release(run)
}

// steals has an attack that is a chain steal a token, and waits until it has one.
func (a *attacks) steals(l *attack.Line) {
	l.Steal()
	if err := program.Until(5*time.Second, "the attack steals", l.Answered); err != nil {
		a.Log(err) // it is no chain
	}
}

// ends ends an attack that should be over. An attack that cannot read its lifeline is one process, and is killed.
func (a *attacks) ends(l *attack.Line) {
	a.Helper()
	l.End()
	pid, err := strconv.Atoi(l.PID)
	a.Check(err)
	for _, group := range []int{pid, -pid} { // the group is that of its session
		if !l.Over() {
			_ = syscall.Kill(group, syscall.SIGKILL) // it may end just now, or have no group
		}
	}
	a.until("attack "+l.Name+" ends", l.Over)
}

// zombies counts processes of program hostile that have ended, and whose status no process has read.
func (w *world) zombies() (n int) {
	w.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	w.Check(err)
	for _, file := range stats {
		text, _ := os.ReadFile(file) // it may be gone
		if bytes.Contains(text, []byte(" (hostile) Z ")) {
			n++
		}
	}
	return n
}
