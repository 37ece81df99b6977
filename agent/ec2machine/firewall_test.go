package ec2machine_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/agent/ec2machine"
)

// filters puts stand-ins on the PATH, which write down how they were called.
func filters(t *testing.T, scripts map[string]string) (calls func() string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	for name, script := range scripts {
		text := "#!/bin/sh\necho \"" + name + " $*\" >>'" + log + "'\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return func() string {
		b, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(b)
	}
}

// closed and open are what a user may find.
func closed(context.Context, int, string) error { return ec2machine.ErrUnreachable }
func open(context.Context, int, string) error   { return nil }

// only is what users find if the rules are about one of them.
func only(barred int) func(context.Context, int, string) error {
	return func(_ context.Context, uid int, _ string) error {
		if uid == barred {
			return ec2machine.ErrUnreachable
		}
		return nil
	}
}

// The rules are about everyone but root, so about subordinate users too, and about no packet that has no owner.
func TestFirewall_Ensure(t *testing.T) {
	fails := "echo no such module >&2; exit 1"
	keep := "PATH=/usr/bin:/bin cat >\"$(dirname \"$0\")/../ruleset\" 2>/dev/null; true"
	for _, tt := range []struct {
		name    string
		scripts map[string]string
		try     func(context.Context, int, string) error
		calls   string // in order, parts
		err     string // "": none
	}{
		{"Nft", map[string]string{"nft": keep, "iptables": fails}, closed, "nft -f -", ""},
		{"Iptables", map[string]string{"iptables": "[ $2 != -C ]", "ip6tables": "[ $2 != -C ]"}, closed,
			"iptables -w -C OUTPUT -d 169.254.169.254 -p tcp -m owner --uid-owner 1-4294967294 -j REJECT --reject-with tcp-reset|iptables -w -I OUTPUT -d 169.254.169.254 -p tcp -m owner --uid-owner 1-4294967294 -j REJECT --reject-with tcp-reset|" +
				"ip6tables -w -C OUTPUT -d fd00:ec2::254|ip6tables -w -I OUTPUT -d fd00:ec2::254", ""},
		{"IptablesThereAlready", map[string]string{"iptables": "", "ip6tables": ""}, closed, "iptables -w -C|ip6tables -w -C", ""},
		{"NoIPv6", map[string]string{"iptables": ""}, closed, "iptables -w -C", ""},
		{"Nothing", nil, closed, "", "neither nft nor iptables"},
		{"RuleRefused", map[string]string{"nft": fails}, open, "nft", "no such module"},
		{"RuleWithoutEffect", map[string]string{"nft": ""}, open, "nft", "user 77 reaches 169.254.169.254: the rules do not hold"},
		{"RuleForOneUser", map[string]string{"nft": ""}, only(77), "nft", "user 100000 reaches 169.254.169.254: the rules do not hold"},
		{"Unknown", map[string]string{"nft": ""}, func(context.Context, int, string) error { return errors.New("timed out") }, "nft", "timed out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := filters(t, tt.scripts)
			err := ec2machine.Firewall{Barred: []int{77, 100000}, Try: tt.try}.Ensure(t.Context())
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Ensure = %v, want …%s…", err, tt.err)
			}
			got := calls()
			for part := range strings.SplitSeq(tt.calls, "|") {
				before, after, ok := strings.Cut(got, part)
				if !ok {
					t.Errorf("calls = %q, want %q next", got, part)
				}
				_, got = before, after
			}
		})
	}
}

// tryEnv makes the test program the one that tries; networkEnv the one inside a network of its own.
const (
	tryEnv     = "REMUDA_FIREWALL_TRY"
	networkEnv = "REMUDA_FIREWALL_NETWORK"
)

// A real filter in a network of its own, in which something listens at the service's addresses: everyone is kept
// out by each program there is, a subordinate user of a runner's too, but not root and the exempt; twice is
// once; and who flushed the rules finds them set again.
func TestFirewall_RealFilter(t *testing.T) {
	switch {
	case os.Getenv(networkEnv) != "":
		inNetwork(t)
		return
	case os.Getuid() != 0:
		t.Skip("only root can make a network and set rules")
	}
	if err := exec.Command("unshare", "-n", "true").Run(); err != nil {
		t.Skipf("no network of its own here: %v", err)
	}
	some := false
	for _, program := range []string{"nft", "iptables"} {
		path, err := exec.LookPath(program)
		if err == nil {
			err = exec.Command("unshare", "-n", path, map[string]string{"nft": "list", "iptables": "-L"}[program], map[string]string{"nft": "tables", "iptables": "-n"}[program]).Run()
		}
		if err != nil {
			t.Logf("not tried: %s does not work here: %v", program, err)
			continue
		}
		some = true
		t.Run(program, func(t *testing.T) {
			exe := shared(t)
			bin := t.TempDir()
			for _, name := range []string{program, "ip6tables"} {
				if real, err := exec.LookPath(name); err == nil && (name == program || program == "iptables") {
					if err := os.Symlink(real, filepath.Join(bin, name)); err != nil {
						t.Fatal(err)
					}
				}
			}
			cmd := exec.Command("unshare", "-n", "sh", "-c", `ip link set lo up && ip address add 169.254.169.254/32 dev lo && { ip address add fd00:ec2::254/128 dev lo || true; } && exec "$@"`,
				"sh", exe, "-test.run=^TestFirewall_RealFilter$", "-test.v")
			cmd.Env = append(os.Environ(), networkEnv+"="+bin)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	if !some {
		t.Skip("neither nft nor iptables works here")
	}
}

// shared copies the test program to where any user can run it.
func shared(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "firewall.test")
	if err := os.WriteFile(exe, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return exe
}

func inNetwork(t *testing.T) {
	const runner, subordinate, exempt = 54321, 4000100000, 500
	var reachable []string
	for _, address := range ec2machine.MetadataAddresses {
		l, err := net.Listen("tcp", net.JoinHostPort(address, "80"))
		if err != nil {
			t.Logf("not tried: %s: %v", address, err)
			continue
		}
		defer l.Close()
		reachable = append(reachable, address)
	}
	if len(reachable) == 0 {
		t.Fatal("nothing listens at the service's addresses")
	}
	everyone := []int{0, exempt, exempt + 1, runner, subordinate, ec2machine.LastUser}
	expect := func(when string, want func(uid int) bool) {
		t.Helper()
		for _, address := range reachable {
			for _, uid := range everyone {
				for how, try := range map[string]func(context.Context, int, string) error{"a process": byProcess, "a socket": ec2machine.TryAs} {
					err := try(t.Context(), uid, address)
					if err != nil && !errors.Is(err, ec2machine.ErrUnreachable) || (err == nil) != want(uid) {
						t.Errorf("%s: %s of user %d to %s = %v, want it reached: %v", when, how, uid, address, err, want(uid))
					}
				}
			}
		}
	}
	expect("before", func(int) bool { return true })
	path, bin := os.Getenv("PATH"), os.Getenv(networkEnv)
	f := ec2machine.Firewall{Exempt: []int{exempt}, Barred: []int{runner, ec2machine.LastUser}, Try: ec2machine.TryAs}
	ensure := func() {
		t.Helper()
		t.Setenv("PATH", bin)
		if err := f.Ensure(t.Context()); err != nil {
			t.Fatalf("Ensure = %v", err)
		}
		t.Setenv("PATH", path)
	}
	held := func(uid int) bool { return uid == 0 || uid == exempt }
	ensure()
	ensure()
	expect("with rules", held)
	for _, flush := range []string{"nft flush ruleset", "iptables -F; ip6tables -F"} {
		if _, err := exec.LookPath(strings.Fields(flush)[0]); err == nil {
			if out, err := exec.Command("sh", "-c", flush).CombinedOutput(); err != nil {
				t.Logf("%s: %v: %s", flush, err, out)
			}
		}
	}
	expect("flushed", func(int) bool { return true })
	ensure()
	expect("set again", held)
}

// byProcess tries as a process of a user.
func byProcess(ctx context.Context, uid int, address string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, exe, "-test.run=^TestFirewall_Tries$")
	cmd.Dir, cmd.Env = "/", []string{tryEnv + "=" + address, "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == refused:
		return ec2machine.ErrUnreachable
	}
	return fmt.Errorf("%w: %s", err, out)
}

// refused is the status of TestFirewall_Tries if the machine refused.
const refused = 11

// TestFirewall_Tries is the program that byProcess runs.
func TestFirewall_Tries(t *testing.T) {
	address := os.Getenv(tryEnv)
	if address == "" {
		return
	}
	c, err := net.Dial("tcp", net.JoinHostPort(address, "80"))
	switch {
	case err == nil:
		_ = c.Close()
		os.Exit(0) // without a look for goroutines, which takes its time
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		os.Exit(refused)
	default:
		t.Fatal(err)
	}
}
