package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Clients and controller ask, give back and raise in whatever order, with whatever policy: the attempt and the released attempt only
// rise, what a client wants is never lost to the controller, and every caller learns what is stored.
func TestSubmit_RandomSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, item, _ := kept(RunRequest{}, rapid.Bool().Draw(t, "earlier policy"))
		var before RunRequest
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			want := asked(rapid.IntRange(1, 5).Draw(t, "attempt"), rapid.IntRange(0, 3).Draw(t, "run attempt"), 1)
			mode := rapid.SampledFrom([]ReleaseMode{ReleaseDrain, ReleaseNow}).Draw(t, "mode")
			reason := rapid.SampledFrom([]ReleaseReason{"", RunWaits, RunOver}).Draw(t, "reason")
			what := rapid.SampledFrom([]string{"client", "controller", "release", "exactly", "grow"}).Draw(t, "what")
			var got RunRequest
			var err error
			switch what {
			case "client":
				want.Count, want.NoWait = rapid.IntRange(1, 3).Draw(t, "count"), rapid.Bool().Draw(t, "no wait")
				got, err = s.Submit(t.Context(), want)
			case "controller":
				want = asked(want.Attempt, max(1, want.WorkflowAttempt), rapid.IntRange(10, 12).Draw(t, "count"))
				got, err = s.Submit(t.Context(), want)
			case "release":
				got, err = s.Release(t.Context(), "7-a", want.WorkflowAttempt, mode)
			case "exactly":
				got, err = s.ReleaseExactly(t.Context(), "7-a", want.Attempt, mode, reason)
			case "grow":
				got, err = s.Grow(t.Context(), before, rapid.IntRange(1, 30).Draw(t, "count"))
			}
			if item.Version == 0 {
				continue // nothing is stored yet
			}
			var after RunRequest
			if err := decode(*item, &after); err != nil {
				t.Fatalf("%s stored what cannot be read: %v", what, err)
			}
			if err == nil && !cmp.Equal(got, after) {
				t.Fatalf("%s returned %+v, stored is %+v", what, got, after)
			}
			if err != nil && after.Version != before.Version {
				t.Fatalf("%s changed %+v to %+v and says %v", what, before, after, err)
			}
			checkRequest(t, what, want, before, after, err)
			before = after
		}
	})
}

// checkRequest checks one step.
func checkRequest(t *rapid.T, what string, want, before, after RunRequest, err error) {
	submitted := what == "client" || what == "controller"
	last, named := before.Workflow()
	w, _ := after.Workflow()
	switch {
	case after.Attempt < before.Attempt, after.ReleasedAttempt < before.ReleasedAttempt, after.ReleasedAttempt > after.Attempt:
		t.Fatalf("%s: attempt %d, released %d after %d, %d", what, after.Attempt, after.ReleasedAttempt, before.Attempt, before.ReleasedAttempt)
	case !submitted && after.Attempt != before.Attempt, submitted && after.ReleasedAttempt != before.ReleasedAttempt:
		t.Fatalf("%s changed what is not its own: %+v after %+v", what, after, before)
	case what != "client" && before.Version > 0 && !before.ByController() && after.ByController() &&
		(!named || w.Attempt <= last.Attempt) && (!before.Released() || before.ReleaseReason == ""):
		t.Fatalf("%s: the client's %+v was lost to the controller's %+v of the same attempt", what, before, after)
	case what == "client" && err == nil && (after.ByController() || after.Count != want.Count || after.Released() && after.Attempt != before.Attempt):
		t.Fatalf("client asked for %+v and got %+v", want, after)
	case after.ByController() && (after.Count > after.OriginalCount || after.Attempt == before.Attempt && after.Count < before.Count && before.ByController()):
		t.Fatalf("%s: count %d of %d after %d", what, after.Count, after.OriginalCount, before.Count)
	case after.Attempt == before.Attempt && before.Released() && before.ReleaseReason == "" && after.ReleaseReason != "":
		t.Fatalf("%s: what a client gave back counts as given back by the controller: %+v", what, after)
	case errors.Is(err, ErrConflict), errors.Is(err, ErrUnavailable):
		t.Fatalf("%s error = %v, and nobody else writes", what, err)
	}
}
