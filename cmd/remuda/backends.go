package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/sqlitedb"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/sqlitepool"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// opener opens the back end of a URL.
type opener[B any] func(context.Context, *url.URL, clock.WithTicker, *slog.Logger) (B, error)

// stores opens the store behind a URL, by its scheme.
var stores = map[string]opener[store.Table]{
	"sqlite": func(ctx context.Context, u *url.URL, clk clock.WithTicker, _ *slog.Logger) (store.Table, error) {
		return sqlitestore.Open(ctx, u, clk) // sqlite:///var/lib/remuda/remuda.db
	},
	"dynamodb": openDynamo(nil, ""), // dynamodb://remuda?region=eu-west-1
}

// pools opens the pool behind a URL, by its scheme.
var pools = map[string]opener[pool.Pool]{
	"sqlite": func(ctx context.Context, u *url.URL, clk clock.WithTicker, log *slog.Logger) (pool.Pool, error) {
		return sqlitepool.Open(ctx, u, clk) // the same file as the store, or one of its own
	},
	"sqs": openSQS, // sqs://remuda?region=eu-west-1
}

// machinery is a fleet, and the work it does beside the controller; run is nil if there is none.
type machinery struct {
	fleet.Fleet
	run func(context.Context) error
	// renew returns the fleet as another configuration of it wants it, which it is once then is called: until that it has no effect.
	renew func(context.Context, config.Config) (as fleet.Fleet, then func(), err error)
}

// fleets opens the fleet behind a URL, by its scheme. The agents of a process fleet read agentConfig.
var fleets = map[string]func(ctx context.Context, a *app, u *url.URL, c config.Config, agentConfig string, log *slog.Logger) (machinery, error){
	"process": openProcess, // process:///var/lib/remuda/instances
	"ec2":     openEC2,     // ec2://remuda?region=eu-west-1
}

// local returns the file or folder that a URL keeps its data in, by its scheme, for back ends that create it
// when they are opened.
var local = map[string]func(*url.URL) (string, error){
	"sqlite":  sqlitedb.Path,
	"process": procfleet.Folder,
}

// localPath returns the file or folder that a back end keeps its data in, "" for one elsewhere.
func localPath(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", err
	}
	if path, ok := local[u.Scheme]; ok {
		return path(u)
	}
	return "", nil
}

// openStore opens the store that cfg names. See openStoreFunc.
func openStore(ctx context.Context, cfg config.Config, mustExist bool) (*store.Store, func() error, error) {
	if err := exists(cfg.Store, mustExist); err != nil {
		return nil, nil, fmt.Errorf("open store: %w", err)
	}
	table, err := openTable(ctx, cfg, clock.RealClock{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, err
	}
	return store.New(table), table.Close, nil
}

// openTable opens the table below the store that cfg names. The caller closes it.
func openTable(ctx context.Context, cfg config.Config, clk clock.WithTicker, log *slog.Logger) (store.Table, error) {
	return open(ctx, "store", cfg.Store, stores, clk, log)
}

// openPool opens the pool that cfg names. The caller closes it.
func openPool(ctx context.Context, cfg config.Config, clk clock.WithTicker, log *slog.Logger) (pool.Pool, error) {
	return open(ctx, "pool", cfg.PoolURL(), pools, clk, log)
}

// open opens the back end of a URL by its scheme. what it is begins every error.
func open[B any](ctx context.Context, what, raw string, schemes map[string]opener[B], clk clock.WithTicker, log *slog.Logger) (B, error) {
	var none B
	u, open, err := byScheme(what, raw, schemes)
	if err != nil {
		return none, err
	}
	b, err := open(ctx, u, clk, log)
	if err != nil {
		return none, fmt.Errorf("open %s: %w", what, err)
	}
	return b, nil
}

// byScheme returns what schemes has for the URL of a back end.
func byScheme[F any](what, raw string, schemes map[string]F) (*url.URL, F, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, schemes[""], fmt.Errorf("open %s: %w", what, err)
	}
	f, ok := schemes[u.Scheme]
	if !ok {
		return nil, f, fmt.Errorf("open %s: no back end for scheme %q", what, u.Scheme)
	}
	return u, f, nil
}

// exists reports a file that is not there as store.ErrNotFound, so that a mistyped path is not
// answered with an empty fleet. One that need not exist is made in its folder.
func exists(raw string, mustExist bool) error {
	file, err := localPath(raw)
	if err != nil || file == "" {
		return err
	}
	made := file
	if !mustExist {
		made = filepath.Dir(file)
	}
	if _, err := os.Stat(made); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: has a controller ever run on it?", file, store.ErrNotFound)
	}
	return nil // opening it says the rest
}
