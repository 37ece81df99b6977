package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/reference"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

var update = flag.Bool("update", false, "write golden and generated files instead of comparing them")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// golden compares got with the file at path.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-file +got); -update writes it:\n%s", path, diff)
	}
}

// contains fails the test unless text has every part in it.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

func testdata(name string) string { return filepath.Join("testdata", name) }

// cli is one user of the program: its streams are buffers, its environment and files are maps.
type cli struct {
	*app
	out, err bytes.Buffer
	env      []string
	files    map[string]string
	opened   int // times the store was opened
}

// newCLI returns a user of st. A nil st cannot be opened.
func newCLI(st *store.Store) *cli {
	c := &cli{files: map[string]string{}}
	c.app = &app{
		streams: streams{in: &bytes.Buffer{}, out: &c.out, err: &c.err, size: func() (int, int) { return plainColumns, plainRows }},
		clock:   clock.RealClock{},
		system:  "linux",
		environ: func() []string { return c.env },
		readFile: func(path string) ([]byte, error) {
			if text, ok := c.files[path]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
		republished: make(chan struct{}, 1),
		hangups:     func() (<-chan os.Signal, func()) { return nil, func() {} },
		openStore: func(context.Context, config.Config, bool) (*store.Store, func() error, error) {
			c.opened++
			if st == nil {
				return nil, nil, errors.New("open store: there is none")
			}
			return st, func() error { return nil }, nil
		},
	}
	c.references = &reference.Reader{ReadFile: func(path string) ([]byte, error) { return c.readFile(path) }, Load: awscfg.Load}
	return c
}

// run runs one command line afresh.
func (c *cli) run(ctx context.Context, args ...string) int {
	c.out.Reset()
	c.err.Reset()
	c.global = globalFlags{}
	return execute(ctx, c.app, args)
}

// ends is run that must end with a code.
func (c *cli) ends(t *testing.T, want int, args ...string) {
	t.Helper()
	if code := c.run(t.Context(), args...); code != want {
		t.Fatalf("exit code = %d, want %d; stderr:\n%s", code, want, &c.err)
	}
}

// memory returns a store in memory, over wrap of its table if given.
func memory(t *testing.T, wrap func(store.Table) store.Table) *store.Store {
	t.Helper()
	table, err := sqlitestore.OpenMemory(t.Context(), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	if wrap == nil {
		return store.New(table)
	}
	return store.New(wrap(table))
}

// controller plays the controller for one request: each step waits and then moves the status.
type controller struct {
	t  *testing.T
	st *store.Store
	at store.RunStatus
}

func newController(t *testing.T, st *store.Store, id store.RequestID, attempt int) *controller {
	return &controller{t: t, st: st, at: store.RunStatus{ID: id, Attempt: attempt}}
}

func (c *controller) after(d time.Duration, on statemachine.RequestEvent, change func(*store.RunStatus)) *controller {
	time.Sleep(d) // bubble time
	next := c.at
	if change != nil {
		change(&next)
	}
	out, err := c.st.PutStatus(context.Background(), next, on, time.Now())
	if err != nil {
		c.t.Errorf("PutStatus(%s): %v", on, err)
	}
	c.at = out
	return c
}

// launch registers an instance of the small class.
func launch(t *testing.T, st *store.Store, id store.InstanceID, now time.Time) store.Instance {
	t.Helper()
	in, err := st.Register(t.Context(), store.Instance{
		Principal: store.Principal(id), ID: id, RunID: "77", Attempt: 1, ResourceClass: "small", UsageClass: store.Spot,
		InstanceType: "c6i.large", CPU: 2, Mem: 4096, Zone: "local", LaunchToken: "l-1", TemplateVersion: "1",
	}, now, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// move makes one transition.
func move(t *testing.T, st *store.Store, in store.Instance, tr store.Transition) store.Instance {
	t.Helper()
	out, err := st.Transition(t.Context(), in, tr)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
