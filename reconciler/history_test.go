package reconciler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// codes are those of a history, in order.
func codes(h store.History, begun store.Time) []store.Code {
	var out []store.Code
	for _, e := range h.Entries(begun) {
		out = append(out, e.Code)
	}
	return out
}

// The records tell of a cold start, its job, and the warm start after it, also when another controller took over meanwhile;
// no entry is told twice, and times do not go back.
func TestHistory_OfAColdAndAWarmStart(t *testing.T) {
	for _, failOver := range []bool{false, true} {
		t.Run(map[bool]string{false: "one", true: "two controllers"}[failOver], story(func(t *testing.T, w *world) {
			stop := w.controller("c1", nil)
			takeOver := func() {
				if failOver {
					stop()
					stop = w.controller("c2", nil)
				}
			}
			defer func() { stop() }()
			w.submit(spec("100", 1))
			st := w.awaitPhase("100", 1, statemachine.Ready, 3*time.Minute)
			want := []store.Code{store.CodeAccepted, store.CodeAsked, store.CodeCame, store.CodeWaits, store.CodePhases, store.CodeReady}
			if got := slices.Compact(codes(st.History, st.PendingAt)); !slices.Equal(got, want) {
				t.Errorf("the request's history is %v, want %v", got, want)
			}
			takeOver()
			w.awaitJobs(w.jobs("100", 1, 30), 3*time.Minute)
			w.give("100", 1, store.ReleaseDrain, 3*time.Minute)
			w.await(3*time.Minute, "it is pooled", func() bool { return w.pooled() == 1 })
			takeOver()
			w.submit(spec("101", 1))
			st = w.awaitPhase("101", 1, statemachine.Ready, 3*time.Minute)
			if got, want := codes(st.History, st.PendingAt), []store.Code{store.CodeAccepted, store.CodeClaims, store.CodePhases, store.CodeReady}; !slices.Equal(got, want) {
				t.Errorf("the warm request's history is %v, want %v", got, want)
			}
			w.give("101", 1, store.ReleaseDrain, 3*time.Minute)
			w.await(3*time.Minute, "it is pooled again", func() bool { return w.pooled() == 1 })
			in := w.instance(st.Instances[0].InstanceID)
			wantAll := []store.Code{
				store.CodeLaunched, store.CodeBooted, store.CodeScript, store.CodeOnline, store.CodeHandedOver,
				store.CodeJobBegan, store.CodeJobEnded, store.CodeReleased, store.CodeScrubbed, store.CodePooled,
				store.CodeClaimed, store.CodeOnline, store.CodeHandedOver, store.CodeReleased, store.CodeScrubbed, store.CodePooled,
			}
			got := codes(in.History, in.CreatedAt)
			registrations := len(got)
			got = slices.DeleteFunc(got, func(c store.Code) bool { return c == store.CodeMinted })
			if registrations -= len(got); registrations < 2 || !slices.Equal(got, wantAll) {
				t.Errorf("the instance's history is\n%s\nwant %v and two registrations or more", in.History, wantAll)
			}
			last := in.CreatedAt.Time
			for _, e := range in.History.Entries(in.CreatedAt) {
				if e.At.Before(last) {
					t.Errorf("%s is at %s, after an entry at %s", e.Code, e.At, last)
				}
				last = e.At
			}
		}))
	}
}

// A job that is over before its agent is read again is told with its own times.
func TestHistory_OfAShortJob(t *testing.T) {
	story(func(t *testing.T, w *world) {
		w.controller("c1", nil)
		id := w.serve(spec("100", 1), time.Minute).Instances[0].InstanceID
		began := time.Now()
		w.awaitJobs(w.jobs("100", 1, 0.5), time.Minute)
		w.give("100", 1, store.ReleaseDrain, time.Minute)
		w.await(time.Minute, "it is pooled", func() bool { return w.pooled() == 1 })
		in := w.instance(id)
		at := map[store.Code]time.Time{}
		for _, e := range in.History.Entries(in.CreatedAt) {
			at[e.Code] = e.At
		}
		took := at[store.CodeJobEnded].Sub(at[store.CodeJobBegan])
		if wait := at[store.CodeJobBegan].Sub(began); wait < 0 || wait > 2*time.Second || took < 400*time.Millisecond || took > time.Second {
			t.Errorf("the job began %s after it was queued, and took %s, want 0.5 s:\n%s", wait, took, in.History)
		}
	})(t)
}
