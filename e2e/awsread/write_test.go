package awsread_test

import (
	"encoding/json"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// write lets every writer of the page write its records, by the ways that each of them has.
func (i *installation) write() {
	i.Helper()
	plan, m := i.launch(i.Context())
	s, now := store.New(i.table), time.Now()
	i.request(s, now, m)
	i.instance(s, now, m)
	i.controller(s, now, plan, m)
}

// must fails the test unless err is nil.
func must[V any](i *installation) func(V, error) V {
	return func(v V, err error) V {
		i.Helper()
		i.Check(err)
		return v
	}
}

// request is one that was served, given back and forgotten, and others whose status has no list yet: of a run that the
// controller gave back, and of one that goes on.
func (i *installation) request(s *store.Store, now time.Time, m fleet.Machine) {
	i.Helper()
	ctx := i.Context()
	want := store.RunRequest{
		ID: "4711-a", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot, store.OnDemand}, AllowedInstanceTypes: []string{"c6i.*"},
		ResourceClass: classes[0], MaxRuntime: 1800, Timeout: 0.5, CreatedAt: store.At(now),
	}
	r := must[store.RunRequest](i)(s.Submit(ctx, want))
	i.Check(s.Seen(ctx, r.ID, 1, now))
	status := must[store.RunStatus](i)(s.PutStatus(ctx, store.RunStatus{ID: r.ID, Attempt: 1, Deadline: store.At(now.Add(soon))}, statemachine.Accept, now))
	status.Instances = []store.Seat{{InstanceID: store.InstanceID(m.ID), InstanceType: m.InstanceType, UsageClass: m.UsageClass, Warm: true, Seconds: 1.25}}
	status.Counts, status.EndsAt = store.Counts{Wanted: 1, Ready: 1}, store.At(now.Add(soon))
	status = must[store.RunStatus](i)(s.PutStatus(ctx, status, statemachine.Fulfil, now))
	r = must[store.RunRequest](i)(s.Release(ctx, r.ID, 1, store.ReleaseDrain))
	status.Spent = spent
	status = must[store.RunStatus](i)(s.PutStatus(ctx, status, statemachine.Finish, now))
	must[store.RunRequest](i)(s.ExpireRequest(ctx, r, now.Add(soon)))
	must[store.RunStatus](i)(s.ExpireStatus(ctx, status, now.Add(soon), now))

	want.ID, want.Repository, want.WorkflowRun, want.WorkflowAttempt, want.NoWait = "4712", "octo/app", 4712, 1, true
	must[store.RunRequest](i)(s.Submit(ctx, want))
	must[store.RunRequest](i)(s.ReleaseExactly(ctx, want.ID, 1, store.ReleaseDrain, store.RunOver))
	must[store.RunStatus](i)(s.PutStatus(ctx, store.RunStatus{ID: want.ID, Attempt: 1, Watch: store.Watch{
		State: store.Watched, Cancel: store.Done, Rerun: store.NotDone, RerunAttempt: 1, Detail: "d", Waits: "1 job", WaitsSince: store.At(now),
	}}, statemachine.Accept, now))

	want.ID, want.WorkflowRun, want.OriginalCount = "4713", 4713, 1 // which the controller asked for
	must[store.RunRequest](i)(s.Submit(ctx, want))
	must[store.RunStatus](i)(s.PutStatus(ctx, store.RunStatus{ID: want.ID, Attempt: 1, OriginalCount: 1, ReasonSince: store.At(now)}, statemachine.Accept, now))
}

// spent has every part.
var spent = store.Spent{Booting: 0.5, Busy: 1, Idle: 1, BootingDollars: 0.1, BusyDollars: 0.1, IdleDollars: 0.1, Unpriced: 1}

// kept has every limit.
var kept = store.KeptLimits{ClaimGate: 1, CreateGate: 1, Handshake: 1, Beat: 1, Silence: 1, RunningSilence: 1}

// instance is the whole life of one.
func (i *installation) instance(s *store.Store, now time.Time, m fleet.Machine) {
	i.Helper()
	ctx := i.Context()
	in := must[store.Instance](i)(s.Register(ctx, store.Instance{
		Principal: store.Principal(m.Principal), ID: store.InstanceID(m.ID), RunID: "4711-a", Attempt: 1, ResourceClass: m.ResourceClass,
		UsageClass: m.UsageClass, InstanceType: m.InstanceType, CPU: m.CPU, Mem: m.Mem, Zone: m.Zone, LaunchToken: m.LaunchToken, TemplateVersion: m.TemplateVersion,
		Price: 0.09, Limits: kept,
	}, now, soon))
	in = must[store.Instance](i)(s.SetRegistration(ctx, in, store.Registration{
		Serial: 1, Assignment: in.Assignment, Mode: store.JIT, Name: "n", RunnerID: 7, URL: "https://github.com/owner/name", Secret: "s", MintedAt: store.At(now), Ahead: true,
	}, now))
	i.Check(s.Beat(ctx, in.Principal, store.Beat{Assignment: 1, Busy: true, Idle: true, Listening: 1, Runner: "busy", RunnerID: 7, AgentVersion: "1", JobBegan: store.At(now), JobEnded: store.At(now)}, now))
	i.Check(s.Signal(ctx, in.Principal, store.SignalValue{Signal: store.RegOK, RunID: in.RunID, Assignment: 1, Serial: 1, ScriptSeconds: 1.5}, now))
	for _, t := range []store.Transition{
		{Event: statemachine.HandedOver, Limit: soon}, {Event: statemachine.Released, Limit: soon, Release: store.ReleaseDrain}, {Event: statemachine.Pooled, Limit: soon},
	} {
		t.Now = now
		in = must[store.Instance](i)(s.Transition(ctx, in, t))
	}
	for _, class := range classes {
		i.Check(i.pool.Offer(ctx, ticket(in, class)))
	}
	in = must[store.Instance](i)(s.Transition(ctx, in, store.Transition{Event: statemachine.Dismissed, Now: now, Reason: "drained", Detail: "d", StateReason: "Client.InternalError: r"}))
	must[store.Instance](i)(s.Retire(ctx, in, now.Add(soon), now))
}

// controller writes what is its own, and an operator's order.
func (i *installation) controller(s *store.Store, now time.Time, plan fleet.Plan, m fleet.Machine) {
	i.Helper()
	ctx := i.Context()
	l := must[store.Launch](i)(s.PutLaunch(ctx, store.Launch{
		Token: plan.Token, ResourceClass: m.ResourceClass, UsageClass: m.UsageClass, Count: 1, Plan: must[[]byte](i)(json.Marshal(plan)), CreatedAt: store.At(now),
		Seats: []store.LaunchSeat{{RequestID: "4711-a", Attempt: 1, Count: 1}},
	}))
	l.Done, l.DoneAt, l.ExpiresAt = true, store.At(now), now.Add(soon).Truncate(time.Second)
	l.Seats[0].Instances = []store.InstanceID{store.InstanceID(m.ID)}
	must[store.Launch](i)(s.PutLaunch(ctx, l))
	must[store.Lease](i)(s.PutLease(ctx, store.Lease{Holder: "h", Term: 1, Renewed: store.At(now), Schema: store.SchemaVersion, Health: store.Health{
		ControllerVersion: "v1.2.3", ScannedAt: store.At(now), SweptAt: store.At(now), BreakerOpenAt: store.At(now), ListingIncompleteAt: store.At(now),
		ConfigRefused: "caps.maxInstances: must be at least 1, got 0", ConfigRefusedAt: store.At(now),
		Budget:       store.Budget{Month: "2026-01", Monthly: 500, Spent: 412.25, Warns: true, Off: "floors", UnknownSince: store.At(now), Unknown: "u"},
		GitHub:       store.GitHubBudget{Remaining: 1, Limit: 5000, ResetAt: store.At(now)},
		GitHubOutage: store.Outage{Reason: "github_down", Since: store.At(now), Detail: "d"}, FleetOutage: store.Outage{Reason: "fleet_down", Since: store.At(now)},
	}}))
	i.Check(s.OrderDrain(ctx, store.DrainOrder{ID: "1", ResourceClass: classes[0], Now: true, CreatedAt: store.At(now)}))
	orders := must[[]store.DrainOrder](i)(s.DrainOrders(ctx, func(k store.Key, err error) { i.Errorf("%v: %v", k, err) }, "1"))
	must[store.DrainOrder](i)(s.TakeDrain(ctx, orders[0], now, 1, soon))
	must[store.Floor](i)(s.PutFloor(ctx, store.Floor{
		Class: classes[0], Wanted: 2, Have: 1, Reason: "cap", Detail: "d", Since: store.At(now), ChangedAt: store.At(now), ExpiresAt: now.Add(soon).Truncate(time.Second),
	}))
	must[store.Demand](i)(store.WriteDemand(ctx, s, store.Demand{Day: store.DayOf(now), LeftOut: 1, Rows: []store.DemandRow{{
		Hour: 1, DemandKind: store.DemandKind{Class: classes[0], Usage: store.Spot, Types: "c6i.*", Type: m.InstanceType}, Requests: [][5]int64{{1, 2, 3, 1, 1}},
	}}}, now))
	must[store.Costs](i)(store.WriteCosts(ctx, s, store.Costs{
		Day: store.DayOf(now), Through: store.At(now), Lost: 1,
		Rows: []store.CostRow{{Class: classes[0], Usage: store.Spot, Repository: "octo/app", Spent: spent, Requests: 1, Warm: 1, Cold: 1, Waited: 0.5}},
		Unpriced: []store.UnpricedTime{{
			Class: classes[0], Usage: store.Spot, Repository: "octo/app", Type: m.InstanceType, Zone: m.Zone, Booting: 1, Busy: 1, Idle: 1,
		}},
	}, now))
}
