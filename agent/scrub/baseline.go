package scrub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/process"
)

// baselineFile is the name of the file in Scrubber.Root that keeps the Baseline.
const baselineFile = "baseline.json"

// baselineFormat is the version of what TakeBaseline writes, including the file of recordWritable. Another version of the agent may have written less, or no templates.
const baselineFormat = 3

// Baseline is what a machine was like before its first run.
type Baseline struct {
	Format     int               `json:"format"`
	Boot       string            `json:"boot"`
	Free       uint64            `json:"free"`       // bytes that the disk of Scrubber.Root had left
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
	err := processes(s).killUsers(ctx) // first: what they own or listen on would count as the machine's
	if err == nil && s.cleansInFull() && s.Boundary != nil {
		err = s.end(ctx, nil, Full) // an earlier instance on this computer may have ended without a cleanup
	}
	if err == nil {
		err = s.takeTemplates()
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
	b := Baseline{Format: baselineFormat}
	var err error
	if b.Boot, err = process.BootID(); err != nil {
		return b, err
	}
	if b.Free, err = freeSpace(s.Root); err != nil {
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
		b.Containers, err = listContainers(ctx)
	}
	return b, err
}

// leastFree is the part of the disk space of the baseline that must be free for a next run. Caches
// that stay on purpose, such as images of containers, may take the rest.
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
		if !slices.Contains(was.Ports, p) {
			return fmt.Errorf("something listens on %s that did not before the first run", p)
		}
	}
	if !s.Whole {
		return nil
	}
	free, err := freeSpace(s.Root)
	if err != nil {
		return err
	}
	if float64(free) < leastFree*float64(was.Free) {
		return fmt.Errorf("disk: %d MiB are free, %d before the first run", free>>20, was.Free>>20)
	}
	return nil
}

func freeSpace(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return st.Bavail * uint64(st.Bsize), nil //nolint:gosec // a block has a size above 0; its type differs between systems
}
