package contain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// disk makes a folder that the agents take for the whole file system, with a cache of tools that everybody may
// write, as GitHub's own images have one.
func disk(t *testing.T) (root, cache string) {
	t.Helper()
	root = t.TempDir()
	cache = filepath.Join(root, "opt/hostedtoolcache")
	err := errors.Join(os.Chmod(root, 0o755), os.MkdirAll(filepath.Join(cache, "python"), 0o755),
		os.WriteFile(filepath.Join(cache, "python/python"), []byte("of the image"), 0o600),
		os.Chmod(cache, 0o777), os.Chmod(filepath.Join(cache, "python"), 0o777), os.Chmod(filepath.Join(cache, "python/python"), 0o777))
	if err != nil {
		t.Fatal(err)
	}
	return root, cache
}

// H42: a program that a job puts where the next run looks for one does not reach it, and the machine is clean.
func TestPoisonedFolder_New_H42(t *testing.T) {
	root, cache := disk(t)
	w := newWorld(t, "REMUDA_ROOT="+root)
	machine := w.run("100", "mkdir -p '"+cache+"/node/20.0.0/x64/bin' && echo evil > '"+cache+"/node/20.0.0/x64/bin/node' && touch '"+cache+"/node/20.0.0/x64.complete'")
	w.clean(machine)
	if again := w.run("200", "test ! -e '"+cache+"/node' && test \"$(cat '"+cache+"/python/python')\" = 'of the image'"); again != machine {
		t.Errorf("run 200 got %s, want %s again", again, machine)
	}
	w.clean(machine)
}

// H42: nor does one that it changed: what was there cannot be put back, so the machine is terminated.
func TestPoisonedFolder_Changed_H42(t *testing.T) {
	root, cache := disk(t)
	w := newWorld(t, "REMUDA_ROOT="+root)
	program := filepath.Join(cache, "python/python")
	machine := w.run("100", "printf %s 'of the job!!' > '"+program+"'")
	w.terminated(machine, "python was changed")
	if again := w.request("200"); again == machine {
		t.Errorf("run 200 got %s, whose files run 100 changed", again)
	}
}

// H42: what a job leaves in its home decides nothing that root does: the operator's script has another one.
func TestPoisonedHome_H42(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("no git to be fooled: %v", err)
	}
	dir := t.TempDir()
	script, said, bad := filepath.Join(dir, "scrub"), filepath.Join(dir, "said"), filepath.Join(dir, "bad")
	text := "#!/bin/sh\nset -e\nmkdir -p '" + dir + "/repository' && cd '" + dir + "/repository' && git init -q . && git status >/dev/null\n" +
		"{ echo home $HOME; echo temp $TMPDIR; echo path $PATH; } > '" + said + "'\n"
	for _, err := range []error{os.WriteFile(script, []byte(text), 0o755), os.Mkdir(bad, 0o755), os.Chmod(bad, 0o777), os.Chmod(dir, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, level := range []string{"none", "full"} {
		t.Run(level, func(t *testing.T) {
			root, _ := disk(t)
			w := newWorld(t, "REMUDA_ROOT="+root, "REMUDA_AGENT_SCRUB="+script, "REMUDA_CLASSES={small: {cpu: 2, mem: 4096, scrub: "+level+"}}",
				"PATH="+bad+":"+os.Getenv("PATH"))
			w.user.Enters(t, filepath.Dir(dir))
			ran := filepath.Join(dir, "bad/ran-"+level)
			evil := "#!/bin/sh\nid -u > " + ran + "\n"
			machine := w.run("100", "cat > \"$HOME/evil\" <<'E'\n"+evil+"E\nchmod 755 \"$HOME/evil\"\ncp \"$HOME/evil\" '"+bad+"/git'\n"+
				"printf '[core]\\n\\tfsmonitor = %s/evil\\n' \"$HOME\" > \"$HOME/.gitconfig\"\n"+
				"cd \"$(mktemp -d)\" && /usr/bin/git init -q . && /usr/bin/git status >/dev/null && test -e "+ran+" && rm "+ran)
			w.clean(machine)
			if who, err := os.ReadFile(ran); err == nil {
				t.Errorf("what the job left in its home ran as user %s", strings.TrimSpace(string(who)))
			}
			out, err := os.ReadFile(said)
			w.Check(err)
			if text := string(out); strings.Contains(text, machine+"/home") || strings.Contains(text, machine+"/tmp") || strings.Contains(text, bad) {
				t.Errorf("the script ran in the job's world:\n%s", text)
			}
			w.Check(errors.Join(os.Remove(said), os.RemoveAll(filepath.Join(bad, "git"))))
		})
	}
}

// The next run on an instance gets new folders, without the properties that a run set on its own.
func TestTaintedFolders_New_Review_S1(t *testing.T) {
	for name, env := range map[string][]string{"full": nil, "AgentsUser": {"REMUDA_AGENT_RUNNER_USER=", "REMUDA_CLASSES={small: {cpu: 2, mem: 4096}}"}} {
		t.Run(name, func(t *testing.T) {
			root, _ := disk(t)
			w := newWorld(t, append([]string{"REMUDA_ROOT=" + root}, env...)...)
			const want = `home drwx------ "", tmp drwx------ "", _work drwxr-xr-x "", _diag drwxr-xr-x ""`
			machine := w.run("100", w.does("plain", "probe")+w.does("plain", "taint"))
			w.clean(machine)
			if got := w.of("probe"); got != want {
				t.Errorf("run 100 finds %s, want %s", got, want)
			}
			if again := w.run("200", w.does("plain", "probe")); again != machine {
				t.Fatalf("run 200 got %s, want %s again", again, machine)
			}
			if got := w.of("probe"); got != want {
				t.Errorf("run 200 finds %s, want %s", got, want)
			}
			w.clean(machine)
		})
	}
}

// A run that sets properties of a folder of the image, or of the home of its user, costs the instance.
func TestTaintedFolders_OfTheImage_Review_S1(t *testing.T) {
	for _, which := range []string{"cache", "home", "closed"} {
		t.Run(which, func(t *testing.T) {
			root, cache := disk(t)
			w := newWorld(t, "REMUDA_ROOT="+root)
			account, err := user.Lookup(w.user.Name)
			w.Check(err)
			if strings.HasPrefix(account.HomeDir, "/var/spool/") {
				t.Skipf("the home of %s is among the spools, where nothing of the user's stays", w.user.Name)
			}
			home := filepath.Join(root, account.HomeDir)
			w.Check(errors.Join(os.MkdirAll(home, 0o755), os.Chown(home, w.user.UID, w.user.GID)))
			path, script := cache, w.does("plain", "taint:"+cache)
			switch which {
			case "home":
				path, script = home, w.does("plain", "taint:"+home)
			case "closed":
				path, script = home, "chmod 0 '"+home+"'"
			}
			machine := w.run("100", script)
			w.terminated(machine, path+" was changed")
		})
	}
}

// Files that services of the system write because of a run do not reach the next run. Root plays the services.
func TestFilesOfServices_Review_S5(t *testing.T) {
	root, _ := disk(t)
	w := newWorld(t, "REMUDA_ROOT="+root)
	dump, journal := filepath.Join(root, "var/lib/systemd/coredump"), filepath.Join(root, "var/log/journal/abc")
	mail, cache := filepath.Join(root, "var/mail"), filepath.Join(root, "var/cache/helper")
	for _, dir := range []string{dump, journal, mail, cache} {
		w.Check(os.MkdirAll(dir, 0o755))
	}
	files := map[string]int{ // and their owners
		filepath.Join(dump, fmt.Sprintf("core.test-suite.%d.abc", w.user.UID)): 0, filepath.Join(journal, fmt.Sprintf("user-%d.journal", w.user.UID)): 0,
		filepath.Join(mail, w.user.Name): w.user.UID, filepath.Join(cache, "output"): w.user.UID,
	}
	list := []byte{2, 0, 0, 0}
	for _, e := range [][3]uint32{{1, 6, 1<<32 - 1}, {2, 4, uint32(w.user.UID)}, {4, 4, 1<<32 - 1}, {16, 4, 1<<32 - 1}, {32, 0, 1<<32 - 1}} {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(list, uint16(e[1])), e[2])
	}
	machine := w.request("100")
	for file, owner := range files {
		w.Check(errors.Join(os.WriteFile(file, []byte("memory of run 100"), 0o640), os.Chown(file, owner, 0)))
		if owner == 0 {
			w.Check(unix.Setxattr(file, "system.posix_acl_access", list, 0))
		}
	}
	reads, lacks := "", ""
	for file := range files {
		reads += "grep -q memory '" + file + "'\n"
		lacks += "test ! -e '" + file + "'\n"
	}
	w.job("100", reads)
	w.release("100")
	w.clean(machine)
	if again := w.run("200", lacks); again != machine {
		t.Errorf("run 200 got %s, want %s again", again, machine)
	}
	w.clean(machine)
}
