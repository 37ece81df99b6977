package audit_test

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// ago and in are instants around now, as records keep them.
func ago(d time.Duration) store.Time { return store.At(now.Add(-d)) }
func in(d time.Duration) store.Time  { return store.At(now.Add(d)) }

func options() audit.Options {
	c := reconciler.Defaults()
	c.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}}
	return audit.Options{Config: c}
}

// alive returns an instance that entered its state some time ago and reported just now.
func alive(id store.InstanceID, state statemachine.State, run store.RequestID, assignment int64, since time.Duration) audit.Instance {
	limits := statemachine.DefaultLimits()
	out := audit.Instance{
		Instance: store.Instance{
			Principal: store.Principal(id), ID: id, State: state, RunID: run, Assignment: assignment, Version: 2 * assignment,
			Since: ago(since), ChangedAt: ago(since), CreatedAt: ago(since + time.Duration(assignment-1)*time.Minute),
			Threshold: store.At(now.Add(limits.For(state) - since)), ResourceClass: "small", LaunchToken: "l-done",
		},
		Vitals: store.Vitals{Heartbeat: store.Heartbeat{UpdatedAt: ago(2 * time.Second), Beat: store.Beat{Assignment: assignment}}},
	}
	if run != "" {
		out.Attempt = 1
	}
	return out
}

// registered gives an instance a registration of its present assignment.
func registered(in audit.Instance, serial int64, secret string, minted time.Duration) audit.Instance {
	in.Registration = store.Registration{
		Serial: serial, Assignment: in.Assignment, Mode: store.JIT, Name: runnerOf(in.ID, serial), RunnerID: serial,
		Secret: secret, MintedAt: ago(minted),
	}
	return in
}

func runnerOf(id store.InstanceID, serial int64) string {
	return string(id) + "-1." + string(rune('0'+serial))
}

// said gives an instance a signal about its present assignment.
func said(in audit.Instance, name store.SignalName, age time.Duration) audit.Instance {
	in.Signal = store.Signal{UpdatedAt: ago(age), Value: store.SignalValue{
		Signal: name, RunID: in.RunID, Assignment: in.Assignment, Serial: in.Registration.Serial,
	}}
	return in
}

func request(id store.RequestID, count int, age time.Duration) *store.RunRequest {
	return &store.RunRequest{
		ID: id, Attempt: 1, Count: count, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small",
		MaxRuntime: store.SecondsOf(30 * time.Minute), Timeout: store.SecondsOf(10 * time.Minute), CreatedAt: ago(age), Version: 1,
	}
}

func run(id store.RequestID, req *store.RunRequest, st *store.RunStatus) audit.Run {
	if st != nil {
		st.ID, st.Version = id, 3
	}
	return audit.Run{ID: id, RunRecords: store.RunRecords{Request: req, Status: st}}
}

// healthy returns an installation in which everything occurs that may, as close to its limits as it may.
func healthy() *audit.Snapshot {
	draining := alive("i-draining", statemachine.Idle, "", 3, 5*time.Minute)
	draining.Heartbeat.Beat = store.Beat{Assignment: 2, Busy: true}
	pooled := alive("i-pooled", statemachine.Idle, "", 2, time.Minute)
	pooled.PooledAt = ago(40 * time.Second)
	busy := said(registered(alive("i-running", statemachine.Running, "ready", 1, 5*time.Minute), 1, "", 6*time.Minute), store.RegOK, 5*time.Minute)
	busy.Heartbeat.Beat.Busy = true
	returning := alive("i-returning", statemachine.Idle, "", 2, 30*time.Second)
	returning.Registration = store.Registration{Serial: 1, Assignment: 1, Mode: store.JIT, Name: runnerOf("i-returning", 1), RunnerID: 7, MintedAt: ago(time.Hour)}
	s := &audit.Snapshot{
		At: now, FleetRead: true, GitHubRead: true,
		Lease: store.Lease{Holder: "one", Term: 4, Renewed: ago(time.Second), Version: 90},
		Instances: []audit.Instance{
			said(alive("i-created", statemachine.Created, "pending", 1, time.Minute), store.ScriptOK, 3*time.Second),
			registered(alive("i-claimed", statemachine.Claimed, "pending", 3, 5*time.Second), 2, "jit-claimed", 4*time.Second),
			busy,
			said(registered(alive("i-next", statemachine.Running, "ready", 1, 5*time.Minute), 3, "jit-next", time.Minute), store.RegNext, 61*time.Second),
			returning, draining, pooled,
			dead("i-dead", 30*time.Second), dead("i-gone", time.Hour),
		},
		Runs: []audit.Run{
			run("again", &store.RunRequest{ID: "again", Attempt: 2, Count: 1, ReleasedAttempt: 1, CreatedAt: ago(time.Second)},
				&store.RunStatus{Attempt: 1, Phase: statemachine.Ready, ReadyAt: ago(time.Minute), Instances: []store.Seat{{InstanceID: "i-pooled"}}}),
			run("failed", request("failed", 1, time.Hour), &store.RunStatus{
				Attempt: 1, Phase: statemachine.Failed, FailedAt: ago(50 * time.Minute), Reason: reconciler.ReasonTimeout, Message: "0 of 1", ExpiresAt: now.Add(time.Hour),
			}),
			run("new", request("new", 1, 2*time.Second), nil),
			run("pending", request("pending", 3, 2*time.Minute), &store.RunStatus{
				Attempt: 1, Phase: statemachine.Pending, PendingAt: ago(2 * time.Minute), Deadline: in(8 * time.Minute),
			}),
			run("ready", request("ready", 2, 7*time.Minute), &store.RunStatus{
				Attempt: 1, Phase: statemachine.Ready, PendingAt: ago(7 * time.Minute), ReadyAt: ago(5 * time.Minute),
				Instances: []store.Seat{{InstanceID: "i-next"}, {InstanceID: "i-running"}},
			}),
			run("released", request("released", 1, time.Hour), &store.RunStatus{
				Attempt: 1, Phase: statemachine.PhaseReleased, ReleasedAt: ago(time.Minute), ExpiresAt: now.Add(time.Hour),
			}),
		},
		Launches: []store.Launch{
			{Token: "l-done", Count: 9, Done: true, CreatedAt: ago(time.Hour), Seats: []store.LaunchSeat{
				{RequestID: "pending", Attempt: 1, Count: 1, Instances: []store.InstanceID{"i-created"}},
				{RequestID: "ready", Attempt: 1, Count: 2, Instances: []store.InstanceID{"i-next", "i-running"}},
			}},
			{Token: "l-open", Count: 1, CreatedAt: ago(10 * time.Second), Seats: []store.LaunchSeat{{RequestID: "pending", Attempt: 1, Count: 1}}},
		},
		Machines: []fleet.Machine{
			{ID: "i-dead", Principal: "i-dead", State: fleet.Ending, LaunchToken: "l-done"},
			{ID: "i-fresh", Principal: "i-fresh", State: fleet.Starting, LaunchToken: "l-open", LaunchedAt: now.Add(-8 * time.Second)},
		},
		Runners: []githubapi.Runner{
			{ID: 1, Name: runnerOf("i-running", 1), Online: true, Busy: true, Labels: []string{"READY"}},
			{ID: 2, Name: runnerOf("i-claimed", 2), Labels: []string{"pending"}},
			{ID: 3, Name: runnerOf("i-next", 3), Labels: []string{"ready"}},
			{ID: 7, Name: runnerOf("i-returning", 1), Online: true, Labels: []string{"released"}},
			{ID: 8, Name: "somebody-else", Online: true, Labels: []string{"self-hosted"}},
		},
	}
	for _, i := range s.Instances {
		if i.State != statemachine.Terminated {
			s.Machines = append(s.Machines, fleet.Machine{ID: string(i.ID), Principal: string(i.ID), State: fleet.Up, LaunchToken: "l-done", LaunchedAt: i.CreatedAt.Time})
		}
	}
	s.Sort()
	return s
}

// dead returns an instance that ended some time ago; after a minute the fleet has confirmed it.
func dead(id store.InstanceID, age time.Duration) audit.Instance {
	out := alive(id, statemachine.Terminated, "", 2, age)
	out.Threshold, out.Reason = store.Time{}, statemachine.ReasonThreshold
	out.Heartbeat.UpdatedAt = ago(age)
	if age > time.Minute {
		out.ExpiresAt = now.Add(time.Hour)
	}
	return out
}

// The parts of a snapshot, for those who break them.
func instance(s *audit.Snapshot, id store.InstanceID) *audit.Instance {
	return &s.Instances[slices.IndexFunc(s.Instances, func(i audit.Instance) bool { return i.ID == id })]
}

func machine(s *audit.Snapshot, id string) *fleet.Machine {
	return &s.Machines[slices.IndexFunc(s.Machines, func(m fleet.Machine) bool { return m.ID == id })]
}

func runner(s *audit.Snapshot, name string) *githubapi.Runner {
	return &s.Runners[slices.IndexFunc(s.Runners, func(r githubapi.Runner) bool { return r.Name == name })]
}

func records(s *audit.Snapshot, id store.RequestID) *store.RunRecords {
	return &s.Runs[slices.IndexFunc(s.Runs, func(r audit.Run) bool { return r.ID == id })].RunRecords
}

func lost(s *audit.Snapshot, id string) {
	s.Machines = slices.DeleteFunc(s.Machines, func(m fleet.Machine) bool { return m.ID == id })
}
