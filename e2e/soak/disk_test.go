package soak

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/sqlitedb"
)

// diskSize is plenty for the longest soak, and filled in a moment.
const diskSize = "128m"

// disk is a small file system that can be filled to the last byte.
type disk struct{ dir string }

// mount puts a folder on a disk of its own, until the test ends.
func (s *soak) mount(what, dir string) {
	s.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+diskSize); err != nil {
		s.Logf("left out: a full disk under the %s: mount a tmpfs: %v (takes root)", what, err)
		return
	}
	s.disks[what] = &disk{dir}
	s.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil { // DETACH: nothing of ours may stay, whatever failed before
			s.Errorf("unmount %s: %v", dir, err)
		}
	})
}

const ballast = "ballast"

// fill leaves no byte free.
func (d *disk) fill() error {
	f, err := os.OpenFile(filepath.Join(d.dir, ballast), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	chunk := make([]byte, 1<<20)
	for len(chunk) > 0 {
		switch _, err := f.Write(chunk); {
		case errors.Is(err, unix.ENOSPC):
			chunk = chunk[:len(chunk)/2]
		case err != nil:
			return err
		}
	}
	return nil
}

// free gives the space back.
func (d *disk) free() error { return os.Remove(filepath.Join(d.dir, ballast)) }

// fullDisk fills a disk for a while, and reports whether a controller complained. A SQLite store gets its
// write-ahead log emptied first, or it would have room in there for longer than that.
func (s *soak) fullDisk(what string, d *disk, lasts time.Duration) (felt bool) {
	if what == "store" {
		if err := s.emptyLog(filepath.Join(d.dir, "remuda.db")); err != nil {
			s.Logf("empty the write-ahead log: %v", err) // a stopped process holds it: the disk is full all the same
		}
	}
	end := s.ledger.open(fullDisk + what)
	defer end()
	if what == "fleet" {
		defer s.faultAll()
		s.faultAll()
	}
	before := s.complaints(what)
	if err := d.fill(); err != nil {
		s.Errorf("fill the disk of the %s: %v", what, err)
	}
	start := time.Now()
	time.Sleep(lasts)
	for what == "store" && s.complaints(what) == before && time.Since(start) < fullAtMost {
		time.Sleep(10 * time.Millisecond) // on a busy machine nobody may have tried to write
	}
	if err := d.free(); err != nil {
		s.Errorf("free the disk of the %s: %v", what, err)
	}
	return what != "store" || s.complaints(what) > before
}

const fullDisk = "full disk: "

// fullAtMost is how long a disk stays full although nobody complains.
const fullAtMost = 8 * time.Second

// complaints counts the lines in which controllers say that a disk is full.
func (s *soak) complaints(what string) (n int) {
	text := map[string]string{"store": "database or disk is full", "fleet": "no space left on device"}[what]
	for _, u := range s.controllers {
		n += bytes.Count(u.log(), []byte(text))
	}
	return n
}

func (s *soak) emptyLog(path string) error {
	db, err := sqlitedb.Open(s.Context(), path)
	if err != nil {
		return err
	}
	_, err = db.SQL().ExecContext(s.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, db.Close())
}

// faultAll puts every living machine on the list of those struck.
func (s *soak) faultAll() {
	for _, id := range s.machines() {
		s.ledger.faulted(id)
	}
}
