package sim

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// storiesOfMoney are quiet stories with prices of instances and a monthly budget.
func storiesOfMoney(quiet func(...Step) Script) map[string]Script {
	held := quiet(Begin(0, Workflow{ID: "100", Count: 1, Hold: 20 * time.Minute, Max: 30 * time.Minute}))
	held.Money = Money{Price: 1, Budget: 10, Steps: []string{"floors@0.9"}}
	low := held
	low.Money.Steps = []string{"floors@0.00001"}
	ahead := quiet(Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: time.Minute}))
	ahead.Ahead = 1
	two := quiet(Begin(0, Workflow{ID: "100", Count: 1, Hold: 20 * time.Second}), Begin(13*time.Minute, Workflow{ID: "200", Count: 1, Hold: 20 * time.Second}))
	two.Idle = 2 * time.Minute
	return map[string]Script{"a budget": held, "a budget that is used up": low, "a run that is listened for": ahead, "an instance that ends early": two}
}

// says has a leader say something of the budget, which the next write of the lease takes back.
func (h hands) says(change func(*budgetSaid)) {
	h.t.records.mu.Lock()
	defer h.t.records.mu.Unlock()
	is := h.t.money.last
	change(&is)
	text, err := json.Marshal(map[string]any{"holder": "somebody", "health": map[string]any{"budget": is}})
	if err != nil {
		h.w.verdicts.broke("records", "%v", err)
	}
	h.t.money.said(store.Item{Key: store.LeaseKey, Attributes: text})
}

// believes lets the laws read something else in each lease, for as long as the story lasts.
func (h hands) believes(change func(*moneyLaws)) {
	h.until(func() bool {
		h.t.records.mu.Lock()
		defer h.t.records.mu.Unlock()
		change(h.t.money)
		return false
	})
}

// moneyBroken are costs and budgets as they must not be.
func moneyBroken() []sabotage {
	return []sabotage{
		{law: Counted, name: "falls", story: "a budget", says: "falls from", at: 5 * time.Minute, do: func(h hands) {
			h.says(func(b *budgetSaid) { b.Spent += 5 })
		}},
		{law: Counted, name: "behind", story: "a budget", says: "and the price of $0.0000 is unknown", at: 5 * time.Minute, do: func(h hands) {
			h.w.running.Go(func() { h.believes(func(m *moneyLaws) { m.last.Spent = 0 }) })
		}},
		{law: Counted, name: "zero", story: "a budget", says: "is zero", at: 5 * time.Minute, do: func(h hands) {
			h.w.running.Go(func() {
				h.believes(func(m *moneyLaws) {
					m.last.Spent = 0
					m.unpriced["2000-01-02"] = map[store.InstanceID]float64{"of-nobody": 1}
				})
			})
		}},
		{law: Steps, name: "too soon", story: "a budget", says: "and the month has cost", at: 5 * time.Minute, do: func(h hands) {
			h.says(func(b *budgetSaid) { b.Off = "floors" })
		}},
		{law: Steps, name: "ends, and begins while the cost is unknown", story: "a budget that is used up", says: "is off since now, and the cost is unknown", at: 5 * time.Minute, patient: true, do: func(h hands) {
			unknown := store.At(h.w.clock.Now())
			h.says(func(b *budgetSaid) { b.Off, b.UnknownSince = "", unknown })
			h.says(func(b *budgetSaid) { b.Off, b.UnknownSince = "floors", unknown })
		}},
		{law: Wants, name: "lost", story: "an instance that ends early", says: "does not have it", at: 5 * time.Minute, do: func(h hands) {
			rewrite(h, store.DemandKey(store.DayOf(h.w.clock.Now())), func(d *store.Demand) { d.Rows = nil })
		}},
		{law: Bounded, name: "too many", story: "a floor", says: "and 1 is the most", at: 6*time.Minute + 2*time.Second, change: func(s *Script) { s.Floors.Small = 2 }, do: func(h hands) {
			h.believe(func(f *reconciler.Floor) { f.Max = 1 })
		}},
		{law: Bounded, name: "too old", story: "a floor", says: "is idle at an age of", at: 10 * time.Minute, also: []string{Kept}, patient: true, do: func(h hands) {
			h.believe(func(f *reconciler.Floor) { f.MaxAge = 8 * time.Minute })
		}},
		{law: Bounded, name: "judged by younger limits", story: "one run", says: "by limits that are younger", do: func(h hands) {
			in := h.instance(statemachine.Idle, pooled)
			h.w.supervisor.mu.Lock()
			h.w.supervisor.configured = h.w.clock.Now()
			h.w.supervisor.mu.Unlock()
			h.ends(in, statemachine.ReasonSilent)
		}},
		{law: Bounded, name: "unconfirmed", story: "a run that is listened for", says: "is ended as unconfirmed", also: []string{Caused, OwnJob, HealthyLives}, patient: true, do: func(h hands) {
			in := h.instance(statemachine.Running)
			h.until(func() bool {
				h.t.records.mu.Lock()
				defer h.t.records.mu.Unlock()
				return h.t.records.beats[in.Principal].Beat.Busy
			})
			h.unjudged(20 * time.Minute)
			h.ends(in, statemachine.ReasonUnconfirmed)
		}},
		{law: Soon, name: "retired", story: "an instance that ends early", says: "is kept", at: 9 * time.Minute, do: func(h hands) {
			in := h.instance(statemachine.Terminated)
			rewriteItem(h, context.Background(), store.InstanceKey(in.Principal, store.KindInstance), func(item *store.Item, _ *store.Instance) { item.ExpiresAt = time.Time{} })
		}},
		{law: Harmless, name: "another attempt", story: "a long run at GitHub", says: "was for an earlier one", do: func(h hands) {
			h.failing(7, func() {
				_ = h.w.hub.Workflows().Cancel(7) // it was over
				if err := h.w.hub.Workflows().Rerun(7, githubsim.Again{}); err != nil {
					h.w.verdicts.broke("jobs", "%v", err)
				}
				h.cancelsJob(7)
			})
		}},
		{law: Harmless, name: "no job waits", story: "a long run at GitHub", says: "no job of it waits", do: func(h hands) {
			h.failing(7, func() { h.cancelsJob(7) })
		}},
	}
}

// cancelsJob cancels the job of a run that waits for a runner.
func (h hands) cancelsJob(id int64) {
	run, err := h.w.hub.Workflows().Run(id)
	if err == nil {
		err = h.w.hub.Cancel(strconv.FormatInt(run.Jobs[1].ID, 10))
	}
	if err != nil {
		h.w.verdicts.broke("jobs", "%v", err)
	}
}

// failing cancels a run whose request has failed, half a minute after something has become of it.
func (h hands) failing(id int64, become func()) {
	_, err := h.w.hub.Workflows().Start(githubsim.RunSpec{ID: id, Repository: repositoryOfRuns, Jobs: []githubsim.JobSpec{
		{Key: "a", Hosted: true, Held: true}, {Key: "b", Label: "7"},
	}})
	if err == nil {
		_, err = store.New(mute{h.t}).Submit(context.Background(), store.RunRequest{
			ID: "7", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"z9.*"}, ResourceClass: "small",
			Timeout: store.SecondsOf(time.Minute), Repository: repositoryOfRuns, WorkflowRun: id, WorkflowAttempt: 1, NoWait: true,
		})
	}
	if err != nil {
		h.w.verdicts.broke("jobs", "%v", err)
	}
	become()
	h.at(h.w.since() + 30*time.Second)
	h.t.records.mu.Lock()
	in(h.t.runs.failed, "7")[1] = true
	h.t.records.mu.Unlock()
	h.calls(func(ctx context.Context, r judgedRuns) error { return r.CancelRun(ctx, repositoryOfRuns, id) })
}
