package reconciler

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// A controller that finds a schema which it does not know, at its start, takes no lease, free or not, and says which version to run.
// One of that schema takes it, whatever was told before, and keeps the number when it gives the lease up.
func TestLeader_Schema(t *testing.T) {
	for schema, want := range map[int]bool{0: true, store.SchemaVersion: true, store.SchemaVersion + 1: false} {
		for _, holder := range []string{"", "another"} {
			bubbletest.Run(t, func(t *testing.T) {
				table := storetest.NewMemory(clock.RealClock{})
				st := store.New(table)
				before, err := st.PutLease(t.Context(), store.Lease{
					Holder: holder, Term: 4, Schema: schema, Health: store.Health{ControllerVersion: "v9.0.0"},
				})
				if err != nil {
					t.Fatal(err)
				}
				c := newRival(t, "first", table, clock.RealClock{})
				time.Sleep(time.Minute)
				_, _, leads := c.led()
				c.cancel()
				<-c.done
				after, err := st.Lease(t.Context())
				if err != nil || leads != want {
					t.Fatalf("schema %d held by %q: leads %v, %v", schema, holder, leads, err)
				}
				if want && (after.Schema != store.SchemaVersion || after.Holder != "" || c.err != nil) {
					t.Errorf("schema %d: lease afterwards %+v, %v", schema, after, c.err)
				}
				if !want && (after != before || !errors.Is(c.err, store.ErrSchema) || !strings.Contains(c.err.Error(), `schema 2, last written by version "v9.0.0", and this program knows 1`)) {
					t.Errorf("schema %d: lease %+v, %v, want it untouched and an error", schema, after, c.err)
				}
			})
		}
	}
}

// A standby ends too, once a later version leads: nobody shall count on it.
func TestLeader_SchemaGrows(t *testing.T) {
	election(t, func(t *testing.T, table *storetest.Memory, first, second *rival) {
		time.Sleep(10 * time.Second)
		first.stop(t)
		time.Sleep(time.Second)
		if _, _, leads := second.led(); !leads {
			t.Fatal("the second does not lead")
		}
		third := newRival(t, "third", table, clock.RealClock{})
		time.Sleep(10 * time.Second)
		st := store.New(table)
		lease, err := st.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lease.Schema, lease.Term, lease.Holder = store.SchemaVersion+1, lease.Term+1, "later"
		if _, err := st.PutLease(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		for _, c := range []*rival{second, third} {
			<-c.done
			if _, _, leads := c.led(); leads || !errors.Is(c.err, store.ErrSchema) {
				t.Errorf("%s leads %v and ended with %v", c.holder, leads, c.err)
			}
			c.err = nil // so it must be
		}
	})
}
