package reconciler

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// H53: notifications of orders that do not exist, which anyone may send who may notify, keep no order out that does: each scan
// finds it, however many notifications came.
func TestDrains_FloodOfNotifications_KeepsNoOrderOut_H53(t *testing.T) {
	table := storetest.NewMemory(clocktesting.NewFakeClock(dawn))
	term, clk, _ := newTestTerm(t, table, nil)
	flood := func() {
		for n := range 10 * drainsAtOnce {
			term.notifications.notified(store.DrainKey(fmt.Sprintf("none-%d", n)))
		}
	}
	flood()
	operator := store.New(table)
	for _, id := range []string{"first", "second"} {
		if err := operator.OrderDrain(t.Context(), store.DrainOrder{ID: id, CreatedAt: store.At(dawn), ResourceClass: id}); err != nil {
			t.Fatal(err)
		}
		term.notifications.notified(store.DrainKey(id))
	}
	if err := term.scanner.scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	flood()
	clk.Step(time.Minute)
	if _, err := term.drainer.readDrains(t.Context(), drainsKey); err != nil {
		t.Fatal(err)
	}
	for _, class := range []string{"first", "second"} {
		in := store.Instance{ID: "i-1", ResourceClass: class, CreatedAt: store.At(dawn), Term: term.term}
		if ordered, _ := term.cache.orders.dismissed(in, clk.Now()); !ordered {
			t.Errorf("the order to drain class %s is not in force", class)
		}
	}
}
