package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// What the world does to an installation while it works. What lasts ends by itself.

// lasting returns how long an action lasts.
func lasting(a Action) time.Duration {
	if l, ok := a.(interface{ lasts() time.Duration }); ok {
		return l.lasts()
	}
	return 0
}

// span is how long something lasts.
type span struct {
	For time.Duration `script:"time,first"`
}

func (s span) lasts() time.Duration { return s.For }

func (s span) check() error {
	if s.For <= 0 {
		return fmt.Errorf("time: got %s, must be greater than 0", s.For)
	}
	return nil
}

// oneOf refuses a text that is none of those allowed.
func oneOf(field, got string, allowed ...string) error {
	if slices.Contains(allowed, got) {
		return nil
	}
	return fmt.Errorf("%s: got %q, must be one of: %s", field, got, strings.Join(allowed, ", "))
}

// until begins something and ends it after its time.
func (s span) until(w *World, begin, end func()) {
	begin()
	w.later(s.For, func(context.Context) { end() })
}

// down puts a contract (store, pool, fleet) out of order: every call to it fails without effect.
type down struct {
	Contract string `script:"contract,first"`
	span
}

func (a down) check() error {
	return errors.Join(oneOf("contract", a.Contract, "store", "pool", "fleet"), a.span.check())
}

func (a down) do(w *World) {
	if a.Contract == "fleet" {
		w.outages.noEnds(a.For)
	}
	a.until(w, func() { w.outages.count(a.Contract, 1) }, func() { w.outages.count(a.Contract, -1) })
}

// githubOut puts GitHub out of order: all of it, its client's calls alone, or what listeners call alone.
type githubOut struct {
	Mode string `script:"mode,first"`
	span

	API      bool `script:"api"`
	Sessions bool `script:"sessions"`
}

func (a githubOut) check() error {
	if a.Sessions && (a.API || a.Mode == string(githubsim.Revoked)) {
		return fmt.Errorf("sessions: got it with api or %s, which are the client's alone", githubsim.Revoked)
	}
	return errors.Join(oneOf("mode", a.Mode, string(githubsim.Fails), string(githubsim.Hangs), string(githubsim.Lost), string(githubsim.Revoked)), a.span.check())
}

func (a githubOut) do(w *World) {
	o := githubsim.Outage{Mode: githubsim.Mode(a.Mode)}
	if a.API {
		o.Calls = []githubsim.Call{
			githubsim.CallToken, githubsim.CallJIT, githubsim.CallList, githubsim.CallGet, githubsim.CallDelete, githubsim.CallLabel, githubsim.CallRuns, githubsim.CallRun,
			githubsim.CallRunJobs, githubsim.CallCancelRun, githubsim.CallRerunFailed, githubsim.CallRerunJob, githubsim.CallCheckRuns, githubsim.CallLeaveCheckRun,
		}
	}
	if a.Sessions {
		o.Calls = []githubsim.Call{githubsim.CallConnect, githubsim.CallPoll, githubsim.CallAcquire, githubsim.CallComplete, githubsim.CallLogs}
	}
	if !a.API && o.Mode != githubsim.Revoked {
		w.outages.cutOffRunners(a.For)
	}
	if o.Mode == githubsim.Revoked {
		w.outages.refuseRuns(a.For)
	}
	a.until(w, func() {
		w.hub.SetOutage(o)
		w.outages.count("github", 1)
	}, func() {
		w.hub.SetOutage(githubsim.Outage{})
		w.outages.count("github", -1)
	})
}

// githubSlow delays GitHub's answers. Beyond githubapi.CallTimeout nobody gets one, which is an outage.
type githubSlow struct {
	By time.Duration `script:"by,first"`
	span
}

func (a githubSlow) do(w *World) {
	slowed := func(by time.Duration, outages int) {
		w.hub.SetLatency(githubsim.Latency{API: by, Session: by})
		if a.By > githubapi.CallTimeout {
			w.outages.count("github", outages)
		}
	}
	a.until(w, func() { slowed(a.By, 1) }, func() { slowed(0, -1) })
}

// githubLimit lets GitHub refuse registrations beyond a rate, or all other calls.
type githubLimit struct {
	Limit  int           `script:"limit,first"`
	Window time.Duration `script:"window,first"`
	span

	Secondary bool `script:"secondary"`
	Core      bool `script:"core"`
}

func (a githubLimit) do(w *World) {
	what := githubsim.ResourceRegistration
	if a.Core {
		what = githubsim.ResourceCore
	}
	a.until(w, func() {
		w.hub.SetRateLimit(what, githubsim.RateLimit{Limit: a.Limit, Window: a.Window, Secondary: a.Secondary})
	}, func() { w.hub.SetRateLimit(what, githubsim.RateLimit{}) })
}

// githubView lets what GitHub says of runs be other than what is so: up to a minute late, now and then as late only, unchanged
// for a while, and in no order.
type githubView struct {
	Lag time.Duration `script:"lag,first"`
	span

	Swings   bool          `script:"swings"`
	Frozen   time.Duration `script:"frozen"`
	Shuffled bool          `script:"shuffled"`
	Lists    bool          `script:"lists"` // of lists alone: one run is shown as it is
}

// latest is how late GitHub's view of runs is at most.
const latest = time.Minute

func (a githubView) check() error {
	if a.Lag+a.Frozen > latest {
		return fmt.Errorf("lag, frozen: got %s, must be at most %s together", a.Lag+a.Frozen, latest)
	}
	return a.span.check()
}

func (a githubView) do(w *World) {
	show := func(v githubsim.View) {
		if err := w.hub.Workflows().SetView(v); err != nil {
			w.verdicts.broke("jobs", "%v", err)
		}
	}
	w.truth.acts.shows(a)
	a.until(w, func() {
		show(githubsim.View{Lag: a.Lag, Swings: a.Swings, Frozen: a.Frozen, Shuffled: a.Shuffled, Lists: a.Lists})
	}, func() { show(githubsim.View{}) })
}

// scarce leaves n machines to be had in a place.
type scarce struct {
	N int `script:"machines,first"`
	span

	Usage string `script:"usage"`
	Type  string `script:"type"`
	Zone  string `script:"zone"`
}

func (a scarce) do(w *World) {
	slot := fleet.Slot{UsageClass: a.Usage, InstanceType: a.Type, Zone: a.Zone}
	a.until(w, func() { w.fleet.SetCapacity(slot, a.N) }, func() {
		w.fleet.SetCapacity(slot, fleettest.Unlimited)
		w.outages.hadLess()
	})
}

// listLag hides what was launched lately from listings.
type listLag struct {
	Lag time.Duration `script:"lag,first"`
	span
}

func (a listLag) do(w *World) {
	a.until(w, func() { w.fleet.SetListLag(a.Lag) }, func() { w.fleet.SetListLag(0) })
}

// strike loses one of the machines that live, the one at so much of 1 of them. With a notice it is warned two
// minutes before.
type strike struct {
	Of     float64 `script:"of,first"`
	Notice bool    `script:"notice"`
}

func (a strike) do(w *World) {
	w.machines.ofAlive(a.Of, func(m *machine) {
		if !a.Notice {
			w.machines.reclaim(m.id)
			return
		}
		w.machines.disturb(m.id)
		m.notice.Store(true)
		w.later(2*time.Minute, func(context.Context) { w.machines.reclaim(m.id) })
	})
}

// killAgent is SIGKILL to the agent of a machine that lives, the one at so much of 1 of them.
type killAgent struct {
	Of float64 `script:"of,first"`
}

func (a killAgent) do(w *World) {
	w.machines.ofAlive(a.Of, func(m *machine) { w.machines.ofAgent(m, (*process).crash) })
}

// pauseAgent stops the agent of a machine that lives. It may miss a gate by that: the machine is exempt.
type pauseAgent struct {
	Of float64 `script:"of,first"`
	span
}

func (a pauseAgent) do(w *World) {
	w.machines.ofAlive(a.Of, func(m *machine) {
		w.machines.disturbFor(m.id, a.For)
		w.machines.ofAgent(m, func(p *process) { p.pause(a.For) })
	})
}
