//go:build unix

package procfleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Names in the fleet's folder.
const (
	recordFile       = "instance.json"
	startedFile      = "started"
	interruptionFile = "interruption"
	newPrefix        = ".new-"  // a machine's folder while it is made
	gonePrefix       = ".gone-" // and while it is deleted
)

// Modes: what jobs write is no one else's business.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// idPattern is the form of our ids, which is that of EC2's. What has another form never becomes part
// of a path.
var idPattern = lazyregexp.New(`^i-[0-9a-f]{17}$`)

// disk is the fleet's folder. Reads need no lock: every file is replaced at once.
type disk struct {
	dir  string
	turn chan struct{} // of this process; the lock file keeps out others
}

func newDisk(dir string) *disk { return &disk{dir: dir, turn: make(chan struct{}, 1)} }

func (d *disk) instances() string       { return filepath.Join(d.dir, "instances") }
func (d *disk) folder(id string) string { return filepath.Join(d.instances(), id) }
func (d *disk) launches() string        { return filepath.Join(d.dir, "launches") }
func (d *disk) launch(token string) string {
	return filepath.Join(d.launches(), url.PathEscape(token)+".json")
}

// create makes the folders. The lock shows whether they can be written.
func (d *disk) create(ctx context.Context) error {
	if err := errors.Join(os.MkdirAll(d.instances(), dirMode), os.MkdirAll(d.launches(), dirMode)); err != nil {
		return err
	}
	unlock, err := d.lock(ctx)
	if err != nil {
		return err
	}
	return unlock()
}

// lock waits until no one else writes, in this process or another.
func (d *disk) lock(ctx context.Context) (unlock func() error, err error) {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("lock fleet: %w", context.Cause(ctx))
	}
	file, err := d.flock(ctx)
	if err != nil {
		<-d.turn
		return nil, fmt.Errorf("lock fleet: %w", err)
	}
	return func() error {
		// Unlocked first: a child being forked may hold a copy of the file for a moment.
		err := errors.Join(unix.Flock(int(file.Fd()), unix.LOCK_UN), file.Close())
		<-d.turn
		return err
	}, nil
}

func (d *disk) flock(ctx context.Context) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(d.dir, "lock"), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	try := func() error {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return backoff.Permanent(err)
		}
		return err
	}
	// Others hold it for milliseconds; a cancelled context ends the wait.
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(time.Millisecond),
		backoff.WithMaxInterval(20*time.Millisecond), backoff.WithMaxElapsedTime(0))
	if err := backoff.Retry(try, backoff.WithContext(pause, ctx)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// all returns every machine. One whose record cannot be understood comes as Ending, since no one can
// answer for it, and hides no other.
func (d *disk) all(now time.Time) ([]record, error) {
	entries, err := os.ReadDir(d.instances())
	if err != nil {
		return nil, err
	}
	var out []record
	for _, e := range entries {
		if !idPattern().MatchString(e.Name()) {
			continue
		}
		r, err := d.load(e.Name(), now)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// load returns one machine, or fs.ErrNotExist. The id has our form.
func (d *disk) load(id string, now time.Time) (record, error) {
	b, err := os.ReadFile(filepath.Join(d.folder(id), recordFile))
	if err != nil {
		return record{}, err
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil || r.ID != id || !r.sound() {
		r = record{ID: id, LaunchToken: r.LaunchToken}
		r.end(causeUnreadable, now)
	}
	return r, nil
}

func (d *disk) save(r record) error {
	return writeJSON(filepath.Join(d.folder(r.ID), recordFile), r)
}

// add makes a machine's folder, complete with its record or not at all.
func (d *disk) add(r record) error {
	if _, err := os.Stat(d.folder(r.ID)); err == nil {
		return nil // an earlier try
	}
	fresh := d.folder(newPrefix + r.ID)
	if err := errors.Join(os.RemoveAll(fresh), os.Mkdir(fresh, dirMode)); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(fresh, recordFile), r); err != nil {
		return err
	}
	return rename(fresh, d.folder(r.ID))
}

// remove deletes a machine's folder. From the first moment it is no machine any more.
func (d *disk) remove(id string) error {
	gone := d.folder(gonePrefix + id)
	if err := os.Rename(d.folder(id), gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// removeScraps deletes what add and remove left behind when their process ended.
func (d *disk) removeScraps() error {
	entries, err := os.ReadDir(d.instances())
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), newPrefix) || strings.HasPrefix(e.Name(), gonePrefix) {
			errs = append(errs, os.RemoveAll(d.folder(e.Name())))
		}
	}
	return errors.Join(errs...)
}

// started reports whether the machine's process became the agent, or was about to.
func (d *disk) started(id string) (bool, error) {
	_, err := os.Stat(filepath.Join(d.folder(id), startedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// writeJSON replaces a file at once and for good. The caller holds the lock, so one temporary name
// is enough.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp := path + ".tmp"
	file, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(append(b, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return rename(tmp, path)
}

// rename renames a file or folder for good.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
