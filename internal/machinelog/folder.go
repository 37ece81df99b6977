package machinelog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/atomicfile"
)

// What a Folder keeps at most; the oldest go first. A machine leaves 50 KB as a rule, so a thousand are 50 MB.
const (
	Keep        = 7 * 24 * time.Hour
	MaxMachines = 1000
	MaxBytes    = 256 << 20
)

// Folder is a Store on this computer: a file per machine, which its user alone can read.
type Folder struct{ Dir string }

var _ Store = Folder{}

func (f Folder) file(id string) string { return filepath.Join(f.Dir, id+".json") }

// Put implements Store.
func (f Folder) Put(ctx context.Context, l Log) error {
	if !idForm().MatchString(l.InstanceID) {
		return fmt.Errorf("keep output of machine %q: it is no instance's id", l.InstanceID)
	}
	text, err := json.Marshal(l)
	if err == nil {
		err = os.MkdirAll(f.Dir, 0o700)
	}
	if err == nil {
		err = context.Cause(ctx) // who asked may have gone on without it
	}
	if err == nil {
		err = atomicfile.Write(f.file(l.InstanceID), text, 0o600)
	}
	if err == nil {
		err = os.Chtimes(f.file(l.InstanceID), time.Time{}, l.TakenAt)
	}
	if err = errors.Join(err, f.Prune(l.TakenAt)); err != nil {
		return fmt.Errorf("keep output of machine %s: %w", l.InstanceID, err)
	}
	return nil
}

// Get implements Store.
func (f Folder) Get(_ context.Context, id string) (Log, error) {
	var l Log
	if !idForm().MatchString(id) {
		return l, ErrNone
	}
	text, err := os.ReadFile(f.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return l, ErrNone
	}
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return l, fmt.Errorf("read output of machine %s: %w", id, err)
	}
	return l, nil
}

// Prune deletes what is older than Keep, or more than MaxMachines and MaxBytes allow. Others may do the same meanwhile.
func (f Folder) Prune(now time.Time) error {
	entries, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".json" {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	errs := []error{err}
	for i, info := range files {
		if total += info.Size(); now.Sub(info.ModTime()) < Keep && i < MaxMachines && total <= MaxBytes {
			continue
		}
		if err := os.Remove(filepath.Join(f.Dir, info.Name())); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
