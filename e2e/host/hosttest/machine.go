//go:build linux

package hosttest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Options configure a machine. All may be left out but what says otherwise.
type Options struct {
	Image    Image
	Dir      string            // required by Start: holds its disk and its console
	Metadata http.Handler      // of the instance metadata service; it has the user data at /latest/user-data
	HopLimit int               // of the metadata service's answers; 0: 1, as a launch template sets it
	Files    map[string]File   // on its disk, by absolute path
	Reach    map[string]string // by an address in the machine: what it leads to on this computer, such as a server of the test
}

// Machine is a computer that was switched on.
type Machine struct {
	Dir string // holds console.log, and the folder disk with what differs from the image

	name    string
	net     *network
	nspawn  *exec.Cmd
	groups  []string
	leader  int           // its process 1, as this computer numbers it
	off     chan struct{} // closed when it is off
	network error         // of the network's end, once off is closed
}

// patience is how long a machine may take for its own boot, on a computer that has a lot else to do.
const patience = 3 * time.Minute

// Boot starts a machine that ends with the test. A failed test shows the end of its console and its journal.
func Boot(t testing.TB, o Options) *Machine {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	m, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Cut(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(m.Story())
		}
	})
	return m
}

// start mounts the disk and boots from it: as the first process of a namespace, with which the kernel ends all that comes of it,
// and in a mount namespace, which goes with the last of these.
const start = `set -e
for group in "$CGROUPS"/*; do echo 0 >"$group/cgroup.procs"; done
mount -t overlay -o "$OVERLAY" remuda "$ROOT"
mount --bind "$NETWORK" "$DIR/network"
mount -t proc proc /proc
exec "$@"
`

// Start starts a machine. ctx bounds the start alone.
func Start(ctx context.Context, o Options) (_ *Machine, err error) {
	image, err := o.Image.folder(ctx)
	if err != nil {
		return nil, err
	}
	m := &Machine{Dir: o.Dir, name: "remuda-" + strings.ToLower(rand.Text()[:10]), off: make(chan struct{})}
	defer func() {
		if err != nil {
			err = fmt.Errorf("machine %s: %w", m.name, errors.Join(err, m.Cut()))
		}
	}()
	if err := m.disk(image, o.Files); err != nil {
		return m, err
	}
	if m.groups, err = newGroups(m.name, filepath.Join(o.Dir, "cgroups")); err != nil {
		return m, err
	}
	if o.Metadata == nil {
		o.Metadata = http.NotFoundHandler()
	}
	if m.net, err = newNetwork(max(1, o.HopLimit), o.Metadata); err != nil {
		return m, err
	}
	for at, to := range o.Reach {
		if err := m.net.reach(at, to); err != nil {
			return m, err
		}
	}
	if err := m.launch(image); err != nil {
		return m, err
	}
	return m, m.await(ctx)
}

// disk makes what differs from the image.
func (m *Machine) disk(image string, files map[string]File) error {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	files = maps.Clone(files)
	if files == nil {
		files = map[string]File{}
	}
	files["/etc/machine-id"] = File{hex.EncodeToString(id[:]) + "\n", 0o444}
	files["/etc/hostname"] = File{m.name + "\n", 0o644}
	files["/etc/hosts"] = File{"127.0.0.1 localhost " + m.name + "\n", 0o644}
	for _, name := range []string{"disk", "work", "root", "docker", "cgroups"} {
		if err := os.MkdirAll(filepath.Join(m.Dir, name), 0o755); err != nil {
			return err
		}
	}
	for path, f := range files {
		if err := f.write(filepath.Join(m.Dir, "disk"), image, path); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(m.Dir, "network"), nil, 0o600)
}

// launch starts systemd-nspawn, which dies with this process, and the machine with it.
func (m *Machine) launch(image string) error {
	console, err := os.Create(filepath.Join(m.Dir, "console.log"))
	if err != nil {
		return err
	}
	defer console.Close()
	in := func(name string) string { return filepath.Join(m.Dir, name) }
	args := []string{
		"-c", start, "sh",
		"systemd-nspawn", "--boot", "--quiet", "--directory=" + in("root"), "--machine=" + m.name, "--network-namespace-path=" + in("network"),
		"--register=no", "--keep-unit", "--settings=no", "--resolv-conf=off", "--timezone=off", "--link-journal=no",
		// Its root is root here, too: a container engine has what it has on a computer. An overlay cannot hold another: so the folder.
		"--capability=all", "--system-call-filter=@keyring bpf", "--bind=" + in("docker") + ":/var/lib/docker",
	}
	m.nspawn = exec.Command("sh", args...)
	m.nspawn.Stdout, m.nspawn.Stderr = console, console
	m.nspawn.Env = append(os.Environ(),
		"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1", // as Debian boots
		"CGROUPS="+in("cgroups"), "ROOT="+in("root"), "DIR="+m.Dir, "NETWORK="+path(m.net.machine),
		fmt.Sprintf("OVERLAY=lowerdir=%s,upperdir=%s,workdir=%s", image, in("disk"), in("work")),
	)
	m.nspawn.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel ends the child when the thread that started it ends
		defer runtime.UnlockOSThread()
		err := m.nspawn.Start()
		started <- err
		if err == nil {
			_ = m.nspawn.Wait() // ProcessState tells
			m.network = errors.Join(m.net.close(), removeGroups(m.groups))
			close(m.off)
		}
	}()
	return <-started
}

// await waits until the machine's own systemd runs.
func (m *Machine) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("did not boot within %s", patience))
	defer cancel()
	for {
		if leader, ok := firstProcess(m.nspawn.Process.Pid); ok {
			m.leader = leader
			if exec.CommandContext(ctx, "nsenter", m.enter("test", "-S", "/run/systemd/private")...).Run() == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", context.Cause(ctx), m.Console())
		case <-m.off:
			return fmt.Errorf("ended while it booted: %s: %s", m.nspawn.ProcessState, m.Console())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (m *Machine) enter(args ...string) []string {
	return append([]string{fmt.Sprintf("--target=%d", m.leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"}, args...)
}

// Command is a program to run as root in the machine.
func (m *Machine) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "nsenter", m.enter(args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8"}
	cmd.Dir = "/"
	return cmd
}

// Run runs a program as root in the machine and returns what it printed. Its error holds what it said besides.
func (m *Machine) Run(ctx context.Context, args ...string) (string, error) {
	cmd := m.Command(ctx, args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("machine %s: %s: %w: %s%s", m.name, strings.Join(args, " "), err, out, problems.Bytes())
	}
	return string(out), err
}

// Off is closed when the machine is off, by itself or by the test.
func (m *Machine) Off() <-chan struct{} { return m.off }

// Console is all that it said there.
func (m *Machine) Console() string {
	text, err := os.ReadFile(filepath.Join(m.Dir, "console.log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Journal is what its units said, or one of them, also once it is off.
func (m *Machine) Journal(units ...string) string {
	args := []string{"--directory=" + filepath.Join(m.Dir, "disk/var/log/journal"), "--no-pager", "--output=short-precise"}
	for _, unit := range units {
		args = append(args, "--unit="+unit)
	}
	out, err := output(context.Background(), "journalctl", args...)
	if err != nil {
		return err.Error()
	}
	return out
}

// Story is the end of what the machine said, for people.
func (m *Machine) Story() string {
	tail := func(text string) string { return text[max(0, len(text)-6000):] }
	return fmt.Sprintf("--- console of %s\n%s\n--- journal\n%s", m.name, tail(m.Console()), tail(m.Journal()))
}

// Cut takes the power from the machine, if it is still on, and leaves nothing of it but its files.
func (m *Machine) Cut() error {
	if m.nspawn == nil || m.nspawn.Process == nil { // it never began
		var err error
		if m.net != nil {
			err = m.net.close()
		}
		return errors.Join(err, removeGroups(m.groups))
	}
	select {
	case <-m.off:
	default:
		_ = m.nspawn.Process.Kill() // it may have ended just now
		<-m.off
	}
	return m.network
}

// firstProcess returns the child of a process that is process 1 of a namespace.
func firstProcess(parent int) (int, bool) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		return 0, false // it has ended
	}
	for child := range strings.FieldsSeq(string(children)) {
		status, err := os.ReadFile(filepath.Join("/proc", child, "status"))
		if err != nil {
			continue
		}
		_, ids, _ := strings.Cut(string(status), "\nNSpid:")
		ids, _, _ = strings.Cut(ids, "\n")
		if numbers := strings.Fields(ids); len(numbers) > 1 && numbers[len(numbers)-1] == "1" {
			pid, err := strconv.Atoi(child)
			return pid, err == nil
		}
	}
	return 0, false
}
