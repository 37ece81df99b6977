package reconciler

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// claimedBy returns an instance in its third assignment, with its second registration, whose agent
// reports v.
func claimedBy(run string, v store.SignalValue) snapshot {
	in := inState("i-1", 3, statemachine.Claimed, run)
	in.Since = store.At(dawn)
	in.Registration = store.Registration{Serial: 2, Assignment: 3, MintedAt: store.At(dawn.Add(2 * time.Second))}
	return snapshot{Instance: in, known: known{vitals: vitals{signal: store.Signal{Value: v}, fresh: true}}}
}

func saying(name store.SignalName, cause string) store.SignalValue {
	return store.SignalValue{Signal: name, RunID: "100", Assignment: 3, Serial: 2, Cause: cause}
}

// S37 S38 H40: a report counts if run and assignment match, and a listener's only for the registration
// in force. A late one, of success or of failure, of another run or another time of the same run, is
// none.
func TestReport_OnlyOfThisAssignment_S37_S38_H40(t *testing.T) {
	for name, tc := range map[string]struct {
		value store.SignalValue
		want  statemachine.Report
	}{
		"Script":           {saying(store.ScriptOK, ""), statemachine.ScriptOK},
		"ScriptFailed":     {saying(store.ScriptFailed, ""), statemachine.ScriptFailed},
		"Online":           {saying(store.RegOK, ""), statemachine.Online},
		"Next":             {saying(store.RegNext, ""), statemachine.NextWanted},
		"Refused":          {saying(store.RegFailed, store.CauseRefused), statemachine.Blocked},
		"Deprecated":       {saying(store.RegFailed, store.CauseDeprecated), statemachine.Blocked},
		"Silent":           {saying(store.RegFailed, store.CauseSilent), statemachine.Blocked},
		"OwnFault":         {saying(store.RegFailed, store.CauseMachine), statemachine.RegFailed},
		"Host":             {saying(store.RegFailed, store.CauseHost), statemachine.RegFailed},
		"NotCleanOfBefore": {store.SignalValue{Signal: store.RegFailed, RunID: "100", Assignment: 3, Cause: store.CauseRefused}, statemachine.RegFailed},
		"EarlierRefused":   {store.SignalValue{Signal: store.RegFailed, RunID: "100", Assignment: 3, Serial: 1, Cause: store.CauseRefused}, statemachine.ScriptOK},
		"NoCause":          {saying(store.RegFailed, ""), statemachine.RegFailed},
		"Throttled":        {saying(store.RegFailed, store.CauseThrottled), statemachine.Blocked},
		"Unavailable":      {saying(store.RegFailed, store.CauseUnavailable), statemachine.Blocked},
		"Clean":            {saying(store.RemoveOK, ""), statemachine.Clean},
		"Dirty":            {saying(store.RemoveFailed, ""), statemachine.Dirty},
		"Nothing":          {store.SignalValue{}, statemachine.NoReport},
		"UnknownToUs":      {saying("UD_SOMETHING_NEW", ""), statemachine.NoReport},
		"EarlierListener":  {store.SignalValue{Signal: store.RegOK, RunID: "100", Assignment: 3, Serial: 1}, statemachine.ScriptOK},
		"OtherRun":         {store.SignalValue{Signal: store.RegOK, RunID: "99", Assignment: 3, Serial: 2}, statemachine.NoReport},
		"OtherRunFailed":   {store.SignalValue{Signal: store.ScriptFailed, RunID: "99", Assignment: 3}, statemachine.NoReport},
		"SameRunEarlier":   {store.SignalValue{Signal: store.RegOK, RunID: "100", Assignment: 1, Serial: 2}, statemachine.NoReport},
		"SameRunFailed":    {store.SignalValue{Signal: store.RegFailed, RunID: "100", Assignment: 1}, statemachine.NoReport},
		"CleanBeforeClaim": {store.SignalValue{Signal: store.RemoveOK, Assignment: 2}, statemachine.NoReport},
	} {
		if got := claimedBy("100", tc.value).report(); got != tc.want {
			t.Errorf("%s: report() = %d, want %d", name, got, tc.want)
		}
	}
}

// S07 S63 S64 S65: ready if and only if online for this assignment, healthy, not expired, and waited for.
func TestReady_IffBothChecksPass_S07_S65(t *testing.T) {
	online := saying(store.RegOK, "")
	for name, tc := range map[string]struct {
		change func(*snapshot)
		want   bool
	}{
		"Both":          {func(*snapshot) {}, true},
		"Created":       {func(s *snapshot) { s.State = statemachine.Created }, true},
		"Stale":         {func(s *snapshot) { s.vitals.fresh = false }, false},
		"NotOnline":     {func(s *snapshot) { s.vitals.signal.Value.Signal = store.ScriptOK }, false},
		"OtherRun":      {func(s *snapshot) { s.vitals.signal.Value.RunID = "99" }, false},
		"Reregistering": {func(s *snapshot) { s.Registration.Serial = 3 }, false},
		"Expired":       {func(s *snapshot) { s.Threshold = store.At(dawn) }, false},
		"RunnerDeleted": {func(s *snapshot) { s.reg.runnerDeleted = 2 }, false},
		"LastOnes":      {func(s *snapshot) { s.reg.runnerDeleted = 1 }, true},
		"Running":       {func(s *snapshot) { s.State = statemachine.Running }, false},
		"Idle":          {func(s *snapshot) { s.State = statemachine.Idle }, false},
		"Terminated":    {func(s *snapshot) { s.State = statemachine.Terminated }, false},
	} {
		s := claimedBy("100", online)
		tc.change(&s)
		if got := s.ready(dawn); got != tc.want {
			t.Errorf("%s: ready() = %v, want %v", name, got, tc.want)
		}
	}
}

// S15: with a token an agent may be registering until it has said what became of that very registration, and tries again where
// GitHub keeps it from it; with material of one runner's own, or for another assignment, never.
func TestRegistering_UntilItsOutcomeIsTold_S15(t *testing.T) {
	for name, tc := range map[string]struct {
		value store.SignalValue
		want  bool
	}{
		"Silent":      {store.SignalValue{}, true},
		"Script":      {store.SignalValue{Signal: store.ScriptOK, RunID: "100", Assignment: 3}, true},
		"EarlierOne":  {store.SignalValue{Signal: store.RegOK, RunID: "100", Assignment: 3, Serial: 1}, true},
		"EarlierRun":  {store.SignalValue{Signal: store.RegOK, RunID: "99", Assignment: 2, Serial: 2}, true},
		"Throttled":   {saying(store.RegFailed, store.CauseThrottled), false},
		"Unavailable": {saying(store.RegFailed, store.CauseUnavailable), false},
		"Refused":     {saying(store.RegFailed, store.CauseRefused), false},
		"NotClean":    {store.SignalValue{Signal: store.RegFailed, RunID: "100", Assignment: 3, Cause: store.CauseMachine}, false},
		"Online":      {saying(store.RegOK, ""), false},
		"UsedUp":      {saying(store.RegNext, ""), false},
	} {
		s := claimedBy("100", tc.value)
		s.Registration.Mode = store.Token
		if got := s.registering(); got != tc.want {
			t.Errorf("%s: registering() = %v, want %v", name, got, tc.want)
		}
		if got, want := s.retrying(), name == "Throttled" || name == "Unavailable"; got != want {
			t.Errorf("%s: retrying() = %v, want %v", name, got, want)
		}
	}
	for name, change := range map[string]func(*snapshot){
		"Expired":         func(s *snapshot) { s.State = statemachine.Running },
		"ScriptRuns":      func(s *snapshot) { s.State = statemachine.Created },
		"JIT":             func(s *snapshot) { s.Registration.Mode = store.JIT },
		"OtherAssignment": func(s *snapshot) { s.Registration.Assignment = 2 },
		"Terminated":      func(s *snapshot) { s.State = statemachine.Terminated },
	} {
		s := claimedBy("100", store.SignalValue{})
		s.Registration.Mode = store.Token
		if change(&s); s.registering() {
			t.Errorf("%s: registering()", name)
		}
	}
}

// A machine has proven that it boots once its script passed, whatever GitHub says.
func TestScriptPassed(t *testing.T) {
	for name, want := range map[store.SignalName]bool{
		store.ScriptOK: true, store.RegOK: true, store.RegNext: true,
		store.ScriptFailed: false, store.RegFailed: false, store.RemoveOK: false, store.RemoveFailed: false,
	} {
		if got := claimedBy("100", saying(name, "")).scriptPassed(); got != want {
			t.Errorf("%s: scriptPassed() = %v, want %v", name, got, want)
		}
	}
	if !claimedBy("100", saying(store.RegFailed, store.CauseThrottled)).scriptPassed() {
		t.Error("a throttled registration unproves the machine")
	}
}

// H26 H31: a gate counts from the latest of entering the state, receiving the material, and the end of
// the last run's job.
func TestGateFrom_TheLatest(t *testing.T) {
	at := func(s int) time.Time { return dawn.Add(time.Duration(s) * time.Second) }
	for name, tc := range map[string]struct {
		minted, assignment, otherJob int
		want                         int
	}{
		"State":               {0, 3, 0, 0},
		"Material":            {5, 3, 0, 5},
		"MaterialOfLastTime":  {5, 2, 0, 0},
		"Quiet":               {5, 3, 7, 7},
		"QuietBeforeMaterial": {9, 3, 7, 9},
	} {
		s := claimedBy("100", store.SignalValue{})
		s.Registration.MintedAt, s.Registration.Assignment = store.At(at(tc.minted)), int64(tc.assignment)
		s.vitals.otherJobAt = at(tc.otherJob)
		if got := s.gateFrom(); !got.Equal(at(tc.want)) {
			t.Errorf("%s: gateFrom() = %s, want %s", name, got, at(tc.want))
		}
	}
}

// What Decide is given: nobody's silence or lateness counts from before the store took writes; a
// registration that fails because we deleted its runner is no failure; a check waits for GitHub and
// for the last run's job (H27 H31).
func TestFacts_NothingIsHeldAgainstTheInstance_H27_H31(t *testing.T) {
	limits := statemachine.DefaultLimits()
	s := claimedBy("100", saying(store.RegFailed, store.CauseMachine))
	s.vitals.changed, s.vitals.reads = dawn.Add(time.Second), 2
	writable := dawn.Add(time.Hour)

	f := factsOf(s, limits, writable, false, false, false)
	if !f.LastBeat.Equal(writable) || !f.GateFrom.Equal(writable) || f.Report != statemachine.RegFailed || f.Held {
		t.Errorf("facts() = last beat %s, gate from %s, report %d, held %v", f.LastBeat, f.GateFrom, f.Report, f.Held)
	}
	if f := factsOf(s, limits, dawn.Add(-time.Hour), false, false, false); !f.LastBeat.Equal(s.vitals.changed) || !f.GateFrom.Equal(s.gateFrom()) {
		t.Errorf("facts() = last beat %s, gate from %s, want its own", f.LastBeat, f.GateFrom)
	}
	if f := factsOf(s, limits, writable, false, false, true); f.Report != statemachine.Blocked {
		t.Errorf("facts() of one that is leaving = report %d, want Blocked", f.Report)
	}
	dirty := claimedBy("100", saying(store.RemoveFailed, ""))
	if f := factsOf(dirty, limits, writable, false, false, true); f.Report != statemachine.Dirty {
		t.Errorf("facts() of a dirty one that is leaving = report %d, want Dirty", f.Report)
	}
	if f := factsOf(snapshot{}, limits, writable, false, false, false); !f.LastBeat.IsZero() {
		t.Errorf("facts() of one that never beat = last beat %s, want none", f.LastBeat)
	}
	for name, hold := range map[string]func(*snapshot){
		"Blocked":    func(s *snapshot) { s.reg.githubDown = true },
		"Requesting": func(s *snapshot) { s.reg.requesting = true },
		"Draining":   func(s *snapshot) { s.vitals.beat.Beat = store.Beat{Busy: true, Assignment: 2} },
	} {
		held := s
		hold(&held)
		if !factsOf(held, limits, writable, false, false, false).Held {
			t.Errorf("%s: the check does not wait", name)
		}
	}
	own := s
	own.vitals.beat.Beat = store.Beat{Busy: true, Assignment: 3}
	if factsOf(own, limits, writable, false, false, false).Held || !own.busy() {
		t.Error("a job of the present run holds its own check")
	}
}

// A seat whose runner was deleted at GitHub, on a way back that was interrupted, is not handed over: it goes back, unless
// it runs already.
func TestUnreachable_GoesBack(t *testing.T) {
	online, lost, runs := claimedBy("100", saying(store.RegOK, "")), claimedBy("100", saying(store.RegOK, "")), claimedBy("100", saying(store.RegOK, ""))
	lost.ID, lost.reg.runnerDeleted, runs.reg.runnerDeleted, runs.State = "i-2", 2, 2, statemachine.Running
	if got := unreachable([]snapshot{online, lost, runs}); len(got) != 1 || got[0].ID != "i-2" {
		t.Errorf("unreachable() = %v, want the one without a runner", got)
	}
}
