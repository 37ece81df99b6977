package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/reference"
	"github.com/remuda-run/remuda/store"
)

// streams are the standard streams and what is known about them.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer

	inTTY, outTTY, errTTY bool
	size                  func() (columns, rows int) // of the terminal, asked anew for every drawing
}

// plainColumns and plainRows are the size assumed where a terminal does not say its own.
const (
	plainColumns = 80
	plainRows    = 24
)

func osStreams() streams {
	return streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		inTTY:  isatty.IsTerminal(os.Stdin.Fd()),
		outTTY: isatty.IsTerminal(os.Stdout.Fd()),
		errTTY: isatty.IsTerminal(os.Stderr.Fd()),
		size: func() (int, int) {
			for _, f := range []*os.File{os.Stdout, os.Stderr} {
				if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
					return columns, rows
				}
			}
			return plainColumns, plainRows
		},
	}
}

// app is what every verb starts from. Tests replace its fields.
type app struct {
	streams
	clock     clock.WithTicker
	system    string // on which it runs, in Go's words
	environ   func() []string
	readFile  func(path string) ([]byte, error)
	openStore openStoreFunc
	hangups   func() (hup <-chan os.Signal, quit func()) // SIGHUP from now on, until quit
	global    globalFlags
	level     slog.LevelVar // of every logger

	release     atomic.Pointer[bucket.Release] // of which the fleet's machines are made; nil: no fleet was opened
	republished chan struct{}                  // something else is published
	references  *reference.Reader              // reads its files by readFile
}

// openStoreFunc opens the store that cfg names. The caller calls close when it is done. With
// mustExist nothing is created: a store that does not exist yet is store.ErrNotFound.
type openStoreFunc func(ctx context.Context, cfg config.Config, mustExist bool) (st *store.Store, closeStore func() error, err error)

func newApp(s streams) *app {
	a := &app{
		streams: s, clock: clock.RealClock{}, system: runtime.GOOS, environ: os.Environ, readFile: os.ReadFile,
		openStore: openStore, hangups: hangups, republished: make(chan struct{}, 1),
	}
	a.references = &reference.Reader{ReadFile: func(path string) ([]byte, error) { return a.readFile(path) }, Load: awscfg.Load}
	return a
}

// onLinux refuses on other systems what has machines there: nothing finds the processes that a run left on them (internal/process).
func onLinux(system, what string) error {
	if system == "linux" {
		return nil
	}
	return usagef("%s: needs Linux, this is %s; here work the verbs of clients, and a controller whose fleet is ec2://", what, system)
}

// hangups receives SIGHUP. Of several that come at once one is enough.
func hangups() (<-chan os.Signal, func()) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	return hup, func() { signal.Stop(hup) }
}

// configured runs a verb with the configuration, once its flags have passed check; nil checks nothing.
func (a *app) configured(check func(config.Config) error, run func(context.Context, config.Config) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		cfg, err := a.loadConfig()
		if err == nil && check != nil {
			err = asUsage(check(cfg.Config))
		}
		if err != nil {
			return err
		}
		return run(cmd.Context(), cfg.Config)
	}
}

// onStore runs a verb with the store, once it is configured.
func (a *app) onStore(mustExist bool, check func(config.Config) error, run func(context.Context, *store.Store) error) func(*cobra.Command, []string) error {
	return a.configured(check, func(ctx context.Context, cfg config.Config) error {
		return a.withStore(ctx, cfg, mustExist, func(st *store.Store) error { return run(ctx, st) })
	})
}

// withStore opens the store of cfg, calls fn with it and closes it.
func (a *app) withStore(ctx context.Context, cfg config.Config, mustExist bool, fn func(*store.Store) error) (err error) {
	st, closeStore, err := a.openStore(ctx, cfg, mustExist)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	return fn(st)
}
