package contain

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// metadata is the address of the instance metadata service.
const metadata = "169.254.169.254:80"

func init() { helpers["reach"] = reach }

// reach tells whether it reaches the metadata service, as another user if it is root's program and is told so.
func reach(uid string) error {
	if uid != "" {
		n, err := strconv.Atoi(uid)
		if err != nil {
			return err
		}
		if err := syscall.Setresuid(n, n, n); err != nil {
			return err
		}
	}
	c, err := net.Dial("tcp", metadata)
	if err == nil {
		return errors.Join(tell("metadata", "reached"), c.Close())
	}
	return tell("metadata", err.Error())
}

// network gives this test, and what it starts, a network of its own, in which the metadata service answers.
func network(t *testing.T) {
	t.Helper()
	for _, program := range []string{"nft", "ip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no network to set rules in: %v", err)
		}
	}
	runtime.LockOSThread() // for ever: the thread ends with the test
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		t.Skipf("no network of its own here: %v", err)
	}
	for _, words := range []string{"ip link set lo up", "ip address add 169.254.169.254/32 dev lo"} {
		if out, err := exec.Command("sh", "-c", words).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", words, err, out)
		}
	}
	if out, err := exec.Command("nft", "list", "ruleset").CombinedOutput(); err != nil {
		t.Skipf("no rules here: %v: %s", err, out)
	}
	l, err := net.Listen("tcp", metadata)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// H43: no job reaches the metadata service, nor what moved to a subordinate uid; and a rule that was flushed while a
// machine was warm is there again for its next run.
func TestMetadata_H43(t *testing.T) {
	network(t)
	w := newWorld(t, "REMUDA_AGENT_METADATA_FIREWALL=everywhere")
	asJob, asOther := w.does("plain", "reach"), w.does("rooted", fmt.Sprintf("reach:%d", 2_100_000_000+w.user.UID))
	tries := func(id, script, want string) string {
		t.Helper()
		machine := w.run(id, script)
		if got := w.of("metadata"); !strings.Contains(got, want) {
			t.Errorf("run %s: %q, want %q", id, got, want)
		}
		w.clean(machine)
		return machine
	}
	machine := tries("100", asJob, "refused")
	tries("200", asOther, "refused")
	if out, err := exec.Command("nft", "flush", "ruleset").CombinedOutput(); err != nil {
		t.Fatalf("nft flush ruleset: %v: %s", err, out)
	}
	if again := tries("300", asJob, "refused"); again != machine {
		t.Errorf("run 300 got %s, want %s again", again, machine)
	}
	tries("400", asOther, "refused")
	tries("500", w.does("rooted", "reach:0"), "reached") // there was something to reach
}
