package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/internal/config"
)

// devLock is the file in the folder that shows by its lock that a dev runs there, and says which.
const devLock = "dev.lock"

// What dev keeps in its folder besides.
const (
	devStore     = "remuda.db"
	devInstances = "instances"
)

// complete puts store, pool and fleet into the folder, and refuses any that the environment, a file or a
// flag put elsewhere: there is another installation, which dev would join, lead and clear up.
func (o *devOptions) complete(cfg *config.Loaded) error {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	o.dir = dir
	if cfg.Origin("store").Kind == "default" {
		cfg.Store = "sqlite://" + filepath.Join(dir, devStore)
	}
	if cfg.Origin("fleet").Kind == "default" {
		cfg.Fleet = "process://" + filepath.Join(dir, devInstances)
	}
	file, err := filepath.Abs(cfg.File)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.File, err)
	}
	if from := cfg.Origin("http.listen"); from.Kind == "default" || from.Kind == "file" && file == o.configFile() {
		cfg.HTTP.Listen = "127.0.0.1:0" // what an earlier dev wrote may be another's port by now
	}
	return errors.Join(
		o.owns(cfg, "store", cfg.Store, "sqlite"),
		o.owns(cfg, "pool", cfg.PoolURL(), "sqlite"),
		o.owns(cfg, "fleet", cfg.Fleet, "process"),
		o.sim.validate(),
	)
}

// owns refuses a back end that is not kept below the folder by a path of this scheme.
func (o *devOptions) owns(cfg *config.Loaded, key, raw, scheme string) error {
	if key == "pool" && cfg.Pool == "" {
		return nil // it is the store
	}
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if u.Scheme == scheme {
		path, err := local[scheme](u) // as the back end reads it
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if below(o.dir, path) {
			return nil
		}
	}
	return fmt.Errorf("%s: must be left out or be kept by %s: in the folder of dev, %s, got %q (%s): dev runs an installation of its own and touches no other",
		key, scheme, o.dir, u.Redacted(), cfg.Origin(key))
}

// below reports whether path lies in dir once all links are followed, as far as it exists.
func below(dir, path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(followed(dir), followed(path))
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// followed returns path without symbolic links in the part of it that exists.
func followed(path string) string {
	real, err := filepath.EvalSymlinks(path)
	parent := filepath.Dir(path)
	if err == nil || parent == path {
		return cmp.Or(real, path)
	}
	return filepath.Join(followed(parent), filepath.Base(path))
}

// lockDev takes dir for one dev: a second would send the first one's machines to a GitHub of its own, and
// end them with itself. A folder in which a controller works that is no dev's is refused. The lock ends
// with the process.
func lockDev(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("start dev: %w", err)
	}
	path := filepath.Join(dir, devLock)
	if err := notForeign(dir, path); err != nil {
		return nil, fmt.Errorf("start dev in %s: %w", dir, err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start dev: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		owner, _ := io.ReadAll(io.LimitReader(file, 32)) // for people: the lock decides
		err = fmt.Errorf("another remuda dev works there (process %s); stop it or choose another --dir", cmp.Or(string(owner), "unknown"))
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprint(file, os.Getpid())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start dev in %s: %w", dir, err), file.Close())
	}
	return file.Close, nil
}

// notForeign refuses a folder that holds an installation which no dev has made: every dev leaves its lock.
func notForeign(dir, lock string) error {
	if _, err := os.Stat(lock); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range []string{devStore, devInstances} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("%s is there and no %s: it belongs to an installation that is no dev's; choose another --dir", name, devLock), err)
		}
	}
	return nil
}
