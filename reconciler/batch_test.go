package reconciler

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/store"
)

func wanted(id string, minute, count int, types ...string) want {
	return want{id: store.RequestID(id), attempt: 1, count: count, since: dawn.Add(time.Duration(minute) * time.Minute), query: small(types...)}
}

// taken describes what a window holds.
func taken(list []want) map[store.RequestID]int {
	out := map[store.RequestID]int{}
	for _, w := range list {
		out[w.id] += w.count
	}
	return out
}

// S69: what a request wants is what it wanted last, so that what was launched or claimed meanwhile is
// never asked for twice.
func TestBatch_SetReplaces_S69(t *testing.T) {
	b := newBatch()
	k := b.set(wanted("a", 1, 3))
	b.set(wanted("b", 2, 2))
	if b.set(wanted("a", 1, 1)) != k {
		t.Error("the same query has two windows")
	}
	if diff := cmp.Diff(map[store.RequestID]int{"a": 1, "b": 2}, taken(b.take(k))); diff != "" {
		t.Errorf("take() (-want +got):\n%s", diff)
	}
	other := b.set(wanted("a", 1, 4, "c*")) // a newer attempt, of another kind
	if other == k {
		t.Error("two different queries share a window")
	}
	if diff := cmp.Diff(map[store.RequestID]int{"b": 2}, taken(b.take(k))); diff != "" {
		t.Errorf("take() of the kind that was left (-want +got):\n%s", diff)
	}
	b.set(wanted("b", 2, 0))
	if got := b.take(k); len(got) != 0 {
		t.Errorf("take() = %v after everybody left, want nothing", got)
	}
	b.leave("a")
	if got := b.take(other); len(got) != 0 || len(b.wants) != 0 {
		t.Errorf("take() = %v and %v remains after leave, want nothing", got, b.wants)
	}
}

// The oldest request gets its machines first, should fewer come than were asked for.
func TestBatch_TakeIsOldestFirst(t *testing.T) {
	b := newBatch()
	k := b.set(wanted("young", 9, 1))
	b.set(wanted("old", 1, 1))
	b.set(wanted("middle", 5, 1))
	var order []store.RequestID
	for _, w := range b.take(k) {
		order = append(order, w.id)
	}
	if diff := cmp.Diff([]store.RequestID{"old", "middle", "young"}, order); diff != "" {
		t.Errorf("take() (-want +got):\n%s", diff)
	}
}

// Between take and drop the wants still count: the caps must not forget them while the launch is
// being written.
func TestBatch_CountsUntilDropped(t *testing.T) {
	b := newBatch()
	k := b.set(wanted("a", 1, 3))
	b.set(wanted("b", 2, 2))
	large := wanted("c", 3, 5)
	large.query.ResourceClass = "large"
	b.set(large)
	count := func(when string, a, all, ofSmall int) {
		t.Helper()
		gotAll, gotSmall := b.total("small")
		if b.pending("a") != a || gotAll != all || gotSmall != ofSmall {
			t.Errorf("%s: %d of a, %d in all, %d of class small, want %d, %d, %d", when, b.pending("a"), gotAll, gotSmall, a, all, ofSmall)
		}
	}
	count("waiting", 3, 10, 5)
	list := b.take(k)
	count("taken", 3, 10, 5)
	late := wanted("d", 4, 1)
	b.set(late) // after the window closed: of the next one
	b.drop(k, list)
	count("dropped", 0, 6, 1)
	if diff := cmp.Diff(map[store.RequestID]int{"d": 1}, taken(b.take(k))); diff != "" {
		t.Errorf("the next window (-want +got):\n%s", diff)
	}
}

// H32: a launch whose writing has an unknown outcome is written again as it was, and the call is made
// for the first time at most once.
func TestBatch_PreparedIntendedBegun_H32(t *testing.T) {
	b := newBatch()
	if _, again := b.unwritten("l-1"); again {
		t.Error("unwritten() of nothing")
	}
	b.reserve(store.Launch{Token: "l-1"})
	if l, again := b.unwritten("l-1"); !again || l.Token != "l-1" {
		t.Errorf("unwritten() = %v, %v, want the one that was prepared", l, again)
	}
	if b.begin("l-1") {
		t.Error("begin() of a launch that is not written says that nobody made the call")
	}
	b.intended("l-1", false)
	if _, again := b.unwritten("l-1"); again {
		t.Error("a written launch would be written again")
	}
	if !b.begin("l-1") || b.begin("l-1") {
		t.Error("begin() must be true once, and then not again")
	}
	if b.begin("l-of-another-term") {
		t.Error("begin() vouches for a launch of another term")
	}
}

// S73: requests share a launch only if they want the same of it, its usage classes included.
func TestBatch_KindsDifferInEverythingThatIsLaunched(t *testing.T) {
	base := small("c*", "m*")
	kinds := map[string]string{kind(base): "base"}
	class, usage, types, cpu, mem := base, base, base, base, base
	class.ResourceClass = "large"
	usage.UsageClasses = []string{store.OnDemand}
	types.AllowedTypes = []string{"c*"}
	cpu.CPU = 4
	mem.Mem = 8192
	both := base
	both.UsageClasses = []string{store.Spot, store.OnDemand}
	for _, q := range []struct {
		name string
		kind string
	}{
		{"class", kind(class)}, {"usage class", kind(usage)}, {"order of usage classes", kind(both)},
		{"types", kind(types)}, {"cpu", kind(cpu)}, {"memory", kind(mem)},
	} {
		if same, known := kinds[q.kind]; known {
			t.Errorf("another %s shares a launch with %s", q.name, same)
		}
		kinds[q.kind] = q.name
	}
}

// Invariant 8: enough for bad luck, not for a crash-looping script.
func TestLaunchBudget(t *testing.T) {
	for count, want := range map[int]int{1: 4, 2: 5, 3: 6, 4: 8, 10: 20, 1000: 2000} {
		if got := LaunchBudget(count); got != want {
			t.Errorf("LaunchBudget(%d) = %d, want %d", count, got, want)
		}
	}
}

// A window closes one idle time after the last request joined it, and after longestBatch at the latest, so
// that a burst becomes one launch. One request alone waits no longer for it. G9
func TestBatch_StaysOpenWhileRequestsJoin(t *testing.T) {
	const idle = 35 * time.Millisecond
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := newBatch()
	k := b.set(wanted("r-0", 0, 1))
	closes := func(want time.Duration, why string) {
		t.Helper()
		if got := b.closes(k, idle); !got.Equal(start.Add(want)) {
			t.Errorf("closes after %s, want %s: %s", got.Sub(start), want, why)
		}
	}
	b.join(k, start)
	closes(idle, "nobody else has joined")
	b.set(wanted("r-0", 0, 1))
	b.join(k, start.Add(20*time.Millisecond))
	closes(idle, "the same request again")
	for i := 1; i <= 40; i++ {
		b.set(wanted(fmt.Sprintf("r-%d", i), i, 1))
		b.join(k, start.Add(time.Duration(i)*30*time.Millisecond))
		closes(min(time.Duration(i)*30*time.Millisecond+idle, longestBatch), "another has joined")
	}
	first := b.take(k)
	b.set(wanted("late", 50, 1))
	b.join(k, start.Add(1300*time.Millisecond))
	b.drop(k, first)
	closes(1300*time.Millisecond+idle, "one joined while the others' launch was written")
	b.drop(k, b.take(k))
	if got := b.closes(k, idle); !got.IsZero() {
		t.Errorf("closes at %s, want no window", got)
	}
}
