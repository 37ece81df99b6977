package sim

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler/audit"
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

// audited holds the installation as it is now to what `remuda audit` checks on a live one. Nothing is
// written meanwhile.
func (t *truth) audited() {
	t.records.mu.Lock()
	defer t.records.mu.Unlock()
	now := t.w.clock.Now()
	snapshot, err := audit.Look(context.Background(), audit.Sources{Store: t.decoded, Fleet: t.w.fleet, GitHub: registered{t.w.hub}}, now)
	if err == nil && len(snapshot.Unread) > 0 {
		err = snapshot.Unread[0].Cause
	}
	if err != nil {
		t.w.verdicts.broke(Audit, "look: %v", err)
		return
	}
	snapshot.Candidates = t.w.supervisor.candidates(t.records.lease.Holder)
	if t.w.outages.any() {
		t.trouble = now
	}
	if !t.trouble.IsZero() && now.Sub(t.trouble) < t.w.o.paced(afterTrouble) {
		return
	}
	before := t.suspected
	t.suspected = map[string]bool{}
	for _, v := range audit.Check(snapshot, audit.Options{Config: t.w.supervisor.config(), Skew: t.w.clocks.skew() + t.w.clocks.stepped(agents).Abs(), Slack: t.w.o.paced(auditSlack)}) {
		if (v.Invariant == "too-many-launched" || v.Invariant == "unreachable-idle" && strings.Contains(v.Problem, "not configured")) && t.w.supervisor.reconfigured(settles) {
			continue // they came under a cap that was lowered since, or the leader is not started anew yet
		}
		if v.Invariant == "outlived-threshold" && now.Before(t.w.begin.Add(t.w.outages.refusals()+t.w.o.paced(lateAfter))) {
			continue // the fleet refuses to end it: InTime tells when it must be gone
		}
		if v.Invariant == "unknown-machine" && strings.Contains(v.Problem, ofNobody) {
			continue // Known tells when it must be gone: leaders may die before they have seen it for long
		}
		mark := v.Invariant + v.Resource + v.Mark
		if doubtful(v) {
			t.suspected[mark] = true
			if !before[mark] {
				continue
			}
			if v.Invariant == "stray-runner" && now.Sub(t.w.supervisor.lastRestart()) < 3*t.w.supervisor.config().Runners {
				continue // the two sights it takes began anew
			}
		}
		if !t.audits[mark] {
			t.audits[mark] = true
			t.w.verdicts.broke(Audit, "%s: %s: %s", v.Invariant, v.Resource, v.Problem)
		}
	}
}
