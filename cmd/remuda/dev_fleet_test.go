package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/bubbletest"
)

// At its end dev ends what devs of its folder launched, an earlier one that died included, and nothing else.
func TestDev_EndsOnlyWhatItLaunched(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		dir := t.TempDir()
		f := fleettest.NewMemory(clock.RealClock{})
		start := func() *ownFleet {
			own, err := openOwn(dir)
			if err != nil {
				t.Fatal(err)
			}
			own.Fleet = f
			return own
		}
		launch := func(f fleet.Fleet, token string) {
			p, err := f.Plan(t.Context(), fleet.Spec{Token: token, Count: 1, ResourceClass: "small", UsageClass: "spot", CPU: 2, Mem: 4096, AllowedTypes: []string{"*"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Launch(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		launch(f, "another")
		foreign := f.Alive()
		killed := start()
		launch(killed, "l-1")
		if err := killed.Close(); err != nil {
			t.Fatal(err)
		}
		own := start()
		launch(own, "l-2")
		launch(own, "l-2") // a repeated call is the same launch
		c := newCLI(nil)
		time.Sleep(time.Minute) // bubble time: listed by now
		if err := own.end(t.Context(), c.app); err != nil {
			t.Fatal(err)
		}
		if got := f.Alive(); !slices.Equal(got, foreign) {
			t.Errorf("alive after dev's end: %v, want %v", got, foreign)
		}
		if want := "remuda dev: ending 2 instances\n"; c.err.String() != want {
			t.Errorf("stderr = %q, want %q", &c.err, want)
		}
		if _, err := os.Stat(filepath.Join(dir, devLaunches)); !os.IsNotExist(err) {
			t.Errorf("notes after the end: %v, want none", err)
		}
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
}
