package ec2machine_test

import (
	"context"
	"errors"
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
func closed(context.Context, string) error { return ec2machine.ErrUnreachable }
func open(context.Context, string) error   { return nil }

func TestFirewall_Ensure(t *testing.T) {
	fails := "echo no such module >&2; exit 1"
	keep := "PATH=/usr/bin:/bin cat >\"$(dirname \"$0\")/../ruleset\" 2>/dev/null; true"
	for _, tt := range []struct {
		name    string
		scripts map[string]string
		try     func(context.Context, string) error
		calls   string // in order, parts
		err     string // "": none
	}{
		{"Nft", map[string]string{"nft": keep, "iptables": fails}, closed, "nft -f -", ""},
		{"Iptables", map[string]string{"iptables": "[ $2 != -C ]", "ip6tables": "[ $2 != -C ]"}, closed,
			"iptables -w -C OUTPUT -d 169.254.169.254 -m owner --uid-owner 77 -j REJECT|iptables -w -I OUTPUT -d 169.254.169.254 -m owner --uid-owner 77 -j REJECT|" +
				"ip6tables -w -C OUTPUT -d fd00:ec2::254|ip6tables -w -I OUTPUT -d fd00:ec2::254", ""},
		{"IptablesThereAlready", map[string]string{"iptables": "", "ip6tables": ""}, closed, "iptables -w -C|ip6tables -w -C", ""},
		{"NoIPv6", map[string]string{"iptables": ""}, closed, "iptables -w -C", ""},
		{"Nothing", nil, closed, "", "neither nft nor iptables"},
		{"RuleRefused", map[string]string{"nft": fails}, open, "nft", "no such module"},
		{"RuleWithoutEffect", map[string]string{"nft": ""}, open, "nft", "user 77 reaches 169.254.169.254: the rules do not hold"},
		{"Unknown", map[string]string{"nft": ""}, func(context.Context, string) error { return errors.New("timed out") }, "nft", "timed out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := filters(t, tt.scripts)
			err := ec2machine.Firewall{UID: 77, Try: tt.try}.Ensure(t.Context())
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

// tryEnv makes the test program the one that tries, or the one inside a network of its own.
const (
	tryEnv     = "REMUDA_FIREWALL_TRY"
	networkEnv = "REMUDA_FIREWALL_NETWORK"
)

// A real filter in a network of its own, in which something listens at the service's addresses: the
// user is kept out by each program there is, root and another user are not, and twice is once.
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
	const runner, other = 54321, 54322
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
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	as := func(uid uint32) func(context.Context, string) error {
		return ec2machine.TryAs(&syscall.Credential{Uid: uid, Gid: uid}, exe, "-test.run=^TestFirewall_Tries$", "-test.v=false", tryEnv)
	}
	for _, address := range reachable {
		if err := as(runner)(t.Context(), address); err != nil {
			t.Fatalf("before: user %d to %s = %v, want it reached", runner, address, err)
		}
	}
	t.Setenv("PATH", os.Getenv(networkEnv))
	f := ec2machine.Firewall{UID: runner, Try: as(runner)}
	for range 2 {
		if err := f.Ensure(t.Context()); err != nil {
			t.Fatalf("Ensure = %v", err)
		}
	}
	for _, address := range reachable {
		if err := as(runner)(t.Context(), address); !errors.Is(err, ec2machine.ErrUnreachable) {
			t.Errorf("user %d to %s = %v, want ErrUnreachable", runner, address, err)
		}
		for _, uid := range []uint32{0, other} {
			if err := as(uid)(t.Context(), address); err != nil {
				t.Errorf("user %d to %s = %v, want it reached", uid, address, err)
			}
		}
	}
}

// TestFirewall_Tries is the program that inNetwork runs as users, with the address as last word.
func TestFirewall_Tries(t *testing.T) {
	n := len(os.Args)
	if n < 2 || os.Args[n-2] != tryEnv {
		return
	}
	switch err := ec2machine.Reach(t.Context(), os.Args[n-1]); {
	case err == nil:
		os.Exit(ec2machine.StatusReached)
	case errors.Is(err, ec2machine.ErrUnreachable):
		os.Exit(ec2machine.StatusUnreachable)
	default:
		t.Fatal(err)
	}
}
