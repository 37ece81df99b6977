package reconciler

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

var dawn = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// small is what requests of the tests need: 2 vCPUs of some type.
func small(types ...string) pool.Query {
	if len(types) == 0 {
		types = []string{"*"}
	}
	return pool.Query{ResourceClass: "small", UsageClasses: []string{store.Spot}, AllowedTypes: types, CPU: 2, Mem: 4096}
}

// inLine is a request that came at a minute and is short.
func inLine(id string, minute, short int, q pool.Query) waiter {
	return waiter{id: store.RequestID(id), since: dawn.Add(time.Duration(minute) * time.Minute), query: q, short: short, tried: true}
}

func machineOf(id, instanceType string) pool.Ticket {
	return pool.Ticket{
		InstanceID: id, UsageClass: store.Spot, InstanceType: instanceType, CPU: 2, Mem: 4096,
		ResourceClass: "small", Threshold: dawn.Add(time.Hour),
	}
}

// collect returns a function to pass as wake, and what was woken since it was last asked.
func collect() (wake func(store.RequestID), woken func() string) {
	var ids []string
	return func(id store.RequestID) { ids = append(ids, string(id)) }, func() string {
		slices.Sort(ids)
		out := strings.Join(ids, " ")
		ids = nil
		return out
	}
}

func TestWaiting_WhoIsWoken(t *testing.T) {
	w := newWaiting()
	wake, woken := collect()
	step := func(what, want string) {
		t.Helper()
		if got := woken(); got != want {
			t.Errorf("%s woke %q, want %q", what, got, want)
		}
	}
	large := small()
	large.ResourceClass = "large"
	for i, id := range []string{"a", "b", "c", "d"} {
		w.set(inLine(id, 2*i, 2, small()), wake)
	}
	w.set(inLine("other", 0, 2, large), wake)
	step("joining at the end of the line", "")

	early := inLine("early", 1, 1, small())
	early.tried = false
	w.set(early, wake)
	step("joining before having looked into the pool", "")
	early.tried = true
	w.set(early, wake)
	step("having found nothing there", "b c d")
	early.short = 3
	w.set(early, wake)
	step("being short of another number", "")

	w.set(inLine("b", 2, 0, small()), wake)
	step("leaving", "a c d early")
	w.set(inLine("b", 2, 0, small()), wake)
	step("leaving again", "")
	w.leave("c", wake)
	step("leaving without a word of what for", "a d early")
	w.leave("nobody", wake)
	step("a stranger's leaving", "")

	w.set(inLine("early", 1, 3, large), wake)
	step("changing the line", "a d")
	if got := w.ahead(inLine("z", 99, 1, small())); len(got) != 2 {
		t.Errorf("ahead() in the line that was left = %v, want a and d", got)
	}
}

// Oldest first; of the same age by id, so that two looks never disagree.
func TestWaiting_AheadIsTheOlderOnes(t *testing.T) {
	w := newWaiting()
	wake, _ := collect()
	for _, one := range []waiter{
		inLine("late", 9, 1, small()), inLine("b", 5, 1, small()), inLine("a", 5, 1, small()), inLine("first", 0, 1, small()),
	} {
		w.set(one, wake)
	}
	for id, want := range map[string]string{"first": "", "a": "first", "b": "first a", "late": "first a b"} {
		var one waiter
		for _, o := range w.byClass["small"] {
			if string(o.id) == id {
				one = o
			}
		}
		var got []string
		for _, o := range w.ahead(one) {
			got = append(got, string(o.id))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("ahead(%s) = %q, want %q", id, s, want)
		}
	}
	if got := w.ahead(inLine("x", 6, 1, small())); len(got) != 3 {
		t.Errorf("ahead() of one not in line = %v, want the three older ones", got)
	}
}

// The oldest that can use an instance is woken, and it alone.
func TestWaiting_WakeTheOldestThatMatches(t *testing.T) {
	w := newWaiting()
	none, _ := collect()
	w.set(inLine("picky", 0, 1, small("r6i.*")), none)
	w.set(inLine("old", 1, 1, small("c*")), none)
	w.set(inLine("young", 2, 1, small()), none)
	for typ, want := range map[string]string{"r6i.large": "picky", "c6i.large": "old", "m5.large": "young"} {
		wake, woken := collect()
		w.wake(machineOf("i-1", typ), wake)
		if got := woken(); got != want {
			t.Errorf("a pooled %s woke %q, want %q", typ, got, want)
		}
	}
	wake, woken := collect()
	other := machineOf("i-1", "m5.large")
	other.ResourceClass = "large"
	w.wake(other, wake)
	if got := woken(); got != "" {
		t.Errorf("a pooled instance of another class woke %q", got)
	}
}

// A younger request leaves the older ones as many candidates as they are short of, each counted
// once however often it is asked about, and nothing they cannot use.
func TestReserve_EachCandidateOnce(t *testing.T) {
	if reserve(nil) != nil {
		t.Error("reserve() for nobody is a veto, want none")
	}
	veto := reserve([]waiter{inLine("a", 0, 2, small("c*")), inLine("b", 1, 1, small())})
	for _, step := range []struct {
		id, typ string
		want    bool
	}{
		{"i-1", "c6i.large", true}, {"i-1", "c6i.large", true}, // a's first
		{"i-2", "m5.large", true},  // b's only
		{"i-3", "m5.large", false}, // a cannot use it, b needs no more
		{"i-4", "c6i.large", true}, // a's second
		{"i-5", "c6i.large", false},
		{"i-4", "c6i.large", true}, {"i-2", "m5.large", true}, {"i-3", "m5.large", false},
	} {
		if got := veto(machineOf(step.id, step.typ)); got != step.want {
			t.Errorf("reserved(%s %s) = %v, want %v", step.id, step.typ, got, step.want)
		}
	}
}

func TestReserve_UnderManyWorkers(t *testing.T) {
	veto := reserve([]waiter{inLine("a", 0, 7, small()), inLine("b", 1, 5, small())})
	reserved := make([]bool, 100)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range reserved {
				veto(machineOf(fmt.Sprint("i-", i), "m5.large"))
			}
		})
	}
	workers.Wait()
	n := 0
	for i := range reserved {
		if veto(machineOf(fmt.Sprint("i-", i), "m5.large")) {
			n++
		}
	}
	if n != 12 {
		t.Errorf("%d candidates are reserved, want the 12 that are short", n)
	}
}

func TestStuck_OnlyThoseThatLooked(t *testing.T) {
	looked, fresh := inLine("a", 0, 1, small()), inLine("b", 1, 1, small())
	fresh.tried = false
	ahead := []waiter{looked, fresh}
	got := stuck(ahead)
	if diff := cmp.Diff([]store.RequestID{"a"}, idsOf(got)); diff != "" {
		t.Errorf("stuck() (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.RequestID{"a", "b"}, idsOf(ahead)); diff != "" {
		t.Errorf("stuck() changed its argument (-want +got):\n%s", diff)
	}
}

func idsOf(list []waiter) []store.RequestID {
	var out []store.RequestID
	for _, o := range list {
		out = append(out, o.id)
	}
	return out
}
