package sim

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/store"
)

// auditSlack is more time than the audit grants a controller by itself: here it dies and comes back, and its
// calls fail, while it must do something.
const auditSlack = 30 * time.Second

// doubtful reports what may be in order again by itself within the period of the audit, so that one look does not prove it: a
// runner in the making, which GitHub has and its record not yet, a machine that was silent and has gone just now, a
// candidate that is being claimed, a request that was just written, and a lease just renewed, by a clock that is wrong.
func doubtful(v audit.Violation) bool {
	return slices.Contains([]string{"stray-runner", "vanished-machine", "unanswered-request", "no-leader"}, v.Invariant) ||
		strings.HasPrefix(v.Mark, "candidate ")
}

// afterTrouble is how long after an outage nothing is judged: what it kept from being done is done then.
const afterTrouble = 2 * time.Minute

// registered lists GitHub's runners without a call: nothing may wait while the store stands still.
type registered struct{ hub *githubsim.Hub }

func (r registered) Runners(context.Context) ([]githubapi.Runner, error) {
	return r.hub.Registered(), nil
}

// auditor holds the installation as it is to what `remuda audit` checks on a live one.
type auditor struct {
	w       *World
	records *records

	decoded   decoded         // the records as somebody sees them whose clock is right
	told      map[string]bool // what the audit said before
	suspected map[string]bool // what the last audit said and one look does not prove
	trouble   time.Time       // when something was last out of order
}

func newAuditor(w *World, r *records, table store.Table) *auditor {
	return &auditor{w: w, records: r, decoded: newDecoded(seen{table, w}), told: map[string]bool{}}
}

// audited looks at the installation as it is now. Nothing is written meanwhile.
func (a *auditor) audited() {
	a.records.mu.Lock()
	defer a.records.mu.Unlock()
	now := a.w.clock.Now()
	snapshot, err := audit.Look(context.Background(), audit.Sources{Store: a.decoded, Fleet: a.w.fleet, GitHub: registered{a.w.hub}}, now)
	if err == nil && len(snapshot.Unread) > 0 {
		err = snapshot.Unread[0].Cause
	}
	if err != nil {
		a.w.verdicts.broke(Audit, "look: %v", err)
		return
	}
	snapshot.Candidates = a.w.supervisor.candidates(a.records.lease.Holder)
	if a.w.outages.any() {
		a.trouble = now
	}
	if !a.trouble.IsZero() && now.Sub(a.trouble) < a.w.o.paced(afterTrouble) {
		return
	}
	before := a.suspected
	a.suspected = map[string]bool{}
	skew, unsettled := a.w.clocks.skew()+a.w.clocks.stepped(agents).Abs(), a.w.supervisor.reconfigured(settles)
	for _, v := range audit.Check(snapshot, audit.Options{Config: a.w.supervisor.config(), Skew: skew, Slack: a.w.o.paced(auditSlack)}) {
		if unsettled && (v.Invariant == "too-many-launched" || v.Invariant == "unreachable-idle" && strings.Contains(v.Problem, "not configured")) {
			continue // they came under a cap that was lowered since, or the leader is not started anew yet
		}
		if v.Invariant == "outlived-threshold" && now.Before(a.w.begin.Add(a.w.outages.refusals()+a.w.o.paced(lateAfter))) {
			continue // the fleet refuses to end it: InTime tells when it must be gone
		}
		if v.Invariant == "unknown-machine" && strings.Contains(v.Problem, ofNobody) {
			continue // Known tells when it must be gone: leaders may die before they have seen it for long
		}
		if id, is := strings.CutPrefix(v.Resource, "instance "); is && a.w.refusals.isIll(store.InstanceID(id)) {
			continue // nobody can write its record
		}
		mark := v.Invariant + v.Resource + v.Mark
		if doubtful(v) {
			a.suspected[mark] = true
			if !before[mark] {
				continue
			}
			if v.Invariant == "stray-runner" && now.Sub(a.w.supervisor.lastRestart()) < 3*a.w.supervisor.config().Runners {
				continue // the two sights it takes began anew
			}
		}
		if !a.told[mark] {
			a.told[mark] = true
			a.w.verdicts.broke(Audit, "%s: %s: %s", v.Invariant, v.Resource, v.Problem)
		}
	}
}
