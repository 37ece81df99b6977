package reconciler_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// What an operator tells from memory is what stands in the store, but for secrets, and only while it leads.
func TestOperator_Records(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		leader, stop := w.operator("c1", reconciler.Options{})
		standby, stopStandby := w.operator("c2", reconciler.Options{})
		defer stopStandby()
		w.warm("100", 3)
		w.submit(spec("200", 2, ofClass("nothing")))
		w.awaitPhase("200", 1, statemachine.Failed, time.Minute)
		w.submit(spec("300", 5))
		w.await(time.Minute, "a registration is written", func() bool {
			for _, in := range w.Instances() {
				if in.Registration.Secret != "" {
					return true
				}
			}
			return false
		})

		got, leads := leader.Records()
		if !leads {
			t.Fatal("the leader says that it does not lead")
		}
		if _, leads := standby.Records(); leads {
			t.Error("a standby says that it leads")
		}
		var want store.Found
		visitor := want.Visitor()
		visitor.Launch, visitor.Drain, visitor.Client, visitor.Heartbeat, visitor.Signal = nil, nil, nil, nil, nil
		if err := w.Store.Scan(t.Context(), visitor); err != nil {
			t.Fatal(err)
		}
		for i := range want.Instances {
			want.Instances[i].Registration.Secret = ""
			if in := want.Instances[i]; in.State == statemachine.Idle && got.Vitals[in.Principal].Heartbeat.UpdatedAt.IsZero() {
				t.Errorf("instance %s has no heartbeat", in.ID)
			}
		}
		got.Vitals, want.Vitals = nil, nil
		for _, f := range []*store.Found{&got, &want} {
			slices.SortFunc(f.Instances, func(a, b store.Instance) int { return cmp.Compare(a.ID, b.ID) })
		}
		if diff := gocmp.Diff(want, got); diff != "" || len(got.Instances) == 0 || len(got.Runs) != 3 {
			t.Errorf("records (-stored +told):\n%s", diff)
		}
		stop()
		if _, leads := leader.Records(); leads {
			t.Error("an operator that has ended says that it leads")
		}
	})
}
