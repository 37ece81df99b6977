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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/leak"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// secrets collects every registration that was in a record, and what was sealed in it.
type secrets struct {
	leak.Secrets
	opened atomic.Int64
	clear  atomic.Pointer[string] // a runner whose registration anybody who reads the record can use
}

// open unseals a registration with the key of its machine, which root can read.
func (c *secrets) open(dir string, in store.Instance) {
	reg := in.Registration
	if !reg.Sealed() {
		c.clear.Store(&reg.Name)
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
			c.opened.Add(1)
			c.Add("registration", plain.Secret)
			if jit, err := githubsim.DecodeJIT(plain.Secret); err == nil { // what it is good for, in any form
				c.Add("JIT secret", jit.Secret)
			}
		}
		return fs.SkipAll
	})
}

// collect looks into the store until ctx ends.
func (c *secrets) collect(ctx context.Context, dir string, st *store.Store) error {
	seen := map[string]bool{}
	for {
		err := st.Scan(ctx, store.Visitor{
			Instance: func(in store.Instance) {
				secret := in.Registration.Secret
				if secret == "" || seen[secret] {
					return
				}
				seen[secret] = true
				c.Add("sealed registration", secret)
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

// H43: no log, no record of the store, no file of the fleet, no page, metric or trace, and no command line or environment that the
// runner's user can read holds a credential, but for what docs/security.md grants a job: its listener's
// own environment, with a registration that is used up.
func TestSecrets_H43_NowhereToBeFound(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"jit", "token"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			traces := &spans{}
			s, programs := unprivileged(t, `{small: {cpu: 2, mem: 4096}}`, "REMUDA_GITHUB_REGISTRATION="+mode, "REMUDA_LOG_LEVEL=debug",
				"REMUDA_HTTP_LISTEN=127.0.0.1:0", "OTEL_EXPORTER_OTLP_ENDPOINT="+traces.receive(t))
			plain := program.Help(t, programs, "plain", 0o755)
			found := &secrets{}
			found.Add("token", s.gitHub.Token)
			ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
			collected := make(chan error, 1)
			go func() { collected <- found.collect(ctx, s.dir, store.New(s.table)) }()
			lines := &leak.CommandLines{}
			watched := make(chan struct{})
			go func() { defer close(watched); lines.Watch(ctx) }()
			t.Cleanup(func() { cancel(); <-watched; s.Check(<-collected) })

			got := s.request("100", 1)
			stop := filepath.Join(s.dir, "programs/stop")
			done := make(chan error, 1)
			go func() {
				_, err := s.remuda(patience, "dev", "submit", "--run", "100", "--wait", "--script", "until test -e '"+stop+"'; do sleep 0.05; done")
				done <- err
			}()
			s.Check(s.expect(1, "instance has used its registration", func(in store.Instance) bool {
				return in.State == statemachine.Running && in.Registration.Secret == ""
			}))
			s.runsJob("100")
			s.Check(program.Until(patience, "a sealed registration was opened", func() bool { return found.opened.Load() > 0 }))
			if name := found.clear.Load(); name != nil {
				t.Fatalf("the registration of %s was in a record in the clear", *name)
			}
			s.tables(found)
			s.files(found)
			s.shown(found, "100", got.ids()[0], traces)
			listener := fmt.Sprint(s.listener(got.ids()[0]))
			for _, hit := range s.asJobUser(plain, found.All()) {
				if mode == "jit" && hit == "/proc/"+listener+"/environ" || strings.HasSuffix(hit, "/runner/.credentials") {
					continue // docs/security.md#what-a-job-can-read
				}
				t.Errorf("%s can read a credential in %s", s.user.Name, hit)
			}
			s.Check(os.WriteFile(stop, nil, 0o644))
			s.Check(<-done)
			s.Check(s.release("100"))
			s.end(1)
			if kept, err := filepath.Glob(filepath.Join(s.state, "instances/logs", got.ids()[0]+".json")); err != nil || len(kept) != 1 {
				t.Errorf("%q is kept of the machine's output, %v", kept, err)
			}
			s.tables(found)
			s.files(found)
			lines.Innocent(t, &found.Secrets, "token") // that is a plain word
		})
	}
}

// listener is the process that the agent of a machine remembers.
func (s *installation) listener(machine string) int {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.Machine(machine), "agent-state.json"))
	s.Check(err)
	_, rest, _ := strings.Cut(string(text), `"listener": {`)
	_, rest, _ = strings.Cut(rest, `"pid": `)
	number, _, _ := strings.Cut(rest, ",")
	pid, err := strconv.Atoi(number)
	s.Check(err)
	return pid
}

// tables looks for credentials in every cell of the store's file.
func (s *installation) tables(secrets *secrets) {
	s.Helper()
	db, err := sqlitedb.Open(s.Context(), filepath.Join(s.state, "remuda.db"))
	s.Check(err)
	defer func() { s.Check(db.Close()) }()
	names, err := query(s.Context(), db.SQL(), "SELECT name FROM sqlite_master WHERE type = 'table'")
	s.Check(err)
	if len(names) == 0 {
		s.Error("the store has no tables")
	}
	for _, name := range names {
		cells, err := query(s.Context(), db.SQL(), `SELECT * FROM "`+name+`"`)
		s.Check(err)
		for _, cell := range cells {
			if found := secrets.In([]byte(cell)); len(found) > 0 {
				s.Errorf("table %s holds the %s: %.60s…", name, strings.Join(found, ", "), cell)
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

// files looks for credentials in everything that was written but the store and what the simulated GitHub told
// its operator: logs of all, launches and machines of the fleet, folders of the instances.
func (s *installation) files(secrets *secrets) {
	s.Helper()
	found, looked, err := secrets.Files(s.dir, func(path string) bool {
		name := filepath.Base(path)
		return strings.HasPrefix(name, "remuda.db") || name == "github.log" || name == ".credentials" || strings.Contains(path, "/programs/")
	})
	s.Check(err)
	for path, names := range found {
		s.Errorf("%s holds the %s", path, strings.Join(names, ", "))
	}
	if looked < 5 {
		s.Errorf("looked into %d files only", looked)
	}
}

// asJobUser looks for words as the user of jobs, and returns where they are.
func (s *installation) asJobUser(helper string, words []string) []string {
	s.Helper()
	cmd := exec.Command(helper, "-test.run=^TestJobHelper$")
	cmd.Env, cmd.Dir = []string{helpEnv + "=grep:" + s.dir}, "/"
	cmd.Stdin = strings.NewReader(strings.Join(words, "\n"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.user.UID), Gid: uint32(s.user.GID)}}
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("%v\n%s", err, out)
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
		s.Errorf("nothing was looked into:\n%s", out)
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
	more, merr := filepath.Glob("/proc/[0-9]*/environ")
	files = append(files, more...)
	program.T{TB: t}.Check(errors.Join(err, merr, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.Contains(path, "/programs/") {
			files = append(files, path)
		}
		return nil // what cannot be listed is not readable
	})))
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
