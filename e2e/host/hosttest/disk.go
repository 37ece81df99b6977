//go:build linux

package hosttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Image says what is on the disk of a new machine.
type Image struct {
	Suite    string   // of Debian; "": bookworm, which is Debian 12
	Packages []string // beside those of every machine
}

// base is what a cloud image of Debian has and these tests rest on.
var base = []string{"ca-certificates", "curl", "dbus", "iproute2", "libpam-systemd", "systemd-sysv"}

// buildLimit bounds the making of an image: some 50 s on two idle cores, with Docker.
const buildLimit = 15 * time.Minute

// userDataUnit runs the user data once, after everything else, as cloud-final.service of Debian's cloud-init does.
const userDataUnit = `[Unit]
Description=User data of the instance, at the place of cloud-final.service
After=network-online.target multi-user.target
Wants=network-online.target
ConditionPathExists=!/var/lib/user-data

[Service]
Type=oneshot
RemainAfterExit=yes
TimeoutSec=0
KillMode=process
TasksMax=infinity
StandardOutput=journal+console
StandardError=journal+console
ExecStart=/usr/local/sbin/user-data

[Install]
WantedBy=graphical.target
`

// userDataProgram asks version 2 of the metadata service. An instance without user data has none to run.
const userDataProgram = `#!/bin/bash
set -euo pipefail
service=http://169.254.169.254/latest
token=$(curl -fsS --retry 5 --retry-all-errors -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$service/api/token")
status=$(curl -sS -o /var/lib/user-data -w '%{http_code}' -H "X-aws-ec2-metadata-token: $token" "$service/user-data")
if [[ $status != 200 ]]; then echo "user data: status $status"; exit 0; fi
chmod 0700 /var/lib/user-data
exec /var/lib/user-data
`

// prepare finishes an image, from within. A console that asks for a login would not end, and what Debian does daily would
// meet some tests and not others.
const prepare = `set -e
systemctl --quiet mask console-getty.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service
systemctl --quiet enable user-data.service
rm -rf /var/cache/apt/archives/*.deb /var/lib/apt/lists/* /etc/machine-id /etc/hostname
`

// folder returns the image's folder, which nobody may change, and makes it where there is none.
func (i Image) folder(ctx context.Context) (string, error) {
	if i.Suite == "" {
		i.Suite = "bookworm"
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	packages := strings.Join(append(append([]string{}, base...), i.Packages...), ",")
	recipe := sha256.Sum256([]byte(strings.Join([]string{i.Suite, packages, userDataUnit, userDataProgram, prepare}, "\x00")))
	dir := filepath.Join(cache, "remuda", "debian-"+i.Suite+"-"+hex.EncodeToString(recipe[:6]))
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close() // which frees the lock
	if err := flock(lock); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	part := dir + ".part"
	if err := errors.Join(os.RemoveAll(part), i.build(ctx, part, packages)); err != nil {
		return "", fmt.Errorf("make an image of Debian %s: %w", i.Suite, err)
	}
	return dir, os.Rename(part, dir)
}

func flock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) { // another test may be making it
			return err
		}
	}
}

func (i Image) build(ctx context.Context, dir, packages string) error {
	mirror, err := mirror(ctx, i.Suite)
	if err != nil {
		return err
	}
	args := []string{"--variant=minbase", "--include=" + packages, i.Suite, dir}
	if mirror != "" {
		args = append(args, mirror)
	}
	if _, err := output(ctx, "debootstrap", args...); err != nil {
		return err
	}
	for path, f := range map[string]File{
		"/etc/systemd/system/user-data.service": {userDataUnit, 0o644},
		"/usr/local/sbin/user-data":             {userDataProgram, 0o755},
	} {
		if err := f.write(dir, "", path); err != nil {
			return err
		}
	}
	_, err = output(ctx, "chroot", dir, "sh", "-c", prepare)
	return err
}

// Archive is the address of Debian's archive that the image was made from.
func (i Image) Archive(ctx context.Context) (string, error) {
	dir, err := i.folder(ctx)
	if err != nil {
		return "", err
	}
	sources, err := os.ReadFile(filepath.Join(dir, "etc/apt/sources.list")) // as debootstrap leaves it
	if err != nil {
		return "", err
	}
	field := strings.Fields(string(sources))
	if len(field) < 2 || field[0] != "deb" {
		return "", fmt.Errorf("image of Debian %s: sources.list has %q", i.Suite, sources)
	}
	return field[1], nil
}

// mirror is the archive of Debian that this computer has its packages from: the one of the suite, else the first. "" where apt has
// none, as on a computer of another distribution: then debootstrap takes its own.
func mirror(ctx context.Context, suite string) (found string, err error) {
	out, err := output(ctx, "apt-get", "indextargets", "--format", "$(ORIGIN) $(RELEASE) $(REPO_URI)", "Component: main", "Identifier: Packages")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		field := strings.Fields(line)
		if len(field) == 3 && field[0] == "Debian" && (found == "" || field[1] == suite) {
			found = field[2]
		}
	}
	return found, nil
}

// output runs a program to its end. Its error holds the end of what the program said.
func output(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		said := string(out) + problems.String()
		err = fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, said[max(0, len(said)-2000):])
	}
	return string(out), err
}

// File is one of a machine's disk.
type File struct {
	Text string
	Mode os.FileMode
}

// write puts it into a folder. Folders that it needs have the modes of those below lower, where there are such.
func (f File) write(root, lower, path string) error {
	dir := ""
	for _, name := range strings.Split(strings.Trim(filepath.Dir(path), "/"), "/") {
		dir = filepath.Join(dir, name)
		mode := os.FileMode(0o755)
		if info, err := os.Stat(filepath.Join(lower, dir)); lower != "" && err == nil {
			mode = info.Mode()
		}
		err := os.Mkdir(filepath.Join(root, dir), 0o755)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err := errors.Join(err, os.Chmod(filepath.Join(root, dir), mode)); err != nil {
			return err
		}
	}
	name := filepath.Join(root, path)
	return errors.Join(os.WriteFile(name, []byte(f.Text), 0o600), os.Chmod(name, f.Mode))
}
