package reconciler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// The cache against a plain map of the newest records: whatever arrives in whatever order, every way of
// asking gives the same answer as a look through the map; nothing goes because something else was
// not seen, and what expired goes from everywhere.
func TestCache_Model(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v, model := newRecords(), map[store.InstanceID]store.Instance{}
		now := dawn
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(rt, "minutes")) * time.Minute)
				v.forget(now)
				for id, in := range model {
					if !in.ExpiresAt.IsZero() && !now.Before(in.ExpiresAt) {
						delete(model, id)
					}
				}
			default:
				in := drawInstance(rt, now)
				v.instances.apply(in)
				if have, known := model[in.ID]; !known || in.Version > have.Version {
					model[in.ID] = in
				}
			}
			checkCache(rt, v, model)
		}
	})
}

func drawInstance(rt *rapid.T, now time.Time) store.Instance {
	in := inState(
		fmt.Sprint("i-", rapid.IntRange(1, 4).Draw(rt, "id")), rapid.Int64Range(1, 30).Draw(rt, "version"),
		rapid.SampledFrom(statemachine.States()).Draw(rt, "state"), rapid.SampledFrom([]string{"100", "200"}).Draw(rt, "run"))
	in.ResourceClass = map[store.InstanceID]string{"i-1": "large"}[in.ID] // of a machine for ever
	if in.State == statemachine.Idle && rapid.Bool().Draw(rt, "pooled") {
		in.PooledAt = store.At(now)
	}
	if in.State == statemachine.Terminated && rapid.Bool().Draw(rt, "confirmed") {
		in.ExpiresAt = now.Add(time.Hour)
	}
	return in
}

func checkCache(rt *rapid.T, v *records, model map[store.InstanceID]store.Instance) {
	names := func(list []snapshot) []store.InstanceID {
		var out []store.InstanceID
		for _, s := range list {
			out = append(out, s.ID)
		}
		slices.Sort(out)
		return out
	}
	where := func(matches func(store.Instance) bool) []store.InstanceID {
		var out []store.InstanceID
		for id, in := range model {
			if matches(in) {
				out = append(out, id)
			}
		}
		slices.Sort(out)
		return out
	}
	same := func(what string, want, got any) {
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%s (-want +got):\n%s", what, diff)
		}
	}
	for _, name := range []store.InstanceID{"i-1", "i-2", "i-3", "i-4"} {
		want, known := model[name]
		got, has := v.instances.get(name)
		same("known "+string(name), known, has)
		same("record of "+string(name), want, got.Instance)
		_, principal := v.instances.id(store.Principal("p-" + name))
		same("principal of "+string(name), known, principal)
	}
	for _, run := range []store.RequestID{"100", "200"} {
		same("held by "+string(run), where(func(in store.Instance) bool { return in.State.Owned() && in.RunID == run }), names(v.instances.heldBy(run)))
	}
	same("idle", where(func(in store.Instance) bool { return in.State == statemachine.Idle }), names(v.instances.idle()))
	same("returning", where(func(in store.Instance) bool { return in.State == statemachine.Idle && in.PooledAt.IsZero() }), names(v.returns()))
	for _, class := range []string{"", "large"} {
		living := where(func(in store.Instance) bool { return in.State != statemachine.Terminated })
		total, ofClass := v.instances.live(class)
		same("living", len(living), total)
		same("living of class "+class, len(where(func(in store.Instance) bool {
			return in.State != statemachine.Terminated && in.ResourceClass == class
		})), ofClass)
	}
	var all []store.InstanceID
	v.instances.each(func(in *instance) { all = append(all, in.record.ID) })
	slices.Sort(all)
	same("each", where(func(store.Instance) bool { return true }), all)
	var alive, ending []store.InstanceID
	v.instances.eachAlive(func(in *instance) { alive = append(alive, in.record.ID) })
	v.instances.eachEnding(func(in *instance) { ending = append(ending, in.record.ID) })
	slices.Sort(alive)
	slices.Sort(ending)
	same("alive", where(func(in store.Instance) bool { return in.State != statemachine.Terminated }), alive)
	same("ending", where(func(in store.Instance) bool { return in.State == statemachine.Terminated && in.ExpiresAt.IsZero() }), ending)
}

// returns lists copies of the instances in the release handshake.
func (v *records) returns() []snapshot {
	var out []snapshot
	v.instances.eachReturning(func(in *instance) bool {
		out = append(out, in.snapshot())
		return true
	})
	return out
}
