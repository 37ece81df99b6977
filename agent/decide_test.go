package agent

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/store"
)

// The edges of every wait of the worker: strictly before, and exactly at.
func TestDecide_Edges_H71(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	reg := store.Registration{Serial: 4, Assignment: 2, Mode: store.JIT, Secret: "s"}
	base := facts{
		record:      store.Instance{RunID: "a", Assignment: 2, Registration: reg},
		work:        Work{Assignment: 2, RunID: "a", Serial: 3, Mode: store.JIT},
		serial:      3,
		onlineLimit: time.Minute,
	}
	used := base
	used.record.Registration.Secret = ""
	for _, tt := range []struct {
		name, reason string
		facts        facts
		change       func(f *facts)
		do           action
		signal       store.SignalName
		wake         time.Time
	}{
		{"Fresh", "new material is used at once", base, func(*facts) {}, start, "", time.Time{}},
		{"FreshInPause", "its readiness check has begun", base, func(f *facts) { f.retry.at = now.Add(time.Minute) }, start, "", time.Time{}},
		{"PauseOneTickBefore", "not before the pause is over", used, func(f *facts) { f.retry.at = now.Add(1) }, wait, "", now.Add(1)},
		{"PauseExactly", "the end of the pause is late enough", used, func(f *facts) { f.retry.at = now }, wait, store.RegNext, time.Time{}},
		{
			"AheadFreshInPause", "no readiness check waits for an idle machine", base,
			func(f *facts) { f.record.RunID, f.work.RunID, f.retry.at = "", "", now.Add(1) }, wait, "", now.Add(1),
		},
		{
			"ConflictInPause", "the pause comes before the next registration, not after", used,
			func(f *facts) {
				f.listener, f.retry.at = &Status{State: Exited, Exit: ExitConflict}, now.Add(1)
			}, retire, store.RegFailed, time.Time{},
		},
		{"Used", "without new material the next is asked for", used, func(*facts) {}, wait, store.RegNext, time.Time{}},
		{"Failed", "a failure that was reported stays", used, func(f *facts) { f.work.Failed = true }, wait, "", time.Time{}},
		{"FailedFresh", "but new material ends it", base, func(f *facts) { f.work.Failed = true }, start, "", time.Time{}},
		{"Dirty", "nothing runs on a dirty machine", base, func(f *facts) { f.work.Dirty = true }, wait, "", time.Time{}},
		{"Restart", "the same registration again", used, func(f *facts) { f.retry.restart, f.retry.material = true, &reg }, start, "", time.Time{}},
		{
			"StartingOneTickBefore", "it may still come online", used,
			func(f *facts) { f.listener, f.since = &Status{State: Starting}, now.Add(-time.Minute+1) }, wait, "", now.Add(1),
		},
		{
			"StartingExactly", "it may wait for GitHub, which is said", used,
			func(f *facts) {
				f.listener, f.since, f.retry.material = &Status{State: Starting}, now.Add(-time.Minute), &reg
			}, wait, store.RegFailed, now.Add(2 * time.Minute),
		},
		{
			"StartingOneTickBeforeTheEnd", "the program may still say what it waits for", used,
			func(f *facts) {
				f.listener, f.since, f.retry.material = &Status{State: Starting}, now.Add(-3*time.Minute+1), &reg
			}, wait, store.RegFailed, now.Add(1),
		},
		{
			"StartingForTooLong", "it will not any more", used,
			func(f *facts) {
				f.listener, f.since, f.retry.material = &Status{State: Starting}, now.Add(-3*time.Minute), &reg
			}, retire, store.RegFailed, time.Time{},
		},
		{
			"FailedFreshInPause", "the controller has its own pace", base,
			func(f *facts) { f.work.Failed, f.retry.at = true, now.Add(time.Minute) }, start, "", time.Time{},
		},
		{
			"FourFailures", "the fifth in a row is the last", used,
			func(f *facts) {
				f.listener, f.retry = &Status{State: Exited, Exit: ExitRetryable}, retry{failures: 3, material: &reg}
			}, retire, store.RegFailed, time.Time{},
		},
		{
			"ConflictByOutput", "a conflict is one whatever the exit status", used,
			func(f *facts) {
				f.listener, f.retry.material = &Status{State: Exited, Exit: ExitTerminated, Cause: CauseConflict}, &reg
			}, retire, store.RegNext, time.Time{},
		},
		{
			"Moved", "another assignment comes first, dirty or not", base,
			func(f *facts) { f.record.Assignment, f.work.Dirty = 3, true }, clean, "", time.Time{},
		},
		{
			"MovedBusy", "but not before the job's end", base,
			func(f *facts) { f.record.Assignment, f.listener = 3, &Status{State: Busy} }, wait, "", time.Time{},
		},
		{
			"MovedBusyNow", "unless the run was cancelled", base,
			func(f *facts) {
				f.record.Assignment, f.record.Release, f.listener = 3, store.ReleaseNow, &Status{State: Busy}
			}, clean, "", time.Time{},
		},
		{
			"RefusedByTheMachine", "no registration is used where the class asks for what the machine cannot do", base,
			func(f *facts) { f.refusal = "no control group" }, wait, store.RegFailed, time.Time{},
		},
		{
			"RefusedWhileBusy", "a job that runs already is left alone", base,
			func(f *facts) { f.refusal, f.listener = "no control group", &Status{State: Busy} }, wait, store.RegOK, time.Time{},
		},
		{
			"RefusedAhead", "an idle machine registers no runner ahead of its run", base,
			func(f *facts) { f.refusal, f.record.RunID, f.work.RunID = "no control group", "", "" }, wait, "", time.Time{},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := tt.facts
			tt.change(&f)
			if d := decide(f, now); d.do != tt.do || d.report.Signal != tt.signal || !d.wake.Equal(tt.wake) {
				t.Errorf("decide = do %d, report %q, wake %s; want %d, %q, %s: %s", d.do, d.report.Signal, d.wake, tt.do, tt.signal, tt.wake, tt.reason)
			}
		})
	}
}

// Only the fifth failure in a row is final.
func TestDecide_FinalFailure_H71(t *testing.T) {
	f := facts{
		record: store.Instance{RunID: "a", Assignment: 2}, work: Work{Assignment: 2, RunID: "a", Serial: 3},
		listener: &Status{State: Exited, Exit: ExitRetryable}, retry: retry{material: &store.Registration{}},
	}
	for f.retry.failures = range maxFailures {
		d := decide(f, time.Time{})
		final := f.retry.failures == maxFailures-1
		if d.failed != final || d.restart == final || (d.report.Cause == store.CauseRefused) != final {
			t.Errorf("after %d failures decide = %+v, want final %t", f.retry.failures, d, final)
		}
	}
}
