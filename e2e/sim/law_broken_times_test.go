package sim

import (
	"context"
	"errors"
	"time"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/pool/pooltest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// errNever is the answer of a fleet that the world does not know to refuse.
var errNever = errors.New("simulated: never")

// plan is one machine of a launch.
func (h hands) plan(token string) (p fleet.Plan) {
	class := h.w.supervisor.config().Classes["small"]
	h.until(func() bool {
		var err error
		p, err = h.w.fleet.Plan(context.Background(), fleet.Spec{
			Token: token, Count: 1, ResourceClass: "small", UsageClass: store.Spot, CPU: class.CPU, Mem: class.Mem, AllowedTypes: []string{"*"},
		})
		return err == nil
	})
	return p
}

// launches makes a launch call that the product knows nothing of.
func (h hands) launches(token string) {
	p := h.plan(token)
	h.until(func() bool {
		_, err := h.w.fleet.Launch(context.Background(), p)
		return err == nil
	})
}

// undead keeps a machine alive once its record says that it ended.
func (h hands) undead() {
	in := h.instance(statemachine.Idle, pooled)
	h.w.fleet.RefuseTerminate(string(in.ID), errNever)
	h.instance(statemachine.Terminated)
	h.stun(in.ID, time.Hour)
}

// machinesBroken are machines, runners and jobs as they must not be.
func machinesBroken() []sabotage {
	return []sabotage{
		{law: Known, name: "launch without a record", story: "one run", says: "of which there is no record", do: func(h hands) {
			h.launches("of-nobody")
		}},
		{law: Known, name: "no record", story: "one run", says: "and has no record", do: func(h hands) {
			h.unjudged(10 * time.Minute)
			h.w.fleet.RefuseTerminate(h.w.fleet.Add(fleet.Machine{}), errNever)
		}},
		{law: Known, name: "an orphan machine", story: "one run, held", says: "and nobody knows it", do: func(h hands) {
			h.unjudged(20 * time.Minute)
			h.w.fleet.RefuseTerminate(h.w.fleet.Add(fleet.Machine{LaunchToken: ofNobody}), errNever)
		}},
		{law: Needed, name: "one more at once", story: "one run, held", says: "at once for 1 seats", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			rewrite(h, store.LaunchKey("of-nobody"), func(l *store.Launch) {
				l.ResourceClass, l.UsageClass, l.Count, l.CreatedAt = "small", store.Spot, 1, store.At(h.w.clock.Now())
				l.Plan = h.plan("of-nobody").Params
				l.Seats = []store.LaunchSeat{{RequestID: "100", Attempt: 1, Count: 1}}
			})
			h.launches("of-nobody")
		}},
		{law: HealthyLives, name: "halts itself", story: "one run, held", says: "before its threshold", do: func(h hands) {
			in := h.instance(statemachine.Running)
			m := h.w.machines.of(string(in.ID))
			_ = m.Halt(context.Background(), "sabotage") // it returns none
		}},
		{law: HealthyLives, name: "online until its time was over", story: "two runs, one by one", says: "until its time was over", do: func(h hands) {
			in := h.instance(statemachine.Created, func(in store.Instance) bool { return h.t.records.hasReported(in, store.RegOK) })
			now := h.w.clock.Now()
			h.of(in, func(r *store.Instance) { r.Threshold, r.ChangedAt = store.At(now.Add(tick)), store.At(now) })
			h.ends(in, statemachine.ReasonThreshold)
		}},
		{law: HealthyLives, name: "its job is cancelled by nobody", story: "a run with a job", says: "100.1-0", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			h.at(h.w.since() + 10*time.Second)
			h.until(func() bool { return h.w.hub.Cancel("100.1-0") == nil })
		}},
		{law: OwnJob, name: "on a foreign machine", story: "one run, held", says: "which was run 100's", do: func(h hands) {
			in := h.instance(statemachine.Running)
			name := string(in.ID) + "-9.9"
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			foreign := agenttest.NewHubRunner(ctx, h.w.hub)
			_, err := foreign.Start(ctx, store.Registration{Mode: store.JIT, Name: name, Secret: h.register(name, "200").Config}, "200")
			h.until(func() bool { return err == nil })
			h.until(func() bool {
				return h.w.hub.Submit(githubsim.Job{ID: "200.1-0", RunID: "200", Label: "200", Seconds: 2}) == nil
			})
			_, err = h.w.hub.Wait(ctx, "200.1-0")
			h.until(func() bool { return err == nil })
			cancel()
			foreign.Wait()
		}},
		{law: Names, name: "registered again", story: "one run", says: "somebody-1", do: func(h hands) {
			for range 2 {
				jit := h.register("somebody-1", "somebody")
				h.until(func() bool { return h.w.hub.DeleteRunner(context.Background(), jit.RunnerID) == nil })
			}
		}},
		{law: Scrubbed, name: "said to be clean", story: "one run", says: "nobody scrubbed it", do: func(h hands) {
			in := h.instance(statemachine.Idle, notPooled)
			rewrite(h, store.InstanceKey(in.Principal, store.KindSignal), func(s *store.Signal) {
				s.Value = store.SignalValue{Signal: store.RemoveOK, RunID: in.RunID, Assignment: in.Assignment}
			})
			h.of(in, func(r *store.Instance) { r.PooledAt = store.At(h.w.clock.Now()) })
		}},
		{law: Audit, name: "launch overfull", story: "two machines", says: "asked for", do: func(h hands) {
			rewrite(h, store.LaunchKey(h.launch(true)), func(l *store.Launch) { l.Count = 1 })
		}},
		{law: Audit, name: "no candidate", story: "one run", says: "is no candidate", do: func(h hands) {
			op := h.elsewhere()
			h.instance(statemachine.Idle, pooled)
			h.w.supervisor.mu.Lock()
			defer h.w.supervisor.mu.Unlock()
			for _, c := range h.w.supervisor.all {
				c.op = op
			}
		}},
	}
}

// elsewhere is a controller of another installation, which has nothing. It leads there as long as the story goes on.
func (h hands) elsewhere() *reconciler.Operator {
	cfg := h.w.supervisor.config()
	cfg.Holder = "elsewhere"
	op, err := reconciler.New(reconciler.Options{
		Config: cfg, Table: storetest.NewMemory(h.w.clock), Pool: pooltest.NewMemory(h.w.clock), Fleet: fleettest.NewMemory(h.w.clock),
		GitHub: githubsim.New(githubsim.Options{Clock: h.w.clock}), Clock: h.w.clock, Log: h.w.log,
	})
	h.until(func() bool { return err == nil })
	ctx, cancel := context.WithCancel(context.Background())
	h.w.running.Go(func() {
		<-h.w.ended
		cancel()
	})
	h.w.running.Go(func() { _ = op.Run(ctx) }) // it ends with the story
	h.until(func() bool { return op.Candidates() != nil })
	return op
}

// timesBroken are things that do not happen in time.
func timesBroken() []sabotage {
	return []sabotage{
		{law: InTime, name: "machine outlives its record", story: "one run", says: "outlived its time", do: func(h hands) {
			h.undead()
			h.unjudged(10 * time.Minute)
		}},
		{law: Soon, name: "machine lives on", story: "one run", says: "and its machine lives", do: hands.undead},
		{law: Soon, name: "machine gone unseen", story: "one run, held", says: "has no machine since", at: 5 * time.Minute, do: func(h hands) {
			h.w.machines.off(string(h.instance(statemachine.Running).ID)) // the fleet goes on to list it
		}},
		{law: Soon, name: "request unnotified", story: "one run", says: "is not taken up", at: 6*time.Minute + 20*time.Second, do: func(h hands) {
			f := workflow{Workflow: Workflow{ID: "200", Attempt: 1, Count: 1}, w: h.w, proc: h.w.newProcess(Client, "client-200.1")}
			_, err := h.unnotified().Submit(context.Background(), f.request())
			h.until(func() bool { return err == nil })
		}},
		{law: Soon, name: "release unnotified", story: "one run, held", says: "was given back", at: 6*time.Minute + 20*time.Second, do: func(h hands) {
			h.t.facts.gaveBack("100", 1)
			_, err := h.unnotified().Release(context.Background(), "100", 1, store.ReleaseNow)
			h.until(func() bool { return err == nil })
		}},
		{law: Soon, name: "clean and not pooled", story: "a run that ends after five minutes", says: "is idle and not pooled", do: func(h hands) {
			h.phase("100", statemachine.PhaseReleased)
			h.instance(statemachine.Idle, notPooled)
			h.freeze(10 * time.Minute)
			h.unaudited()
		}},
		{law: Soon, name: "order unnotified", story: "one run", says: "after order", at: 6*time.Minute + 20*time.Second, do: func(h hands) {
			err := h.unnotified().OrderDrain(context.Background(), store.DrainOrder{ID: "all", CreatedAt: store.At(h.w.clock.Now())})
			h.until(func() bool { return err == nil })
		}},
		{law: Soon, name: "template unnotified", story: "one run", says: "took the place of its own", at: 5 * time.Minute, do: func(h hands) {
			h.t.facts.changeTemplate(template{Version: "2"}) // the fleet goes on to name the first
		}},
		{law: Served, name: "GitHub is away", story: "a run after five minutes", says: "nothing has kept it from being served", at: time.Minute, do: func(h hands) {
			h.w.hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallJIT}})
		}},
		{law: Reachable, name: "clean and not pooled", story: "a run that ends after five minutes", says: "is clean for", do: func(h hands) {
			h.phase("100", statemachine.PhaseReleased)
			h.instance(statemachine.Idle, notPooled)
			h.freeze(10 * time.Minute)
			h.unjudged(10 * time.Minute)
		}},
		{law: Answered, name: "past its time-out", story: "one run", says: "is without an answer", do: func(h hands) {
			h.freeze(20 * time.Minute)
			h.unjudged(20 * time.Minute)
		}},
		{law: Current, name: "old template", story: "two runs far apart", says: "took its place", at: time.Minute, do: func(h hands) {
			h.t.facts.changeTemplate(template{Version: "2"}) // the fleet goes on to name the first
			h.unjudged(20 * time.Minute)
		}},
	}
}

// endsBroken are stories that do not come to rest.
func endsBroken() []sabotage {
	return []sabotage{
		{law: StandsStill, name: "Pending for ever", story: "one run", says: "is Pending", do: func(h hands) {
			h.instance(statemachine.Idle, pooled)
			h.freeze(3 * time.Hour)
			h.unjudged(3 * time.Hour)
			rewrite(h, store.RequestKey("900", store.KindRunStatus), func(st *store.RunStatus) {
				st.Attempt, st.Phase = 1, statemachine.Pending
			})
		}},
		{law: StandsStill, name: "foreign runner", story: "one run", says: "is registered at GitHub", do: func(h hands) { h.register("somebody-1", "somebody") }},
	}
}
