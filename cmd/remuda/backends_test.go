package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// at returns a configuration whose store is the file at path.
func at(path string) config.Config {
	cfg := config.Default()
	cfg.Store = "sqlite://" + path
	return cfg
}

func TestOpenStore_SharedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "remuda.db")
	open := func() *store.Store {
		t.Helper()
		st, closeStore, err := openStore(t.Context(), at(path), false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := closeStore(); err != nil {
				t.Error(err)
			}
		})
		return st
	}
	launch(t, open(), "i-1", time.Now())
	in, err := open().Instance(t.Context(), store.Consistent, "i-1")
	if err != nil || in.ID != "i-1" {
		t.Errorf("second opener reads %+v, %v, want i-1", in, err)
	}
}

// Verbs that only look or give back never create a store: a mistyped path is not an empty fleet.
func TestOpenStore_MustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "remuda.db")
	_, _, err := openStore(t.Context(), at(path), true)
	if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), path) {
		t.Errorf("openStore = %v, want ErrNotFound naming %s", err, path)
	}
	for _, args := range [][]string{{"status"}, {"release", "--id", "1"}, {"drain", "--all"}} {
		c := newCLI(nil)
		c.openStore = openStore
		if code := c.run(t.Context(), append(args, "--store", "sqlite://"+path)...); code != exitNotFound {
			t.Errorf("%v: exit code = %d, want %d; stderr:\n%s", args, code, exitNotFound, &c.err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file exists now: %v", err)
	}
}

func TestOpenStore_Unusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, url, want string }{
		{"NoFolder", "sqlite:///no/such/folder/r.db", "/no/such/folder/r.db"},
		{"FileAsFolder", "sqlite://" + file + "/r.db", file},
		{"NoDatabase", "sqlite://" + file, file},
		{"Scheme", "redis://x", `no back end for scheme "redis"`},
		{"Malformed", "sqlite://%zz", "open store"},
	} {
		cfg := config.Default()
		cfg.Store = tt.url
		_, _, err := openStore(t.Context(), cfg, false)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: openStore = %v, want an error naming %s", tt.name, err, tt.want)
		}
	}
}

// Store and pool share a file unless the pool has its own.
func TestOpenPool(t *testing.T) {
	dir := t.TempDir()
	st, closeStore, err := openStore(t.Context(), at(filepath.Join(dir, "remuda.db")), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closeStore(); err != nil {
			t.Error(err)
		}
	})
	launch(t, st, "i-1", time.Now())
	own := at(filepath.Join(dir, "remuda.db"))
	own.Pool = "sqlite://" + filepath.Join(dir, "pool.db")
	for _, cfg := range []config.Config{at(filepath.Join(dir, "remuda.db")), own} {
		p, err := openPool(t.Context(), cfg, clock.RealClock{}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Offer(t.Context(), pool.Ticket{InstanceID: "i-1", ResourceClass: "small", Threshold: time.Now().UTC().Truncate(time.Second)}); err != nil {
			t.Errorf("pool %q: %v", cfg.Pool, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	own.Pool = "redis://x"
	if _, err := openPool(t.Context(), own, clock.RealClock{}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), `no back end for scheme "redis"`) {
		t.Errorf("openPool = %v, want an error naming the scheme", err)
	}
}

func TestWithStore_ClosesAndJoinsErrors(t *testing.T) {
	failed, broken := errors.New("failed"), errors.New("broken")
	c := newCLI(nil)
	c.openStore = func(context.Context, config.Config, bool) (*store.Store, func() error, error) {
		return nil, func() error { return broken }, nil
	}
	err := c.withStore(t.Context(), config.Default(), false, func(*store.Store) error { return failed })
	if !errors.Is(err, failed) || !errors.Is(err, broken) {
		t.Errorf("withStore = %v, want both errors", err)
	}
}

// What a configuration may name is what can be opened.
func TestBackends_AreThoseOfTheConfiguration(t *testing.T) {
	for name, tc := range map[string]struct{ have, want []string }{
		"store": {slices.Sorted(maps.Keys(stores)), config.Stores}, "pool": {slices.Sorted(maps.Keys(pools)), config.Pools},
		"fleet": {slices.Sorted(maps.Keys(fleets)), config.Fleets},
	} {
		if !slices.Equal(tc.have, tc.want) {
			t.Errorf("%s: %v can be opened, the configuration takes %v", name, tc.have, tc.want)
		}
	}
}

// What the agents of this machine would miss is found before anything starts, all of it.
func TestController_AgentFiles(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "prepare")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		set  []string
		want []string
	}{
		{"Missing", []string{"agent.script=" + script + "s", "agent.runnerDir=" + dir + "/runner"}, []string{
			"agent.script: must be a file of this machine, got \"" + script + "s\"\n", "agent.runnerDir: must be a folder of this machine, got \"" + dir + "/runner\"\n",
		}},
		{"OfTheOtherKind", []string{"agent.script=" + script, "agent.scrub=" + dir, "agent.runnerDir=" + script}, []string{
			"agent.scrub: must be a file of this machine", "agent.runnerDir: must be a folder of this machine",
		}},
	} {
		for _, verb := range []string{"controller", "dev"} {
			c := newCLI(nil)
			args := []string{verb, "--set", "github.url=https://github.com/owner/name"}
			for _, pair := range tt.set {
				args = append(args, "--set", pair)
			}
			if verb == "dev" {
				args = append(args, "--dir", dir)
			}
			c.ends(t, exitUsage, args...)
			contains(t, c.err.String(), tt.want...)
		}
	}
}
