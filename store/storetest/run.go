// Package storetest checks that a back end keeps the contract of package store, measures it, and
// makes a strong one as weak as the contract allows.
//
// Run assumes nothing that DynamoDB with a queue of notifications could not give: eventual reads may be
// stale, notifications may be lost or repeated and reach one watcher only, and expiry is judged by the back
// end's clock, so that items are written as already expired rather than waited for.
package storetest

import (
	"errors"
	"testing"

	"github.com/remuda-run/remuda/store"
)

// Factory opens an empty table. The suite closes it; the factory registers whatever else must be
// cleaned up. A table may be shared by the parts of one test but never by two tests.
type Factory func(t testing.TB) store.Table

// RunMany checks that a back end holds more than 10,000 records, which takes long.
func RunMany(t *testing.T, open Factory) {
	if testing.Short() {
		t.Skip("writes more than 10,000 records: make check runs it")
	}
	scanMany(t, opened(t, open))
}

// Run checks a back end. Every subtest works on a table of its own.
func Run(t *testing.T, open Factory) {
	t.Run("Put/Creates", func(t *testing.T) { putCreates(t, opened(t, open)) })
	t.Run("Put/CreateOverExistingConflicts", func(t *testing.T) { putCreateConflicts(t, opened(t, open)) })
	t.Run("Put/ReplacesTheWholeItem", func(t *testing.T) { putReplaces(t, opened(t, open)) })
	t.Run("Put/StaleVersionConflicts_H68", func(t *testing.T) { putStaleVersion(t, opened(t, open)) })
	t.Run("Put/AbsentConflictsWithNothing", func(t *testing.T) { putOverAbsent(t, opened(t, open)) })
	t.Run("Put/AnyIsUnconditional", func(t *testing.T) { putAny(t, opened(t, open)) })
	t.Run("Put/InvalidChangesNothing", func(t *testing.T) { putInvalid(t, opened(t, open)) })
	t.Run("Put/CancelledChangesNothingOrEverything", func(t *testing.T) { putCancelled(t, opened(t, open)) })
	t.Run("Put/ConcurrentWritersOneWinnerPerVersion", func(t *testing.T) { putConcurrent(t, opened(t, open)) })

	t.Run("Expiry/CountsAsAbsent", func(t *testing.T) { expiredIsAbsent(t, opened(t, open)) })
	t.Run("Expiry/IsKept", func(t *testing.T) { expiryIsKept(t, opened(t, open)) })

	t.Run("Get/NothingForNothing", func(t *testing.T) { getNothing(t, opened(t, open)) })
	t.Run("Get/MoreThan1000Keys", func(t *testing.T) { getMany(t, opened(t, open)) })
	t.Run("Get/KeepsEveryJSON", func(t *testing.T) { getKeepsJSON(t, opened(t, open)) })
	t.Run("Get/EventualReturnsWhatWasOnceThere", func(t *testing.T) { getEventual(t, opened(t, open)) })

	t.Run("Scan/StopsAtYieldsError", func(t *testing.T) { scanStops(t, opened(t, open)) })
	t.Run("Scan/YieldMayUseTheTable", func(t *testing.T) { scanReentrant(t, opened(t, open)) })
	t.Run("Scan/BadRecordsAreIsolated_H70", func(t *testing.T) { scanBadRecords(t, opened(t, open)) })

	t.Run("Notify/IsRead", func(t *testing.T) { notificationIsRead(t, opened(t, open)) })
	t.Run("Notify/WatchEndsWithItsContext", func(t *testing.T) { watchEnds(t, opened(t, open)) })
	t.Run("Notify/WritersNotify", func(t *testing.T) { writersNotify(t, opened(t, open)) })

	t.Run("Close/CallsAfterItFail", func(t *testing.T) { callsAfterClose(t, open(t)) })

	t.Run("Instance/HundredClaimsOneOwner_S61", func(t *testing.T) { claimOnce(t, opened(t, open)) })
	t.Run("Instance/LostReplyIsSuccess_H13", func(t *testing.T) { lostReply(t, opened(t, open)) })
	t.Run("Instance/IllegalRecordsAreRejected_S01", func(t *testing.T) { illegalRecords(t, opened(t, open)) })
	t.Run("Instance/WholeLife", func(t *testing.T) { wholeLife(t, opened(t, open)) })
	t.Run("Instance/RegisterTwice_H13", func(t *testing.T) { registerTwice(t, opened(t, open)) })
	t.Run("Instance/VitalsIsolateBadRecords_H70", func(t *testing.T) { vitals(t, opened(t, open)) })

	t.Run("Request/Submit", func(t *testing.T) { submit(t, opened(t, open)) })
	t.Run("Request/Release", func(t *testing.T) { release(t, opened(t, open)) })
	t.Run("Request/ReleaseRacesResubmit_H41", func(t *testing.T) { releaseRaces(t, opened(t, open)) })
	t.Run("Request/RunIsReRun", func(t *testing.T) { rerun(t, opened(t, open)) })
	t.Run("Request/ControllerRacesClient", func(t *testing.T) { controllerRaces(t, opened(t, open)) })
	t.Run("Request/BothGiveBack", func(t *testing.T) { bothGiveBack(t, opened(t, open)) })
	t.Run("Request/Status", func(t *testing.T) { status(t, opened(t, open)) })
	t.Run("Lease/OneHolderPerVersion", func(t *testing.T) { lease(t, opened(t, open)) })
}

// opened opens a table for the length of t.
func opened(t testing.TB, open Factory) store.Table {
	t.Helper()
	table := open(t)
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Errorf("Close() error = %v", err)
		}
	})
	return table
}

// wantErr checks that the error of call is want; nil means none.
func wantErr(t testing.TB, call string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s error = %v, want %v", call, err, want)
	}
}
