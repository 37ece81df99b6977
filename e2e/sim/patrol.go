package sim

import (
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Bounds of the laws that only time breaks, at pace 1.
const (
	patrolEvery      = 5 * time.Second
	auditEvery       = 6               // patrols: it reads and decodes everything
	lateAfter        = 2 * time.Minute // invariant 3, past the threshold
	orphanMachineFor = 4 * time.Minute // invariant 4: the orphan interval, a few sweeps and a slow launch
	answerAfter      = 2 * time.Minute // invariant 7, past its time-out: clocks are off by up to a minute
)

// watch looks at what time alone can break, as long as the world exists.
func (t *truth) watch() {
	t.w.running.Go(func() {
		for n := 1; ; n++ {
			timer := time.NewTimer(t.w.o.paced(patrolEvery))
			select {
			case <-t.w.ended:
				timer.Stop()
				return
			case <-timer.C:
				t.inTime()
				t.answered()
				t.reachable()
				t.soon()
				if n%auditEvery == 0 {
					t.audited()
				}
			}
		}
	})
}

// inTime: no machine outlives its time, and none lives long without a record.
func (t *truth) inTime() {
	now, every, late := t.w.clock.Now(), t.w.o.paced(patrolEvery), t.w.o.paced(lateAfter)
	for _, id := range t.w.fleet.Alive() {
		m, _ := t.w.fleet.Machine(id)
		t.records.mu.Lock()
		in, known := t.records.instances[store.InstanceID(id)]
		switch {
		case !known && m.LaunchToken == ofNobody:
			// Each leader must see it for a while: those that die soon end none.
			if t.w.disturbances.late(later(m.LaunchedAt, t.ledSince), orphanMachineFor) {
				t.w.verdicts.once(Known, id, "machine %s lives for %s, and nobody knows it", id, now.Sub(m.LaunchedAt))
			}
		case !known:
			if over := now.Sub(m.LaunchedAt.Add(t.w.o.paced(orphanMachineFor))); over > 0 && over <= every {
				t.w.verdicts.broke(Known, "machine %s lives for %s and has no record", id, now.Sub(m.LaunchedAt))
			}
		default:
			end := in.Threshold.Add(late + t.w.clocks.skew())
			if in.State == statemachine.Terminated {
				end = in.Since.Add(late + t.w.clocks.skew())
			}
			end = later(end, t.w.begin.Add(max(t.w.outages.refusals(), t.w.outages.throttledUntil())+late))
			if over := now.Sub(end); over > 0 && over <= every {
				t.w.verdicts.broke(InTime, "machine %s (%s) outlived its time by %s", id, in.State, over+late)
			}
		}
		t.records.mu.Unlock()
	}
}

// answered: every request is answered by its deadline.
func (t *truth) answered() {
	now, late := t.w.clock.Now(), t.w.o.paced(answerAfter)
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	if t.w.outages.nobodyLeads() {
		t.leadable = now
	}
	for id, attempts := range t.records.requests {
		for n, r := range attempts {
			st := t.records.status[id]
			open := st.Attempt < n || st.Attempt == n && st.Phase == statemachine.Pending
			if n < t.records.latest(id).Attempt || r.Released() || !open {
				continue // a newer attempt has taken its place, or it was given back
			}
			due := later(later(r.at.Add(r.Timeout.Duration()), t.leadable), t.w.begin.Add(t.w.outages.throttledUntil()))
			if over := now.Sub(due.Add(late)); over > 0 && over <= t.w.o.paced(patrolEvery) {
				t.w.verdicts.broke(Answered, "request %s/%d is without an answer %s past its time-out", id, n, over+late)
			}
		}
	}
}

// halted: a machine ends itself only past its time, or on order.
func (t *truth) halted(id, why string) {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	in := t.records.instances[store.InstanceID(id)]
	if in.State != statemachine.Terminated {
		t.w.transcript.tellf("%s halts itself: %s", id, why)
	}
	if in.State != statemachine.Terminated && in.State != statemachine.None && t.w.clock.Now().Before(in.Threshold.Add(-t.w.clocks.skew())) {
		t.w.verdicts.broke(HealthyLives, "%s (%s) halted %s before its threshold: %s", id, in.State, in.Threshold.Sub(t.w.clock.Now()), why)
	}
	t.w.machines.disturb(id)
}

// finish holds the end of the story to the laws that single events do not show.
func (t *truth) finish() {
	t.ownJobs()
	if twice := t.w.hub.NamesUsedTwice(); len(twice) > 0 { // H37
		t.w.verdicts.broke(Names, "%v", twice)
	}
}

// ownJobs: every job ran on a machine of its own run from beginning to end, and came to its end unless
// its machine was taken away (S15, H31, H38).
func (t *truth) ownJobs() {
	for _, j := range t.w.hub.Jobs() {
		if j.State != githubsim.Completed || j.StartedAt.IsZero() {
			continue
		}
		disturbed := t.w.machines.wasDisturbed(j.InstanceID, j.FinishedAt)
		if why := t.astray(j); why != "" && !disturbed {
			t.w.verdicts.broke(OwnJob, "job %s of run %s (%s) ran on %s, %s", j.ID, j.Label, j.Conclusion, j.InstanceID, why)
		}
		if j.Conclusion == githubsim.Success {
			t.jobs++
		} else if !disturbed && !t.w.workflows.gaveUp(j) && !t.w.outages.wasCutOff(j.FinishedAt) && !t.w.machines.wasOrphan(j) {
			t.w.verdicts.broke(HealthyLives, "job %s on %s: %s: %s", j.ID, j.InstanceID, j.Conclusion, j.Detail)
		}
	}
}

// astray says what is wrong with where a job ran, "" if nothing. A job that was cancelled may take its time to
// end after its run has given the machine back, but the machine is nobody else's then.
func (t *truth) astray(j githubsim.JobRecord) string {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	own := ownership{}
	for _, o := range t.history[store.InstanceID(j.InstanceID)] {
		switch mine := string(o.run) == j.Label; {
		case !mine && j.FinishedAt.After(o.from) && (o.to.IsZero() || o.to.After(j.StartedAt)):
			return fmt.Sprintf("which was run %s's from %s to %s", o.run, o.from.Sub(t.w.begin), o.to.Sub(t.w.begin))
		case mine && !j.StartedAt.Before(o.from):
			own = o
		}
	}
	switch {
	case own.run == "":
		return "which was never that run's before"
	case own.to.IsZero() || !j.FinishedAt.After(own.to) || j.StartedAt.Before(own.to) && t.w.workflows.gaveUp(j):
		return ""
	}
	return fmt.Sprintf("from %s to %s; it was that run's from %s to %s only", j.StartedAt.Sub(t.w.begin), j.FinishedAt.Sub(t.w.begin), own.from.Sub(t.w.begin), own.to.Sub(t.w.begin))
}

// report sums up.
func (t *truth) report() Report {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	r := Report{Violations: t.w.verdicts.all, Ready: t.ready, Failed: t.failed, Jobs: t.jobs, Launched: t.w.fleet.Launched()}
	r.Terms = t.terms.now
	r.Failovers, r.Undone, r.Belated = t.terms.all, t.terms.undone, t.terms.late
	for _, attempts := range t.records.requests {
		r.Requests += len(attempts)
	}
	r.Hours = t.w.machines.hours()
	return r
}
