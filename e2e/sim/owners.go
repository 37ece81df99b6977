package sim

import (
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// owners are the laws on whose an instance is: its run, its secret, its jobs.
type owners struct {
	w       *World
	records *records

	history map[store.InstanceID][]ownership
	secrets map[string]string        // whose it is
	keyless map[store.Principal]bool // machines whose agent was of a version without keys when they first registered
	jobs    int                      // completed with success
}

// ownership is one assignment of an instance to a run.
type ownership struct {
	run      store.RequestID
	from, to time.Time // to zero: still
	last     bool      // the instance ended with it
}

func newOwners(w *World, r *records) *owners {
	return &owners{w: w, records: r, history: map[store.InstanceID][]ownership{}, secrets: map[string]string{}, keyless: map[store.Principal]bool{}}
}

// owner: from nobody to one run and back, with a new assignment each time (S05 S06 S68 H40).
func (o *owners) owner(was, in store.Instance) {
	if was.RunID == in.RunID && was.Assignment == in.Assignment {
		return
	}
	if in.Assignment != was.Assignment+1 {
		o.w.verdicts.broke(OneOwner, "%s: run %q -> %q with assignment %d -> %d", in.ID, was.RunID, in.RunID, was.Assignment, in.Assignment)
	}
	if was.RunID != "" && in.RunID != "" {
		o.w.verdicts.broke(OneOwner, "%s: passed from run %s to run %s without being free", in.ID, was.RunID, in.RunID)
	}
	h := o.history[in.ID]
	if len(h) > 0 && h[len(h)-1].to.IsZero() {
		h[len(h)-1].to, h[len(h)-1].last = o.w.clock.Now(), in.State == statemachine.Terminated
	}
	if in.RunID != "" {
		h = append(h, ownership{run: in.RunID, from: o.w.clock.Now()})
	}
	o.history[in.ID] = h
}

// secret: only for the present assignment of an owned instance, and of no other (H43).
func (o *owners) secret(_, in store.Instance) {
	r := in.Registration
	if r.Secret == "" {
		return
	}
	if !r.Sealed() && !o.keyless[in.Principal] {
		o.w.verdicts.broke(Secrets, "%s: the secret of %s can be read by anyone who reads its record", in.ID, r.Name)
	}
	if !in.State.Owned() && !(in.State == statemachine.Idle && r.Ahead && !in.PooledAt.IsZero()) || r.Assignment != in.Assignment {
		o.w.verdicts.broke(Secrets, "%s is %s in assignment %d and keeps the secret of assignment %d", in.ID, in.State, in.Assignment, r.Assignment)
	}
	if r.Mode != store.JIT {
		return // one token serves the runs of an hour
	}
	mine := fmt.Sprintf("%s/%d", in.ID, r.Serial)
	if other, known := o.secrets[r.Secret]; known && other != mine {
		o.w.verdicts.broke(Secrets, "the secret of %s was given to %s too", other, mine)
	}
	o.secrets[r.Secret] = mine
}

// listed: what is Released holds nothing, and no instance is listed by two that are Ready.
func (o *owners) listed(_, st store.RunStatus) {
	switch st.Phase {
	case statemachine.PhaseReleased:
		for _, in := range o.records.instances {
			if in.RunID == st.ID {
				o.w.verdicts.broke(OneOwner, "request %s is Released and holds %s", st.ID, in.ID)
			}
		}
	case statemachine.Ready:
		for _, seat := range st.Instances {
			if in := o.records.instances[seat.InstanceID]; in.RunID != st.ID && in.State != statemachine.Terminated {
				o.w.verdicts.broke(OneOwner, "request %s lists %s, which is %q's", st.ID, seat.InstanceID, in.RunID)
			}
		}
	case statemachine.Pending, statemachine.Failed, statemachine.Unseen:
	}
}

// attempts: what a request is given is of its present attempt (H41).
func (o *owners) attempts(was, st store.RunStatus) {
	if st.Phase != statemachine.Ready || was.Phase == statemachine.Ready {
		return
	}
	for _, seat := range st.Instances {
		if in := o.records.instances[seat.InstanceID]; in.RunID == st.ID && in.Attempt != st.Attempt {
			o.w.verdicts.broke(OneOwner, "request %s/%d lists %s, which is of attempt %d", st.ID, st.Attempt, seat.InstanceID, in.Attempt)
		}
	}
}

// ownJobs: every job ran on a machine of its own run from beginning to end, and came to its end unless
// its machine was taken away (S15, H31, H38).
func (o *owners) ownJobs() {
	for _, j := range o.w.hub.Jobs() {
		if j.State != githubsim.Completed || j.StartedAt.IsZero() {
			continue
		}
		disturbed := o.w.machines.wasDisturbed(j.InstanceID, j.FinishedAt)
		if why := o.astray(j); why != "" && !disturbed {
			o.w.verdicts.broke(OwnJob, "job %s of run %s (%s) ran on %s, %s", j.ID, j.Label, j.Conclusion, j.InstanceID, why)
		}
		if j.Conclusion == githubsim.Success {
			o.jobs++
		} else if !disturbed && !o.w.workflows.gaveUp(j) && !o.w.outages.wasCutOff(j.FinishedAt) && !o.w.machines.wasOrphan(j) {
			o.w.verdicts.broke(HealthyLives, "job %s on %s: %s: %s", j.ID, j.InstanceID, j.Conclusion, j.Detail)
		}
	}
}

// astray says what is wrong with where a job ran, "" if nothing. A job that was cancelled may take its time to
// end after its run has given the machine back, but the machine is nobody else's then. GitHub may hand one of a run whose time is
// over to a machine that is about to end with it.
func (o *owners) astray(j githubsim.JobRecord) string {
	o.records.mu.Lock()
	defer o.records.mu.Unlock()
	own := ownership{}
	for _, one := range o.history[store.InstanceID(j.InstanceID)] {
		switch mine := string(one.run) == j.Label; {
		case !mine && j.FinishedAt.After(one.from) && (one.to.IsZero() || one.to.After(j.StartedAt)):
			return fmt.Sprintf("which was run %s's from %s to %s", one.run, one.from.Sub(o.w.begin), one.to.Sub(o.w.begin))
		case mine && !j.StartedAt.Before(one.from):
			own = one
		}
	}
	switch {
	case own.run == "":
		return "which was never that run's before"
	case own.to.IsZero() || !j.FinishedAt.After(own.to) || (own.last || j.StartedAt.Before(own.to)) && o.w.workflows.gaveUp(j):
		return ""
	}
	return fmt.Sprintf("from %s to %s; it was that run's from %s to %s only",
		j.StartedAt.Sub(o.w.begin), j.FinishedAt.Sub(o.w.begin), own.from.Sub(o.w.begin), own.to.Sub(o.w.begin))
}
