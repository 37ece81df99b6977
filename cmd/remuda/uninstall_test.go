package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/store"
)

// herd is what EC2 has of an installation.
type herd struct {
	mu      sync.Mutex
	ids     []string
	refused error    // of Terminate
	slow    bool     // machines that were terminated take for ever to end
	ended   []string // by Terminate, in order
}

func (h *herd) Machines(context.Context) (int, []string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ids), slices.DeleteFunc(slices.Clone(h.ids), func(id string) bool { return slices.Contains(h.ended, id) }), nil
}

func (h *herd) Terminate(_ context.Context, ids ...string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused != nil {
		return h.refused
	}
	h.ended = append(h.ended, ids...)
	if h.slow {
		return nil
	}
	h.ids = slices.DeleteFunc(h.ids, func(id string) bool { return slices.Contains(ids, id) })
	return nil
}

// empty has EC2 forget every machine.
func (h *herd) empty() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids = nil
}

const quiet = 9 * time.Second

func endingOf(st *store.Store, h *herd, force bool) (*ending, *cli) {
	c := newCLI(st)
	return newEnding(c.app, st, h, force, quiet), c
}

// leads renews the lease until ctx ends, and then gives it up.
func leads(ctx context.Context, t *testing.T, st *store.Store, holder string) {
	lease, err := st.Lease(context.WithoutCancel(ctx))
	for err == nil && ctx.Err() == nil {
		lease.Holder, lease.Renewed = holder, store.At(time.Now())
		lease, err = st.PutLease(context.WithoutCancel(ctx), lease)
		time.Sleep(500 * time.Millisecond)
	}
	lease.Holder = ""
	if _, last := st.PutLease(context.WithoutCancel(ctx), lease); err != nil || last != nil {
		t.Error(err, last)
	}
}

// While a controller leads, nothing is deleted: machines are drained first, also one that was launched after the order, then
// the controller must go, and one that takes its place.
func TestUninstall_WaitsForMachinesThenForControllers(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st, h := memory(t, nil), &herd{ids: []string{"i-1", "i-2"}}
		one := launch(t, st, "i-1", time.Now())
		e, c := endingOf(st, h, false)
		first, stop := context.WithCancel(t.Context())
		second, stopSecond := context.WithCancel(t.Context())
		start := time.Now()
		var twoEnded, secondEnded atomic.Int64 // after the start
		go func() {
			go leads(first, t, st, "host-1")
			time.Sleep(20 * time.Second)
			two := launch(t, st, "i-2", time.Now())
			end(t, st, one)
			time.Sleep(8 * time.Minute)
			end(t, st, two)
			h.empty()
			twoEnded.Store(int64(time.Since(start)))
			time.Sleep(time.Minute)
			stop()
			time.Sleep(3 * time.Second) // a fail-over
			go leads(second, t, st, "host-2")
			time.Sleep(time.Minute)
			stopSecond()
			secondEnded.Store(int64(time.Since(start)))
		}()
		err := e.rest(t.Context())
		last := time.Duration(secondEnded.Load())
		if took := time.Since(start); err != nil || twoEnded.Load() == 0 || last == 0 || took < last+quiet {
			t.Errorf("rest = %v after %s, want it %s after the second controller's end at %s; stderr:\n%s", err, took, quiet, last, &c.err)
		}
		if n := len(drainOrders(t, st)); n != 2 {
			t.Errorf("%d orders, want one at once and one after five minutes", n)
		}
		contains(t, c.err.String(), "1 left: 1 ", "now stop every controller", "waits for the controller to stop: host-1", "to stop: host-2")
		if h.ended != nil {
			t.Errorf("terminated %v, want none", h.ended)
		}
	})
}

// Who looks sees which machines may be ended at once.
func TestUninstall_WithoutControllers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		led    time.Duration // how long a controller still leads
		force  bool
		orders int
		within time.Duration
		want   string // "" if it goes on
	}{
		{"Never", 0, false, 0, quiet + 2*time.Second, ""},
		{"Force", 30 * time.Second, true, 0, 30*time.Second + quiet + 2*time.Second, ""},
		{"GoneWithJobsLeft", 30 * time.Second, false, 9, time.Hour, "uninstall: not done after 10m0s; nothing was deleted: run it again, with --force if jobs may fail"},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st, h := memory(t, nil), &herd{ids: []string{"i-1"}}
			launch(t, st, "i-1", time.Now())
			e, c := endingOf(st, h, tt.force)
			if tt.led > 0 {
				ctx, cancel := context.WithTimeout(t.Context(), tt.led)
				defer cancel()
				go leads(ctx, t, st, "host-1")
			}
			start := time.Now()
			wait, cancel := waitLimit(t.Context(), 10*time.Minute, "uninstall")
			defer cancel()
			err := e.rest(wait)
			if took := time.Since(start); took > tt.within || took < tt.led+quiet || (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, errTimedOut) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("rest = %v after %s, want %q within %s; stderr:\n%s", err, took, tt.want, tt.within, &c.err)
			}
			if n := len(drainOrders(t, st)); (n > 0) != (tt.orders > 0) {
				t.Errorf("%d drain orders", n)
			}
			if tt.want != "" {
				contains(t, c.err.String(), "no controller leads: start one, or run this again with --force")
				return
			}
			if err := e.end(t.Context()); err != nil || len(h.ids) > 0 || len(h.ended) != 1 {
				t.Errorf("end = %v, left %v, ended %v", err, h.ids, h.ended)
			}
			if err := e.unled(t.Context()); err != nil {
				t.Errorf("unled = %v", err)
			}
			ctx, gone := context.WithCancel(t.Context())
			gone()
			leads(ctx, t, st, "host-3")
			if err := e.unled(t.Context()); err == nil {
				t.Error("a controller came back unnoticed")
			}
		}))
	}
}

// A machine that may not be ended is an error at once, and not a wait.
func TestUninstall_TerminateRefused(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := &herd{ids: []string{"i-1"}, refused: errors.New("access denied")}
		e, _ := endingOf(memory(t, nil), h, false)
		deleted := 0
		remove := func() error { deleted++; return nil }
		if err := e.finish(t.Context(), remove); !errors.Is(err, h.refused) || deleted > 0 || !strings.Contains(err.Error(), "nothing was deleted: run it again") {
			t.Errorf("finish = %v, deleted %d times while a machine lives", err, deleted)
		}
		h.refused = nil
		if err := e.finish(t.Context(), remove); err != nil || deleted != 1 || len(h.ids) > 0 {
			t.Errorf("finish = %v, deleted %d times, %q live", err, deleted, h.ids)
		}
	})
}

// Nothing is deleted while a machine shuts down, however long that takes: it may yet write its last output.
func TestUninstall_MachineShutsDown(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		h := &herd{ids: []string{"i-1"}, slow: true}
		e, _ := endingOf(memory(t, nil), h, true)
		wait, cancel := waitLimit(t.Context(), 10*time.Minute, "uninstall")
		defer cancel()
		deleted := 0
		err := e.finish(wait, func() error { deleted++; return nil })
		if !errors.Is(err, errTimedOut) || deleted > 0 || !strings.HasSuffix(err.Error(), "; nothing was deleted: run it again") {
			t.Errorf("finish = %v, deleted %d times while a machine shuts down", err, deleted)
		}
		if len(h.ended) != 1 {
			t.Errorf("terminated %v, want it once", h.ended)
		}
	})
}

func TestUninstall_Usage(t *testing.T) {
	on := []string{"--fleet", "ec2://main?region=eu-west-1"}
	for want, args := range map[string][]string{
		"fleet: must be ec2://NAME for this command, got \"process:": {"--yes"},
		"--yes: must be given where nobody can be asked":             on,
		"--timeout: must be a duration":                              append(on, "--yes", "--timeout", "5"),
		"takes none":                                                 append(on, "--yes", "main"),
	} {
		c := newCLI(nil)
		c.env = []string{"REMUDA_AGENT_RUNNER_USER=ci"}
		if code := c.run(t.Context(), append([]string{"uninstall"}, args...)...); code != exitUsage || c.opened > 0 {
			t.Errorf("uninstall %v: exit code %d, store opened %d times", args, code, c.opened)
		}
		contains(t, c.err.String(), want)
	}
}

// On a terminal the name must be typed.
func TestUninstall_Confirm(t *testing.T) {
	for typed, want := range map[string]string{"main\n": "", "main": "", "Main\n": `must be main, got "Main"`, "yes\n": "nothing was deleted", "": "nothing was deleted"} {
		c := newCLI(nil)
		c.in = strings.NewReader(typed)
		err := (&uninstallOptions{app: c.app}).confirm(t.Context(), "main")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("typed %q: %v, want %q", typed, err, want)
		}
		contains(t, c.err.String(), "Type main to go on: ")
	}
}
