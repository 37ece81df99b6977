//go:build unix

package machinelog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Names in an instance's folder.
const (
	AgentFile  = "agent.log"
	ScriptFile = "script.log"
	ScrubFile  = "scrub.log"
	RunnerFile = "runner.log"
	RunnerDir  = "runner"
	DiagDir    = "_diag" // in RunnerDir (actions/runner, src/Runner.Common/Constants.cs)
)

// layout says which files a source is made of. Those named have their place before any that a job may have made.
var layout = []struct {
	name  string
	files []string
	diag  bool
}{
	{Agent, []string{AgentFile}, false}, {Script, []string{ScriptFile, ScrubFile}, false}, {Runner, []string{RunnerFile}, true},
}

// maxEntries bounds how many names of a folder of jobs are looked at. The runner makes a file per start and per job.
const maxEntries = 1000

// output is one file that may be read.
type output struct {
	name    string
	in      *os.File // folder
	base    string
	changed time.Time
}

// Read returns the end of the output in an instance's folder, without secrets and matches of mask. It omits empty sources. For an
// unreadable source it returns the error as text.
func Read(dir string, mask Patterns, secrets ...string) []Source {
	folder, err := openFolder(unix.AT_FDCWD, dir)
	if err != nil {
		return nil // there is no such machine, or no longer
	}
	defer folder.Close()
	var out []Source
	for _, l := range layout {
		files := named(folder, l.files)
		if l.diag {
			if diag, err := openDiag(folder); err == nil {
				defer diag.Close()
				files = append(files, newest(diag)...)
			}
		}
		if text := join(files, mask, secrets); text != "" {
			out = append(out, Source{Name: l.name, Text: text})
		}
	}
	return out
}

// openFolder opens a folder that is none by a link.
func openFolder(at int, name string) (*os.File, error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil //nolint:gosec // a descriptor is no negative number
}

func openDiag(folder *os.File) (*os.File, error) {
	runner, err := openFolder(int(folder.Fd()), RunnerDir)
	if err != nil {
		return nil, err
	}
	defer runner.Close()
	return openFolder(int(runner.Fd()), DiagDir)
}

// named are files of a folder, in this order.
func named(folder *os.File, names []string) []output {
	out := make([]output, len(names))
	for i, name := range names {
		out[i] = output{name: name, in: folder, base: name}
	}
	return out
}

// newest are the log files of a folder that jobs can write, the newest first.
func newest(folder *os.File) []output {
	entries, _ := folder.ReadDir(maxEntries) // what was read counts
	var out []output
	for _, e := range entries {
		var st unix.Stat_t
		if path.Ext(e.Name()) != ".log" || unix.Fstatat(int(folder.Fd()), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue
		}
		out = append(out, output{name: DiagDir + "/" + e.Name(), in: folder, base: e.Name(), changed: time.Unix(st.Mtim.Unix())})
	}
	slices.SortFunc(out, func(a, b output) int { return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(b.name, a.name)) })
	return out
}

// join returns the ends of files, those that come first in files last, in at most SourceBytes.
func join(files []output, mask Patterns, secrets []string) string {
	const more = "…\n"
	var parts []string
	left := SourceBytes
	for _, f := range files {
		part := fmt.Sprintf("==> %s <==\n", strings.Trim(fmt.Sprintf("%q", f.name), `"`))
		room := left - len(part) - len(more) - 1
		if room <= 0 {
			break
		}
		text, cut, err := f.end(int64(room))
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && text == "" && !cut:
			continue
		case err != nil:
			text = fmt.Sprintf("not read: %v", err)
		case cut:
			part += more
		}
		part += strings.TrimRight(mask.Mask(strings.ToValidUTF8(text, "?"), secrets...), "\n") + "\n"
		parts = append(parts, part)
		left -= len(part)
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// errNotPlain is about what a job may have put in the place of a log.
var errNotPlain = errors.New("it is not a plain file of one name")

// end returns the last n bytes of a file, and whether it has more. A line that was cut is left out: it may be the rest
// of a secret.
func (o output) end(n int64) (text string, cut bool, err error) {
	fd, err := unix.Openat(int(o.in.Fd()), o.base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO): // a link, a socket
		return "", false, errNotPlain
	case err != nil:
		return "", false, err
	}
	file := os.NewFile(uintptr(fd), o.base) //nolint:gosec // as above
	defer file.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink > 1 { // another name may be of a file that is not the job's
		return "", false, errNotPlain
	}
	from := max(0, st.Size-n)
	b := make([]byte, min(st.Size, n))
	got, err := file.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, err
	}
	text = string(b[:got])
	if from > 0 {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text, from > 0, nil
}
