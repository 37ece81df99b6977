package scrub_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/process"
)

// folder is an instance folder with what jobs leave behind.
func folder(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, file := range []string{
		"runner/_work/repo/repo/.git/config", "runner/_work/_temp/x", "runner/bin/Runner.Listener", "home/.ssh/id", "tmp/a/b/c", "agent-state.json",
	} {
		agenttest.Write(t, filepath.Join(root, file), "x")
	}
	return root
}

func scrubber(root, id string) scrub.Scrubber {
	return scrub.Scrubber{
		InstanceID: id, Root: root, Clock: clock.RealClock{},
		Fresh: []scrub.Folder{
			{Path: "runner/_work", Mode: 0o755, UID: os.Geteuid(), GID: os.Getegid()}, {Path: "runner/_diag", Mode: 0o755, UID: os.Geteuid(), GID: os.Getegid()},
			{Path: "home", Mode: 0o700, UID: os.Geteuid(), GID: os.Getegid()}, {Path: "tmp", Mode: 0o700, UID: os.Geteuid(), GID: os.Getegid()},
		},
	}
}

// files lists what is below root, folders with a slash.
func files(t *testing.T, root string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name := strings.TrimPrefix(path, root+"/")
		if d.IsDir() {
			name += "/"
		}
		out = append(out, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

const scrubbed = "agent-state.json home/ runner/ runner/_diag/ runner/_work/ runner/bin/ runner/bin/Runner.Listener tmp/"

// H42: files of jobs are gone, the rest is there; what cannot be written is removed all the same.
func TestScrub_Files_H42(t *testing.T) {
	root := folder(t)
	for _, dir := range []string{"tmp/a/b", "tmp/a", "home"} {
		if err := os.Chmod(filepath.Join(root, dir), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := scrubber(root, agenttest.Instance(t)).Scrub(context.Background(), "small"); err != nil {
		t.Fatalf("Scrub = %v", err)
	}
	if got := files(t, root); got != scrubbed {
		t.Errorf("left = %s\nwant = %s", got, scrubbed)
	}
}

// The same as an ordinary user, whom permissions stop.
func TestScrub_Unprivileged_H42(t *testing.T) {
	if os.Getuid() != 0 {
		return // TestScrub_Files is that case then
	}
	root := folder(t)
	for _, dir := range []string{"tmp/a/b", "home"} {
		if err := os.Chmod(filepath.Join(root, dir), 0o000); err != nil {
			t.Fatal(err)
		}
	}
	id := agenttest.Instance(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(filepath.Dir(root), "scrub.test")
	copyFile(t, exe, program)
	if err := errors.Join(os.Chmod(root, 0o755), os.Chmod(filepath.Dir(root), 0o755)); err != nil { // both are the test's own
		t.Fatal(err)
	}
	const nobody = 65534
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestScrub_Helper$")
	cmd.Env = []string{"SCRUB_ROOT=" + root, "SCRUB_ID=" + id, agent.EnvMarker + "=" + id} // marked, as an agent is
	cmd.Dir = root
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scrub as nobody: %v\n%s", err, out)
	}
	if got := files(t, root); got != scrubbed {
		t.Errorf("left = %s\nwant = %s", got, scrubbed)
	}
}

// TestScrub_Helper is the program of TestScrub_Unprivileged.
func TestScrub_Helper(t *testing.T) {
	root := os.Getenv("SCRUB_ROOT")
	if root == "" {
		return
	}
	if err := scrubber(root, os.Getenv("SCRUB_ID")).Scrub(context.Background(), "small"); err != nil {
		t.Fatalf("Scrub = %v", err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}

// No link is followed out of the folder, wherever a job put it.
func TestScrub_Links_NotFollowed_H42(t *testing.T) {
	outside := t.TempDir()
	agenttest.Write(t, filepath.Join(outside, "precious"), "x")
	root := folder(t)
	for name, target := range map[string]string{
		"tmp/out": outside, "tmp/up": "../..", "tmp/loop": "loop", "runner/_work/repo/out": outside, "runner/_diag": outside,
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := scrubber(root, agenttest.Instance(t)).Scrub(context.Background(), "small"); err != nil {
		t.Fatalf("Scrub = %v", err)
	}
	if got := files(t, root); got != scrubbed {
		t.Errorf("left = %s\nwant = %s", got, scrubbed)
	}
	if got := files(t, outside); got != "precious" {
		t.Errorf("outside = %q, want it untouched", got)
	}

	if err := os.RemoveAll(filepath.Join(root, "runner")); err != nil {
		t.Fatal(err)
	}
	agenttest.Write(t, filepath.Join(outside, "_work", "precious"), "x")
	if err := os.Symlink(outside, filepath.Join(root, "runner")); err != nil {
		t.Fatal(err)
	}
	if err := scrubber(root, agenttest.Instance(t)).Scrub(context.Background(), "small"); !errors.Is(err, scrub.ErrNotClean) {
		t.Errorf("Scrub of a folder that leads outside = %v, want ErrNotClean", err)
	}
	if got := files(t, outside); !strings.Contains(got, "_work/precious") {
		t.Errorf("outside = %q, want it untouched", got)
	}
}

// H42: processes of jobs are gone, whatever group or session they went to; this one lives.
func TestScrub_Processes_H42(t *testing.T) {
	id := agenttest.Instance(t)
	script := agenttest.Shell(t, id, "setsid sleep 600 & (sleep 600 &) ; sleep 600 & exit 0")
	if err := script.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	agenttest.Eventually(t, "three processes are found", func() bool {
		left, err := process.Find(agent.EnvMarker, id)
		return err == nil && len(left) == 3
	})
	if err := scrubber(folder(t), id).Scrub(context.Background(), "small"); err != nil {
		t.Fatalf("Scrub = %v", err)
	}
	if left, err := process.Find(agent.EnvMarker, id); err != nil || len(left) != 0 {
		t.Errorf("%d processes are left, %v", len(left), err)
	}
}

// The operator's script runs last; its failure means not clean, and what it leaves is ended too.
func TestScrub_Script_H42(t *testing.T) {
	id, root := agenttest.Instance(t), folder(t)
	s := scrubber(root, id)
	command := agenttest.Shell(t, id, "[ -z \"$(ls tmp)\" ] || exit 9; sleep 600 & echo seen > proof")
	command.Dir = root
	s.Script = &command
	if err := s.Scrub(context.Background(), "small"); err != nil {
		t.Fatalf("Scrub = %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "proof")); err != nil {
		t.Errorf("the script did not run: %v", err)
	}
	if left, err := process.Find(agent.EnvMarker, id); err != nil || len(left) != 0 {
		t.Errorf("%d processes of the script are left, %v", len(left), err)
	}
	command.Args = []string{"-c", "echo docker is stuck; exit 4"}
	if err := s.Scrub(context.Background(), "small"); !errors.Is(err, scrub.ErrNotClean) || !strings.Contains(err.Error(), "docker is stuck") {
		t.Errorf("Scrub = %v, want ErrNotClean with the script's last line", err)
	}
}

// A folder that is not there cannot be called clean.
func TestScrub_NoRoot(t *testing.T) {
	if err := scrubber(filepath.Join(t.TempDir(), "none"), agenttest.Instance(t)).Scrub(context.Background(), "small"); !errors.Is(err, scrub.ErrNotClean) {
		t.Errorf("Scrub = %v, want ErrNotClean", err)
	}
}

// H42: what a runner of another user put in the place of a folder is a folder of that user again,
// or the next run could not write into it.
func TestScrub_FolderReplaced_BelongsToRunner_H42(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root scrubs for another user")
	}
	const nobody = 65534
	root := folder(t)
	work := filepath.Join(root, "runner", "_work")
	if err := errors.Join(os.RemoveAll(work), os.Symlink(t.TempDir(), work), os.Lchown(filepath.Dir(work), nobody, nobody), os.Lchown(work, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	s := scrubber(root, agenttest.Instance(t))
	s.Fresh = []scrub.Folder{{Path: "runner/_work", Mode: 0o755, UID: nobody, GID: nobody}}
	if err := s.Scrub(context.Background(), "small"); err != nil {
		t.Fatalf("Scrub = %v", err)
	}
	info, err := os.Lstat(work)
	if err != nil || !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != nobody {
		t.Errorf("_work = %v, %v, want a folder of user %d", info, err, nobody)
	}
}
