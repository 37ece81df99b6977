package userdata_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
)

// program is what a test's server delivers: it notes how it was started.
const program = "#!/bin/bash\nprintf '%s\\n' \"$*\" >\"$REMUDA_ROOT/started\"\n"

// sum is the SHA-256 of text, in hexadecimal digits.
func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// standIns are the commands of the machine that tests may not run. Each notes its call; systemctl
// starts a unit by running its command, with all paths below the root.
var standIns = map[string]string{
	"shutdown": "",
	"poweroff": "",
	"systemctl": `if [[ $* == 'enable --now '* ]]; then
  read -ra words < <(sed -n 's/^ExecStart=//p' "$REMUDA_ROOT/etc/systemd/system/$3")
  for i in "${!words[@]}"; do
    if [[ ${words[i]} == /* ]]; then words[i]=$REMUDA_ROOT${words[i]}; fi
  done
  "${words[@]}" || exit
fi
`,
}

// complete are the commands of an image that has all that runners need, and a clock that does not wait. They note nothing.
var complete = map[string]string{"ldconfig": "echo 'libicuuc.so.72 (libc6,x86-64)'\n", "nft": "", "sleep": ""}

// computer is a folder in which user data runs as on an instance.
type computer struct {
	t    *testing.T
	root string
	bin  string // stand-ins
	path string // what else it has
	env  []string
	out  string // what the last script printed
}

// newComputer returns one that was just switched on. It skips the test where the tools of an
// instance are missing.
func newComputer(t *testing.T) *computer {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "gzip", "base64", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("user data cannot run here: %v", err)
		}
	}
	c := &computer{t: t, root: filepath.Join(t.TempDir(), "it's a $(root) \"of\" `sorts`"), bin: t.TempDir(), path: os.Getenv("PATH")}
	for name, does := range standIns {
		c.standIn(name, does)
	}
	for name, does := range complete {
		c.write(filepath.Join(c.bin, name), "#!/bin/bash\n"+does)
	}
	if err := os.MkdirAll(filepath.Join(c.root, "dev"), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// standIn makes a command that notes its call and then runs does.
func (c *computer) standIn(name, does string) {
	c.t.Helper()
	text := "#!/bin/bash\nprintf '%s\\n' \"" + name + " $*\" >>\"$REMUDA_ROOT/calls\"\n" + does
	c.write(filepath.Join(c.bin, name), text)
}

func (c *computer) write(path, text string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		c.t.Fatal(err)
	}
}

// boot runs user data and returns its exit status.
func (c *computer) boot(script string) int {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "user-data")
	c.write(file, script)
	return c.run(file)
}

// run runs a program of the computer and returns its exit status.
func (c *computer) run(args ...string) int {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), args[0], args[1:]...)
	cmd.Env = append([]string{"PATH=" + c.bin + ":" + c.path, "REMUDA_ROOT=" + c.root}, c.env...)
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	c.out = out.String()
	c.t.Logf("output: %s", c.out)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("run user data: %v", err)
	}
	return cmd.ProcessState.ExitCode()
}

// has returns the content of a file of the computer; "" if there is none.
func (c *computer) has(path string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.root, path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	return string(b)
}

// calls returns the calls of the stand-ins, one per line.
func (c *computer) calls() string { return strings.TrimSpace(c.has("calls")) }

// wantOff fails unless the machine was powered off, said why on its console, and started no agent.
func (c *computer) wantOff(status int, why string) {
	c.t.Helper()
	if status == 0 || !strings.HasSuffix(c.calls(), "systemctl poweroff") {
		c.t.Errorf("status = %d, calls = %q, want a failure that powers off", status, c.calls())
	}
	if got := c.has("dev/console"); !strings.Contains(got, why) {
		c.t.Errorf("console = %q, want %q", got, why)
	}
	if c.has("started") != "" || strings.Contains(c.calls(), "enable") {
		c.t.Error("the agent was started")
	}
}

// serve delivers text at its URL, after fails answers of 503.
func serve(t *testing.T, text string, fails int) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if fails > 0 {
			fails--
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s
}

// data is what most tests render.
func data(url string) userdata.Data {
	return userdata.Data{
		Name: "main", Region: "eu-west-1", Limit: 10 * time.Minute, Config: []byte("name: main\n"),
		Program: userdata.Program{URL: url, SHA256: sum(program)},
	}
}

func render(t *testing.T, d userdata.Data) string {
	t.Helper()
	script, err := userdata.Render(d)
	if err != nil {
		t.Fatal(err)
	}
	return script
}
