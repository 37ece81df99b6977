package userdata_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/bucket"
)

// hosts is the bucket of the stack whose host is tested.
const hosts = "remuda-bucket"

// perBoot is what runs at each boot of the host but the first.
const perBoot = "/var/lib/cloud/scripts/per-boot/remuda-host"

// builds of the program, as the host keeps them.
const (
	older = "#!/bin/sh\necho remuda 1.2.3\n"
	newer = "#!/bin/sh\necho remuda 1.2.4\n"
)

// newHost returns a computer of 64-bit ARM whose user remuda is made by useradd.
func newHost(t *testing.T) (*computer, *s3) {
	t.Helper()
	c := newComputer(t)
	c.standIn("useradd", `touch "$REMUDA_ROOT/made"`)
	c.write(filepath.Join(c.bin, "id"), "#!/bin/sh\ntest -e \"$REMUDA_ROOT/made\"\n")
	c.write(filepath.Join(c.bin, "uname"), "#!/bin/sh\necho aarch64\n")
	b, _ := c.cloud()
	return c, b
}

// release publishes content as the program of an architecture, by its sum and with any other content.
func (s *s3) release(t *testing.T, arch, program, content string) {
	t.Helper()
	key := "program/" + sum(program) + "/remuda"
	text, err := json.MarshalIndent(bucket.Release{
		Schema: 1, Program: map[string]bucket.Artifact{arch: {Key: key, SHA256: sum(program), Version: "1.2.3"}},
		Runner: map[string]bucket.Artifact{"arm64": {Key: "runner/" + sum("") + "/runner.tar.gz", SHA256: sum(""), Version: "2.330.0"}},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	s.set(func(b *s3) {
		b.more = map[string]string{hosts + "/release.json": string(text), hosts + "/" + key: content}
	})
}

// pauses runs one step at each pause of c, and fails where there are more pauses than steps.
func (c *computer) pauses(steps ...func()) {
	c.t.Helper()
	curl, err := exec.LookPath("curl")
	if err != nil {
		c.t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/7" {
			c.t.Errorf("a pause of %s, want 7", r.URL.Path)
		}
		if len(steps) == 0 {
			w.WriteHeader(http.StatusGone) // which ends the script
			return
		}
		steps[0]()
		steps = steps[1:]
	}))
	c.t.Cleanup(s.Close)
	c.env = append(c.env, "REMUDA_PAUSE=7")
	c.write(filepath.Join(c.bin, "sleep"), "#!/bin/sh\nexec "+curl+" --silent --fail "+s.URL+"/$1\n")
}

// The controller's host waits until its bucket has the program that is right, says each reason once, and starts the unit.
func TestHost_WaitsForItsProgram(t *testing.T) {
	c, b := newHost(t)
	installed := func() {
		if got := c.has(userdata.ProgramPath); got != "" {
			t.Errorf("installed: %q", got)
		}
	}
	c.pauses(
		func() {},
		func() { b.release(t, "x86_64", older, older) },
		func() { b.release(t, "arm64", older, "something else") },
		func() { installed(); b.set(func(b *s3) { b.status, b.code = http.StatusForbidden, "AccessDenied" }) },
		func() { b.set(func(b *s3) { b.code = "" }); b.release(t, "arm64", older, older) },
	)
	if status := c.boot(userdata.HostHead("main", region, hosts) + userdata.Host()); status != 0 {
		t.Fatalf("status = %d", status)
	}
	const waits = "remuda: waits for the program: remuda init --publish puts it into " + hosts + ": "
	lines := strings.Split(c.has("dev/console"), "\n")
	for i, want := range []string{
		waits + "S3 answers NoSuchKey: publish it with remuda init --publish", waits + "it has no program for arm64",
		waits + "the SHA-256 of the program is not " + sum(older), waits + "S3 answers AccessDenied: ",
		"remuda: controller of main started, remuda 1.2.3", "",
	} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("line %d of the console is not %q:\n%q", i+1, want, lines)
		}
	}
	want := "useradd --system --user-group --no-create-home --home-dir /var/lib/remuda --shell /usr/sbin/nologin remuda\n" +
		"systemctl daemon-reload\nsystemctl restart remuda-controller.service"
	if got := c.calls(); got != want {
		t.Errorf("calls:\n%s\nwant:\n%s", got, want)
	}
	if got := c.has("etc/remuda/controller.env"); got != "AWS_REGION=eu-west-1\nREMUDA_CONFIG=ssm:/main/config\n" {
		t.Errorf("environment of the unit: %q", got)
	}
	if unit := c.has("etc/systemd/system/remuda-controller.service"); !strings.Contains(unit, "\nExecStart=/usr/local/bin/remuda controller\n") {
		t.Errorf("the unit is:\n%s", unit)
	}
	for _, left := range []string{".json", ".new"} {
		if c.has(userdata.ProgramPath+left) != "" {
			t.Errorf("%s is left", left)
		}
	}
}

// At its next boots a host keeps an older program where S3 does not answer, with what is wrong said, and else has the newer.
func TestHost_BootsAgain(t *testing.T) {
	c, b := newHost(t)
	c.pauses() // none
	b.release(t, "arm64", older, older)
	if status := c.boot(userdata.HostHead("main", region, hosts) + userdata.Host()); status != 0 {
		t.Fatalf("status = %d", status)
	}
	for _, tt := range []struct {
		name, says, has string
		does            func()
	}{
		{"Down", ": S3 answers SlowDown: ", older, func() { b.set(func(b *s3) { b.status, b.code = http.StatusServiceUnavailable, "SlowDown" }) }},
		{"Wrong", ": the SHA-256 of the program is not " + sum(newer), older, func() { b.set(func(b *s3) { b.code = "" }); b.release(t, "arm64", newer, older) }},
		{"Newer", "controller of main started, remuda 1.2.4", newer, func() { b.release(t, "arm64", newer, newer) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.does()
			c.write(filepath.Join(c.root, "calls"), "")
			if status := c.run(filepath.Join(c.root, perBoot)); status != 0 {
				t.Errorf("status = %d", status)
			}
			if got := c.has("dev/console"); !strings.Contains(got, tt.says) {
				t.Errorf("console = %q, want %q", got, tt.says)
			}
			if got := c.calls(); got != "systemctl daemon-reload\nsystemctl restart remuda-controller.service" {
				t.Errorf("calls = %q", got)
			}
			if got := c.has(userdata.ProgramPath); got != tt.has {
				t.Errorf("program = %q, want %q", got, tt.has)
			}
		})
	}
}
