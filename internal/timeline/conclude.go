package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// unled is a sentence that nobody leads; "" where somebody does.
func unled(vacancy string) string {
	if vacancy == "" {
		return ""
	}
	return " No controller answers: " + vacancy + "."
}

// unseen concludes a request of which no controller has taken up the newest attempt.
func unseen(t Timeline, st *store.RunStatus, vacancy string, now time.Time) string {
	text := fmt.Sprintf("No controller has taken it up for %s.", Took(now.Sub(t.Begun.Time)))
	if st != nil {
		text = fmt.Sprintf("Attempt %d waits until attempt %d, which is %s, holds nothing any more.", t.Attempt, st.Attempt, st.Phase)
	}
	return text + unled(vacancy)
}

// concludeRequest returns why a request takes long, its result, and which jobs of its run no runner takes.
func (t *Timeline) concludeRequest(st store.RunStatus, vacancy string, now time.Time) string {
	text := t.concludePhase(st, vacancy, now)
	if st.Watch.Waits != "" {
		text += fmt.Sprintf(" For %s no runner has taken: %s.", Took(now.Sub(st.Watch.WaitsSince.Time)), strings.TrimSuffix(st.Watch.Waits, "."))
	}
	return text
}

// concludePhase returns why a phase took, or takes, so long.
func (t *Timeline) concludePhase(st store.RunStatus, vacancy string, now time.Time) string {
	why := why(st)
	switch st.Phase {
	case statemachine.Pending:
		text := fmt.Sprintf("It has waited for %s", Took(now.Sub(st.PendingAt.Time)))
		if !st.ReasonSince.IsZero() && why != "" {
			text += fmt.Sprintf(", the last %s of it because of: %s", Took(now.Sub(st.ReasonSince.Time)), why)
		}
		return text + "." + t.losses() + unled(vacancy)
	case statemachine.Ready:
		text := t.wait(st) + fmt.Sprintf(" It has been Ready for %s.", Took(now.Sub(st.ReadyAt.Time))) + t.losses()
		if st.Message != "" {
			text += " " + st.Message
		}
		return text
	case statemachine.Failed:
		return fmt.Sprintf("It failed after %s: %s.", Took(st.FailedAt.Sub(st.PendingAt.Time)), orUnknown(why)) + t.longestOfFailed() + t.losses()
	case statemachine.PhaseReleased:
		switch {
		case !st.ReadyAt.IsZero():
			return t.wait(st) + fmt.Sprintf(" It ran for %s; it is over: %s.", Took(st.ReleasedAt.Sub(st.ReadyAt.Time)), orUnknown(why)) + t.losses()
		case !st.FailedAt.IsZero():
			return fmt.Sprintf("It failed after %s: %s.", Took(st.FailedAt.Sub(st.PendingAt.Time)), orUnknown(t.failure(why))) + t.longestOfFailed() + t.losses()
		}
		return fmt.Sprintf("It was given back after %s, before it was Ready: %s.", Took(st.ReleasedAt.Sub(st.PendingAt.Time)), orUnknown(why)) + t.losses()
	case statemachine.Unseen:
	}
	return ""
}

// why is the reason and the sentence of a status.
func why(st store.RunStatus) string {
	if st.Message == "" || st.Reason == "" {
		return st.Message + st.Reason
	}
	return strings.TrimSuffix(st.Message, ".") + " (" + st.Reason + ")"
}

func orUnknown(why string) string { return cmp.Or(why, "the record does not say why") }

// failure returns why a request failed that is over by now: its status says how it ended.
func (t *Timeline) failure(otherwise string) string {
	for _, e := range t.Events {
		if e.Code == store.CodeFailed && e.InstanceID == "" {
			return e.Detail
		}
	}
	return otherwise
}

// wait says how long a request waited until it was Ready, and what most of it was.
func (t *Timeline) wait(st store.RunStatus) string {
	waited := st.ReadyAt.Sub(st.PendingAt.Time)
	i := slices.IndexFunc(t.Starts, func(s Start) bool { return s.InstanceID == t.Decisive })
	if i < 0 {
		return fmt.Sprintf("It waited %s.", Took(waited))
	}
	p, _ := longest(t.Starts[i].Phases)
	return fmt.Sprintf("%s of %s was %s (%s, %s).", Took(p.Duration()), Took(waited), p.Name.What(), t.Decisive, temperature(t.Starts[i].Warm))
}

func temperature(warm bool) string {
	if warm {
		return "warm"
	}
	return "cold"
}

// longestOfFailed says in which phase the machines of a request that failed spent their time.
func (t *Timeline) longestOfFailed() string {
	var most Phase
	var of store.InstanceID
	for _, s := range t.Starts {
		if p, ok := longest(s.Phases); ok && p.Duration() > most.Duration() {
			most, of = p, s.InstanceID
		}
	}
	if of == "" {
		return ""
	}
	return fmt.Sprintf(" The longest that a machine of it took was %s for %s (%s).", Took(most.Duration()), most.Name.What(), of)
}

// losses says how many machines were lost, and the last of them.
func (t *Timeline) losses() string {
	n, last := 0, ""
	for _, e := range t.Events {
		if e.Code == store.CodeLostSeat && e.InstanceID == "" {
			n, last = n+1, e.Detail
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" One machine was lost: %s.", last)
	}
	return fmt.Sprintf(" %d machines were lost, the last: %s.", n, last)
}

// concludeInstance says what an instance does, or why it ended.
func concludeInstance(in store.Instance, all []spell, now time.Time) string {
	served := 0
	for _, s := range all {
		if _, handed := s.find(store.CodeHandedOver); handed {
			served++
		}
	}
	runs := fmt.Sprintf("it was handed over %d times", served)
	if served == 1 {
		runs = "it was handed over once"
	}
	since := Took(now.Sub(in.Since.Time))
	switch {
	case in.State == statemachine.Terminated:
		return fmt.Sprintf("It ended after %s: %s; %s.", Took(in.Since.Sub(in.CreatedAt.Time)), orUnknown(in.Reason), runs)
	case in.State == statemachine.Idle && in.PooledAt.IsZero():
		return fmt.Sprintf("It has been on its way back to the pool for %s; %s.", since, runs)
	case in.State == statemachine.Idle:
		return fmt.Sprintf("It has been idle in the pool for %s; %s.", Took(now.Sub(in.PooledAt.Time)), runs)
	case in.State == statemachine.Running:
		return fmt.Sprintf("It has served %s for %s; %s.", in.RunID, since, runs)
	}
	text := fmt.Sprintf("It has been %s for %s, for %s", in.State, since, in.RunID)
	if len(all) > 0 {
		if phases := all[len(all)-1].phases(store.RunStatus{ID: in.RunID, PendingAt: in.Since}, now); len(phases) > 0 {
			text += fmt.Sprintf("; for %s it has waited for %s", Took(phases[len(phases)-1].Duration()), phases[len(phases)-1].Name.What())
		}
	}
	return text + "."
}
