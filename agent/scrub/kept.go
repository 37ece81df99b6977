package scrub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/internal/writable"
)

// Services of the system write files for the runner's user into folders that the user can enter but not write: core dumps
// (systemd-coredump(8)), its journal (journald.conf(5), SplitMode=), its mail. They hold memory and output of a run, so they are
// removed after the run. Services keep their files in /var and /run (file-hierarchy(7)).

// removeKept removes files that services made for the runner's user since the baseline. An error names a file of the baseline
// that has changed since.
func (o outside) removeKept(was Baseline) error {
	if was.Boot == "" {
		return nil // nothing ran
	}
	now, err := o.kept()
	if err != nil {
		return err
	}
	for path, stamp := range now {
		before, there := was.Kept[path]
		switch {
		case there && before == stamp && !o.isJournal(path):
		case there && !o.isJournal(path):
			return fmt.Errorf("%s %w", path, writable.ErrChanged)
		default:
			if err := removePath(path, o.Root, func(string, fs.FileInfo) bool { return true }); err != nil {
				return err
			}
		}
	}
	return nil
}

// kept returns the files that services made for the runner's user, with a text that shows a change of each. It does not enter the
// folders among them, nor folders that the user cannot enter. On a computer that others use, only a few folders hold files that are
// certainly for this user although another user owns them.
func (o outside) kept() (map[string]string, error) {
	user, err := o.User.Lookup(o.System)
	if err != nil {
		return nil, err
	}
	skip, err := writable.Foreign()
	if err != nil {
		return nil, err
	}
	for _, dir := range append(append(o.paths("var/tmp", o.runtime()), o.Root), o.Others...) {
		skip[dir] = true
	}
	certain := o.paths("var/lib/systemd/coredump", "var/log/journal", "run/log/journal", "var/crash", "var/mail", "var/spool")
	found := map[string]string{}
	visit := func(path string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case skip[path]:
		case user.Owns(ownerOf(info)) || o.isJournal(path) || (o.Whole || isBelow(path, certain)) && user.Named(path, info):
			found[path] = stampOf(info)
		case d.IsDir() && user.Enters(path, info) && !user.Named(path, info):
			return nil
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	roots := o.paths("var", "run")
	if home, own := o.home(); home != "" && !own { // Record covers a home that is the user's
		roots = append(roots, home)
	}
	for _, root := range roots {
		if err := filepath.WalkDir(root, visit); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// stampOf shows a change of a file. A folder changes with its content, so of a folder only mode and owner count.
func stampOf(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.IsDir() {
		return fmt.Sprint(info.Mode(), ownerOf(info))
	}
	return fmt.Sprint(info.Mode(), st.Uid, st.Gid, changedAt(st))
}

// isJournal reports whether path is a journal of the runner's user, current or rotated. Only that user needs it.
func (o outside) isJournal(path string) bool {
	name, is := strings.CutPrefix(filepath.Base(path), "user-"+strconv.Itoa(o.User.UID))
	return is && strings.IndexAny(name, ".@") == 0 && isBelow(path, o.paths("var/log/journal", "run/log/journal"))
}

func isBelow(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(path, folder+"/") })
}

// settleTries bounds the wait for services that still write a core dump. Between two checks passes killPause.
const settleTries = 200

// settle waits until no service writes a core dump, and until journald has written all messages that it received. The processes
// of the run have ended.
func (o outside) settle(ctx context.Context) error {
	for range settleTries {
		dumper := o.dumper()
		if dumper == "" {
			return o.syncJournal(ctx)
		}
		if err := processes(o).pause(ctx, killPause); err != nil {
			return fmt.Errorf("%s writes a core dump: %w", dumper, err)
		}
	}
	return fmt.Errorf("%s did not finish a core dump within %s", o.dumper(), settleTries*killPause)
}

// dumper names a process that writes a core dump: systemd-coredump, which is "(coredump)" before it is started, apport, or abrt.
func (o outside) dumper() string {
	files, _ := filepath.Glob(o.path("proc/[0-9]*/comm")) // the pattern is valid
	for _, file := range files {
		comm, _ := os.ReadFile(file) // an error: it has ended
		name := string(bytes.TrimSpace(comm))
		if strings.Contains(name, "coredum") || strings.HasPrefix(name, "apport") || strings.HasPrefix(name, "abrt-hook") {
			return fmt.Sprintf("%s (%s)", filepath.Dir(file), name)
		}
	}
	return ""
}

// syncJournal returns once journald has written the messages that it received before the call.
func (o outside) syncJournal(ctx context.Context) error {
	if _, err := os.Stat(o.path("run/systemd/journal/socket")); err != nil {
		return nil //nolint:nilerr // journald does not run
	}
	_, err := process.Output(ctx, "journalctl", "--sync")
	if errors.Is(err, exec.ErrNotFound) {
		return nil
	}
	return err
}
