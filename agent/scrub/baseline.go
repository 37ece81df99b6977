package scrub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// baselineFile is the name of the file in Scrubber.Root that keeps the Baseline.
const baselineFile = "baseline.json"

// baselineFormat is the version of the files that TakeBaseline and recordWritable write. Another version of the agent may have written
// less, or no templates.
const baselineFormat = 3

// Baseline is what a machine was like before its first run.
type Baseline struct {
	Format     int               `json:"format"`
	Boot       string            `json:"boot"`
	Disks      map[string]space  `json:"disks"`      // free space by folder, if Scrubber.Whole: of Scrubber.Root, and of the container engine
	Processes  []process.Ref     `json:"processes"`  // processes of the operator's script that Keep names
	Ports      []string          `json:"ports"`      // on which something listens, as address:port of the kernel
	Kept       map[string]string `json:"kept"`       // files that services made for the runner's user; what shows a change of each
	Containers Containers        `json:"containers"` // nil: no container engine answered
}

// TakeBaseline ends every process of the runner's user and writes down what the machine is like, unless that was
// done. It is called after the operator's script, before the first listener starts.
func (s Scrubber) TakeBaseline(ctx context.Context) error {
	if _, err := os.Stat(s.baselinePath()); err == nil {
		return nil
	}
	var b Baseline
	var err error
	if s.keeping, err = s.keptProcesses(); err != nil {
		return fmt.Errorf("take baseline: %w", err)
	}
	err = processes(s).killUsers(ctx) // first, because their files and ports would count as the machine's
	if err == nil && s.cleansInFull() && s.Boundary != nil {
		err = s.end(ctx, nil, Full) // an earlier instance on this computer may have ended without a cleanup
	}
	if err == nil {
		err = s.takeTemplates(ctx)
	}
	if err == nil {
		b, err = s.measure(ctx)
	}
	if err == nil {
		err = s.recordWritable(ctx)
	}
	if err == nil {
		err = atomicfile.WriteJSON(s.baselinePath(), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("take baseline: %w", err)
	}
	return nil
}

// Forget removes what TakeBaseline wrote down in dir, for a machine that is another one now.
func Forget(dir string) error {
	return errors.Join(atomicfile.Remove(dir, baselineFile, writableFile), os.RemoveAll(filepath.Join(dir, templates)))
}

func (s Scrubber) baselinePath() string { return filepath.Join(s.Root, baselineFile) }

// remembered returns the baseline; the zero one if none was taken, since then nothing ran.
func (s Scrubber) remembered() (Baseline, error) {
	var b Baseline
	text, err := os.ReadFile(s.baselinePath())
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return b, fmt.Errorf("read baseline: %w", err)
	}
	boot, err := process.BootID()
	if err != nil {
		return b, err
	}
	if b.Boot == "" && boot != "" { // without it the machine would count as one on which nothing ran
		return b, fmt.Errorf("read baseline: %s: boot must be set", s.baselinePath())
	}
	if b.Format != baselineFormat {
		return b, fmt.Errorf("read baseline: %s: format must be %d, got %d: another version of the agent wrote it", s.baselinePath(), baselineFormat, b.Format)
	}
	return b, nil
}

func (s Scrubber) measure(ctx context.Context) (Baseline, error) {
	b := Baseline{Format: baselineFormat, Processes: s.keeping}
	var err error
	if b.Boot, err = process.BootID(); err != nil {
		return b, err
	}
	if b.Ports, err = s.ports(); err != nil {
		return b, err
	}
	if s.cleansInFull() {
		if b.Kept, err = outside(s).kept(); err != nil {
			return b, err
		}
	}
	if s.usesEngine() {
		if b.Containers, err = listContainers(ctx); err != nil {
			return b, err
		}
	}
	if s.Whole {
		b.Disks, err = s.disks(ctx, b.Containers != nil)
	}
	return b, err
}

// containerd is the folder where Docker stores images since version 29.
const containerd = "/var/lib/containerd"

// disks returns what the disks of Root and of the container engine have left. An engine may keep its files on another computer.
func (s Scrubber) disks(ctx context.Context, contained bool) (map[string]space, error) {
	folders := []string{s.Root}
	if contained {
		root, err := process.Output(ctx, engine, "info", "--format", "{{.DockerRootDir}}")
		if err != nil {
			return nil, err
		}
		folders = append(folders, strings.TrimSpace(root), containerd)
	}
	out := map[string]space{}
	for _, dir := range folders {
		free, err := freeSpace(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[dir] = free
	}
	return out, nil
}

// leastFree is the part of the baseline's free space and inodes that must be free for the next run. Intended caches, such as images of
// containers, may use the rest.
const leastFree = 0.5

// check holds the machine against its baseline: disk space where no one else uses the disk, ports of
// anyone there, of the runner's user elsewhere. Processes were looked for just before.
func (s Scrubber) check(was Baseline) error {
	if was.Boot == "" {
		return nil // nothing ran
	}
	ports, err := s.ports()
	if err != nil {
		return err
	}
	for _, p := range ports {
		if port := p[strings.LastIndexByte(p, ':')+1:]; !slices.Contains(was.Ports, p) && !slices.Contains(s.Keep.Ports, port) {
			return because(store.UncleanPort, fmt.Errorf("port %s in use: a process listens on %s since the first run; if the port belongs to the machine, add it to agent.keep.ports", port, p))
		}
	}
	if !s.Whole {
		return nil
	}
	for _, dir := range slices.Sorted(maps.Keys(was.Disks)) {
		free, err := freeSpace(dir)
		if err == nil {
			err = free.enough(was.Disks[dir])
		}
		if err != nil {
			return because(store.UncleanDisk, fmt.Errorf("disk of %s: %w", dir, err))
		}
	}
	return nil
}

// space is the free space of a disk.
type space struct {
	Bytes  uint64 `json:"bytes"`
	Inodes uint64 `json:"inodes"` // 0 if the file system creates inodes as needed
}

// enough returns an error unless enough of the free space of the baseline is left.
func (s space) enough(was space) error {
	switch {
	case float64(s.Bytes) < leastFree*float64(was.Bytes):
		return fmt.Errorf("%d MiB are free, %d before the first run", s.Bytes>>20, was.Bytes>>20)
	case float64(s.Inodes) < leastFree*float64(was.Inodes):
		return fmt.Errorf("%d inodes are free, %d before the first run", s.Inodes, was.Inodes)
	}
	return nil
}

func freeSpace(dir string) (space, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return space{}, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return space{st.Bavail * uint64(st.Bsize), uint64(st.Ffree)}, nil //nolint:gosec,unconvert // both are above 0; their types differ between systems
}
