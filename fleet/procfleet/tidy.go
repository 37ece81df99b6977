//go:build unix

package procfleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/remuda-run/remuda/internal/process"
)

const (
	tidyPeriod = time.Hour
	// keepLaunch is how long a token is remembered. EC2 keeps one for at least a day after its
	// machines have ended (EC2 API, "Ensuring idempotency"); a week covers the machines' lives too.
	keepLaunch = 7 * 24 * time.Hour
)

// tidy deletes, once per tidyPeriod, what no machine needs any more. The caller holds the lock.
func (r *runner) tidy(now time.Time) error {
	if now.Before(r.tidyAt) {
		return nil
	}
	r.tidyAt = now.Add(tidyPeriod)
	entries, err := os.ReadDir(r.disk.launches())
	if err != nil {
		return err
	}
	errs := []error{r.disk.removeScraps(), Logs(r.disk.dir).Prune(now)}
	for _, e := range entries {
		path := filepath.Join(r.disk.launches(), e.Name())
		old, err := r.disk.oldLaunch(path, now)
		if err == nil && old {
			err = os.Remove(path)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// remove deletes an ended machine's folder, after a last look whether it left a process. Its launch is
// complete from then on: a repetition must not make again what is missing.
func (r *runner) remove(m record, marks scan) error {
	all, err := marks()
	if err != nil {
		return err
	}
	if found := all[m.ID]; len(found) > 0 {
		return errors.Join(fmt.Errorf("%d processes were left", len(found)), process.KillAll(found...))
	}
	path := r.disk.launch(m.LaunchToken)
	j, err := readJournal(path)
	if err == nil && !j.Complete {
		j.Complete = true
		err = writeJSON(path, j)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.failpoint("launch closed")
	return r.disk.remove(m.ID)
}

// oldLaunch reports whether a journal has had its time and none of its machines is left.
func (d *disk) oldLaunch(path string, now time.Time) (bool, error) {
	j, err := readJournal(path)
	if err != nil {
		return false, err
	}
	if now.Before(j.At.Add(keepLaunch)) {
		return false, nil
	}
	for _, m := range j.Machines {
		if _, err := os.Stat(d.folder(m.ID)); !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return true, nil
}
