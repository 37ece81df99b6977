package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// unjust are requests that fail for nothing, once with each reason.
func unjust() []sabotage {
	var out []sabotage
	for _, reason := range []string{
		reconciler.ReasonTimeout, reconciler.ReasonVanished, reconciler.ReasonUnsatisfiable, reconciler.ReasonRefused, reconciler.ReasonCapacity,
		reconciler.ReasonLaunchBudget, reconciler.ReasonSpec, reconciler.ReasonReleased, "bad_luck",
	} {
		out = append(out, sabotage{law: Just, name: reason, story: "one run", says: "failed as " + reason, do: func(h hands) {
			h.phase("100", statemachine.Pending)
			h.fails("100", reason)
		}})
	}
	return out
}

// uncaused are healthy machines that end, in each state and with each reason that the product gives for no fault.
func uncaused() []sabotage {
	reasons := []string{statemachine.ReasonDismissed, statemachine.ReasonThreshold, reconciler.ReasonOver, statemachine.ReasonSilent}
	var out []sabotage
	for _, state := range []statemachine.State{statemachine.Created, statemachine.Claimed, statemachine.Running, statemachine.Idle} {
		for _, reason := range reasons {
			out = append(out, sabotage{
				law: Caused, name: string(state) + ", " + reason, story: "two runs, one by one", says: "terminated from " + string(state),
				do: func(h hands) { h.ends(h.instance(state), reason) },
			})
		}
	}
	return out
}

// recordsBroken are single writes that no product makes.
func recordsBroken() []sabotage {
	return []sabotage{
		{law: Tables, name: "edge", story: "one run", says: "is no edge", do: func(h hands) {
			h.become(h.instance(statemachine.Idle), statemachine.Created, "")
		}},
		{law: Tables, name: "handed over unreported", story: "one run", says: "without a report of its listener", do: func(h hands) {
			h.become(h.instance(statemachine.Created), statemachine.Running, "100")
		}},
		{law: Tables, name: "pooled unreported", story: "one run", says: "without a report of being clean", do: func(h hands) {
			in := h.instance(statemachine.Idle, pooled)
			h.of(in, func(r *store.Instance) { r.Assignment, r.PooledAt = r.Assignment+1, store.Time{} })
			h.of(in, func(r *store.Instance) { r.PooledAt = store.At(h.w.clock.Now()) })
		}},
		{law: Tables, name: "older attempt", story: "one run", says: "attempt 0 after 1", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			h.answer("100", func(st *store.RunStatus) { st.Attempt-- })
		}},
		{law: Tables, name: "attempt not begun", story: "one run", says: "attempt 2 begins as Ready", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			h.answer("100", func(st *store.RunStatus) { st.Attempt++ })
		}},
		{law: Tables, name: "back to Pending", story: "one run", says: "Ready -> Pending", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			h.answer("100", func(st *store.RunStatus) { st.Phase = statemachine.Pending })
		}},
		{law: InTime, name: "threshold beyond its limit", story: "one run", says: "with a threshold in", do: func(h hands) {
			h.of(h.instance(statemachine.Idle, pooled), func(r *store.Instance) {
				r.Threshold = store.At(r.Threshold.Add(time.Hour))
			})
		}, also: []string{Kept}},
		{law: InTime, name: "changed past its threshold", story: "one run", says: "past its threshold", do: func(h hands) {
			in := h.instance(statemachine.Idle, pooled)
			now := h.w.clock.Now()
			h.of(in, func(r *store.Instance) { r.Threshold, r.ChangedAt = store.At(now.Add(tick)), store.At(now) })
			h.at(h.w.since() + 2*look)
			h.of(in, func(r *store.Instance) {
				now := h.w.clock.Now()
				r.Threshold, r.ChangedAt = store.At(now.Add(time.Minute)), store.At(now)
			})
		}, also: []string{Kept}},
		{law: InTime, name: "past the end of its run", story: "one run, held", says: "past the end of 100/1", do: func(h hands) {
			in := h.instance(statemachine.Running)
			h.phase("100", statemachine.Ready)
			h.at(h.w.since() + time.Minute)
			h.become(in, statemachine.Running, "100")
		}},
		{law: OneOwner, name: "passed on", story: "two runs at once", says: "without being free", do: func(h hands) {
			h.phase("200", statemachine.Pending)
			h.become(h.instance(statemachine.Running), statemachine.Running, "200")
		}},
		{law: OneOwner, name: "assignments passed over", story: "two runs, one by one", says: "with assignment", do: func(h hands) {
			h.of(h.instance(statemachine.Claimed), func(r *store.Instance) { r.Assignment += 2 })
		}},
		{law: OneOwner, name: "released and held", story: "one run, held", says: "is Released and holds", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			h.answer("100", func(st *store.RunStatus) { st.Phase = statemachine.PhaseReleased })
		}},
		{law: OneOwner, name: "given to two", story: "two runs at once", says: `which is "100"'s`, do: func(h hands) {
			in := h.instance(statemachine.Running)
			h.phase("200", statemachine.Pending)
			h.ready("200", in.ID)
		}, also: []string{Listening}},
		{law: OneOwner, name: "of another attempt", story: "one run", says: "which is of attempt 2", do: func(h hands) {
			in := h.instance(statemachine.Created)
			h.of(in, func(r *store.Instance) { r.Attempt = 2 })
			h.ready("100", in.ID)
		}, also: []string{Listening}},
		{law: Secrets, name: "unsealed", story: "one run", says: "can be read by anyone", do: func(h hands) {
			h.of(h.instance(statemachine.Created, hasSecret), func(r *store.Instance) { r.Registration.Secret = "open" })
		}},
		{law: Secrets, name: "of another assignment", story: "one run", says: "keeps the secret of assignment 7", do: func(h hands) {
			h.of(h.instance(statemachine.Created, hasSecret), func(r *store.Instance) { r.Registration.Assignment = 7 })
		}},
		{law: Secrets, name: "given twice", story: "two machines", says: "was given to", do: func(h hands) {
			first := h.instance(statemachine.Created, hasSecret)
			other := h.instance(statemachine.Created, hasSecret, func(in store.Instance) bool { return in.ID != first.ID })
			h.of(other, func(r *store.Instance) { r.Registration.Secret = first.Registration.Secret })
		}},
		{law: OneHolder, name: "told to two clients", story: "two runs at once", says: "was held by two runs", do: func(h hands) {
			in := h.instance(statemachine.Running)
			h.phase("200", statemachine.Pending)
			h.freeze(time.Minute) // they would take it back at once
			h.ready("200", in.ID)
			h.until(func() bool { return h.knows("200") })
			close(h.w.spoilt) // what comes of it is no matter of this law
		}, also: []string{OneOwner, Listening}, patient: true},
		{law: Freed, name: "running", story: "one run, held", says: "nobody gave that back", do: func(h hands) {
			in := h.instance(statemachine.Running)
			h.phase("100", statemachine.Ready)
			h.become(in, statemachine.Idle, "")
		}},
		{law: Nothing, name: "launch goes on", story: "one run", says: "goes on", do: func(h hands) {
			h.launch(false)
			h.phase("100", statemachine.Pending)
			h.answer("100", func(st *store.RunStatus) { st.Phase = statemachine.PhaseReleased })
		}},
		{law: Nothing, name: "claimed", story: "one run", says: "became claimed", do: func(h hands) {
			h.phase("100", statemachine.PhaseReleased)
			h.become(h.instance(statemachine.Idle, pooled), statemachine.Claimed, "100")
		}},
		{law: Nothing, name: "created", story: "one run", says: "became created", do: func(h hands) {
			h.phase("100", statemachine.PhaseReleased)
			in := store.Instance{Principal: "role:i-new", ID: "i-new"}
			h.become(in, statemachine.Created, "100")
		}},
		{law: Answered, name: "Ready with too few", story: "one run", says: "Ready with 0 of 1", do: func(h hands) {
			h.phase("100", statemachine.Pending)
			h.ready("100")
		}},
		{law: Answered, name: "Failed without a word", story: "a run that nothing fits", says: "without a reason", do: func(h hands) {
			h.phase("100", statemachine.Failed)
			h.answer("100", func(st *store.RunStatus) { st.Message = "" })
		}},
		{law: Answered, name: "out of line", story: "a run that waits", says: "which waits for the same", change: func(s *Script) {
			s.Idle, s.Largest = 45*time.Second, 1
		}, do: func(h hands) {
			h.phase("200", statemachine.Pending)
			h.phase("300", statemachine.Pending)
			h.ready("300", h.instance(statemachine.Terminated).ID)
		}, also: []string{Listening}},
		{law: Listening, name: "before it is online", story: "a run after five minutes", says: "does not listen", do: func(h hands) {
			h.ready("100", h.instance(statemachine.Created).ID)
		}},
		{law: Listening, name: "without the label", story: "one run", says: "has not that label", do: func(h hands) {
			h.of(h.instance(statemachine.Created), func(r *store.Instance) {
				r.State, r.Registration = statemachine.Running, store.Registration{Serial: 9, Assignment: r.Assignment, Name: "i-9-1.9", Ahead: true}
			})
		}, also: []string{Tables}},
		{law: Paced, name: "registered again and again", story: "one run", says: "was registered again after 1s", at: time.Minute, do: func(h hands) {
			idle, first := h.instance(statemachine.Idle, pooled), h.w.clock.Now()
			for n := range 2 {
				h.of(idle, func(r *store.Instance) {
					at := store.At(first.Add(time.Duration(n) * time.Second))
					r.Registration = store.Registration{Serial: 9 + int64(n), Assignment: r.Assignment, Name: fmt.Sprintf("%s-1.%d", r.ID, 9+n), Ahead: true, MintedAt: at}
				})
			}
		}},
		{law: Known, name: "given up", story: "one run", says: "is given up, and its machine lives", do: func(h hands) {
			key := store.InstanceKey(h.instance(statemachine.Created).Principal, store.KindInstance)
			rewriteItem(h, context.Background(), key, func(item *store.Item, _ *store.Instance) { item.ExpiresAt = h.w.clock.Now().Add(time.Hour) })
		}},
		{law: Listening, name: "said too early", story: "one run", says: "none is online", do: func(h hands) {
			in := h.instance(statemachine.Created)
			rewrite(h, store.InstanceKey(in.Principal, store.KindSignal), func(s *store.Signal) {
				s.Value = store.SignalValue{Signal: store.RegOK, RunID: in.RunID, Assignment: in.Assignment}
			})
		}},
		{law: Needed, name: "more than the budget", story: "one run", says: "at most 4 may be", do: func(h hands) {
			rewrite(h, store.LaunchKey(h.launch(true)), func(l *store.Launch) {
				l.Seats[0].Instances = make([]store.InstanceID, 5)
			})
		}},
		{law: Warm, name: "launch", story: "one run", says: "lies in the pool", at: 6 * time.Minute, do: func(h hands) {
			h.instance(statemachine.Idle, pooled)
			rewrite(h, store.LaunchKey("of-nobody"), func(l *store.Launch) {
				l.ResourceClass, l.UsageClass, l.Count, l.CreatedAt = "small", store.Spot, 1, store.At(h.w.clock.Now())
				l.Seats = []store.LaunchSeat{{RequestID: "100", Attempt: 1, Count: 1}}
			})
		}},
		{law: Fits, name: "another type", story: "one run", says: "types [z9.*]", do: func(h hands) {
			h.instance(statemachine.Created)
			rewrite(h, store.RequestKey("100", store.KindRunRequest), func(r *store.RunRequest) { r.AllowedInstanceTypes = []string{"z9.*"} })
		}},
		{law: Caused, name: "never registered", story: "two runs far apart", says: "nobody gave it a registration", do: func(h hands) {
			claimed := h.instance(statemachine.Claimed)
			h.freeze(time.Minute) // they would give it one at once
			h.of(claimed, func(r *store.Instance) {
				now := h.w.clock.Now()
				r.Registration, r.Since, r.Threshold = store.Registration{}, store.At(now.Add(-2*time.Minute)), store.At(now.Add(time.Second))
			})
			h.at(h.w.since() + 2*time.Second)
			h.ends(claimed, statemachine.ReasonThreshold)
		}},
		{law: Soon, name: "registration", story: "two runs far apart", says: "waits for its registration", at: 12 * time.Minute, do: func(h hands) {
			h.w.hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallJIT}})
			h.instance(statemachine.Claimed)
		}},
		{law: Caused, name: "given back long before", story: "one run, held", says: "and its time passed before it was idle", patient: true, do: func(h hands) {
			running := h.instance(statemachine.Running)
			h.phase("100", statemachine.Ready)
			h.t.records.mu.Lock()
			in(h.t.facts.asked, "100")[1] = h.w.begin.Add(-time.Hour)
			h.t.records.mu.Unlock()
			h.of(running, func(r *store.Instance) { r.Threshold = store.At(h.w.clock.Now().Add(time.Second)) })
			h.at(h.w.since() + 2*time.Second)
			h.ends(running, statemachine.ReasonThreshold)
		}},
		{law: Lapsed, name: "renewed just now", story: "one run", says: "took the lease of", at: 5 * time.Second, do: func(h hands) {
			rewrite(h, store.LeaseKey, func(l *store.Lease) { l.Holder, l.Term = "somebody", l.Term+1 })
		}},
		{law: Fenced, name: "two holders of one term", story: "one run", says: "", at: 5 * time.Second, do: func(h hands) {
			rewrite(h, store.LeaseKey, func(l *store.Lease) { l.Holder = "somebody" })
		}},
		{law: Fenced, name: "term again", story: "one run", says: "took the lease for term 0", at: 5 * time.Second, do: func(h hands) {
			rewrite(h, store.LeaseKey, func(l *store.Lease) { l.Holder, l.Term = "somebody", l.Term-1 })
		}},
		{law: Fenced, name: "over a later term", story: "two runs, one by one", says: "in term 1, after term 2", at: time.Minute, do: func(h hands) {
			deposed := h.w.find(string(Controller))
			deposed.crash()
			in := h.instance(statemachine.Claimed)
			rewriteItem(h, deposed.as(context.Background()), store.InstanceKey(in.Principal, store.KindInstance), func(*store.Item, *store.Instance) {})
		}},
	}
}
