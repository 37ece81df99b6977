package reconciler

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/store"
)

// The line against a plain map of who waits: whatever happens, the order is by age, nobody is in it
// twice or in two of them, and who is woken is who may have something to do.
func TestWaiting_Model(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWaiting()
		model := map[store.RequestID]waiter{}
		of := func(class string) []waiter {
			list := slices.Collect(maps.Values(model))
			list = slices.DeleteFunc(list, func(o waiter) bool { return o.query.ResourceClass != class })
			slices.SortFunc(list, func(a, b waiter) int {
				if a.older(b) {
					return -1
				}
				return 1
			})
			return list
		}
		check := func(what string, want, got []store.RequestID) {
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" && len(want)+len(got) > 0 {
				rt.Fatalf("%s (-want +got):\n%s", what, diff)
			}
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			one := drawWaiter(rt)
			was, waited := model[one.id]
			var want, got []store.RequestID
			wake := func(id store.RequestID) { got = append(got, id) }
			leaving := rapid.IntRange(0, 5).Draw(rt, "leave") == 0
			delete(model, one.id)
			if waited && (leaving || one.short == 0 || was.query.ResourceClass != one.query.ResourceClass) {
				want = idsOf(of(was.query.ResourceClass))
			}
			if leaving {
				w.leave(one.id, wake)
				check("leave", want, got)
				continue
			}
			if one.short > 0 {
				if one.tried && !(waited && was.tried) {
					for _, o := range of(one.query.ResourceClass) {
						if one.older(o) {
							want = append(want, o.id)
						}
					}
				}
				model[one.id] = one
			}
			w.set(one, wake)
			check("set", want, got)
			checkLines(rt, w, of)
		}
	})
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
	}
}

// checkLines compares both lines with the model, by every way of asking.
func checkLines(rt *rapid.T, w *waiting, of func(string) []waiter) {
	for _, class := range []string{"small", "large"} {
		line := of(class)
		end := waiter{id: "~", since: dawn.Add(time.Hour), query: pool.Query{ResourceClass: class}}
		if diff := cmp.Diff(fmt.Sprint(line), fmt.Sprint(w.ahead(end))); diff != "" {
			rt.Fatalf("line of class %s (-want +got):\n%s", class, diff)
		}
		for i, o := range line {
			if diff := cmp.Diff(fmt.Sprint(line[:i]), fmt.Sprint(w.ahead(o))); diff != "" {
				rt.Fatalf("ahead of %s (-want +got):\n%s", o.id, diff)
			}
		}
		for _, typ := range []string{"c6i.large", "m5.large"} {
			ticket := machineOf("i-1", typ)
			ticket.ResourceClass = class
			var want, got store.RequestID
			if i := slices.IndexFunc(line, func(o waiter) bool { return o.query.Matches(ticket) }); i >= 0 {
				want = line[i].id
			}
			w.wake(ticket, func(id store.RequestID) { got += id })
			if got != want {
				rt.Fatalf("a pooled %s of %s wakes %q, want %q", typ, class, got, want)
			}
			reserved := 0
			for _, o := range line {
				if o.query.Matches(ticket) {
					reserved += o.short
				}
			}
			if veto := reserve(line); veto != nil {
				for i := range 20 {
					ticket.InstanceID = fmt.Sprint("i-", i)
					if veto(ticket) != (i < reserved) {
						rt.Fatalf("candidate %d of %s is reserved: %v, with %d short", i, typ, i >= reserved, reserved)
					}
				}
			}
		}
	}
}
