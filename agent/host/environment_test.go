package host

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/config"
)

// Each source wins over those before it, and this program's own variables over all.
func TestWorld_Variables_Review_R6_R7(t *testing.T) {
	top, runner, dir := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(top, "etc/environment"), "PATH=\"/system\"\nexport JAVA_HOME='/opt/java' # the default\n# LANG=no\nA=system\nB=system\nC=system\nHOME=/no\nTMPDIR=/no\n1X=no\nno line\nQUOTED=\"a 'b' c\"\r\nEMPTY=\nhttp_proxy=http://system:1\n")
	write(filepath.Join(runner, ".env"), "A=runner\nB=runner\nRAW=\"as it is\" # all of it\n\n# comment=no\n"+agent.HookEnv+"=/opt/hook.sh\nACTIONS_RUNNER_HOOK_JOB_COMPLETED=/opt/done.sh\r\n")
	write(filepath.Join(runner, ".path"), "/runner/path\n")
	cfg := config.Default()
	cfg.Agent.RunnerDir = runner
	cfg.Agent.Env = map[string]string{"A": "agent", "HTTPS_PROXY": "http://agent:2", "NODE_EXTRA_CA_CERTS": "/etc/ca.pem"}
	at := place(cfg, dir)
	at.Env = map[string]string{"PATH": "/agent", RootEnv: top, "NO_PROXY": "localhost", "SECRET": "the agent's own", "SSL_CERT_FILE": "/etc/agent.pem"}
	m, err := newMachine(at, site{id: "i-1"})
	if err != nil {
		t.Fatal(err)
	}
	world, err := m.world(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"PATH": "/runner/path", "LANG": "C.UTF-8", "JAVA_HOME": "/opt/java", "A": "agent", "B": "runner", "C": "system", "QUOTED": "a 'b' c", "EMPTY": "",
		"RAW": `"as it is" # all of it`, "ACTIONS_RUNNER_HOOK_JOB_COMPLETED": "/opt/done.sh", agent.EnvMarker: "i-1",
		"HOME": filepath.Join(dir, "home"), "TMPDIR": filepath.Join(dir, "tmp"), "http_proxy": "http://system:1", "HTTP_PROXY": "http://system:1",
		"https_proxy": "http://agent:2", "HTTPS_PROXY": "http://agent:2", "no_proxy": "localhost", "NO_PROXY": "localhost",
		"NODE_EXTRA_CA_CERTS": "/etc/ca.pem", "SSL_CERT_FILE": "/etc/agent.pem",
	}
	if got := listed(world.Env); !maps.Equal(got, want) {
		t.Errorf("a listener gets\n%v\nwant\n%v", got, want)
	}
	hook, err := os.ReadFile(filepath.Join(dir, agent.HookFile))
	if err != nil || !strings.Contains(string(hook), "'/opt/hook.sh'") {
		t.Errorf("our hook does not call the operator's: %s %v", hook, err)
	}
	write(filepath.Join(top, "etc/environment"), "A=new\nC=new\n") // as the script may do before the first run, and an update later
	if world, err = m.world(t.Context()); err != nil || listed(world.Env)["C"] != "new" {
		t.Errorf("the next listener gets %v, %v", world.Env, err)
	}
}

// A .env that the operator's script left in the runner's folder reaches each run. A .env of a job has no effect. A .env that users other
// than root can write is refused with a remedy.
func TestWorld_RunnersOwnFiles_Review_R7(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run jobs as another user")
	}
	cfg, dir := config.Default(), t.TempDir()
	cfg.Agent.RunnerUser, cfg.Agent.RunnerDir = "nobody", t.TempDir()
	m, err := newMachine(place(cfg, dir), site{id: "i-1"})
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, runnerFolder, name) }
	seen := func() map[string]string {
		t.Helper()
		world, err := m.world(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return listed(world.Env)
	}
	if err := errors.Join(os.Mkdir(in(""), 0o755), os.WriteFile(in(".env"), []byte("X=script\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for run := range 3 {
		if got := seen()["X"]; got != "script" {
			t.Fatalf("run %d has X=%q", run, got)
		}
		if err := errors.Join(os.WriteFile(in(".env"), []byte("X=job\n"), 0o644), os.Chown(in(".env"), 65534, 65534)); err != nil {
			t.Fatal(err)
		}
	}
	for name, spoil := range map[string]func(path string) error{
		"Writable": func(path string) error { return os.Chmod(path, 0o666) },
		"OfAJob":   func(path string) error { return os.Chown(path, 65534, 65534) },
	} {
		path := filepath.Join(cfg.Agent.RunnerDir, ".env")
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte("X=image\n"), 0o644), spoil(path)); err != nil {
			t.Fatal(err)
		}
		if _, err := m.world(t.Context()); !errors.Is(err, agent.ErrUnfit) || !strings.Contains(err.Error(), path+": must be owned by root") {
			t.Errorf("%s: %v, want an error that root must own the file", name, err)
		}
	}
}

// The agent reaches the network as the operator says, and the metadata service without a proxy.
func TestPlace_ReachNetwork_Review_R5(t *testing.T) {
	cfg, top := config.Default(), t.TempDir()
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE"} {
		t.Setenv(name, "")
	}
	if err := errors.Join(os.Mkdir(filepath.Join(top, "etc"), 0o755), os.WriteFile(filepath.Join(top, "etc/environment"), []byte("https_proxy=http://image:1\nSSL_CERT_FILE=/etc/image.pem\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	cfg.Agent.Env = map[string]string{"HTTP_PROXY": "http://agent:2", "NO_PROXY": "example.com", "SSL_CERT_FILE": "/etc/agent.pem"}
	at := place(cfg, t.TempDir())
	at.Env[RootEnv], at.Env["https_proxy"] = top, "http://controller:3"
	if err := at.reachNetwork(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"http_proxy": "http://agent:2", "HTTP_PROXY": "http://agent:2", "HTTPS_PROXY": "http://image:1", "SSL_CERT_FILE": "/etc/agent.pem",
		"NO_PROXY": "example.com,169.254.169.254,fd00:ec2::254",
	} {
		if got := os.Getenv(name); got != want {
			t.Errorf("%s=%q, want %q", name, got, want)
		}
	}
}
