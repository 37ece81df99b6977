package agenttest

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Metadata is the instance metadata service, version 2 alone (EC2 User Guide, "Use the Instance
// Metadata Service to access instance metadata").
type Metadata struct {
	Old bool // a service of version 1, which knows no tokens

	mu     sync.Mutex
	values map[string]string // by path below /latest/
	down   bool              // every call is refused
	calls  map[string]int
}

const metadataToken = "AQAEA-a-token-of-the-session=="

// NewMetadata serves the metadata of instance i-0abc, and makes the SDK ask it.
func NewMetadata(t testing.TB) *Metadata {
	t.Helper()
	m := MetadataOf(map[string]string{
		"meta-data/instance-id": "i-0abc", "meta-data/placement/region": "eu-west-1", "meta-data/tags/instance/remuda-name": "main",
	})
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL)
	return m
}

// MetadataOf serves values, by path below /latest/.
func MetadataOf(values map[string]string) *Metadata {
	return &Metadata{calls: map[string]int{}, values: values}
}

// ServeHTTP implements http.Handler.
func (m *Metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[r.Method+" "+r.URL.Path]++
	path, ok := strings.CutPrefix(r.URL.Path, "/latest/")
	switch value, known := m.values[path]; {
	case m.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case m.Old && r.Method == http.MethodGet && known:
		m.calls["version 1"]++
		_, _ = fmt.Fprint(w, value)
	case m.Old:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
		ttl := r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds")
		if ttl == "" || r.Header.Get("X-Forwarded-For") != "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", ttl)
		_, _ = fmt.Fprint(w, metadataToken)
	case r.Header.Get("X-Aws-Ec2-Metadata-Token") != metadataToken:
		w.WriteHeader(http.StatusUnauthorized) // version 1
	case ok && known:
		_, _ = fmt.Fprint(w, value)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// Set changes a value below meta-data; "" removes it.
func (m *Metadata) Set(path, value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values["meta-data/"+path] = value
	if value == "" {
		delete(m.values, "meta-data/"+path)
	}
}

// Fail makes all calls fail, or no longer.
func (m *Metadata) Fail(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Asked returns how often a call came, such as "PUT /latest/api/token"; "version 1" counts the answers without a token.
func (m *Metadata) Asked(call string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[call]
}

// Commands are stand-ins for the commands that end a machine, the only ones on PATH: nothing ends the computer of a test.
type Commands struct {
	t   testing.TB
	dir string
}

// NewCommands returns some that only note their calls.
func NewCommands(t testing.TB) *Commands {
	t.Helper()
	c := &Commands{t: t, dir: t.TempDir()}
	for _, name := range []string{"systemctl", "shutdown", "poweroff"} {
		c.Set(name, "")
	}
	t.Setenv("PATH", c.dir)
	return c
}

// Set makes a command note its call and then run a script.
func (c *Commands) Set(name, script string) {
	c.t.Helper()
	Write(c.t, filepath.Join(c.dir, name), "#!/bin/sh\necho \""+name+" $*\" >>'"+filepath.Join(c.dir, "calls")+"'\n"+script)
}

// Calls returns the calls, one per line.
func (c *Commands) Calls() string {
	b, err := os.ReadFile(filepath.Join(c.dir, "calls"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}
