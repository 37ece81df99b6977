package audit

import (
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Options say what the installation may take its time for.
type Options struct {
	Config reconciler.Config // of its controller
	Skew   time.Duration     // how far the clocks of any two of its parts may differ, ours among them
	Slack  time.Duration     // more time for what a controller must do: none led, or no write was taken, for so long
}

const (
	// powerOff is what remains of the two minutes that a machine may outlive its threshold by, once
	// the agent's grace of a minute is over (docs/architecture.md#invariants, 3).
	powerOff = time.Minute
	// githubLag is how late GitHub may show that a runner went offline or idle: twice the minute that
	// docs/goals.md#github gives.
	githubLag = 2 * time.Minute
)

// overstay is how long a machine may live past its threshold.
func (o Options) overstay() time.Duration { return o.Config.Limits.AgentGrace + powerOff + o.Skew }

// Led reports whether a controller leads at a moment, as far as the lease shows.
func (o Options) Led(l store.Lease, at time.Time) bool { return l.Led(at, o.react()) }

// react is how long a controller may take for what is due.
func (o Options) react() time.Duration { return o.Config.React() + o.Skew + o.Slack }

// sweep is how long a controller may take for what only the comparison with the fleet shows.
func (o Options) sweep() time.Duration { return 2*o.Config.Sweep + o.react() }

// scan is how long a controller may take to notice a record whose notification was lost.
func (o Options) scan() time.Duration { return o.Config.Scan + o.react() }

// maxRuntime is the time from Ready to the end of a run; the longest that is allowed if its request is
// not known.
func (o Options) maxRuntime(r *store.RunRequest) time.Duration {
	if r == nil {
		return max(o.Config.MaxRuntime, o.Config.DefaultMaxRuntime)
	}
	if d := r.MaxRuntime.Duration(); d > 0 {
		return d
	}
	return o.Config.DefaultMaxRuntime
}

// promised is for how long a Ready request was promised its instances; 0: its status does not say.
func promised(st *store.RunStatus) time.Duration {
	if st == nil || st.EndsAt.IsZero() {
		return 0
	}
	return st.EndsAt.Sub(st.ReadyAt.Time)
}

// silence is how long the agent of an instance may be silent before the controller gives it up.
func (o Options) silence(in *Instance) time.Duration {
	limits := in.Limits.Over(o.Config.Limits)
	limit := limits.Silence
	if in.State == statemachine.Running {
		limit = limits.RunningSilence
	}
	return limit + 2*o.Config.WarmPoll + in.Heartbeat.Beat.Window(limits) + o.react()
}
