//go:build linux

package procfleet

import (
	"testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
)

func TestFleet_KeepsTheContract(t *testing.T) {
	fleettest.Run(t, func(t *testing.T) fleettest.Subject {
		dir := t.TempDir()
		f := running(t, dir, Options{})
		return fleettest.Subject{
			Fleet:   f,
			Again:   func(t *testing.T) fleet.Fleet { return running(t, dir, Options{}) },
			Limit:   func(n int) { f.opts.Capacity, f.opts.RefusalRate = n, float64(max(0, 1-n)) },
			Foreign: foreignProcess,
			Settle:  patience,
		}
	})
}
