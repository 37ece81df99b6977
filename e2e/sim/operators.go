package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/store"
)

// What operators do to controllers: they stop and start them, and configure them anew.

// stop ends controllers in order, one or all, and starts them again after a while.
type stop struct {
	Who string `script:"program,first"` // controller (the one that leads), controller-<n>, controllers
	span
}

// controllers stands for every one of them.
const controllers = "controllers"

func (a stop) check() error {
	if a.Who == controllers {
		return a.span.check()
	}
	if a.Who == agents || a.Who == clients {
		return fmt.Errorf("program: got %q, must be controller, controller-<n> or controllers", a.Who)
	}
	return errors.Join(checkProgram(a.Who), a.span.check())
}

func (a stop) do(w *World) {
	who := w.programOf(a.Who)
	for _, c := range w.supervisor.all {
		if a.Who == controllers || who == c.name {
			c.rest(a.For)
		}
	}
}

// config changes the configuration of every controller, one after the other, as an operator does: what can be taken up while they
// run is, and for anything else they are started anew.
type config struct {
	Largest int    `script:"largest"` // machines at once; 0: as it was
	Without string `script:"without"` // a class that is no longer configured
	Mode    string `script:"mode"`    // of registration; "": as it was
	Strict  bool   `script:"strict"`  // periods of heartbeats, silence and the check of a boot are a part of what they were
}

func (a config) check() error {
	return errors.Join(oneOf("mode", a.Mode, "", string(store.JIT), string(store.Token)), oneOf("without", a.Without, "", "small", "large"))
}

// betweenStops is how long an operator waits from one controller to the next.
const betweenStops = 5 * time.Second

func (a config) do(w *World) {
	w.supervisor.configure(a)
	for i, c := range w.supervisor.all {
		w.later(time.Duration(i)*betweenStops, func(context.Context) {
			if a.Mode != "" {
				c.rest(time.Second)
			} else {
				c.reload()
			}
		})
	}
}
