package reconciler

import (
	"errors"
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// ofRun is a request of a run.
func ofRun(run string, n int) (store.RequestID, *store.RunRequest) {
	id := store.RequestID(fmt.Sprintf("%s-%d", run, n))
	return id, &store.RunRequest{ID: id, Attempt: 1, Version: 1, ResourceClass: "small"}
}

func (v *requestRecords) inMemory() (n int) {
	for _, r := range v.byID {
		if r.request != nil {
			n++
		}
	}
	return n
}

// A run has at most 100 requests in memory. Further requests are refused. Another run is not affected.
func TestRequestRecords_BoundsThoseOfOneRun_Review_S2(t *testing.T) {
	v := newRequestRecords()
	for n := range 5000 {
		id, r := ofRun("100", n)
		v.applyRun(id, store.RunRecords{Request: r}, dawn)
	}
	if n := v.inMemory(); n != maxOfRun {
		t.Errorf("%d requests of one run are in memory, want %d", n, maxOfRun)
	}
	if r, _ := v.getRun("100-4999"); !r.refused() || r.bad.Attempt != 1 {
		t.Errorf("the last one is not refused: %+v", r)
	}
	id, r := ofRun("200", 1)
	v.applyRun(id, store.RunRecords{Request: r}, dawn)
	if got, _ := v.getRun(id); got.request == nil {
		t.Error("a request of another run is refused")
	}
}

// Requests that are over make room for others. A request that an earlier controller accepted is not refused.
func TestRequestRecords_CountsThoseThatAreNotOver_Review_S2(t *testing.T) {
	v := newRequestRecords()
	for n := range 1000 {
		id, r := ofRun("100", n)
		over := &store.RunStatus{ID: id, Attempt: 1, Phase: statemachine.PhaseReleased, Version: 3, ExpiresAt: dawn.Add(recordLife)}
		v.applyRun(id, store.RunRecords{Request: r}, dawn)
		v.applyRun(id, store.RunRecords{Status: over}, dawn)
		if got, _ := v.getRun(id); got.request == nil {
			t.Fatalf("request %d is refused", n)
		}
	}
	for n := range 200 {
		id, r := ofRun("300", n)
		v.applyRun(id, store.RunRecords{Request: r}, dawn)
	}
	id, r := ofRun("300", 150)
	ready := &store.RunStatus{ID: id, Attempt: 1, Phase: statemachine.Ready, Version: 3}
	v.applyRun(id, store.RunRecords{Status: ready}, dawn)
	if got, _ := v.getRun(id); !got.changed {
		t.Error("a request that is Ready and was refused is not read again")
	}
	v.applyRun(id, store.RunRecords{Request: r, Status: ready}, dawn)
	if got, _ := v.getRun(id); got.request == nil || got.bad != nil {
		t.Error("a request that is Ready is refused")
	}
	for name, deadline := range map[string]time.Time{"accepted": dawn.Add(time.Minute), "about to be refused": dawn} {
		id, _ := ofRun("300", len(name)+150)
		pending := &store.RunStatus{ID: id, Attempt: 1, Phase: statemachine.Pending, PendingAt: store.At(dawn), Deadline: store.At(deadline), Version: 3}
		v.applyRun(id, store.RunRecords{Status: pending}, dawn)
		if got, _ := v.getRun(id); got.changed != (name == "accepted") {
			t.Errorf("a Pending request that is %s is read again: %v", name, got.changed)
		}
	}
}

// Ids that are not those of runs at GitHub share no bound: nightly-1 and nightly-2 are requests of two runs.
func TestRequestRecords_OtherIDs_Review_S2(t *testing.T) {
	v := newRequestRecords()
	for n := range 2 * maxOfRun {
		id, r := ofRun("nightly", n)
		v.applyRun(id, store.RunRecords{Request: r}, dawn)
	}
	if n := v.inMemory(); n != 2*maxOfRun || len(v.ofRuns) > 0 {
		t.Errorf("%d requests are in memory, want %d; they are in lists: %v", n, 2*maxOfRun, len(v.ofRuns) > 0)
	}
}

// Of the requests that are over, those go first that the demand of their day has.
func TestRequestRecords_RecordedOnesMakeRoomFirst_Review_S2(t *testing.T) {
	v := newRequestRecords()
	for n := range maxOfRun {
		id, r := ofRun("100", n)
		over := &store.RunStatus{ID: id, Attempt: 1, Phase: statemachine.PhaseReleased, Version: 3, ExpiresAt: dawn.Add(recordLife)}
		v.applyRun(id, store.RunRecords{Request: r, Status: over}, dawn)
		if n%2 == 0 {
			v.withRun(id, func(r *run) { r.demanded = 1 })
		}
	}
	id, r := ofRun("100", maxOfRun)
	v.applyRun(id, store.RunRecords{Request: r}, dawn)
	if n := v.inMemory(); n != maxOfRun/2+1 {
		t.Errorf("%d requests are in memory, want the %d that no demand has, and the new one", n, maxOfRun/2)
	}
}

// A launch that began before the host refused the request does not change the refusal.
func TestRun_RefuseAfterTheHost_Review_S0(t *testing.T) {
	r := run{launching: launching{never: ReasonHost}}
	r.refuse(fleet.ErrNoCapacity, dawn)
	if r.launching.never != ReasonHost {
		t.Errorf("never = %q, want %q", r.launching.never, ReasonHost)
	}
}

// A refused request gets an answer and an expiry, and is not kept in memory.
func TestRequest_OfARunWithTooMany_IsRefused_Review_S2(t *testing.T) {
	table := storetest.NewMemory(clocktesting.NewFakeClock(dawn))
	term, _, _ := newTestTerm(t, table, nil)
	for n := range maxOfRun {
		id, r := ofRun("100", n)
		term.cache.requests.applyRun(id, store.RunRecords{Request: r}, dawn)
	}
	st := store.New(table)
	if _, err := st.Submit(t.Context(), store.RunRequest{ID: "100-last", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, ResourceClass: "small", Timeout: 60}); err != nil {
		t.Fatal(err)
	}
	term.cache.requests.markChanged("100-last", dawn)
	for range 4 {
		if _, err := term.requests.reconcileRequest(t.Context(), "100-last"); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := st.Run(t.Context(), store.Consistent, "100-last")
	if err != nil || rec.Status == nil || rec.Request == nil {
		t.Fatalf("Run() = %+v, %v", rec, err)
	}
	if rec.Status.Phase != statemachine.Failed || rec.Status.Reason != ReasonSpec || rec.Status.Message != errTooMany.Error() {
		t.Errorf("it is answered %+v", rec.Status)
	}
	if rec.Status.ExpiresAt.IsZero() || rec.Request.ExpiresAt.IsZero() {
		t.Errorf("it does not expire: %v, %v", rec.Status.ExpiresAt, rec.Request.ExpiresAt)
	}
	r, _ := term.cache.requests.getRun("100-last")
	if r.request != nil || !errors.Is(r.bad.Err, errTooMany) {
		t.Errorf("it is in memory: %+v", r)
	}
}
