//go:build linux

package stock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/config"
)

// agentProgram is an agent that stays.
const agentProgram = "#!/bin/sh\nexec sleep infinity\n"

// userData is the first script of a machine whose program is at a URL.
func (w *world) userData(program userdata.Program) string {
	w.Helper()
	script, err := userdata.Render(userdata.Data{
		Name: "main", Region: region, Limit: 30 * time.Minute, User: "runner", Config: []byte("name: main\n"), Program: program,
	})
	w.Check(err)
	return script
}

// H50: a machine as debootstrap makes it gets its program from S3, by the curl of its Debian with a signature that is
// recomputed, and by apt-get all that runners need, before its agent starts.
func TestStockDebian_H50(t *testing.T) {
	for _, suite := range []string{"bookworm", "trixie"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			const key = "/bucket/program/remuda"
			w.objects[key] = []byte(agentProgram)
			m := w.boot(suite, w.userData(userdata.Program{URL: "s3:/" + key, SHA256: sum([]byte(agentProgram))}), nil)
			w.Check(program.Until(patience, "the agent is started, or the machine off", func() bool {
				return strings.Contains(m.Console(), "remuda: agent of main started after ") || strings.Contains(m.Console(), "powering off")
			}))
			for _, want := range []string{"remuda: user runner made", "remuda: nft libicu and git installed in ", "remuda: the program fetched in ", "remuda: agent of main started after "} {
				if !strings.Contains(m.Console(), want) {
					t.Errorf("the console lacks %q", want)
				}
			}
			if got := w.must(m, "systemctl", "is-active", "remuda-agent.service"); got != "active\n" {
				t.Errorf("agent is %s", got)
			}
			if got := strings.Fields(w.must(m, "passwd", "--status", "runner")); len(got) < 2 || got[1] != "L" {
				t.Errorf("passwd --status = %q, want no password", got)
			}
			if got := w.must(m, "ldconfig", "-p"); !strings.Contains(got, "libicuuc.so") {
				t.Error("libicu is not found")
			}
			w.must(m, "nft", "list", "ruleset")
			w.must(m, "runuser", "--user", "runner", "--", "git", "--version")
			t.Log(strings.SplitN(w.must(m, "curl", "--version"), "\n", 2)[0])
			for _, secret := range []string{w.creds.SecretAccessKey, w.creds.SessionToken} {
				if strings.Contains(m.Console()+m.Journal(), secret) {
					t.Error("a secret is in the log")
				}
			}
			for line := range strings.Lines(m.Console()) {
				if strings.Contains(line, "remuda: ") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

// A stock machine becomes an image by the script that the built binary prints; run again it fetches nothing; and the first
// script of a machine made of it neither fetches nor installs anything.
func TestImageScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	binary, err := os.ReadFile(program.Binary)
	w.Check(err)
	runner := w.runner()
	w.public["/remuda"], w.public["/runner.tar.gz"] = binary, runner
	dir := t.TempDir()
	w.Check(os.WriteFile(filepath.Join(dir, "remuda.yaml"), []byte(`
fleet: ec2://main?region=`+region+`
agent: {runnerUser: runner, runnerUrl: "http://`+objects+`/runner.tar.gz", runnerSha256: `+sum(runner)+`}
ec2:
  {subnets: [subnet-00000001], securityGroups: [sg-00000001], ami: ami-00000001, instanceProfile: agent, binaryUrl: "http://`+objects+`/remuda", binarySha256: `+sum(binary)+`}
`), 0o600))
	script, err := program.Run(t.Context(), dir, nil, "image", "script", "--config", "remuda.yaml", "--arch", config.NativeArch())
	w.Check(err)
	first := w.userData(userdata.Program{URL: "http://" + objects + "/remuda", SHA256: sum(binary)})
	m := w.boot("bookworm", "", map[string]hosttest.File{
		"/opt/image.sh": {Text: string(script), Mode: 0o600}, "/opt/first.sh": {Text: first, Mode: 0o700},
	})
	build := func() string { return w.must(m, "bash", "-c", "bash /opt/image.sh 2>&1") }
	const ready = "remuda: image is ready: remuda "
	if said := build(); !strings.Contains(said, ready) || !strings.Contains(said, ", runner 2.337.0\n") {
		t.Errorf("the script said %q", said)
	}
	if got := w.asked.Load(); got != 2 {
		t.Errorf("%d downloads, want program and runner", got)
	}
	if said := build(); !strings.HasPrefix(said, ready) {
		t.Errorf("again the script said %q, want that nothing was to do", said)
	}
	if got := w.must(m, "stat", "-c", "%U %a", userdata.RunnerDir+"/bin/Runner.Listener", userdata.ProgramPath); got != "root 755\nroot 755\n" {
		t.Errorf("owner and mode of runner and program: %q", got)
	}
	began := time.Now()
	said := w.must(m, "systemd-run", "--quiet", "--wait", "--pipe", "bash", "-c", "/opt/first.sh 2>&1")
	if !strings.Contains(said, "remuda: program is baked in: /usr/local/bin/remuda\n") || strings.Contains(said, "installed") || !strings.Contains(said, "agent of main started after ") {
		t.Errorf("the first script of the image said %q", said)
	}
	if got := w.asked.Load(); got != 2 {
		t.Errorf("%d downloads in all, want none but the first two", got)
	}
	t.Logf("%s: %s", time.Since(began).Round(time.Millisecond), said)
}
