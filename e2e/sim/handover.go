package sim

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Laws on what a run is given.
const (
	Nothing   = "a request that is Released has nothing on its way"
	Listening = "what a run is given listens under its label"
	Fits      = "what a run is given is what it asked for"
	Paced     = "an idle machine is registered once a minute at most"
)

// handover are the laws on what a run is given: it listens, it is what was asked for, and nothing comes once the run is over.
type handover struct {
	w       *World
	records *records
	facts   *facts

	over map[store.RequestID]time.Time // requests that are Released
}

func newHandover(w *World, r *records, f *facts) *handover {
	return &handover{w: w, records: r, facts: f, over: map[store.RequestID]time.Time{}}
}

// nothingComes: who is Released has no launch that goes on, and gets no machine any more.
func (h *handover) nothingComes(was, st store.RunStatus) {
	if st.Phase != statemachine.PhaseReleased {
		delete(h.over, st.ID)
		return
	}
	if was.Phase == statemachine.PhaseReleased {
		return
	}
	h.over[st.ID] = h.w.clock.Now()
	for token, l := range h.records.launches {
		if !l.Done && slices.ContainsFunc(l.Seats, func(s store.LaunchSeat) bool { return s.RequestID == st.ID }) {
			h.w.verdicts.broke(Nothing, "request %s is Released while launch %s goes on", st.ID, token)
		}
	}
}

// comes: nothing is launched or claimed for a request that is Released.
func (h *handover) comes(was, in store.Instance) {
	if !in.State.Owned() || was.RunID == in.RunID {
		return
	}
	if at, over := h.over[in.RunID]; over && in.Attempt <= h.records.status[in.RunID].Attempt {
		h.w.verdicts.broke(Nothing, "%s became %s for request %s %s after that was Released", in.ID, in.State, in.RunID, h.w.clock.Since(at))
	}
}

// online: an agent says that its listener serves a run once GitHub has seen it.
func (h *handover) online(p store.Principal, v store.SignalValue) {
	if v.Signal != store.RegOK || h.w.outages.wasCutOff(h.w.clock.Now()) || h.w.since() == 0 {
		return // what was there before nobody says now
	}
	for id, in := range h.records.instances {
		waited := in.Principal == p && !in.Ahead() && in.RunID == v.RunID && in.Assignment == v.Assignment && in.State != statemachine.Running
		if waited && !h.w.machines.isDisturbed(string(id)) && !h.facts.ranFor(id, v.RunID) && !h.facts.listens(v.RunID)[string(id)] {
			h.w.verdicts.broke(Listening, "the agent of %s says that its listener serves %s, and none is online", id, v.RunID)
		}
	}
}

// listening: at the moment of the answer GitHub knows a runner under the run's label on each machine, online.
func (h *handover) listening(was, st store.RunStatus) {
	if st.Phase != statemachine.Ready || was.Phase == statemachine.Ready || !h.w.disturbances.calm() {
		return
	}
	online := h.facts.listens(st.ID)
	for _, seat := range st.Instances {
		if !online[string(seat.InstanceID)] && !h.w.machines.isDisturbed(string(seat.InstanceID)) && !h.facts.ranFor(seat.InstanceID, st.ID) {
			h.w.verdicts.broke(Listening, "request %s is Ready with %s, which does not listen under its label", st.ID, seat.InstanceID)
		}
	}
}

// labelled: what listened ahead is handed over once GitHub knows its runner by the run's label.
func (h *handover) labelled(was, in store.Instance) {
	if was.State == statemachine.Running || in.State != statemachine.Running || !in.Ahead() {
		return
	}
	has := slices.ContainsFunc(h.w.hub.Registrations(), func(r githubsim.Registration) bool {
		return r.Name == in.Registration.Name && slices.Contains(r.Labels, string(in.RunID))
	})
	if !has {
		h.w.verdicts.broke(Listening, "%s is handed over to %s, and its runner %s has not that label", in.ID, in.RunID, in.Registration.Name)
	}
}

// aheadPause is how long an idle machine waits at least between two registrations, whatever its agent asks for.
const aheadPause = time.Minute

// paced: a machine that idles is not registered anew all the time.
func (h *handover) paced(was, in store.Instance) {
	again := was.Ahead() && in.Ahead() && in.State == statemachine.Idle && in.Registration.Serial != was.Registration.Serial
	if apart := in.Registration.MintedAt.Sub(was.Registration.MintedAt.Time); again && apart < aheadPause-2*h.w.clocks.skew() {
		h.w.verdicts.broke(Paced, "%s idles in assignment %d, and was registered again after %s", in.ID, in.Assignment, apart)
	}
}

// fits: each machine is of the class, the usage class and the types that were asked for, by the fleet's word.
func (h *handover) fits(was, st store.RunStatus) {
	if st.Phase != statemachine.Ready || was.Phase == statemachine.Ready && len(was.Instances) == len(st.Instances) {
		return
	}
	r := h.records.requests[st.ID][st.Attempt]
	for _, seat := range st.Instances {
		m, known := h.w.fleet.Machine(string(seat.InstanceID))
		if known && (m.ResourceClass != r.ResourceClass || !slices.Contains(r.UsageClasses, m.UsageClass) || !glob.Any(r.AllowedInstanceTypes, m.InstanceType)) {
			h.w.verdicts.broke(Fits, "request %s/%d asked for %s, %v, types %v and was given %s: %s, %s, %s", st.ID, st.Attempt,
				r.ResourceClass, r.UsageClasses, r.AllowedInstanceTypes, m.ID, m.ResourceClass, m.UsageClass, m.InstanceType)
		}
	}
}
