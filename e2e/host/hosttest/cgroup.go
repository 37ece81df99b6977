//go:build linux

package hosttest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// newGroups makes a control group of each hierarchy that a service manager needs, below the one this process is in, and a
// link to each in a folder. Without systemd as their master, machines would share one.
func newGroups(name, links string) (groups []string, err error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(own)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		if controllers != "" && controllers != "name=systemd" {
			continue
		}
		mount, ok := groupMount(string(mounts), controllers)
		if !ok {
			continue
		}
		group := filepath.Join(mount, path, name)
		if err := os.Mkdir(group, 0o755); err != nil {
			return groups, fmt.Errorf("control group: %w", err)
		}
		groups = append(groups, group)
		if err := os.Symlink(group, filepath.Join(links, fmt.Sprint(len(groups)))); err != nil {
			return groups, err
		}
	}
	if len(groups) == 0 {
		return nil, errors.New("no control groups are mounted on this computer")
	}
	return groups, nil
}

// groupMount returns where a hierarchy is mounted: that of version 2, which has no name, or one of version 1.
func groupMount(mounts, name string) (string, bool) {
	for line := range strings.Lines(mounts) { // proc_pid_mountinfo(5)
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		where, what := strings.Fields(before), strings.Fields(after)
		if !ok || len(where) < 5 || len(what) < 3 {
			continue
		}
		if name == "" && what[0] == "cgroup2" || name != "" && what[0] == "cgroup" && slices.Contains(strings.Split(what[2], ","), name) {
			return where[4], true
		}
	}
	return "", false
}

// removeGroups removes groups with all below, whose processes have been killed: the last may be about to end.
func removeGroups(groups []string) error {
	var err error
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err = nil
		for _, group := range groups {
			err = errors.Join(err, removeGroup(group))
		}
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

func removeGroup(group string) error {
	var dirs []string
	err := filepath.WalkDir(group, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	for _, dir := range slices.Backward(dirs) {
		if gone := unix.Rmdir(dir); gone != nil && !errors.Is(gone, unix.ENOENT) { // os.Remove would try to unlink it first
			err = errors.Join(err, fmt.Errorf("remove control group %s: %w", dir, gone))
		}
	}
	return err
}
