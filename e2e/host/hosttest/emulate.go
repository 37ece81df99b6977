//go:build linux

package hosttest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// formats is where the kernel is told what runs programs of a format that is not its own (Linux, admin-guide/binfmt-misc).
const formats = "/proc/sys/fs/binfmt_misc"

// emulator holds a qemu that knows all that an agent asks for: that of Debian 12 refuses PR_SET_CHILD_SUBREAPER. It needs no other
// file of the image.
var emulator = Image{Suite: "trixie", Packages: []string{"qemu-user"}}

// Emulate lets this computer run programs for arm64 until the test ends, in containers, too.
func Emulate(t testing.TB) {
	t.Helper()
	Require(t)
	qemu, err := emulator.folder(t.Context())
	if err != nil {
		t.Fatal(err)
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
