package e2e

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

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
			return nil //nolint:nilerr // the same
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
	t.Parallel()
	for _, mode := range []string{"jit", "token"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
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
