package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/hostile"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// Limits of the controller with a thousand hostile items.
const (
	confined   = 256 << 20 // bytes of the controller's memory cgroup
	mostGrowth = 64        // MiB of resident memory
	mostShown  = 1_000_000 // bytes of one view
)

// The role of a workflow fills the table with large items and with too many requests. A controller with little memory keeps running and
// can start again. Its views stay small and have no forged lines. Another run gets its runners.
func TestForeignItems_AreBounded_Review_S2_S3(t *testing.T) {
	program.Long(t, "reads 400 MB of hostile items several times")
	shell, args := hostile.Confined(t, confined) // before the machines, which it outlives
	s := unwatched(t, "REMUDA_HTTP_LISTEN=127.0.0.1:0")
	u := &url.URL{Scheme: "sqlite", Path: filepath.Join(s.state, "remuda.db")}
	table, err := sqlitestore.Open(t.Context(), u, clock.RealClock{})
	s.Check(err)
	defer table.Close()
	start := func() (*program.Daemon, string) {
		d := program.Start(t, program.Command{
			Name: "controller", Program: shell, Args: append(args, "controller"), Dir: s.dir, Env: s.environ(), Patience: patience,
		})
		address := d.Says(`"msg":"serving HTTP","address":"([^"]+)"`)
		d.Says("records read")
		return d, address
	}
	d, _ := start()
	s.request("100", 1)
	s.serve("100", 1)
	empty := hostile.Peak(t, d.Pid())
	if code := d.End(syscall.SIGTERM); code != 0 {
		t.Fatalf("the controller ends with %d", code)
	}

	d, _ = start()
	for _, item := range append(hostile.Items("666", 1000), hostile.Small("777", 1000)...) {
		if item.Version > 0 {
			err = table.Put(t.Context(), item, 0)
		} else {
			err = table.Put(t.Context(), item, store.Unconditional)
		}
		s.Check(err)
	}
	for _, item := range hostile.Items("666", 100) { // the client of each of these waits
		s.Check(table.Notify(t.Context(), item.Key))
	}
	s.request("200", 1)
	s.serve("200", 1)
	st := store.New(table)
	answered := func(id store.RequestID, why string) {
		s.Check(program.Until(patience, fmt.Sprintf("request %s is answered", id), func() bool {
			got, err := st.Status(t.Context(), store.Consistent, id)
			return err == nil && got.Phase == statemachine.Failed && got.Reason == reconciler.ReasonSpec && strings.Contains(got.Message, why)
		}))
	}
	answered("666-0", "size: must be at most 16384 bytes")
	answered("666-984", "at most 16384 bytes")
	grown := func(when string) {
		now, seconds := hostile.Peak(t, d.Pid()), hostile.Seconds(t, d.Pid())
		t.Logf("%s: %d MiB resident at most, %d MiB without hostile items, %.1f s of CPU", when, now, empty, seconds)
		if now > empty+mostGrowth {
			t.Errorf("%s the controller takes %d MiB, and %d MiB without hostile items: want at most %d more", when, now, empty, mostGrowth)
		}
	}
	grown("while they came")
	if code := d.End(syscall.SIGTERM); code != 0 {
		t.Fatalf("the controller ends with %d\n%s", code, d.Tail())
	}
	d, address := start()
	s.request("300", 1)
	s.serve("300", 1)
	grown("started again")

	views := map[string][]string{
		"table": {"status"}, "wide": {"status", "-o", "wide"}, "json": {"status", "-o", "json"}, "all": {"status", "--all", "-o", "json"},
		"one": {"status", "request", "666-0"}, "explain": {"explain", "666-2"}, "costs": {"costs"},
	}
	for name, args := range views {
		out, err := s.remuda(patience, args...)
		if err != nil || len(out) > mostShown {
			t.Errorf("%s: %d bytes, %v, want at most %d", name, len(out), err, mostShown)
		}
		t.Logf("%s: %d bytes", name, len(out))
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "controller  none leads") || strings.ContainsAny(line, "\u202e\x1b") {
				t.Errorf("%s has a forged line: %.200q", name, line)
			}
		}
	}
	resp, err := http.Get("http://" + address + "/") //nolint:noctx // the test ends with it
	s.Check(err)
	page, err := io.ReadAll(resp.Body)
	s.Check(err)
	s.Check(resp.Body.Close())
	if resp.StatusCode != http.StatusOK || len(page) > mostShown {
		t.Errorf("the page answers %d with %d bytes, want at most %d", resp.StatusCode, len(page), mostShown)
	}
	t.Logf("page: %d bytes", len(page))
	for n, line := range strings.Split(string(d.Output()), "\n") {
		if line != "" && !strings.HasPrefix(line, "{") {
			t.Errorf("line %d of the log is forged: %.200q", n, line)
		}
	}
}
