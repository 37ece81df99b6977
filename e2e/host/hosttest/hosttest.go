//go:build linux

// Package hosttest boots real machines for tests: a Debian made by debootstrap, with its own systemd as process 1 under
// systemd-nspawn, in namespaces of its own, with the instance metadata service of EC2 at its address. What runs in one is
// as root there as on any computer; its user data runs at the end of its first boot, where cloud-init would run it.
//
// Such tests take root, and programs that not every computer has: make host runs them.
package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
)

// enabled is the variable that turns these tests on.
const enabled = "REMUDA_HOST_TESTS"

// programs are those that tests of this kind start, with the Debian packages that hold them.
var programs = map[string]string{
	"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container", "nsenter": "util-linux", "mount": "mount",
	"ip": "iproute2", "journalctl": "systemd", "apt-get": "apt",
}

// Require leaves a test out unless make host runs it, which fails it if something is missing. more are further programs that
// it starts, each followed by the Debian package that holds it.
func Require(t testing.TB, more ...string) {
	t.Helper()
	if os.Getenv(enabled) != "1" {
		t.Skipf("%s is not 1: make host runs it, as root", enabled)
	}
	if os.Getuid() != 0 {
		t.Fatal("only root can boot machines")
	}
	var missing []string
	want := func(program, pkg string) {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, fmt.Sprintf("%s (Debian package %s)", program, pkg))
		}
	}
	for program, pkg := range programs {
		want(program, pkg)
	}
	for i := 0; i+1 < len(more); i += 2 {
		want(more[i], more[i+1])
	}
	if len(missing) > 0 {
		t.Fatalf("not installed: %s", strings.Join(missing, ", "))
	}
}

// Main runs the tests of a package on the built program; where each is left out, there is nothing to build.
func Main(m *testing.M, tests program.Tests) int {
	if os.Getenv(enabled) != "1" {
		return m.Run()
	}
	return tests.Run(m)
}
