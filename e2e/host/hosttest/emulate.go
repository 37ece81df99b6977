//go:build linux

package hosttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// formats is where the kernel is told what runs programs of a format that is not its own (Linux, admin-guide/binfmt-misc).
const formats = "/proc/sys/fs/binfmt_misc"

// emulator is the suite whose qemu knows all that an agent asks for: that of Debian 12 refuses PR_SET_CHILD_SUBREAPER.
const emulator = "trixie"

// Emulate lets this computer run programs for arm64 until the test ends, in containers, too.
func Emulate(t testing.TB) {
	t.Helper()
	Require(t, "apt-get", "apt", "dpkg-deb", "dpkg")
	qemu, err := cached(t.Context(), "qemu-"+emulator, qemuUser)
	if err != nil {
		t.Fatalf("get qemu of Debian %s: %v", emulator, err)
	}
	line, err := os.ReadFile(filepath.Join(qemu, "usr/share/qemu/binfmt.d/qemu-aarch64.conf"))
	if err != nil {
		t.Fatal(err)
	}
	const name, interpreter, flags = 1, 6, 7
	fields := strings.Split(strings.TrimSpace(string(line)), ":")
	if len(fields) <= flags {
		t.Fatalf("unknown form: %q", line)
	}
	fields[name], fields[interpreter] = "remuda-aarch64", filepath.Join(qemu, "usr/bin/qemu-aarch64")
	fields[flags] = "F" // the kernel opens the interpreter now, so that it runs where there is none
	if _, err := os.Stat(filepath.Join(formats, "register")); errors.Is(err, os.ErrNotExist) {
		if err := unix.Mount("binfmt_misc", formats, "binfmt_misc", 0, ""); err != nil {
			t.Fatalf("mount %s: %v", formats, err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(formats, 0); err != nil {
				t.Errorf("unmount %s: %v", formats, err)
			}
		})
	}
	remove := func() error { return tellKernel(fields[name], "-1") }
	if err := remove(); err != nil && !errors.Is(err, os.ErrNotExist) { // of a test that was killed
		t.Fatal(err)
	}
	if err := tellKernel("register", strings.Join(fields, ":")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
}

// tellKernel writes to one of its files, which cannot be made.
func tellKernel(file, text string) error {
	f, err := os.OpenFile(filepath.Join(formats, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// qemuUser unpacks Debian's package, which needs no other.
func qemuUser(ctx context.Context, dir string) (err error) {
	mirror, err := Mirror(ctx, emulator)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "remuda-qemu-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := errors.Join(
		os.MkdirAll(filepath.Join(work, "lists/partial"), 0o755),
		os.WriteFile(filepath.Join(work, "sources.list"), fmt.Appendf(nil, "deb %s %s main\n", mirror, emulator), 0o600),
	); err != nil {
		return err
	}
	const script = `set -e
cd "$1"
apt() { apt-get -q -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD" "$@"; }
apt update
apt download qemu-user
dpkg-deb --extract qemu-user_*.deb "$2"
`
	_, err = output(ctx, "sh", "-c", script, "sh", work, dir)
	return err
}
