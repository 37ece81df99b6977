package e2e

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/leak"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// jobUser is who runs jobs here: a user of every Debian who has no processes.
const jobUser = "games"

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
	if err != nil || !bytes.Contains(log, []byte("machine not clean")) || !bytes.Contains(log, []byte("mounted")) {
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

// secrets collects every registration that was in a record, and what was sealed in it.
type secrets struct {
	mu     sync.Mutex
	seen   []string
	opened int
	clear  []string // runners whose registration anybody who reads the record can use
}

// open unseals a registration with the key of its machine, which root can read.
func (c *secrets) open(dir string, in store.Instance) {
	reg := in.Registration
	if !reg.Sealed() {
		c.clear = append(c.clear, reg.Name)
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "agent-key" {
			return nil //nolint:nilerr // folders come and go
		}
		private, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		key, err := store.NewMachineKey(private)
		if err != nil || key.Public() != in.SealKey {
			return nil //nolint:nilerr // another machine's
		}
		if plain, err := key.Open(reg); err == nil {
			c.opened++
			c.seen = append(c.seen, plain.Secret)
			if jit, err := githubsim.DecodeJIT(plain.Secret); err == nil { // what it is good for, in any form
				c.seen = append(c.seen, jit.Secret)
			}
		}
		return fs.SkipAll
	})
}

func (c *secrets) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// noneIn wants the program that registers among the command lines of all processes, and no secret in any.
func noneIn(t *testing.T, lines []string, words []string) {
	t.Helper()
	runner := false
	for _, line := range lines {
		runner = runner || strings.Contains(line, "Runner.Listener") || strings.Contains(line, "simrunner")
		for _, w := range words {
			if strings.Contains(line, w) {
				t.Errorf("a command line holds a credential: %.80q…", line)
			}
		}
	}
	if !runner {
		t.Error("no command line of the runner was seen")
	}
}

// collect looks into the store until ctx ends.
func (c *secrets) collect(ctx context.Context, dir string, st *store.Store) error {
	for {
		err := st.Scan(ctx, store.Visitor{
			Instance: func(in store.Instance) {
				c.mu.Lock()
				defer c.mu.Unlock()
				secret := in.Registration.Secret
				if secret == "" || slices.Contains(c.seen, secret) {
					return
				}
				c.seen = append(c.seen, secret)
				c.open(dir, in)
			},
			Bad: func(store.Key, error) {},
		})
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(5 * time.Millisecond):
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// H43: no log, no record of the store, no file of the fleet, and no command line or environment that the
// runner's user can read holds a credential, but for what docs/security.md grants a job: its listener's
// own environment, with a registration that is used up.
func TestSecrets_H43_NowhereToBeFound(t *testing.T) {
	for _, mode := range []string{"jit", "token"} {
		t.Run(mode, func(t *testing.T) {
			s, programs := unprivileged(t, `{small: {cpu: 2, mem: 4096}}`, "REMUDA_GITHUB_REGISTRATION="+mode, "REMUDA_LOG_LEVEL=debug")
			plain := helper(t, programs, "plain", 0o755)
			found := &secrets{}
			ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
			collected := make(chan error, 1)
			go func() { collected <- found.collect(ctx, s.dir, store.New(s.table)) }()
			lines := &leak.CommandLines{}
			watched := make(chan struct{})
			go func() { defer close(watched); lines.Watch(ctx) }()
			t.Cleanup(func() { cancel(); <-watched; s.check(<-collected) })

			got, err := s.request("100", 1)
			s.check(err)
			stop := filepath.Join(s.dir, "programs/stop")
			done := make(chan error, 1)
			go func() {
				_, err := s.remuda(patience, "dev", "submit", "--run", "100", "--wait", "--script", "until test -e '"+stop+"'; do sleep 0.05; done")
				done <- err
			}()
			s.check(s.expect(1, "instance has used its registration", func(in store.Instance) bool {
				return in.State == statemachine.Running && in.Registration.Secret == ""
			}))
			s.check(until(patience, "the job runs", func() bool {
				out, err := s.remuda(patience, "dev", "jobs", "--run", "100")
				return err == nil && strings.Contains(string(out), "running")
			}))
			words := append(found.list(), s.gitHub.token)
			if len(words) < 2 || found.opened == 0 || len(found.clear) > 0 {
				t.Fatalf("%d registrations were seen sealed in a record, and in the clear those of %q", found.opened, found.clear)
			}
			s.tables(words)
			s.files(words)
			listener := fmt.Sprint(s.listener(got.ids()[0]))
			for _, hit := range asJobUser(t, plain, s.dir, words) {
				if mode == "jit" && hit == "/proc/"+listener+"/environ" || strings.HasSuffix(hit, "/runner/.credentials") {
					continue // docs/security.md#what-a-job-can-read
				}
				t.Errorf("%s can read a credential in %s", jobUser, hit)
			}
			s.check(os.WriteFile(stop, nil, 0o644))
			s.check(<-done)
			s.check(s.release("100"))
			s.end(1)
			s.tables(append(found.list(), s.gitHub.token))
			s.files(append(found.list(), s.gitHub.token))
			noneIn(t, lines.Seen(), found.list())
		})
	}
}

// listener is the process that the agent of a machine remembers.
func (s *installation) listener(machine string) int {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.state, "instances/instances", machine, "agent-state.json"))
	s.check(err)
	_, rest, _ := strings.Cut(string(text), `"listener": {`)
	_, rest, _ = strings.Cut(rest, `"pid": `)
	number, _, _ := strings.Cut(rest, ",")
	pid, err := strconv.Atoi(number)
	s.check(err)
	return pid
}

// tables looks for words in every cell of the store's file.
func (s *installation) tables(words []string) {
	s.Helper()
	db, err := sqlitedb.Open(s.Context(), filepath.Join(s.state, "remuda.db"))
	s.check(err)
	defer func() { s.check(db.Close()) }()
	names, err := query(s.Context(), db.SQL(), "SELECT name FROM sqlite_master WHERE type = 'table'")
	s.check(err)
	if len(names) == 0 {
		s.Error("the store has no tables")
	}
	for _, name := range names {
		cells, err := query(s.Context(), db.SQL(), `SELECT * FROM "`+name+`"`)
		s.check(err)
		for _, cell := range cells {
			for _, w := range words {
				if strings.Contains(cell, w) {
					s.Errorf("table %s holds a credential: %.60s…", name, cell)
				}
			}
		}
	}
}

// query returns every cell as text.
func query(ctx context.Context, db *sql.DB, text string) ([]string, error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var cells []string
	for rows.Next() {
		row, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		if err := rows.Scan(at...); err != nil {
			return nil, err
		}
		for _, v := range row {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			cells = append(cells, fmt.Sprint(v))
		}
	}
	return cells, rows.Err()
}

// files looks for words in everything that was written but the store and what the simulated GitHub told
// its operator: logs of all, launches and machines of the fleet, folders of the instances.
func (s *installation) files(words []string) {
	s.Helper()
	looked := 0
	s.check(filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "remuda.db") || d.Name() == "github.log" || d.Name() == ".credentials" || strings.Contains(path, "/programs/") {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		looked++
		for _, w := range words {
			if bytes.Contains(text, []byte(w)) {
				s.Errorf("%s holds a credential", path)
			}
		}
		return err
	}))
	if looked < 5 {
		s.Errorf("looked into %d files only", looked)
	}
}

// asJobUser looks for words as the user of jobs, and returns where they are.
func asJobUser(t *testing.T, program, dir string, words []string) []string {
	t.Helper()
	u, err := user.Lookup(jobUser)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestJobHelper$")
	cmd.Env, cmd.Dir = []string{helpEnv + "=grep:" + dir}, "/"
	cmd.Stdin = strings.NewReader(strings.Join(words, "\n"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(ownerOf(t)), Gid: uint32(gid)}}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var hits []string
	looked := 0
	for line := range strings.Lines(string(out)) {
		if hit, ok := strings.CutPrefix(strings.TrimSpace(line), "hit "); ok {
			hits = append(hits, hit)
		}
		if strings.HasPrefix(line, "looked") {
			looked++
		}
	}
	if looked == 0 {
		t.Errorf("nothing was looked into:\n%s", out)
	}
	return hits
}

// grep prints which files that this user can read hold a line of standard input: all below dir, and
// command lines and environments of all processes.
func grep(t *testing.T, dir string) {
	var words [][]byte
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words = append(words, slices.Clone(in.Bytes()))
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, more...)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.Contains(path, "/programs/") {
			files = append(files, path)
		}
		return nil // what cannot be listed is not readable
	})
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		looked++
		for _, w := range words {
			if bytes.Contains(text, w) {
				fmt.Println("hit", f)
			}
		}
	}
	if looked > 0 {
		fmt.Println("looked into", looked)
	}
}
