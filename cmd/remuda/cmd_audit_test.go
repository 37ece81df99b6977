package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// readOnly fails the test on any write, once it is sealed: an audit reads.
type readOnly struct {
	store.Table
	t      *testing.T
	sealed bool
}

func (r *readOnly) Put(ctx context.Context, item store.Item, expect int64) error {
	if r.sealed {
		r.t.Errorf("audit writes %s", item.Key.Partition)
	}
	return r.Table.Put(ctx, item, expect)
}

func (r *readOnly) Notify(ctx context.Context, keys ...store.Key) error {
	if r.sealed {
		r.t.Errorf("audit notifies of %v", keys)
	}
	return r.Table.Notify(ctx, keys...)
}

// audited runs `remuda audit` over a store that fill fills, with no time between the looks, and returns
// its exit code.
func audited(t *testing.T, fill func(*store.Store), args ...string) (*cli, int) {
	t.Helper()
	table := &readOnly{t: t}
	st := memory(t, func(inner store.Table) store.Table {
		table.Table = inner
		return table
	})
	if fill != nil {
		fill(st)
	}
	table.sealed = true
	c := newCLI(st)
	return c, c.run(t.Context(), append([]string{"audit", "--settle", "0s"}, args...)...)
}

func TestAudit_NothingWrong(t *testing.T) {
	c, code := audited(t, nil, "--without", "fleet")
	want := "not compared: fleet: left out by --without\nnot compared: github: github.url is not configured\n" +
		"0 instances, 0 requests, 0 machines, 0 runners: 0 violations\n"
	if code != exitDone || c.out.String() != want {
		t.Errorf("audit = %d, %q, want 0, %q; stderr:\n%s", code, &c.out, want, &c.err)
	}
}

// unled stores an instance that no controller leads.
func unled(t *testing.T) func(*store.Store) {
	return func(st *store.Store) {
		submitted(t, st, 1)
		launch(t, st, "i-1", time.Now())
	}
}

func TestAudit_Violations(t *testing.T) {
	c, code := audited(t, unled(t), "--without", "fleet")
	if code != exitViolated {
		t.Errorf("audit = %d, want %d; stderr:\n%s", code, exitViolated, &c.err)
	}
	contains(t, c.out.String(), "INVARIANT", "11 no-leader", "lease", "no controller ever led", "start a controller", "1 instance, 1 request, 0 machines, 0 runners: 1 violation\n")
	contains(t, c.err.String(), "audit: 1 violation")
}

func TestAudit_JSON(t *testing.T) {
	c, code := audited(t, unled(t), "--without", "fleet,resources", "-o", "json")
	var got auditView
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if code != exitViolated || len(got.Violations) != 1 || got.Violations[0].Invariant != "no-leader" || got.Instances != 1 || len(got.NotCompared) != 3 {
		t.Errorf("audit = %d, %+v, want the missing leader, and three parts that were not compared", code, got)
	}
}

// A registration stands in the record and nowhere else, in whatever form it is reported (H43).
func TestAudit_TellsNoSecret(t *testing.T) {
	fill := func(st *store.Store) {
		for _, id := range []store.InstanceID{"i-1", "i-2"} {
			in := launch(t, st, id, time.Now())
			reg := store.Registration{Serial: 1, Assignment: 1, Mode: store.JIT, Name: string(id) + "-1", Secret: secret, MintedAt: store.At(time.Now())}
			if _, err := st.SetRegistration(t.Context(), in, reg, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, format := range []string{formatTable, formatJSON} {
		c, code := audited(t, fill, "--without", "fleet", "-o", format)
		if code != exitViolated || !strings.Contains(c.out.String(), "holds the same secret as instance i-1") || strings.Contains(c.out.String()+c.err.String(), secret) {
			t.Errorf("-o %s: exit code %d, want the shared secret reported and not shown:\n%s%s", format, code, &c.out, &c.err)
		}
	}
}

// The fleet's machines are compared; a folder that does not exist is not made.
func TestAudit_Fleet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "instances")
	c, code := audited(t, nil, "--set", "fleet=process://"+dir)
	if _, err := os.Stat(dir); code != exitPartlyRead || err == nil || !strings.Contains(c.err.String(), "fleet: not compared") {
		t.Errorf("audit without a fleet = %d, want %d and no folder; stderr:\n%s", code, exitPartlyRead, &c.err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if c, code = audited(t, nil, "--set", "fleet=process://"+dir); code != exitDone || strings.Contains(c.out.String(), "fleet") {
		t.Errorf("audit of an empty fleet = %d, want 0; output:\n%s%s", code, &c.out, &c.err)
	}
}

// GitHub's runners are compared; where it cannot be asked, that is reported and is no success (S14 H37).
func TestAudit_GitHub(t *testing.T) {
	status := http.StatusOK
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"total_count": 1, "runners": [{"id": 9, "name": "i-1-1.1", "status": "online", "labels": [{"name": "76"}]}]}`))
	}))
	t.Cleanup(func() {
		github.CloseClientConnections()
		github.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	fill := func(st *store.Store) {
		long := time.Now().Add(-time.Hour)
		in := launch(t, st, "i-1", long)
		in = move(t, st, in, store.Transition{Event: statemachine.Rejected, Now: long, Reason: statemachine.ReasonScript})
		if _, err := st.Retire(t.Context(), in, time.Now().Add(time.Hour), long); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--without", "fleet", "--set", "github.url=" + github.URL + "/o/r", "--set", "github.apiUrl=" + github.URL, "--set", "github.tokenEnv=" + simTokenEnv}
	c, code := audited(t, fill, args...)
	if code != exitViolated || !strings.Contains(c.out.String(), "14 stray-runner") || !strings.Contains(c.out.String(), "runner i-1-1.1") || !strings.Contains(c.out.String(), "1 runner: 1 violation") {
		t.Errorf("audit = %d, want %d and the runner whose instance is gone:\n%s%s", code, exitViolated, &c.out, &c.err)
	}
	status = http.StatusServiceUnavailable
	c, code = audited(t, fill, args...)
	if code != exitPartlyRead || strings.Count(c.out.String(), "not compared: github: ") != 1 || !strings.Contains(c.err.String(), "github: not compared") {
		t.Errorf("audit while GitHub is down = %d, want %d and why, once:\n%s%s", code, exitPartlyRead, &c.out, &c.err)
	}
}

func TestAudit_CannotLook(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		args       []string
		want       int
	}{
		{"Format", "--output: must be one of table, json", []string{"-o", "wide"}, exitUsage},
		{"Settle", "--settle: must not be negative", []string{"--settle", "-1s"}, exitUsage},
		{"Part", `--without: must be one of fleet, github, resources, got "store"`, []string{"--without", "store"}, exitUsage},
		{"Argument", "this command takes none", []string{"i-1"}, exitUsage},
	} {
		c, code := audited(t, nil, tt.args...)
		if code != tt.want || !strings.Contains(c.err.String(), tt.says) {
			t.Errorf("%s: audit = %d, %q, want %d, …%s…", tt.name, code, &c.err, tt.want, tt.says)
		}
	}
	st := memory(t, func(inner store.Table) store.Table { return unreadable{inner} })
	c := newCLI(st)
	if code := c.run(t.Context(), "audit", "--settle", "0s", "--without", "fleet"); code != exitPartlyRead || !strings.Contains(c.err.String(), "store: unavailable") {
		t.Errorf("audit of a store that does not answer = %d, %q, want %d", code, &c.err, exitPartlyRead)
	}
}

// unreadable is a table that does not answer.
type unreadable struct{ store.Table }

func (unreadable) Get(context.Context, store.Consistency, ...store.Key) ([]store.Item, error) {
	return nil, store.ErrUnavailable
}
