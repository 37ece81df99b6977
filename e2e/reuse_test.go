package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// jobUser is who runs jobs here: a user of every Debian who has no processes.
const jobUser = "games"

// jobUserFree is held by the one test whose jobs run as that user: all that is the user's is its.
var jobUserFree sync.Mutex

// helpEnv makes this test program do what jobs do and shells cannot: see TestJobHelper.
const helpEnv = "REMUDA_E2E_HELP"

// helper copies this program to where jobs can run it, as root if rooted.
func helper(t *testing.T, dir, name string, mode fs.FileMode) string {
	t.Helper()
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := errors.Join(os.WriteFile(path, b, 0o755), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestJobHelper listens, mounts, makes what belongs to root, or looks for secrets, for a job.
func TestJobHelper(t *testing.T) {
	what, argument, _ := strings.Cut(os.Getenv(helpEnv), ":")
	switch what {
	case "":
	case "listen": // until killed
		l, err := net.Listen("tcp", "127.0.0.1:"+argument)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		time.Sleep(time.Hour)
	case "free":
		l, err := net.Listen("tcp", "127.0.0.1:"+argument)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	case "root":
		deep := filepath.Join(argument, "deep")
		if err := errors.Join(os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "file"), []byte("dirt"), 0o600), os.WriteFile(argument+".txt", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(deep)
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
			t.Fatalf("%s does not belong to root: %v", deep, err)
		}
	case "mount":
		if err := errors.Join(os.Mkdir(argument, 0o755), syscall.Mount("none", argument, "tmpfs", 0, "size=64k")); err != nil {
			t.Fatal(err)
		}
	case "grep":
		grep(t, argument)
	}
}

// unprivileged prepares an installation whose jobs run as another user, on one machine at a time. It
// returns a folder with programs for jobs.
func unprivileged(t *testing.T, classes string, env ...string) (s *installation, programs string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run jobs as another user")
	}
	if _, err := user.Lookup(jobUser); err != nil {
		t.Skipf("nobody to run jobs as: %v", err)
	}
	jobUserFree.Lock()
	t.Cleanup(jobUserFree.Unlock)
	if there, err := (process.User{UID: ownerOf(t)}).Processes(); err != nil || len(there) > 0 {
		t.Skipf("%s has %d processes already, %v", jobUser, len(there), err)
	}
	t.Cleanup(func() { // what a failed test leaves must not hide the next one's result
		left, err := process.User{UID: ownerOf(t)}.Processes()
		if err := errors.Join(err, process.KillAll(left...)); err != nil {
			t.Error(err)
		}
	})
	env = append(env, "REMUDA_AGENT_RUNNER_USER="+jobUser, "REMUDA_PROCESS_CAPACITY=1", "REMUDA_CLASSES="+classes)
	s = install(t, append(env, crowdLimits...)...) // a machine that ends for being slow would hide what these are about
	programs = filepath.Join(s.dir, "programs")
	s.check(os.Mkdir(programs, 0o755))
	// Jobs must reach the program, their machine and these folders, which tests keep to themselves.
	for _, dir := range []string{filepath.Dir(binary), filepath.Dir(s.dir), s.dir, s.state, programs} {
		s.check(os.Chmod(dir, 0o755))
	}
	s.controls()
	return s, programs
}

// dirty is a job that fails if it finds a trace of another, and leaves all it can: files anywhere,
// those of root too, processes that left group, session, parent and environment, a port.
const dirty = `
test -z "$(ls -A .)"
test -z "$(ls -A "$HOME")"
test -z "$(ls -A "$TMPDIR")"
for place in /tmp /var/tmp /dev/shm; do test ! -e $place/$MARK; done
# "!" would not end the script; no command line of a client shows what is looked for.
if grep -lsa "sleep.8765$NUMBER[2]" /proc/[0-9]*/cmdline; then exit 1; fi
env REMUDA_E2E_HELP=free:$PORT $PROGRAMS/plain -test.run='^TestJobHelper$'
test "$(id -u)" != 0
if echo spoilt >> "$HOME/../runner/bin/Runner.Listener"; then exit 1; fi
test ! -e "$HOME/../runner/left" -a ! -e "$HOME/../runner/deep"
mkdir "$HOME/../runner/deep" && echo dirt > "$HOME/../runner/deep/file" && echo dirt > "$HOME/../runner/left"

echo dirt > file && mkdir -p "$HOME/.cache/deep" && echo dirt > "$HOME/.cache/deep/file" && chmod 500 "$HOME/.cache/deep"
echo dirt > "$TMPDIR/file" && ln -s / "$HOME/link"
for place in /tmp /var/tmp /dev/shm; do mkdir $place/$MARK && echo dirt > $place/$MARK/file; done
for place in "$PWD" "$HOME" "$TMPDIR"; do env REMUDA_E2E_HELP=root:$place/rooted $PROGRAMS/rooted -test.run='^TestJobHelper$'; done
tail=2
(env -i setsid /bin/sh -c "sleep 8765$NUMBER$tail & exec sh -c 'sleep 8765$NUMBER$tail; :'" > /dev/null 2>&1 &)
env -i REMUDA_E2E_HELP=listen:$PORT setsid $PROGRAMS/plain -test.run='^TestJobHelper$' > /dev/null 2>&1 &
until grep -q "$(printf ':%04X 00000000:0000 0A' $PORT)" /proc/net/tcp; do sleep 0.05; done
`

// freePort returns a port that nobody uses now, and nobody is given for a connection of his own (ip(7),
// ip_local_port_range begins at 32768).
func freePort(t *testing.T) int {
	t.Helper()
	for port := 20000 + os.Getpid()%10000; port < 32768; port++ {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			return port
		}
	}
	t.Fatal("every port is taken")
	return 0
}

// S85 S88 H42: one machine serves ten runs under ten labels as another user, and no run finds a trace of
// another, though each leaves all it can.
func TestReuse_S88_TenCleanCycles(t *testing.T) {
	program.Long(t, "plays ten runs")
	t.Parallel()
	s, programs := unprivileged(t, `{small: {cpu: 2, mem: 4096, scrub: full}}`)
	helper(t, programs, "plain", 0o755)
	helper(t, programs, "rooted", 0o755|fs.ModeSetuid)
	mark := "remuda-reuse-" + strconv.Itoa(os.Getpid())
	t.Cleanup(func() {
		for _, place := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
			s.check(os.RemoveAll(filepath.Join(place, mark)))
		}
	})
	job := fmt.Sprintf("set -e\nMARK=%s NUMBER=%d PORT=%d PROGRAMS='%s'\n%s", mark, os.Getpid(), freePort(t), programs, dirty)
	var machine string
	for run := range 10 {
		label := fmt.Sprintf("label-%d", run)
		got, err := s.request(label, 1)
		s.check(err)
		if machine == "" {
			machine = got.ids()[0]
		}
		if got.ids()[0] != machine {
			t.Fatalf("run %s got %s, want %s again", label, got.ids()[0], machine)
		}
		if _, err := s.remuda(patience, "dev", "submit", "--run", label, "--wait", "--script", job); err != nil {
			s.explain(machine)
			t.Fatal(err)
		}
		s.check(s.release(label))
		s.check(s.expect(1, "instance is pooled", pooled))
	}
	s.end(1)
	uid := ownerOf(t)
	if left, err := (process.User{UID: uid}).Processes(); err != nil || len(left) > 0 {
		t.Errorf("%d processes of %s are left, %v", len(left), jobUser, err)
	}
}

func ownerOf(t *testing.T) int {
	t.Helper()
	u, err := user.Lookup(jobUser)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		t.Fatal(err)
	}
	return uid
}

// explain logs what the jobs of a machine said.
func (s *installation) explain(machine string) {
	logs, err := filepath.Glob(filepath.Join(s.state, "instances/instances", machine, "runner/_diag/*.log"))
	if err != nil {
		s.Log(err)
	}
	for _, name := range append(logs, filepath.Join(s.state, "instances/instances", machine, "agent.log")) {
		text, err := os.ReadFile(name)
		s.Logf("--- %s %v\n%s", filepath.Base(name), err, text)
	}
}

// S84 H42: a machine that cannot be cleaned is terminated, and says why; the next run gets another.
func TestReuse_S84_Unclean_Terminated(t *testing.T) {
	t.Parallel()
	s, programs := unprivileged(t, `{small: {cpu: 2, mem: 4096}}`)
	helper(t, programs, "rooted", 0o755|fs.ModeSetuid)
	got, err := s.request("100", 1)
	s.check(err)
	place := filepath.Join(s.state, "instances/instances", got.ids()[0], "home/mounted")
	t.Cleanup(func() { _ = syscall.Unmount(place, syscall.MNT_DETACH) }) // not mounted: not there either
	_, err = s.remuda(patience, "dev", "submit", "--run", "100", "--wait", "--script",
		fmt.Sprintf("set -e\nenv REMUDA_E2E_HELP=mount:%s '%s/rooted' -test.run='^TestJobHelper$'", place, programs))
	if err != nil {
		s.explain(got.ids()[0])
		t.Fatal(err)
	}
	s.check(s.release("100"))
	s.check(s.expect(1, "instance is gone", func(in store.Instance) bool { return in.State == statemachine.Terminated }))
	log, err := os.ReadFile(filepath.Join(s.state, "instances/instances", got.ids()[0], "agent.log"))
	if err != nil || !bytes.Contains(log, []byte("this machine could not be cleaned after its run")) || !bytes.Contains(log, []byte("mounted")) {
		t.Errorf("the agent's log does not say that %s is left: %v\n%s", place, err, log)
	}
	again, err := s.request("200", 1)
	s.check(err)
	if again.WarmCount != 0 {
		t.Errorf("run 200 got %v, want a cold one", again.ids())
	}
	s.check(s.jobs("200", 1))
	s.check(s.release("200"))
	s.end(2)
}

// H42: a machine of a class that says so serves one run.
func TestReuse_H42_ScrubTerminate_OneRunEach(t *testing.T) {
	t.Parallel()
	s := install(t, append([]string{`REMUDA_CLASSES={small: {cpu: 2, mem: 4096, scrub: terminate}}`}, crowdLimits...)...)
	s.controls()
	for run := range 2 {
		label := fmt.Sprint(100 + run)
		got, err := s.request(label, 1)
		s.check(err)
		if got.WarmCount != 0 {
			t.Errorf("run %s got %v, want a cold one", label, got.ids())
		}
		s.check(s.jobs(label, 2)) // of one run
		s.check(s.release(label))
		s.check(s.expect(run+1, "instances are gone", func(in store.Instance) bool { return in.State == statemachine.Terminated }))
	}
	s.end(2)
}
