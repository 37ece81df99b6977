package awstest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// scripted is a server that runs a shell script.
func scripted(script string) *server {
	command := func(string, string) ([]string, string, error) { return []string{"sh", "-c", script}, "/", nil }
	return &server{tool: moto.tool, probe: moto.probe, command: command}
}

func TestAttempt_SaysWhyAServiceDoesNotComeUp(t *testing.T) {
	tests := []struct {
		name, script string
		hangs        bool // it is given up once it has written
		taken        bool
		want         string
	}{
		{"Ends", "echo broken; exit 3", false, false, "exit status 3; sh wrote:\nbroken"},
		{"PortTaken", "echo java.net.BindException: Address already in use >&2; exit 1", false, true, "already in use"},
		{"PortTakenAndLives", "echo java.net.BindException: Address already in use; exec sleep 1000", false, true, "already in use"},
		{"Hangs", "echo thinking; exec sleep 1000", true, false, "too late; sh wrote:\nthinking"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := scripted(tt.script)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if probe := s.probe; tt.hangs {
				s.probe = func() *http.Request {
					if s.child.tail() != "" {
						cancel(errors.New("too late"))
					}
					return probe()
				}
			}
			err := s.attempt(ctx, "")
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, errPortTaken) != tt.taken {
				t.Errorf("attempt() error = %v, want %q, port taken %t", err, tt.want, tt.taken)
			}
			if err := unix.Kill(s.child.pid, 0); !errors.Is(err, unix.ESRCH) {
				t.Errorf("Kill(%d, 0) error = %v, want no such process", s.child.pid, err)
			}
		})
	}
}

// again runs one test of this binary in a process of its own, which has no programs at hand.
func again(t *testing.T, test string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+test+"$", "-test.v")
	cmd.Env = append([]string{"PATH=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "HOME=" + t.TempDir()}, env...)
	return cmd
}

func TestUse_SkipsOrFailsWithoutTheProgram(t *testing.T) {
	const line = "left out: moto: python3 is not installed\n"
	out, err := again(t, "TestMoto_Answers").CombinedOutput()
	if err != nil || strings.Count(string(out), line) != 1 || !strings.Contains(string(out), "--- SKIP: TestMoto_Answers") {
		t.Errorf("test without python3: %v\n%s\nwant it skipped with %q", err, out, line)
	}
	out, err = again(t, "TestMoto_Answers", EnvRequire+"=1").CombinedOutput()
	if err == nil || strings.Contains(string(out), "left out") || !strings.Contains(string(out), "moto: python3 is not installed\n") {
		t.Errorf("test without python3, which is required: %v\n%s\nwant it failed", err, out)
	}
}

// envCrash makes TestHelperCrash start a child and kill its own process.
const envCrash = "REMUDA_AWSTEST_CRASH"

func TestHelperCrash(t *testing.T) {
	if os.Getenv(envCrash) == "" {
		return // it is the body of the next test's process
	}
	c, err := spawn("/bin/sh", []string{"-c", "while :; do /bin/sleep 1; done"}, "/")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("pid %d\n", c.pid)
	if err := unix.Kill(os.Getpid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.done
}
