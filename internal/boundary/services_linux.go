package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/process"
)

// EndUser ends all that systemd runs for a user in a group that is the user's alone: sessions and the user's service
// manager, with everything below (systemd.slice(5), user@.service(5)). A machine without systemd has no such group.
func EndUser(ctx context.Context, uid int) error {
	root, err := hierarchy()
	if errors.Is(err, errNoGroups) {
		return nil
	}
	if err != nil {
		return err
	}
	return existing(ctx, group(filepath.Join(root, "user.slice", fmt.Sprintf("user-%d.slice", uid))))
}

// EndContainers ends the containers with these ids, whatever users they run as, by the groups that a container engine has
// named after them. In a hybrid hierarchy there are none of version 2, and the engine alone ends containers.
func EndContainers(ctx context.Context, ids []string) error {
	root, err := hierarchy()
	if errors.Is(err, errNoGroups) || len(ids) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, g := range group(root).below() {
		if !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(filepath.Base(string(g)), id) }) {
			continue
		}
		if err := existing(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// existing empties a group, if it is there and has the means.
func existing(ctx context.Context, g group) error {
	if _, err := os.Stat(g.file("cgroup.kill")); gone(err) {
		return nil
	}
	return errors.Join(g.empty(ctx), g.freeze("0")) // also after an agent that was killed meanwhile
}

// Freezes reports whether Freeze freezes these processes: those directly in the root of the hierarchy cannot be frozen, and the
// group of this process is not.
func Freezes(all []process.Ref, err error) bool {
	if err != nil || len(all) == 0 {
		return err == nil
	}
	root, err := hierarchy()
	if err != nil {
		return false
	}
	frozen := others(root)
	return !slices.ContainsFunc(all, func(r process.Ref) bool {
		of := filepath.Join(root, groupOf(strconv.Itoa(r.PID)))
		return r.Alive() && !slices.ContainsFunc(frozen, func(g group) bool { return of == string(g) || strings.HasPrefix(of, string(g)+"/") })
	})
}

// frozenFile is the name of the file that names the groups that are frozen. The next agent and the fleet thaw them if the agent is
// killed meanwhile.
const frozenFile = "frozen.json"

// Freeze freezes every group but those that hold this process or process 1, and those of listeners, and returns once no
// process in them runs. While they are frozen a listing of their processes is complete: nothing in them can fork. Processes
// directly in the root of the hierarchy cannot be frozen. The caller calls Thaw with the same folder, also after an error.
func Freeze(ctx context.Context, dir string) error {
	root, err := hierarchy()
	if errors.Is(err, errNoGroups) {
		return nil
	}
	if err != nil {
		return err
	}
	var freezing []group
	for _, g := range others(root) {
		if text, err := os.ReadFile(g.file("cgroup.freeze")); err == nil && strings.TrimSpace(string(text)) == "0" {
			freezing = append(freezing, g) // a group that is frozen already stays frozen, such as that of a paused container
		}
	}
	if err := atomicfile.WriteJSON(filepath.Join(dir, frozenFile), freezing, 0o600); err != nil {
		return err
	}
	for _, g := range freezing {
		if err := g.freeze("1"); err != nil {
			return err
		}
	}
	for _, g := range freezing {
		err := until(ctx, "control group "+string(g)+" freezes", func() (bool, error) {
			if _, err := os.Stat(string(g)); gone(err) {
				return true, nil
			}
			return g.event("frozen")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Thaw thaws the groups that Freeze froze with the same folder, also in an earlier process.
func Thaw(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, frozenFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var groups []group
	if err == nil {
		err = json.Unmarshal(text, &groups)
	}
	for _, g := range groups {
		err = errors.Join(err, g.freeze("0"))
	}
	return errors.Join(err, os.Remove(filepath.Join(dir, frozenFile)))
}

// others returns the topmost groups that hold neither this process nor process 1, nor a listener.
func others(root string) (all []group) {
	own := []string{groupOf("self"), groupOf("1")}
	var walk func(below string)
	walk = func(below string) {
		entries, err := os.ReadDir(filepath.Join(root, below))
		if err != nil {
			return // it has gone
		}
		for _, e := range entries {
			path := filepath.Join(below, e.Name())
			switch {
			case !e.IsDir() || below == "" && strings.HasPrefix(e.Name(), prefix):
			case slices.ContainsFunc(own, func(of string) bool { return of == path || strings.HasPrefix(of, path+"/") }):
				walk(path)
			default:
				all = append(all, group(filepath.Join(root, path)))
			}
		}
	}
	walk("")
	return all
}
