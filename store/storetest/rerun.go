package storetest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/store"
)

// ofRun returns a request of an attempt of run 7; by the controller if original is not 0.
func ofRun(id store.RequestID, attempt, original int) store.RunRequest {
	r := sampleRequest(id)
	r.Attempt, r.Repository, r.WorkflowRun, r.WorkflowAttempt, r.OriginalCount = attempt, "octo/repo", 7, attempt, original
	return r
}

// rerun follows one request through two attempts of its run, over a table that keeps every attribute.
func rerun(t *testing.T, table store.Table) {
	s := store.New(table)
	client := ofRun("7-a", 1, 0)
	client.NoWait = true
	first, err := s.Submit(t.Context(), client)
	wantErr(t, "Submit()", err, nil)
	wantRequest(t, s, first)

	over, err := s.ReleaseExactly(t.Context(), "7-a", first.Attempt, store.ReleaseDrain, store.RunOver)
	wantErr(t, "ReleaseExactly()", err, nil)
	wantRequest(t, s, over)

	again := ofRun("7-a", 2, client.Count)
	again.Count = 1
	second, err := s.Submit(t.Context(), again)
	wantErr(t, "Submit() of the controller", err, nil)
	wantRequest(t, s, second)
	grown, err := s.Grow(t.Context(), second, 2)
	wantErr(t, "Grow()", err, nil)
	wantRequest(t, s, grown)
	_, err = s.Grow(t.Context(), second, 9)
	wantErr(t, "Grow() of what was changed", err, store.ErrConflict)
	grown, err = s.Grow(t.Context(), grown, 9)
	wantErr(t, "Grow() again", err, nil)
	wantRequest(t, s, grown)

	client = ofRun("7-a", 2, 0)
	client.Count = 5
	third, err := s.Submit(t.Context(), client)
	wantErr(t, "Submit() of the re-run's client", err, nil)
	wantRequest(t, s, third)
	if third.Attempt != 2 || third.Count != 5 || third.ByController() || grown.Count != 3 || third.ReleasedAttempt != 1 {
		t.Errorf("the client took %+v over and holds %+v, want its own 5 of attempt 2", grown, third)
	}
}

// controllerRaces lets the controller and a client ask for the same attempt of a run at once. In whatever order they come,
// the client's request is what is stored afterwards, of an attempt that is not given back.
func controllerRaces(t *testing.T, table store.Table) {
	s := store.New(table)
	for _, id := range []store.RequestID{"7", "7-b", "7-c", "7-d", "7-e", "7-f", "7-g", "7-h"} {
		_, err := s.Submit(t.Context(), ofRun(id, 1, 0))
		wantErr(t, "Submit()", err, nil)
		_, err = s.ReleaseExactly(t.Context(), id, 1, store.ReleaseDrain, store.RunOver)
		wantErr(t, "ReleaseExactly()", err, nil)
		client, controller := ofRun(id, 2, 0), ofRun(id, 2, 3)
		client.Count = 2
		var got store.RunRequest
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Submit(t.Context(), controller); err != nil {
				t.Errorf("Submit() of the controller: error = %v", err)
			}
		})
		wg.Go(func() {
			var err error
			if got, err = s.Submit(t.Context(), client); err != nil {
				t.Errorf("Submit() of the client: error = %v", err)
			}
		})
		wg.Wait()
		stored, err := s.Request(t.Context(), store.Consistent, id)
		wantErr(t, "Request()", err, nil)
		if !stored.SameSpec(client) || stored.ByController() || stored.Released() || stored.Attempt != 2 {
			t.Errorf("stored is %+v, want the client's attempt 2", stored)
		}
		if diff := cmp.Diff(stored, got); diff != "" {
			t.Errorf("the client was told (-stored +told):\n%s", diff)
		}
	}
}

// bothGiveBack lets the controller, which found the run over, and its release job give back at once: the client's word
// counts, also if it came second, so that nothing asks for the attempt again.
func bothGiveBack(t *testing.T, table store.Table) {
	s := store.New(table)
	for _, id := range []store.RequestID{"7", "7-b", "7-c", "7-d", "7-e", "7-f", "7-g", "7-h"} {
		_, err := s.Submit(t.Context(), ofRun(id, 1, 0))
		wantErr(t, "Submit()", err, nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.ReleaseExactly(t.Context(), id, 1, store.ReleaseNow, store.RunOver); err != nil {
				t.Errorf("ReleaseExactly() error = %v", err)
			}
		})
		wg.Go(func() {
			if _, err := s.Release(t.Context(), id, 1, store.ReleaseDrain); err != nil {
				t.Errorf("Release() error = %v", err)
			}
		})
		wg.Wait()
		stored, err := s.Submit(t.Context(), ofRun(id, 1, 3))
		wantErr(t, "Submit() of the controller", err, nil)
		if stored.Attempt != 1 || !stored.Released() || stored.Release != store.ReleaseNow || stored.ReleaseReason != "" || stored.ByController() {
			t.Errorf("stored is %+v, want attempt 1 given back at once by a client", stored)
		}
	}
}
