package reconciler

import (
	"strconv"
	"testing"
	"time"

	"github.com/remuda-run/remuda/store"
)

// Where the budget is short one repository after the other has its turn, in the order in which they came.
func TestRunTurns_OneAfterTheOther(t *testing.T) {
	var line runTurns
	may := func(when, name string, want bool) {
		t.Helper()
		if got := line.may(name); got != want {
			t.Errorf("%s: may %s be looked at: %v, want %v", when, name, got, want)
		}
	}
	leave := func(name, want string) {
		t.Helper()
		if next := line.leave(name); next != want {
			t.Errorf("after %s it is the turn of %q, want %q", name, next, want)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		may("nobody waits", name, true)
	}
	leave("a", "")
	line.hold("b")
	line.hold("c") // which was under way
	may("b waits", "a", false)
	may("b waits", "c", false)
	may("it is first", "b", true)
	line.hold("b")
	leave("c", "")
	leave("b", "a")
	may("a is first", "b", false)
	leave("a", "b")
	leave("b", "")
	may("nobody waits", "c", true)
}

// A look goes on for as long as its lists are good, with the runs that were named when it began.
func TestRunLook_GoesOnWithWhatItBeganWith(t *testing.T) {
	of := func(ids ...int64) (out []run) {
		for _, id := range ids {
			out = append(out, run{request: &store.RunRequest{ID: store.RequestID(strconv.FormatInt(id, 10)), Repository: "octo/repo", WorkflowRun: id, WorkflowAttempt: 1}})
		}
		return out
	}
	var none *runLook
	if none.resumes(time.Minute, dawn) {
		t.Error("a look goes on that never began")
	}
	look := newLook(of(3, 5), dawn)
	if !look.due[3] || !look.due[5] || look.due[4] {
		t.Errorf("due are %v, want 3 and 5", look.due)
	}
	if !look.resumes(time.Minute, dawn.Add(resumedFor-time.Second)) || look.resumes(time.Minute, dawn.Add(resumedFor)) {
		t.Errorf("it does not go on for exactly %s", resumedFor)
	}
	if look.failed = true; !look.resumes(time.Minute, dawn.Add(time.Minute-1)) || look.resumes(time.Minute, dawn.Add(time.Minute)) {
		t.Error("one that failed does not go on to exactly when the lists are due")
	}
	for last, want := range map[int64]int64{0: 3, 3: 5, 4: 5, 5: 7, 7: 3, 9: 3} {
		runs := startingAfter(last, byRun(of(7, 3, 5)))
		if first := runs[0][0].workflow().Run; first != want || len(runs) != 3 {
			t.Errorf("after %d: %d runs from %d on, want 3 from %d on", last, len(runs), first, want)
		}
	}
}
