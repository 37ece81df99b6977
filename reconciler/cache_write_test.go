package reconciler

import (
	"errors"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// pooledOne puts a claimable instance into the store, the cache and the index of a tenure.
func pooledOne(t *testing.T, term *manager, id store.InstanceID) store.Instance {
	t.Helper()
	now := term.clock.Now()
	in, err := term.cache.store.Register(t.Context(), store.Instance{
		ID: id, Principal: "p-" + store.Principal(id), RunID: "99", Attempt: 1, LaunchToken: "l-1",
		ResourceClass: "small", UsageClass: store.Spot, InstanceType: "c6i.large", CPU: 2, Mem: 4096,
	}, now, time.Hour)
	for _, event := range []statemachine.Event{statemachine.Unclaimed, statemachine.Pooled} {
		if err != nil {
			break
		}
		in, err = term.cache.store.Transition(t.Context(), in, store.Transition{Event: event, Now: now, Limit: time.Hour})
	}
	if err != nil {
		t.Fatal(err)
	}
	term.cache.instances.apply(in)
	term.cache.instances.with(id, func(in *instance) {
		in.vitals.fresh = true
		in.reg.requesting = true // somebody else sees to its registration
	})
	term.cache.index.changed(id)
	return in
}

// S27: a verdict on an instance is carried out on the record that it was made of, and on none that was claimed or
// renewed since, by this controller or by another.
func TestVerdict_OfAnEarlierRecord_IsDropped_S27(t *testing.T) {
	claim := store.Transition{Event: statemachine.Claim, Now: dawn, Limit: time.Hour, RunID: "200", Attempt: 1}
	renew := store.Transition{Event: statemachine.Renewed, Now: dawn, Limit: 2 * time.Hour}
	for name, tc := range map[string]struct {
		before, since []store.Transition
	}{
		"Claimed": {nil, []store.Transition{claim}},
		"Renewed": {[]store.Transition{claim}, []store.Transition{renew}},
	} {
		for _, verdict := range []statemachine.Decision{
			{Event: statemachine.Expired, Reason: statemachine.ReasonThreshold},
			{Event: statemachine.Lost, Reason: statemachine.ReasonSilent},
			{Event: statemachine.Rejected, Reason: statemachine.ReasonGate},
			{Event: statemachine.Dismissed, Reason: statemachine.ReasonDismissed},
		} {
			for _, elsewhere := range []bool{false, true} {
				term, _, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), nil)
				in := pooledOne(t, term, "i-1")
				write := func(tr store.Transition, seen bool) {
					out, err := term.cache.store.Transition(t.Context(), in, tr)
					if err != nil {
						t.Fatal(err)
					}
					if in = out; seen {
						term.cache.instances.apply(in)
					}
				}
				for _, tr := range tc.before {
					write(tr, true)
				}
				judged, _ := term.cache.instances.get("i-1")
				for _, tr := range tc.since {
					write(tr, !elsewhere)
				}
				for range 2 { // the first may only find out that the cache is behind
					if err := term.instances.apply(t.Context(), judged, verdict); !errors.Is(err, store.ErrConflict) {
						t.Errorf("%s, %s, elsewhere %v: error = %v, want a conflict", name, verdict.Event, elsewhere, err)
					}
				}
				got, err := term.cache.store.Instance(t.Context(), store.Consistent, in.Principal)
				if err != nil || got.State != statemachine.Claimed || got.RunID != "200" || got.Version != in.Version {
					t.Errorf("%s, %s, elsewhere %v: record = %s of %q, version %d, %v; want it as it was", name, verdict.Event, elsewhere, got.State, got.RunID, got.Version, err)
				}
			}
		}
	}
}

// S62: a claim that another writer beat means the next candidate, in the same look, or a shortfall; it is no error.
func TestClaim_Lost_TakesTheNext_S62(t *testing.T) {
	for name, rival := range map[string]store.Transition{
		"Claimed": {Event: statemachine.Claim, Now: dawn, Limit: time.Hour, RunID: "300", Attempt: 1},
		"Ended":   {Event: statemachine.Dismissed, Now: dawn, Reason: statemachine.ReasonDismissed},
	} {
		for wanted, left := range map[int]int{3: 1, 2: 0} { // of so many the last ones are left
			term, _, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), nil)
			lost := map[store.InstanceID]int64{}
			for _, id := range []store.InstanceID{"i-1", "i-2", "i-3"}[:wanted] {
				in := pooledOne(t, term, id)
				if len(lost) < wanted-left {
					out, err := term.cache.store.Transition(t.Context(), in, rival) // the cache does not know
					if err != nil {
						t.Fatal(err)
					}
					lost[id] = out.Version
				}
			}
			r := run{id: "200", status: &store.RunStatus{ID: "200", Attempt: 1}, request: &store.RunRequest{
				ID: "200", Attempt: 1, Count: wanted, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small",
			}}
			q, err := term.cfg.query(*r.request)
			if err != nil {
				t.Fatal(err)
			}
			if claimed, err := term.requests.filler.claims.claim(t.Context(), r, q, wanted, nil); err != nil || claimed != left {
				t.Errorf("%s: claim of %d = %d, %v, want the %d that nobody took", name, wanted, claimed, err, left)
			}
			for id, version := range lost {
				if s, _ := term.cache.instances.get(id); s.Version != version {
					t.Errorf("%s: %s is of version %d, want what its rival wrote, %d", name, id, s.Version, version)
				}
			}
			if held := term.cache.instances.heldBy("200"); len(held) != left {
				t.Errorf("%s: run 200 holds %d, want %d", name, len(held), left)
			}
			if ticket, ok := term.cache.index.pickup.Take(q, "400/1", nil); ok {
				t.Errorf("%s: %s is offered to the next run", name, ticket.InstanceID)
			}
		}
	}
}
