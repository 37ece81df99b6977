package reconciler

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// line is the plain truth of who waits: a map, walked from end to end for every answer.
type plainLine map[store.RequestID]waiter

// of lists those of a class that are short, oldest first.
func (m plainLine) of(class string) []waiter {
	list := slices.DeleteFunc(slices.Collect(maps.Values(m)), func(o waiter) bool {
		return o.query.ResourceClass != class || o.short == 0
	})
	slices.SortFunc(list, func(a, b waiter) int {
		if a.older(b) {
			return -1
		}
		return 1
	})
	return list
}

// front is the oldest of a class that found nothing in the pool.
func (m plainLine) front(class string) (waiter, bool) {
	for _, o := range m.of(class) {
		if o.tried {
			return o, true
		}
	}
	return waiter{}, false
}

// next is, of each kind, the first behind one for which there are more candidates than those ahead of it need.
func (m plainLine) next(one waiter, count func(pool.Query) int) []store.RequestID {
	var out []store.RequestID
	ahead, seen := map[string]int{}, map[string]bool{}
	for _, o := range m.of(one.query.ResourceClass) {
		if k := kind(o.query); one.older(o) && o.id != one.id && !seen[k] {
			seen[k] = true
			if count(o.query) > ahead[k] {
				out = append(out, o.id)
			}
		}
		ahead[kind(o.query)] += o.short
	}
	return out
}

// change is what waiting.change does, and whom it wakes.
func (m plainLine) change(id store.RequestID, now *waiter, count func(pool.Query) int) []store.RequestID {
	was, waited := m[id]
	var first waiter
	if waited {
		first, _ = m.front(was.query.ResourceClass)
		delete(m, id)
	}
	var out []store.RequestID
	if now != nil {
		m[id] = *now
		for _, o := range m.of(now.query.ResourceClass) {
			if now.tried && !(waited && was.tried) && o.holds && now.older(o) {
				out = append(out, o.id)
			}
		}
	}
	if !waited {
		return out
	}
	if now == nil || now.short < was.short || kind(now.query) != kind(was.query) || !now.since.Equal(was.since) {
		out = append(out, m.next(was, count)...)
	}
	if front, some := m.front(was.query.ResourceClass); first.id == id && was.short > 0 && some && front.id != id && front.capped {
		out = append(out, front.id)
	}
	return out
}

// The line against a plain map of who waits: whatever happens, the order is by age, nobody is in it
// twice or in two of them, and who is woken is who may have something to do.
func TestWaiting_Model(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		candidates := 0
		count := func(q pool.Query) int { return max(0, candidates-len(q.AllowedTypes[0])) }
		var got []store.RequestID
		w, model := newWaiting(count, func(id store.RequestID) { got = append(got, id) }), plainLine{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			one := drawWaiter(rt)
			candidates = rapid.IntRange(0, 9).Draw(rt, "candidates")
			was, waited := model[one.id]
			var want []store.RequestID
			got = nil
			change := func(to waiter) { want = model.change(one.id, &to, count) }
			switch what := rapid.SampledFrom([]string{"set", "leave", "took", "missed", "cap reached"}).Draw(rt, "what"); {
			case what == "leave" || what == "set" && one.short == 0:
				want = model.change(one.id, nil, count)
				w.leave(one.id)
			case what == "set":
				to := one
				to.tried = one.tried || waited && was.tried && was.since.Equal(one.since) && was.query.ResourceClass == one.query.ResourceClass
				change(to)
				w.set(one)
			case what == "cap reached":
				if was.capped = one.capped; waited {
					change(was)
				}
				w.capReached(one.id, one.capped)
				want = nil // it changes nothing for others
			default:
				by := map[string]int{"took": -1, "missed": 1}[what]
				if was.short = max(0, was.short+by); waited {
					change(was)
				}
				w.shorten(one.id, by)
			}
			same(rt, "woken", want, got)
			checkLines(rt, w, model)
		}
	})
}

func same(rt *rapid.T, what string, want, got []store.RequestID) {
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" && len(want)+len(got) > 0 {
		rt.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func drawWaiter(rt *rapid.T) waiter {
	class := rapid.SampledFrom([]string{"small", "large"}).Draw(rt, "class")
	return waiter{
		id:    store.RequestID(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(rt, "id")),
		since: dawn.Add(time.Duration(rapid.IntRange(0, 3).Draw(rt, "minute")) * time.Minute),
		query: pool.Query{
			ResourceClass: class, UsageClasses: []string{store.Spot}, CPU: 2, Mem: 4096,
			AllowedTypes: []string{rapid.SampledFrom([]string{"*", "c*", "m*"}).Draw(rt, "types")},
		},
		short: rapid.IntRange(0, 3).Draw(rt, "short"), tried: rapid.Bool().Draw(rt, "tried"),
		capped: rapid.Bool().Draw(rt, "capped"), holds: rapid.Bool().Draw(rt, "holds"),
	}
}

// checkLines compares both lines with the model, by every way of asking.
func checkLines(rt *rapid.T, w *waiting, model plainLine) {
	for _, class := range []string{"small", "large"} {
		line := model.of(class)
		end := waiter{id: "~", since: dawn.Add(time.Hour), query: pool.Query{ResourceClass: class}}
		seats, tried := 0, 0
		for _, o := range append(line, end) {
			if all, found := seatsOf(w.ahead(o, false)), seatsOf(w.ahead(o, true)); all != seats || found != tried {
				rt.Fatalf("ahead of %s: %d seats, %d of those that found nothing; want %d, %d", o.id, all, found, seats, tried)
			}
			if seats += o.short; o.tried {
				tried += o.short
			}
		}
		checkRoom(rt, w, model, class)
		for _, typ := range []string{"c6i.large", "m5.large"} {
			ticket := machineOf("i-1", typ)
			ticket.ResourceClass = class
			var want store.RequestID
			if i := slices.IndexFunc(line, func(o waiter) bool { return o.query.Matches(ticket) }); i >= 0 {
				want = line[i].id
			}
			if got, ok := w.oldest(ticket); got != want || ok != (want != "") {
				rt.Fatalf("a pooled %s of %s is for %q, %t; want %q", typ, class, got, ok, want)
			}
			reserved := 0
			for _, o := range line {
				if o.query.Matches(ticket) {
					reserved += o.short
				}
			}
			if veto := reserve(w.ahead(end, false)); veto != nil {
				for i := range 20 {
					ticket.InstanceID = machineOf("i-"+string(rune('a'+i)), typ).InstanceID
					if veto(ticket) != (i < reserved) {
						rt.Fatalf("candidate %d of %s is reserved: %v, with %d short", i, typ, i >= reserved, reserved)
					}
				}
			}
		}
	}
}

func checkRoom(rt *rapid.T, w *waiting, model plainLine, class string) {
	before := w.wake
	defer func() { w.wake = before }()
	for left := range 4 {
		var want, got []store.RequestID
		if front, some := model.front(class); some && front.capped && left > 0 {
			want = append(want, front.id)
		}
		if line := model.of(class); left > 0 {
			if i := slices.IndexFunc(line, func(o waiter) bool { return o.capped && o.short <= left }); i >= 0 {
				want = append(want, line[i].id)
			}
		}
		w.wake = func(id store.RequestID) { got = append(got, id) }
		w.capacityFreed(class, left)
		same(rt, "woken by room", want, got)
	}
}
