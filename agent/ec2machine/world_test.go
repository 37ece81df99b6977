package ec2machine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent/ec2machine"
)

// metadata is the instance metadata service, version 2 alone (EC2 User Guide, "Use the Instance
// Metadata Service to access instance metadata").
type metadata struct {
	mu     sync.Mutex
	values map[string]string // by path below meta-data
	down   bool              // every call is refused
	old    bool              // a service of version 1, which knows no tokens
	calls  map[string]int
}

const token = "AQAEA-a-token-of-the-session=="

// newMetadata serves the metadata of instance i-0abc, and makes the SDK ask it.
func newMetadata(t *testing.T) *metadata {
	t.Helper()
	m := &metadata{calls: map[string]int{}, values: map[string]string{
		"instance-id": "i-0abc", "placement/region": "eu-west-1", "tags/instance/remuda-name": "main",
	}}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL)
	return m
}

func (m *metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[r.Method+" "+r.URL.Path]++
	path, ok := strings.CutPrefix(r.URL.Path, "/latest/meta-data/")
	switch value, known := m.values[path]; {
	case m.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case m.old && r.Method == http.MethodGet && known:
		m.calls["version 1"]++
		_, _ = fmt.Fprint(w, value)
	case m.old:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
		ttl := r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds")
		if ttl == "" || r.Header.Get("X-Forwarded-For") != "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", ttl)
		_, _ = fmt.Fprint(w, token)
	case r.Header.Get("X-Aws-Ec2-Metadata-Token") != token:
		w.WriteHeader(http.StatusUnauthorized) // version 1
	case ok && known:
		_, _ = fmt.Fprint(w, value)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// set changes a value; "" removes it.
func (m *metadata) set(path, value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[path] = value
	if value == "" {
		delete(m.values, path)
	}
}

// fail makes all calls fail, or no longer.
func (m *metadata) fail(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

func (m *metadata) asked(call string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[call]
}

// computer is a folder for the agent, and stand-ins for the commands that end a machine.
type computer struct {
	t       *testing.T
	dir     string
	bin     string
	log     bytes.Buffer
	options ec2machine.Options
}

// newComputer returns one whose only commands are the stand-ins. They may be late: on a busy machine a shell's start
// takes seconds.
func newComputer(t *testing.T) *computer {
	t.Helper()
	t.Cleanup(ec2machine.SetCommandLimit(time.Minute))
	c := &computer{t: t, dir: t.TempDir(), bin: t.TempDir()}
	for _, name := range []string{"systemctl", "shutdown", "poweroff"} {
		c.command(name, "")
	}
	t.Setenv("PATH", c.bin)
	c.options = ec2machine.Options{
		Dir: c.dir, Name: "main", Limit: time.Minute, Clock: clock.RealClock{}, Log: slog.New(slog.NewTextHandler(&c.log, nil)),
	}
	return c
}

// command makes a stand-in that notes its call and then runs does.
func (c *computer) command(name, does string) {
	c.t.Helper()
	text := "#!/bin/sh\necho \"" + name + " $*\" >>'" + filepath.Join(c.dir, "calls") + "'\n" + does
	if err := os.WriteFile(filepath.Join(c.bin, name), []byte(text), 0o700); err != nil {
		c.t.Fatal(err)
	}
}

// calls returns the calls of the stand-ins, one per line.
func (c *computer) calls() string {
	b, err := os.ReadFile(filepath.Join(c.dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func (c *computer) open() *ec2machine.Host {
	c.t.Helper()
	h, err := ec2machine.Open(context.Background(), c.options)
	if err != nil {
		c.t.Fatalf("Open = %v", err)
	}
	return h
}
