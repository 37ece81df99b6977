package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// wantRequest checks the stored request.
func wantRequest(t *testing.T, s *store.Store, want store.RunRequest) {
	t.Helper()
	got, err := s.Request(t.Context(), store.Consistent, want.ID)
	wantErr(t, "Request()", err, nil)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("stored request (-want +got):\n%s", diff)
	}
}

func submit(t *testing.T, table store.Table) {
	s := store.New(table)
	want := sampleRequest("100")
	_, err := s.Request(t.Context(), store.Consistent, want.ID)
	wantErr(t, "Request() of none", err, store.ErrNotFound)

	first, err := s.Submit(t.Context(), want)
	wantErr(t, "Submit()", err, nil)
	wantRequest(t, s, first)

	again := want
	again.CreatedAt = store.At(epoch.Add(time.Minute))
	same, err := s.Submit(t.Context(), again)
	wantErr(t, "Submit() of the same", err, nil)
	if diff := cmp.Diff(first, same); diff != "" {
		t.Errorf("Submit() of the same (-first +got):\n%s", diff)
	}

	other := want
	other.Count++
	have, err := s.Submit(t.Context(), other)
	wantErr(t, "Submit() of another spec", err, store.ErrOtherSpec)
	if have.Count != want.Count {
		t.Errorf("Submit() of another spec returned count %d, want the stored %d", have.Count, want.Count)
	}

	higher := other
	higher.Attempt = 2
	second, err := s.Submit(t.Context(), higher)
	wantErr(t, "Submit() of a higher attempt", err, nil)
	wantRequest(t, s, second)
	_, err = s.Submit(t.Context(), want)
	wantErr(t, "Submit() of an old attempt", err, store.ErrOldAttempt)
	wantRequest(t, s, second)

	for _, id := range []store.RequestID{"", "A", "a,b", "-a"} {
		bad := sampleRequest(id)
		_, err := s.Submit(t.Context(), bad)
		wantErr(t, "Submit() of id "+string(id), err, store.ErrInvalid)
	}
}

func release(t *testing.T, table store.Table) {
	s := store.New(table)
	_, err := s.Release(t.Context(), "100", 1, store.ReleaseDrain)
	wantErr(t, "Release() of none", err, store.ErrNotFound)

	r := sampleRequest("100")
	r.Attempt = 2
	_, err = s.Submit(t.Context(), r)
	wantErr(t, "Submit()", err, nil)

	for _, tt := range []struct {
		name     string
		attempt  int
		mode     store.ReleaseMode
		released int
		stored   store.ReleaseMode
		want     error
	}{
		{"OldAttemptFreesNothingNewer", 1, store.ReleaseNow, 1, store.ReleaseNow, nil},
		{"UnknownAttempt", 3, store.ReleaseDrain, 1, store.ReleaseNow, store.ErrNotFound},
		{"Drain", 2, store.ReleaseDrain, 2, store.ReleaseDrain, nil},
		{"OldAttemptComesLate", 1, store.ReleaseNow, 2, store.ReleaseDrain, nil},
		{"NowHurriesADrain", 2, store.ReleaseNow, 2, store.ReleaseNow, nil},
		{"DrainDoesNotSlowDown", 2, store.ReleaseDrain, 2, store.ReleaseNow, nil},
		{"ZeroMeansTheStoredAttempt", 0, store.ReleaseDrain, 2, store.ReleaseNow, nil},
	} {
		_, err := s.Release(t.Context(), r.ID, tt.attempt, tt.mode)
		wantErr(t, tt.name, err, tt.want)
		got, err := s.Request(t.Context(), store.Consistent, r.ID)
		wantErr(t, "Request()", err, nil)
		if got.ReleasedAttempt != tt.released || got.Release != tt.stored {
			t.Errorf("%s: released attempt %d %q, want %d %q", tt.name, got.ReleasedAttempt, got.Release, tt.released, tt.stored)
		}
		if got.Released() != (tt.released == 2) {
			t.Errorf("%s: Released() = %t with released attempt %d of 2", tt.name, got.Released(), tt.released)
		}
	}

	r.Attempt = 3
	next, err := s.Submit(t.Context(), r)
	wantErr(t, "Submit() of attempt 3", err, nil)
	if next.ReleasedAttempt != 2 || next.Released() {
		t.Errorf("attempt 3 = %+v, want released attempt 2 kept and attempt 3 unreleased", next)
	}
}

// releaseRaces lets the release of attempt 1 and the submission of attempt 2 race. In whatever
// order they come, attempt 2 is wanted afterwards.
func releaseRaces(t *testing.T, table store.Table) {
	s := store.New(table)
	for _, id := range []store.RequestID{"1", "2", "3", "4", "5", "6", "7", "8"} {
		r := sampleRequest(id)
		_, err := s.Submit(t.Context(), r)
		wantErr(t, "Submit()", err, nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Release(t.Context(), id, 1, store.ReleaseNow); err != nil {
				t.Errorf("Release() error = %v", err)
			}
		})
		wg.Go(func() {
			next := r
			next.Attempt = 2
			if _, err := s.Submit(t.Context(), next); err != nil {
				t.Errorf("Submit() error = %v", err)
			}
		})
		wg.Wait()
		got, err := s.Request(t.Context(), store.Consistent, id)
		wantErr(t, "Request()", err, nil)
		if got.Attempt != 2 || got.ReleasedAttempt != 1 || got.Released() {
			t.Errorf("request %s = attempt %d, released %d, want 2 and 1", id, got.Attempt, got.ReleasedAttempt)
		}
	}
}

func status(t *testing.T, table store.Table) {
	s := store.New(table)
	_, err := s.Status(t.Context(), store.Consistent, "100")
	wantErr(t, "Status() of none", err, store.ErrNotFound)
	st := store.RunStatus{ID: "100", Attempt: 1, Deadline: store.At(epoch.Add(time.Minute)), Counts: store.Counts{Wanted: 1}}
	for _, event := range []statemachine.RequestEvent{
		statemachine.Accept, statemachine.Observe, statemachine.Fulfil, statemachine.Observe, statemachine.Finish,
	} {
		before := st
		st, err = s.PutStatus(t.Context(), st, event, epoch)
		wantErr(t, "PutStatus("+string(event)+")", err, nil)
		got, err := s.Status(t.Context(), store.Consistent, "100")
		wantErr(t, "Status()", err, nil)
		if diff := cmp.Diff(st, got); diff != "" {
			t.Fatalf("stored status after %s (-want +got):\n%s", event, diff)
		}
		stale := before
		stale.Message = "another controller's view"
		_, err = s.PutStatus(t.Context(), stale, event, epoch)
		wantErr(t, "PutStatus() over a stale status", err, store.ErrConflict)
	}
	_, err = s.PutStatus(t.Context(), st, statemachine.Fulfil, epoch)
	wantErr(t, "PutStatus(fulfilled) of a released request", err, statemachine.ErrNoRule)

	r := sampleRequest("100")
	r, err = s.Submit(t.Context(), r)
	wantErr(t, "Submit()", err, nil)
	wantErr(t, "Seen()", s.Seen(t.Context(), "100", 1, time.Now()), nil)
	run, err := s.Run(t.Context(), store.Consistent, "100")
	wantErr(t, "Run()", err, nil)
	if run.Request == nil || run.Client == nil || run.Status == nil || run.Client.Attempt != 1 || run.Status.Version != st.Version {
		t.Errorf("Run() = %+v, want all three records", run)
	}
	_, err = s.ExpireRequest(t.Context(), r, epoch.Add(-time.Hour))
	wantErr(t, "ExpireRequest()", err, nil)
	run, err = s.Run(t.Context(), store.Consistent, "100")
	wantErr(t, "Run()", err, nil)
	if run.Request != nil || run.Status == nil {
		t.Errorf("Run() = %+v, want the request expired and the status left", run)
	}
}

func lease(t *testing.T, table store.Table) {
	s := store.New(table)
	none, err := s.Lease(t.Context())
	wantErr(t, "Lease() of none", err, nil)
	first, err := s.PutLease(t.Context(), store.Lease{Holder: "a", Term: none.Term + 1, Renewed: store.At(epoch), Version: none.Version})
	wantErr(t, "PutLease()", err, nil)
	_, err = s.PutLease(t.Context(), store.Lease{Holder: "b", Term: none.Term + 1, Renewed: store.At(epoch), Version: none.Version})
	wantErr(t, "PutLease() of a rival", err, store.ErrConflict)
	got, err := s.Lease(t.Context())
	wantErr(t, "Lease()", err, nil)
	if diff := cmp.Diff(first, got); diff != "" {
		t.Errorf("Lease() (-want +got):\n%s", diff)
	}
	rival, err := s.PutLease(t.Context(), store.Lease{Holder: "b", Term: first.Term + 1, Renewed: store.At(epoch), Version: got.Version})
	wantErr(t, "PutLease() after reading", err, nil)
	if rival.Version != first.Version+1 {
		t.Errorf("version = %d, want %d", rival.Version, first.Version+1)
	}
}
