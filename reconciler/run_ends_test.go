package reconciler_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// Of runs that end between two looks a list says what became of all; one alone is asked for.
func TestWatcher_ManyRunsEnd_OneListTells(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		end := func(first int64, n int) (calls int) {
			t.Helper()
			for id := first; id < first+int64(n); id++ {
				w.start(id, provision())
				w.serve(spec(strconv.FormatInt(id, 10), 1, ofRun(id, 1)), 2*time.Minute)
			}
			time.Sleep(2 * poll) // the lists have them
			before := w.Hub.Calls()[githubsim.CallRun]
			for id := first; id < first+int64(n); id++ {
				w.finish(id)
			}
			for id := first; id < first+int64(n); id++ {
				w.await(poll, "given back", func() bool { return w.requestOf(strconv.FormatInt(id, 10)).Released() })
			}
			return w.Hub.Calls()[githubsim.CallRun] - before
		}
		if n := end(100, 5); n != 0 {
			t.Errorf("%d of five runs were asked for alone, want none", n)
		}
		if n := end(200, 1); n != 1 {
			t.Errorf("one run was asked for %d times, want once", n)
		}
	})
}

// Runs that wait for an approval are in none of the lists: each is asked for alone, and no list is read again for their sake.
func TestWatcher_ManyRunsWait_AskedForAlone(t *testing.T) {
	watching(t, func(t *testing.T, w *world) {
		ids := []int64{100, 101, 102}
		for _, id := range ids {
			label := strconv.FormatInt(id, 10)
			deploy := labelled("deploy", label, 30, "provision")
			deploy.Approval = true
			w.start(id, provision(), deploy)
			w.serve(spec(label, 1, ofRun(id, 1)), 2*time.Minute)
		}
		time.Sleep(2 * poll)
		for _, id := range ids {
			w.finish(id)
			if s, _ := w.runStatus(id); s != githubapi.StatusWaiting {
				t.Fatalf("run %d is %s, want it to wait", id, s)
			}
		}
		time.Sleep(poll)
		lists, alone := w.Hub.Calls()[githubsim.CallRuns], w.Hub.Calls()[githubsim.CallRun]
		if alone < len(ids) {
			t.Errorf("%d calls for single runs, want one for each of %d", alone, len(ids))
		}
		time.Sleep(2 * time.Minute)
		lists, alone = w.Hub.Calls()[githubsim.CallRuns]-lists, w.Hub.Calls()[githubsim.CallRun]-alone
		if looks := lists / 2; lists%2 != 0 || alone != looks*len(ids) {
			t.Errorf("%d calls for lists and %d for single runs, want two and %d in each look", lists, alone, len(ids))
		}
	})
}
