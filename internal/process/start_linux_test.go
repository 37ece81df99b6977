package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// startEnv makes this program say which session keyring it has.
const startEnv = "REMUDA_PROCESS_START"

func init() {
	if os.Getenv(startEnv) != "" {
		fmt.Println(unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false))
		os.Exit(0)
	}
}

// H42: what is started has a session keyring of its own: nothing that it puts there reaches what is started later.
func TestStart_NewSessionKeyring_H42(t *testing.T) {
	if _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false); withoutKeys(err) {
		t.Skipf("no keyrings here: %v", err)
	}
	seen := map[string]bool{}
	ours, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
	seen[fmt.Sprintln(ours, err)] = true
	for range 2 {
		cmd, out := exec.Command(os.Args[0]), &strings.Builder{}
		cmd.Env, cmd.Stdout = []string{startEnv + "=1"}, out
		if err := errors.Join(Start(cmd), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		if ring := out.String(); seen[ring] || !strings.HasSuffix(ring, " <nil>\n") {
			t.Errorf("session keyring %q, want one that no one else has", ring)
		} else {
			seen[ring] = true
		}
	}
}

// H49: when memory runs out the kernel spares us, and nothing that was started here: it cannot even ask for that.
func TestStart_Unprotected_H49(t *testing.T) {
	was, err := os.ReadFile(scoreFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(scoreFile, []byte("-500"), 0); err != nil {
		t.Skipf("may not be protected: %v", err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(scoreFile, was, 0); err != nil {
			t.Error(err)
		}
	})
	cmd, out := exec.Command("/bin/cat", scoreFile), &strings.Builder{}
	cmd.Stdout = out
	if err := errors.Join(Start(cmd), cmd.Wait()); err != nil || out.String() != "0\n" {
		t.Errorf("Start = %v, score %q, want 0", err, out)
	}
	if now, err := os.ReadFile(scoreFile); err != nil || string(now) != "-500\n" {
		t.Errorf("our own score is %q, %v, want -500", now, err)
	}
}

// The same where no process may be protected, by a file; a score that is no protection stays.
func TestUnprotected_H49(t *testing.T) {
	file := filepath.Join(t.TempDir(), "score")
	for was, want := range map[string]string{"-900\n": "0", "0\n": "0\n", "300\n": "300\n"} {
		if err := os.WriteFile(file, []byte(was), 0o600); err != nil {
			t.Fatal(err)
		}
		failed := errors.New("failed")
		var meanwhile []byte
		err := unprotected(file, func() (err error) {
			meanwhile, err = os.ReadFile(file)
			return errors.Join(err, failed)
		})
		now, rerr := os.ReadFile(file)
		if !errors.Is(err, failed) || rerr != nil || string(meanwhile) != want || string(now) != was {
			t.Errorf("from %q: %v, %v, %q meanwhile, %q in the end, want %q and the first again", was, err, rerr, meanwhile, now, want)
		}
	}
}

// swapEnv makes this program ask to change a file behind the back of who looks, with requests of another size too.
const swapEnv = "REMUDA_PROCESS_SWAP"

func init() {
	if os.Getenv(swapEnv) == "" {
		return
	}
	for _, request := range []uintptr{0xc0c0586d, 0xc0a8586d, 0xc028660f, unix.TCGETS} {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, ^uintptr(0), request, 0)
		fmt.Print(errno == unix.EPERM, " ")
	}
	os.Exit(0)
}

// H42: what runs as another user cannot exchange the content of files, which leaves the kernel's time of their last
// change as it was; any other request reaches the kernel.
func TestStart_KeepsContent_H42(t *testing.T) {
	u := tester(t)
	cmd, out := exec.Command(public(t)), &strings.Builder{}
	cmd.Env, cmd.Dir, cmd.Stdout = []string{swapEnv + "=1"}, "/", out
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.UID)}}
	if err := errors.Join(Start(cmd), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "true true true false " {
		t.Errorf("refused: %q, want the first three", got)
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, ^uintptr(0), 0xc0c0586d, 0); errno != unix.EBADF {
		t.Errorf("here the request answers %v, want EBADF: no filter", errno)
	}
}
