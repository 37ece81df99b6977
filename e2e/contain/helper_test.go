package contain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helpEnv makes this test program do what hostile jobs do and shells cannot: "what" or "what:argument". tellEnv
// is where it says what it found.
const (
	helpEnv = "REMUDA_CONTAIN_HELP"
	tellEnv = "REMUDA_CONTAIN_TELL"
)

// A helper's first goroutine stays on the main thread, which some of them end.
func init() {
	if os.Getenv(helpEnv) != "" {
		runtime.LockOSThread()
	}
}

// helpers are what jobs can do, by name: see world.does. One that stays calls standing once it stands.
var helpers = map[string]func(argument string) error{
	"ghost": ghost,
	"stay":  stay,
	"taint": taint,
	"probe": probe,
}

func help(what string) int {
	name, argument, _ := strings.Cut(what, ":")
	does, ok := helpers[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "%s: no helper %q\n", helpEnv, name)
		return 2
	}
	if err := does(argument); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		return 1
	}
	return 0
}

// stay starts a helper that outlives the job, out of group, session, parent and environment, and returns once it
// stands.
func stay(what string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{helpEnv + "=" + what, tellEnv + "=" + os.Getenv(tellEnv)}
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		return err
	}
	says, err := io.ReadAll(r)
	if err == nil && string(says) != "stands" {
		err = fmt.Errorf("%s ended instead of staying", what)
	}
	return err
}

// standing tells what waits for this helper, and the test, which pid it has.
func standing(name string) error {
	syscall.CloseOnExec(3)
	started := os.NewFile(3, "started") // the first of stay's ExtraFiles
	if err := tell(name, strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	_, err := started.WriteString("stands")
	return errors.Join(err, started.Close())
}

// defaultList is an access control list that gives everyone each right to what is made in a folder.
var defaultList = []byte{2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 7, 0, 255, 255, 255, 255, 32, 0, 7, 0, 255, 255, 255, 255}

// folders are the paths of an argument, separated by commas, or else the folders that each run gets.
func folders(argument string) []string {
	if argument != "" {
		return strings.Split(argument, ",")
	}
	runner := filepath.Join(filepath.Dir(os.Getenv("HOME")), "runner")
	return []string{os.Getenv("HOME"), os.Getenv("TMPDIR"), filepath.Join(runner, "_work"), filepath.Join(runner, "_diag")}
}

// taint changes folders in the ways that stay when their content is removed.
func taint(argument string) error {
	for _, path := range folders(argument) {
		own := errors.Join(os.Chmod(path, 0o777), unix.Setxattr(path, "system.posix_acl_default", defaultList, 0))
		if err := unix.Setxattr(path, "user.evil", []byte("data of run A"), 0); err != nil {
			return errors.Join(own, err)
		}
		if argument == "" && own != nil {
			return own
		}
	}
	return nil
}

// probe tells the mode and the attributes of folders.
func probe(argument string) error {
	var all []string
	for _, path := range folders(argument) {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		names := make([]byte, 1000)
		n, err := unix.Listxattr(path, names)
		if err != nil {
			return err
		}
		all = append(all, fmt.Sprintf("%s %s %q", filepath.Base(path), info.Mode(), strings.Replace(string(names[:n]), "security.selinux\x00", "", 1)))
	}
	return tell("probe", strings.Join(all, ", "))
}

// tell says something to the test, which is not on a disk that is cleaned.
func tell(name, text string) error {
	c, err := net.Dial("tcp", os.Getenv(tellEnv))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c, "%s %s\n", name, text)
	if err == nil {
		_, err = io.ReadAll(c) // the test closes when it has read all
	}
	return errors.Join(err, c.Close())
}

// ghost ends its main thread and steals from what comes later: the kernel then shows the process as a zombie, and
// no environment, while its other threads run.
func ghost(string) error {
	go func() {
		err := steal()
		_ = tell("ghost.failed", err.Error()) // nobody else is left to read it
		os.Exit(1)
	}()
	_, _, errno := syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
	return errno
}

// steal tells each token that another process has in its environment.
func steal() error {
	for leader := []byte(nil); !bytes.Contains(leader, []byte(") Z ")); {
		var err error
		if leader, err = os.ReadFile("/proc/self/stat"); err != nil {
			return err
		}
	}
	if err := standing("ghost"); err != nil {
		return err
	}
	for {
		files, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			return err
		}
		for _, f := range files {
			text, _ := os.ReadFile(f) // another's, or gone
			if _, token, ok := bytes.Cut(text, []byte("\x00GITHUB_TOKEN=")); ok {
				token, _, _ = bytes.Cut(token, []byte{0})
				if err := tell("stolen", string(token)); err != nil {
					return err
				}
			}
		}
		time.Sleep(time.Millisecond)
	}
}
