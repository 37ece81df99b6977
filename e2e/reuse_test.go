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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// jobUsers are users of every Debian who have no processes. A test takes one of them out for its jobs: all that is the
// user's is its.
var jobUsers = free("games", "lp", "proxy")

// free returns those of the users that exist, and the first if none does, of whom program.JobUser then says so.
func free(names ...string) chan string {
	there := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, err := user.Lookup(name); return err != nil })
	if len(there) == 0 {
		there = names[:1]
	}
	all := make(chan string, len(there))
	for _, name := range there {
		all <- name
	}
	return all
}

// helpEnv makes this test program do what jobs do and shells cannot: see TestJobHelper.
const helpEnv = "REMUDA_E2E_HELP"

// TestJobHelper listens, mounts, makes what belongs to root, or looks for secrets, for a job.
func TestJobHelper(t *testing.T) {
	what, argument, _ := strings.Cut(os.Getenv(helpEnv), ":")
	check := program.T{TB: t}.Check
	switch what {
	case "":
	case "listen": // until killed
		l, err := net.Listen("tcp", "127.0.0.1:"+argument)
		check(err)
		defer l.Close()
		time.Sleep(time.Hour)
	case "free":
		l, err := net.Listen("tcp", "127.0.0.1:"+argument)
		check(err)
		check(l.Close())
	case "root":
		deep := filepath.Join(argument, "deep")
		check(errors.Join(os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "file"), []byte("dirt"), 0o600), os.WriteFile(argument+".txt", nil, 0o600)))
		info, err := os.Stat(deep)
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
			t.Fatalf("%s does not belong to root: %v", deep, err)
		}
	case "mount":
		check(errors.Join(os.Mkdir(argument, 0o755), syscall.Mount("none", argument, "tmpfs", 0, "size=64k")))
	case "grep":
		grep(t, argument)
	}
}

// unprivileged prepares an installation whose jobs run as another user, on one machine at a time. It
// returns a folder with programs for jobs.
func unprivileged(t *testing.T, classes string, env ...string) (s *installation, programs string) {
	t.Helper()
	name := <-jobUsers
	t.Cleanup(func() { jobUsers <- name })
	jobs := program.JobUser(t, name)
	env = append(env, "REMUDA_AGENT_RUNNER_USER="+jobs.Name, "REMUDA_PROCESS_CAPACITY=1", "REMUDA_CLASSES="+classes)
	s = install(t, append(env, crowdLimits...)...) // a machine that ends for being slow would hide what these are about
	s.user, programs = jobs, filepath.Join(s.dir, "programs")
	s.Check(os.Mkdir(programs, 0o755))
	// Jobs must reach the program, their machine and these folders, which tests keep to themselves.
	for _, dir := range []string{filepath.Dir(program.Binary), s.dir, s.state, programs} {
		s.Check(os.Chmod(dir, 0o755))
	}
	s.user.Enters(t, filepath.Dir(s.dir))
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
	program.Help(t, programs, "plain", 0o755)
	program.Help(t, programs, "rooted", 0o755|fs.ModeSetuid)
	mark := "remuda-reuse-" + strconv.Itoa(os.Getpid())
	t.Cleanup(func() {
		for _, place := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
			s.Check(os.RemoveAll(filepath.Join(place, mark)))
		}
	})
	job := fmt.Sprintf("set -e\nMARK=%s NUMBER=%d PORT=%d PROGRAMS='%s'\n%s", mark, os.Getpid(), freePort(t), programs, dirty)
	var machine string
	for run := range 10 {
		label := fmt.Sprintf("label-%d", run)
		got := s.request(label, 1)
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
		s.Check(s.release(label))
		s.Check(s.expect(1, "instance is pooled", witness.Pooled))
	}
	s.end(1)
	if left, err := (process.User{UID: s.user.UID}).Processes(); err != nil || len(left) > 0 {
		t.Errorf("%d processes of %s are left, %v", len(left), s.user.Name, err)
	}
}

// explain logs what the jobs of a machine said.
func (s *installation) explain(machine string) {
	logs, err := filepath.Glob(filepath.Join(s.Machine(machine), "runner/_diag/*.log"))
	if err != nil {
		s.Log(err)
	}
	for _, name := range append(logs, filepath.Join(s.Machine(machine), "agent.log")) {
		text, err := os.ReadFile(name)
		s.Logf("--- %s %v\n%s", filepath.Base(name), err, text)
	}
}

// S84 H42: a machine that cannot be cleaned is terminated, and says why; the next run gets another.
func TestReuse_S84_Unclean_Terminated(t *testing.T) {
	t.Parallel()
	s, programs := unprivileged(t, `{small: {cpu: 2, mem: 4096}}`)
	program.Help(t, programs, "rooted", 0o755|fs.ModeSetuid)
	got := s.request("100", 1)
	place := filepath.Join(s.Machine(got.ids()[0]), "home/mounted")
	t.Cleanup(func() { // the cleanup moves the home, and the mount with it
		for _, at := range []string{place, filepath.Join(s.Machine(got.ids()[0]), "discarded", "home", "mounted")} {
			_ = syscall.Unmount(at, syscall.MNT_DETACH) // it is at one of them
		}
	})
	_, err := s.remuda(patience, "dev", "submit", "--run", "100", "--wait", "--script",
		fmt.Sprintf("set -e\nenv REMUDA_E2E_HELP=mount:%s '%s/rooted' -test.run='^TestJobHelper$'", place, programs))
	if err != nil {
		s.explain(got.ids()[0])
		t.Fatal(err)
	}
	s.Check(s.release("100"))
	s.Check(s.expect(1, "instance is gone", func(in store.Instance) bool { return in.State == statemachine.Terminated }))
	log, err := os.ReadFile(filepath.Join(s.Machine(got.ids()[0]), "agent.log"))
	if err != nil || !bytes.Contains(log, []byte("this machine could not be cleaned after its run")) || !bytes.Contains(log, []byte("mounted")) {
		t.Errorf("the agent's log does not say that %s is left: %v\n%s", place, err, log)
	}
	again := s.request("200", 1)
	if again.WarmCount != 0 {
		t.Errorf("run 200 got %v, want a cold one", again.ids())
	}
	s.serve("200", 1)
	s.end(2)
}

// H42: a machine of a class that says so serves one run.
func TestReuse_H42_ScrubTerminate_OneRunEach(t *testing.T) {
	t.Parallel()
	s := serving(t, append([]string{`REMUDA_CLASSES={small: {cpu: 2, mem: 4096, scrub: terminate}}`}, crowdLimits...)...)
	for run := range 2 {
		label := fmt.Sprint(100 + run)
		got := s.request(label, 1)
		if got.WarmCount != 0 {
			t.Errorf("run %s got %v, want a cold one", label, got.ids())
		}
		s.serve(label, 2) // of one run
		s.Check(s.expect(run+1, "instances are gone", func(in store.Instance) bool { return in.State == statemachine.Terminated }))
	}
	s.end(2)
}
