package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// drainOrders reads every order in st.
func drainOrders(t *testing.T, st *store.Store) []store.DrainOrder {
	t.Helper()
	var orders []store.DrainOrder
	if err := st.Scan(t.Context(), store.Visitor{Drain: func(d store.DrainOrder) { orders = append(orders, d) }}); err != nil {
		t.Fatal(err)
	}
	return orders
}

// end dismisses an instance, and has the fleet confirm its end.
func end(t *testing.T, st *store.Store, in store.Instance) {
	t.Helper()
	in = move(t, st, in, dismissed(time.Now()))
	if _, err := st.Retire(t.Context(), in, time.Now().Add(time.Hour), time.Now()); err != nil {
		t.Fatal(err)
	}
}

func dismissed(now time.Time) store.Transition {
	return store.Transition{Event: statemachine.Dismissed, Now: now, Reason: statemachine.ReasonDismissed}
}

func TestDrain_WaitsUntilTerminated(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		args         []string
		want         store.DrainOrder
		gone         string
	}{
		{"One", "only the named instance", []string{"i-1"}, store.DrainOrder{InstanceID: "i-1"}, "i-1 dismissed\ndrained 1 after 3."},
		{"Class", "every instance of the class", []string{"--class", "small"}, store.DrainOrder{ResourceClass: "small"}, "i-1 dismissed\ni-2 dismissed\ndrained 2 after 6."},
		{"Now", "its job does not count", []string{"i-1", "--now"}, store.DrainOrder{InstanceID: "i-1", Now: true}, "i-1 dismissed\ndrained 1 after 3."},
		{"All", "every instance", []string{"--all"}, store.DrainOrder{}, "i-1 dismissed\ni-2 dismissed\ndrained 2 after 6."},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st := memory(t, nil)
			one, two := launch(t, st, "i-1", time.Now()), launch(t, st, "i-2", time.Now())
			go func() { // an instance launched after the order is none of its business
				time.Sleep(time.Second)
				launch(t, st, "i-3", time.Now())
				time.Sleep(2 * time.Second)
				end(t, st, one)
				time.Sleep(2 * time.Second)
				ordered := move(t, st, two, dismissed(time.Now())) // not ended yet
				time.Sleep(time.Second)
				if _, err := st.Retire(context.Background(), ordered, time.Now().Add(time.Hour), time.Now()); err != nil {
					t.Error(err)
				}
			}()
			c, start := newCLI(st), time.Now()
			if code := c.run(t.Context(), append([]string{"drain"}, tt.args...)...); code != exitDone {
				t.Errorf("%s: exit code = %d, want 0; stderr:\n%s", tt.reason, code, &c.err)
			}
			if !strings.HasPrefix(c.out.String(), tt.gone) {
				t.Errorf("%s: stdout = %q, want %q…", tt.reason, &c.out, tt.gone)
			}
			contains(t, c.err.String(), "left: ")
			if said := strings.Contains(c.err.String(), "without waiting for jobs: 1 instance to end now\n"); said != tt.want.Now {
				t.Errorf("%s: said that jobs are not waited for: %v, want %v:\n%s", tt.reason, said, tt.want.Now, &c.err)
			}
			orders := drainOrders(t, st)
			if len(orders) != 1 || orders[0].InstanceID != tt.want.InstanceID || orders[0].ResourceClass != tt.want.ResourceClass || orders[0].Now != tt.want.Now || !orders[0].CreatedAt.Equal(store.At(start)) {
				t.Errorf("%s: orders = %+v, want one of %+v at %s", tt.reason, orders, tt.want, start)
			}
			time.Sleep(10 * time.Second) // let the other instances come and go
		}))
	}
}

// obeyed has a drain order carried out while it is being written.
type obeyed struct {
	store.Table
	obey func()
}

func (o *obeyed) Put(ctx context.Context, item store.Item, expect int64) error {
	err := o.Table.Put(ctx, item, expect)
	if err == nil && item.Key.Sort == store.KindDrain {
		o.obey()
	}
	return err
}

// What a controller dismisses before the first look was drained all the same.
func TestDrain_DismissedAtOnceCounts(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := &obeyed{}
		st := memory(t, func(inner store.Table) store.Table {
			table.Table = inner
			return table
		})
		one := launch(t, st, "i-1", time.Now())
		end(t, st, launch(t, st, "i-2", time.Now())) // gone before
		table.obey = func() { end(t, st, one) }
		c := newCLI(st)
		if code := c.run(t.Context(), "drain", "--all"); code != exitDone || !strings.HasPrefix(c.out.String(), "i-1 dismissed\ndrained 1 after ") {
			t.Errorf("exit code = %d, stdout = %q, want i-1 dismissed; stderr:\n%s", code, &c.out, &c.err)
		}
	})
}

func TestDrain_NothingToDo(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		args         []string
		code         int
	}{
		{"UnknownInstance", "no instance has that id", []string{"i-9"}, exitNotFound},
		{"UnknownClass", "neither configured nor in use", []string{"--class", "huge"}, exitNotFound},
		{"EmptyClass", "configured, nothing runs", []string{"--class", "large"}, exitDone},
		{"EndedInstance", "it is gone already", []string{"i-1"}, exitDone},
		{"All", "an empty fleet", []string{"--all"}, exitDone},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st, start := memory(t, nil), time.Now()
			end(t, st, launch(t, st, "i-1", start))
			c := newCLI(st)
			if code := c.run(t.Context(), append([]string{"drain"}, tt.args...)...); code != tt.code || time.Since(start) != 0 {
				t.Errorf("%s: exit code = %d after %s, want %d at once; stderr:\n%s", tt.reason, code, time.Since(start), tt.code, &c.err)
			}
			if orders := drainOrders(t, st); tt.code == exitNotFound && len(orders) > 0 {
				t.Errorf("%s: ordered %+v", tt.reason, orders)
			}
		}))
	}
}

func TestDrain_Usage(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"None", nil, "exactly one of INSTANCE, --class and --all must be given, got 0"},
		{"Two", []string{"i-1", "--all"}, "exactly one of INSTANCE, --class and --all must be given, got 2"},
		{"Three", []string{"i-1", "--class", "small", "--all"}, "must be given, got 3"},
		{"TwoInstances", []string{"i-1", "i-2"}, "at most one is allowed, got 2"},
		{"EmptyInstance", []string{""}, "must not be empty: --all drains everything"},
		{"EmptyClass", []string{"--class="}, "must not be empty: --all drains everything"},
		{"Timeout", []string{"--all", "--timeout", "-1s"}, "--timeout: must be a duration"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCLI(nil)
			if code := c.run(t.Context(), append([]string{"drain"}, tt.args...)...); code != exitUsage || !strings.Contains(c.err.String(), tt.want) {
				t.Errorf("exit code = %d, want %d and %q in:\n%s", code, exitUsage, tt.want, &c.err)
			}
			if c.opened != 0 {
				t.Error("the store was opened")
			}
		})
	}
}

func TestDrain_EndsEarly(t *testing.T) {
	for _, tt := range []struct {
		name string
		stop time.Duration
		code int
		want string
	}{
		{"TimedOut", time.Hour, exitTimedOut, "drain: not done after 30s: 1 left (the order stays in force)"},
		{"Interrupted", time.Second, exitInterrupted, "interrupted: 1 left (the order stays in force)"},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st := memory(t, nil)
			launch(t, st, "i-1", time.Now())
			ctx, cancel := context.WithCancel(t.Context())
			defer time.AfterFunc(tt.stop, cancel).Stop()
			c := newCLI(st)
			if code := c.run(ctx, "drain", "--all", "--timeout", "30s"); code != tt.code || !strings.Contains(c.err.String(), tt.want) {
				t.Errorf("exit code = %d, want %d and %q in:\n%s", code, tt.code, tt.want, &c.err)
			}
			cancel()
		}))
	}
}
