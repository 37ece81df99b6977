//go:build linux

package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
)

// older is a version before every other.
const older = "0.0.0-1"

// The package of Debian in a booted Debian: it starts nothing; the unit runs under its hardening as its own user; an upgrade
// restarts it and leaves the operator's configuration alone; removed and purged, nothing of it is left.
func TestDeb_InstallUpgradePurge(t *testing.T) {
	dir := release(t)
	before := filepath.Join(t.TempDir(), "older")
	makeIn(t, root, "-only", "linux/amd64", "-version", older, "-out", before)
	files := map[string]hosttest.File{}
	for path, file := range map[string]string{"/opt/older.deb": one(t, before, "*.deb"), "/opt/new.deb": one(t, dir, "*_amd64.deb")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = hosttest.File{Text: string(text), Mode: 0o644}
	}
	m := hosttest.Boot(t, hosttest.Options{Files: files})
	tt := program.T{TB: t}
	run := func(args ...string) string {
		t.Helper()
		out, err := m.Run(t.Context(), args...)
		tt.Check(err)
		return strings.TrimSpace(out)
	}
	fails := func(args ...string) {
		t.Helper()
		if out, err := m.Run(t.Context(), args...); err == nil {
			t.Errorf("%q succeeds: %s", args, out)
		}
	}
	const unit = "remuda-controller.service"

	run("dpkg", "--install", "/opt/older.deb")
	fails("systemctl", "is-active", unit)
	fails("systemctl", "is-enabled", unit)
	if got := run("stat", "--format=%U:%G %a", "/etc/remuda"); got != "root:remuda 750" {
		t.Errorf("/etc/remuda is %s", got)
	}
	if got := run("remuda", "version"); !strings.HasPrefix(got, "remuda v"+older+" ") {
		t.Errorf("version = %s", got)
	}

	run("sh", "-c", "echo ghp_x >/etc/remuda/token; chgrp remuda /etc/remuda/token; chmod 640 /etc/remuda/token")
	run("sh", "-c", "echo 'name: changed' >/etc/remuda.yaml; echo 'github: {url: \"https://127.0.0.1:1/octo/remuda\", tokenFile: /etc/remuda/token}' >>/etc/remuda.yaml")
	run("systemctl", "enable", "--now", unit)
	pid := func() string { return run("systemctl", "show", "--property=MainPID", "--value", unit) }
	first := pid()
	if got := run("stat", "--format=%U", "/proc/"+first); got != "remuda" {
		t.Errorf("the controller runs as %s", got)
	}

	run("dpkg", "--install", "/opt/new.deb")
	if got := run("systemctl", "is-active", unit); got != "active" || pid() == first {
		t.Errorf("after the upgrade the unit is %s, process %s, before %s", got, pid(), first)
	}
	if got := run("head", "-1", "/etc/remuda.yaml"); got != "name: changed" {
		t.Errorf("after the upgrade the configuration begins with %q", got)
	}
	fails("systemctl", "is-active", "remuda-agent.service") // which did not run

	// A reload takes up what has changed, in the same process; a file that is wrong leaves it at work, and what is wrong is shown.
	upgraded := pid()
	says := func(what string) {
		t.Helper()
		tt.Check(program.Until(patience, "it says "+what, func() bool { return strings.Contains(m.Journal(unit), what) }))
	}
	run("sh", "-c", "echo 'caps: {maxInstances: 3}' >>/etc/remuda.yaml")
	run("systemctl", "reload", unit)
	says("the configuration was taken up")
	run("sh", "-c", "echo 'nonsense: 1' >>/etc/remuda.yaml")
	run("systemctl", "reload", unit)
	says("the configuration is refused")
	if got := run("systemctl", "is-active", unit); got != "active" || pid() != upgraded {
		t.Errorf("after a reload the unit is %s, process %s, before %s", got, pid(), upgraded)
	}
	if got := run("remuda", "health", "--config", "/etc/remuda.yaml"); !strings.Contains(got, "ok\nconfiguration refused since ") || !strings.Contains(got, "nonsense") {
		t.Errorf("remuda health = %s, want that it lives and what is wrong", got)
	}

	run("dpkg", "--remove", "remuda")
	fails("systemctl", "is-active", unit)
	run("test", "-e", "/etc/remuda.yaml")
	run("dpkg", "--purge", "remuda")
	if left := run("sh", "-c", "find / -xdev -not -path '/proc/*' -not -path '/var/log/*' -not -path '/opt/*' -iname '*remuda*' 2>/dev/null || true"); left != "" {
		t.Errorf("left after a purge:\n%s", left)
	}
	fails("getent", "passwd", "remuda")
}

// RPM's own program finds in the package what is to be there, with the configuration marked as such.
func TestRPM_HoldsTheSame(t *testing.T) {
	dir := release(t)
	hosttest.Require(t, "rpm", "rpm")
	pkg := one(t, dir, "*.x86_64.rpm")
	if got := output(t, "rpm", "--query", "--package", "--configfiles", pkg); got != "/etc/remuda.yaml\n" {
		t.Errorf("configuration files: %q", got)
	}
	list := output(t, "rpm", "--query", "--package", "--list", pkg)
	for _, want := range []string{"/usr/bin/remuda", "/usr/lib/systemd/system/remuda-controller.service", "/usr/lib/systemd/system/remuda-agent.service", "/usr/lib/sysusers.d/remuda.conf", "/usr/share/man/man1/remuda.1", "/usr/share/zsh/site-functions/_remuda"} {
		if !strings.Contains(list, want+"\n") {
			t.Errorf("the package lacks %s:\n%s", want, list)
		}
	}
	if strings.Contains(list, "vendor-completions") {
		t.Errorf("the package has Debian's place of zsh:\n%s", list)
	}
	if out := output(t, "rpm", "--checksig", "--nosignature", pkg); !strings.Contains(out, "digests OK") {
		t.Errorf("rpm --checksig: %s", out)
	}
}
