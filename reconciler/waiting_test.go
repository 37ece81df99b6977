package reconciler

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

// collect returns a function that wakes, and what was woken since it was last asked.
func collect() (wake func(store.RequestID), woken func() string) {
	var ids []string
	return func(id store.RequestID) { ids = append(ids, string(id)) }, func() string {
		slices.Sort(ids)
		out := strings.Join(ids, " ")
		ids = nil
		return out
	}
}

// nobody is woken.
func nobody(store.RequestID) {}

// nothing is a pool without candidates.
func nothing(pool.Query) int { return 0 }

// stocked is a pool with so many candidates for every query.
func stocked(n int) func(pool.Query) int { return func(pool.Query) int { return n } }

// awake returns a line, and takes the steps of a test and compares whom each woke.
func awake(t *testing.T, count func(pool.Query) int) (w *waiting, step func(what, want string)) {
	wake, woken := collect()
	return newWaiting(count, wake), func(what, want string) {
		t.Helper()
		if got := woken(); got != want {
			t.Errorf("%s woke %q, want %q", what, got, want)
		}
	}
}

// Joining wakes those that may have to give something back: younger ones that hold something, once.
func TestWaiting_JoiningWakesHoldersBehind(t *testing.T) {
	w, step := awake(t, nothing)
	for i, id := range []string{"a", "b", "c", "d"} {
		one := inLine(id, 2*i, 2, small())
		one.holds = id == "a" || id == "c"
		w.set(one)
	}
	step("joining at the end of the line", "")
	early := inLine("early", 1, 1, small())
	early.tried = false
	w.set(early)
	step("joining before having looked into the pool", "")
	early.tried = true
	w.set(early)
	step("having found nothing there", "c")
	early.tried = false
	w.set(early)
	early.tried = true
	w.set(early)
	step("looking again", "")
	early.short = 3
	w.set(early)
	step("being short of more", "")
}

// Leaving wakes the next if the pool has something for it, and the next one after that only if there is more.
func TestWaiting_LeavingWakesTheNext(t *testing.T) {
	large := small()
	large.ResourceClass = "large"
	for candidates, want := range map[int]string{0: "", 2: "", 3: "c", 99: "c"} {
		w, step := awake(t, stocked(candidates))
		for i, id := range []string{"a", "b", "c", "d"} {
			w.set(inLine(id, 2*i, 2, small()))
		}
		w.set(inLine("other", 0, 2, large))
		step("joining", "")
		w.set(inLine("b", 2, 0, small()))
		step(fmt.Sprintf("leaving with %d candidates, 2 of them for a,", candidates), want)
		w.set(inLine("b", 2, 0, small()))
		w.leave("b")
		w.leave("nobody")
		step("leaving again", "")
	}
	w, step := awake(t, stocked(1))
	w.set(inLine("a", 0, 2, small()))
	w.set(inLine("b", 1, 2, small()))
	w.set(inLine("a", 0, 2, large))
	step("changing the line", "b")
	w.took("b")
	w.set(inLine("c", 2, 1, small()))
	step("taking one of two", "")
	w.took("b")
	step("taking the last", "c")
	w.missed("b")
	if got := w.ahead(inLine("c", 2, 1, small()), false); len(got) != 1 || got[0].seats != 1 {
		t.Errorf("ahead() of c, when b's claim had failed = %v, want one seat", got)
	}
}

// Room wakes the first in line, which may use any number, and the oldest that needs no more than there is.
func TestWaiting_RoomWakesWhoWaitsForIt(t *testing.T) {
	w, step := awake(t, nothing)
	for i, id := range []string{"a", "b", "c", "d"} {
		w.set(inLine(id, i, 4-i, small()))
	}
	w.capacityFreed("small", 9)
	step("room that nobody waits for", "")
	for _, id := range []string{"b", "c", "d"} {
		w.capReached(store.RequestID(id), true)
	}
	for left, want := range map[int]string{0: "", 1: "d", 2: "c", 3: "b"} {
		w.capacityFreed("small", left)
		step(fmt.Sprintf("room for %d", left), want)
	}
	w.capacityFreed("large", 9)
	step("room of another class", "")
	w.leave("a")
	step("the leaving of the first", "b")
	w.capacityFreed("small", 1)
	step("room for 1 of the 3 that the first needs", "b d")
	w.capReached("b", false)
	w.capReached("nobody", true)
	w.capacityFreed("small", 1)
	step("room when the first waits for something else", "d")
}

// Oldest first; of the same age by id, so that two looks never disagree.
func TestWaiting_AheadIsTheOlderOnes(t *testing.T) {
	w := newWaiting(nothing, nobody)
	for _, one := range []waiter{
		inLine("late", 9, 1, small()), inLine("b", 5, 2, small()), inLine("a", 5, 1, small("c*")), inLine("first", 0, 4, small()),
	} {
		one.tried = one.id != "a"
		w.set(one)
	}
	for _, step := range []struct {
		id            string
		minute        int
		want, ofTried int
	}{{"first", 0, 0, 0}, {"a", 5, 4, 4}, {"b", 5, 5, 4}, {"late", 9, 7, 6}, {"not in line", 6, 7, 6}, {"last", 10, 8, 7}} {
		one := inLine(step.id, step.minute, 1, small())
		if got := seatsOf(w.ahead(one, false)); got != step.want {
			t.Errorf("ahead(%s) = %d seats, want %d", step.id, got, step.want)
		}
		if got := seatsOf(w.ahead(one, true)); got != step.ofTried {
			t.Errorf("ahead(%s) = %d seats of those that found nothing, want %d", step.id, got, step.ofTried)
		}
	}
}

func seatsOf(ahead []demand) int {
	n := 0
	for _, d := range ahead {
		n += d.seats
	}
	return n
}

// ahead is the demand of so many waiters, as a line tells it.
func aheadOf(list ...waiter) []demand {
	w := newWaiting(nothing, nobody)
	for _, one := range list {
		w.set(one)
	}
	return w.ahead(waiter{id: "~", since: dawn.Add(24 * time.Hour), query: small()}, false)
}

// An instance is for the oldest that can use it.
func TestWaiting_OldestThatMatches(t *testing.T) {
	w := newWaiting(nothing, nobody)
	w.set(inLine("picky", 0, 1, small("r6i.*")))
	w.set(inLine("old", 1, 1, small("c*")))
	w.set(inLine("young", 2, 1, small()))
	for typ, want := range map[string]string{"r6i.large": "picky", "c6i.large": "old", "m5.large": "young"} {
		if got, ok := w.oldest(machineOf("i-1", typ)); !ok || string(got) != want {
			t.Errorf("a pooled %s is for %q, %t; want %q", typ, got, ok, want)
		}
	}
	other := machineOf("i-1", "m5.large")
	other.ResourceClass = "large"
	if got, ok := w.oldest(other); ok {
		t.Errorf("a pooled instance of another class is for %q", got)
	}
}

// A younger request leaves the older ones as many candidates as they are short of, each counted
// once however often it is asked about, and nothing they cannot use.
func TestReserve_EachCandidateOnce(t *testing.T) {
	if reserve(nil) != nil {
		t.Error("reserve() for nobody is a veto, want none")
	}
	veto := reserve(aheadOf(inLine("a", 0, 2, small("c*")), inLine("b", 1, 1, small())))
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
	veto := reserve(aheadOf(inLine("a", 0, 7, small()), inLine("b", 1, 5, small())))
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
