package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asked returns a request of run 7, of its own attempt and of the run's; count 1 to 9 is a client's, 10 and more the
// controller's. A run attempt of 0 names no run.
func asked(attempt, runAttempt, count int) RunRequest {
	r := RunRequest{ID: "7-a", Attempt: attempt, Count: count, UsageClasses: []string{Spot}, ResourceClass: "large", MaxRuntime: 60, Timeout: 30}
	if runAttempt > 0 {
		r.Repository, r.WorkflowRun, r.WorkflowAttempt = "octo/repo", 7, runAttempt
	}
	if count >= 10 {
		r.OriginalCount = 20
	}
	return r
}

// given returns r as given back.
func given(r RunRequest, attempt int, mode ReleaseMode, reason ReleaseReason) RunRequest {
	r.ReleasedAttempt, r.Release, r.ReleaseReason = attempt, mode, reason
	return r
}

// kept is a table of one request, and how often it was written or a write refused; refuse: it may be written only without a run.
func kept(r RunRequest, refuse bool) (*Store, *Item, *int) {
	item, calls := &Item{}, new(int)
	if r.ID != "" {
		var err error
		if *item, err = encode(&r, 5); err != nil {
			panic(err)
		}
	}
	table := oneItem(item)
	put := table.putFunc
	table.putFunc = func(i Item, expect int64) error {
		var written RunRequest
		if err := decode(i, &written); err != nil {
			return err
		}
		err := ErrRefused
		if !refuse || !written.hasRun() {
			err = put(i, expect)
		}
		if !errors.Is(err, ErrConflict) {
			*calls++
		}
		return err
	}
	table.getFunc = func(...Key) ([]Item, error) {
		if item.Version == 0 {
			return nil, nil
		}
		return []Item{*item}, nil
	}
	table.notifyFunc = func(...Key) error { return nil }
	return New(table), item, calls
}

// holds checks what is stored, version aside, and that a call returned it.
func holds(t *testing.T, item *Item, returned, want RunRequest) {
	t.Helper()
	var got RunRequest
	if err := decode(*item, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, returned); diff != "" {
		t.Errorf("returned (-stored +returned):\n%s", diff)
	}
	got.Version, want.Version = 0, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestSubmit_Rules(t *testing.T) {
	const drain, now = ReleaseDrain, ReleaseNow
	elsewhere, larger, onDemand := asked(1, 1, 2), asked(2, 2, 3), asked(2, 2, 12)
	elsewhere.Repository, larger.ResourceClass, onDemand.UsageClasses = "octo/other", "xlarge", []string{OnDemand}
	largerNext, either := larger, asked(2, 2, 3)
	largerNext.Attempt, either.UsageClasses = 3, []string{Spot, OnDemand}
	for _, tt := range []struct {
		name             string
		have, want, then RunRequest
		writes           int
		err              error
	}{
		{"First", RunRequest{}, asked(1, 1, 2), asked(1, 1, 2), 1, nil},
		{"SameAgain", asked(1, 1, 2), asked(1, 1, 2), asked(1, 1, 2), 0, nil},
		{"SameAgainAfterATakeOver", asked(3, 1, 2), asked(1, 1, 2), asked(3, 1, 2), 0, nil},
		{"OtherSpec", asked(1, 1, 2), asked(1, 1, 3), asked(1, 1, 2), 0, ErrOtherSpec},
		{"OlderRunAttempt", asked(2, 2, 2), asked(9, 1, 2), asked(2, 2, 2), 0, ErrOldAttempt},
		{"OlderOfTheController", asked(2, 2, 2), asked(9, 1, 12), asked(2, 2, 2), 0, ErrOldAttempt},
		{"LaterRunAttempt", asked(1, 1, 2), asked(2, 2, 3), asked(2, 2, 3), 1, nil},
		{"LaterRunAttemptOverMoreOwn", given(asked(4, 1, 2), 4, drain, RunOver), asked(2, 2, 3), given(asked(5, 2, 3), 4, drain, RunOver), 1, nil},
		{"LaterRunAttemptJumps", asked(1, 1, 2), asked(7, 7, 3), asked(7, 7, 3), 1, nil},
		{"LaterOfTheController", given(asked(1, 1, 2), 1, now, ""), asked(2, 2, 12), given(asked(2, 2, 12), 1, now, ""), 1, nil},

		{"ClientTakesOver", asked(2, 2, 12), asked(2, 2, 3), asked(2, 2, 3), 1, nil},
		{"ClientTakesOverAtTheHigherAttempt", asked(3, 2, 12), asked(2, 2, 3), asked(3, 2, 3), 1, nil},
		{"ClientTakesOverWhatDoesNotServeIt", asked(2, 2, 12), larger, largerNext, 1, nil},
		{"ClientTakesOverWhatIsOnDemand", onDemand, either, either, 1, nil},
		{"ClientTakesOverGivenBack", given(asked(2, 2, 12), 2, drain, RunOver), asked(2, 2, 3), given(asked(3, 2, 3), 2, drain, RunOver), 1, nil},
		{"ClientTakesOverGivenBackByAClient", given(asked(2, 2, 12), 2, now, ""), asked(2, 2, 3), given(asked(3, 2, 3), 2, now, ""), 1, nil},
		{"ClientWithoutARunTakesOver", asked(2, 2, 12), asked(2, 0, 3), asked(2, 0, 3), 1, nil},
		{"ControllerComesSecond", asked(2, 2, 3), asked(2, 2, 12), asked(2, 2, 3), 0, nil},
		{"ControllerComesAfterARelease", given(asked(2, 2, 3), 2, drain, ""), asked(2, 2, 12), given(asked(2, 2, 3), 2, drain, ""), 0, nil},
		{"ControllerTwice", asked(2, 2, 12), asked(2, 2, 13), asked(2, 2, 12), 0, nil},
		{"ControllerFindsNoRunAnyMore", asked(2, 0, 3), asked(3, 3, 12), asked(2, 0, 3), 0, nil},
		{"RunGoesOn", given(asked(1, 1, 3), 1, drain, RunWaits), asked(1, 1, 12), given(asked(2, 1, 12), 1, drain, RunWaits), 1, nil},
		{"RunGoesOnTwice", given(asked(2, 1, 12), 2, drain, RunWaits), asked(1, 1, 13), given(asked(3, 1, 13), 2, drain, RunWaits), 1, nil},
		{"ClientAsksAgainAsTheRunGoesOn", given(asked(1, 1, 3), 1, drain, RunWaits), asked(1, 1, 4), given(asked(2, 1, 4), 1, drain, RunWaits), 1, nil},
		{"ClientAsksAgainAfterItsRelease", given(asked(1, 1, 3), 1, drain, ""), asked(1, 1, 3), given(asked(1, 1, 3), 1, drain, ""), 0, nil},

		{"NoRunLater", asked(1, 0, 2), asked(2, 0, 3), asked(2, 0, 3), 1, nil},
		{"NoRunOlder", asked(2, 0, 2), asked(1, 0, 2), asked(2, 0, 2), 0, ErrOldAttempt},
		{"NamedOverNoRun", asked(1, 0, 2), asked(2, 2, 3), asked(2, 2, 3), 1, nil},
		{"NamedOverNoRunOfTheSameAttempt", asked(1, 0, 2), asked(1, 1, 2), asked(1, 0, 2), 0, nil},
		{"AnotherRepositorysRun", asked(2, 2, 2), elsewhere, asked(2, 2, 2), 0, ErrOldAttempt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, item, calls := kept(tt.have, false)
			got, err := s.Submit(t.Context(), tt.want)
			if !errors.Is(err, tt.err) || *calls != tt.writes {
				t.Errorf("Submit() error = %v after %d writes, want %v after %d", err, *calls, tt.err, tt.writes)
			}
			holds(t, item, got, tt.then)
		})
	}
}

func TestRelease_Rules(t *testing.T) {
	const drain, now = ReleaseDrain, ReleaseNow
	for _, tt := range []struct {
		name    string
		have    RunRequest
		attempt int
		mode    ReleaseMode
		then    RunRequest
		writes  int
		want    error
	}{
		{"ItsRunAttempt", asked(1, 1, 2), 1, drain, given(asked(1, 1, 2), 1, drain, ""), 1, nil},
		{"AllOfItsRunAttempt", given(asked(3, 1, 12), 2, drain, RunWaits), 1, drain, given(asked(3, 1, 12), 3, drain, ""), 1, nil},
		{"ALaterRunAttempt", asked(3, 1, 2), 2, now, given(asked(3, 1, 2), 3, now, ""), 1, nil},
		{"AnOlderRunAttempt", asked(3, 2, 2), 1, now, given(asked(3, 2, 2), 2, now, ""), 1, nil},
		{"AnOlderRunAttemptOfNothing", asked(1, 2, 2), 1, now, asked(1, 2, 2), 0, nil},
		{"TheStored", asked(3, 2, 2), 0, drain, given(asked(3, 2, 2), 3, drain, ""), 1, nil},
		{"AClientsWordStays", given(asked(1, 1, 2), 1, drain, RunWaits), 1, drain, given(asked(1, 1, 2), 1, drain, ""), 1, nil},
		{"NowHurries", given(asked(1, 1, 2), 1, drain, ""), 1, now, given(asked(1, 1, 2), 1, now, ""), 1, nil},
		{"DrainDoesNotSlowDown", given(asked(1, 1, 2), 1, now, ""), 1, drain, given(asked(1, 1, 2), 1, now, ""), 0, nil},
		{"NoRun", asked(3, 0, 2), 2, drain, given(asked(3, 0, 2), 2, drain, ""), 1, nil},
		{"NoRunNotThere", asked(3, 0, 2), 4, drain, asked(3, 0, 2), 0, ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, item, calls := kept(tt.have, false)
			got, err := s.Release(t.Context(), "7-a", tt.attempt, tt.mode)
			if !errors.Is(err, tt.want) || *calls != tt.writes {
				t.Errorf("Release() error = %v after %d writes, want %v after %d", err, *calls, tt.want, tt.writes)
			}
			holds(t, item, got, tt.then)
		})
	}
}

func TestReleaseExactly_Rules(t *testing.T) {
	const drain, now = ReleaseDrain, ReleaseNow
	for _, tt := range []struct {
		name    string
		have    RunRequest
		attempt int
		mode    ReleaseMode
		reason  ReleaseReason
		then    RunRequest
		writes  int
		want    error
	}{
		{"SaysWhy", asked(3, 2, 2), 3, now, RunOver, given(asked(3, 2, 2), 3, now, RunOver), 1, nil},
		{"OwnAttemptOnly", asked(3, 2, 12), 2, drain, "", given(asked(3, 2, 12), 2, drain, ""), 1, nil},
		{"NotThere", asked(3, 2, 2), 4, now, RunOver, asked(3, 2, 2), 0, ErrNotFound},
		{"Late", given(asked(3, 2, 2), 3, drain, RunWaits), 2, now, RunOver, given(asked(3, 2, 2), 3, drain, RunWaits), 0, nil},
		{"AClientCameFirst", given(asked(3, 2, 2), 3, drain, ""), 3, now, RunOver, given(asked(3, 2, 2), 3, now, ""), 1, nil},
		{"AClientCameFirstInTheSameMode", given(asked(3, 2, 2), 3, drain, ""), 3, drain, RunOver, given(asked(3, 2, 2), 3, drain, ""), 0, nil},
		{"Nothing", asked(3, 2, 2), 0, now, RunOver, asked(3, 2, 2), 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, item, calls := kept(tt.have, false)
			got, err := s.ReleaseExactly(t.Context(), "7-a", tt.attempt, tt.mode, tt.reason)
			if !errors.Is(err, tt.want) || *calls != tt.writes {
				t.Errorf("ReleaseExactly() error = %v after %d writes, want %v after %d", err, *calls, tt.want, tt.writes)
			}
			holds(t, item, got, tt.then)
		})
	}
}

// A first attempt is stored by one call, also if its reply is lost: what a repeated write then meets is its own (H13).
func TestSubmit_First_G1_WritesWithoutAReadBefore(t *testing.T) {
	for _, lost := range []int{0, 1} {
		s, item, writes := kept(RunRequest{}, false)
		table := s.Table().(stubTable)
		put := table.putFunc
		table.getFunc = func(...Key) ([]Item, error) {
			t.Error("Submit() read what it had written or was about to write")
			return nil, nil
		}
		left := lost
		table.putFunc = func(i Item, expect int64) error {
			err := put(i, expect)
			if left > 0 {
				left--
				return errReply
			}
			return err
		}
		got, err := New(table).Submit(t.Context(), asked(1, 1, 2))
		if err != nil || *writes != 1 {
			t.Errorf("%d replies lost: Submit() error = %v after %d writes, want none after 1", lost, err, *writes)
		}
		holds(t, item, got, asked(1, 1, 2))
	}
}

// A role of an earlier policy may not write the run: the request is stored at once as such a role always wrote it.
func TestSubmit_RefusedWithTheRun(t *testing.T) {
	want := asked(1, 2, 3)
	want.NoWait = true
	s, item, calls := kept(RunRequest{}, true)
	got, err := s.Submit(t.Context(), want)
	if err != nil || *calls != 2 {
		t.Errorf("Submit() error = %v after %d writes, want none after 2", err, *calls)
	}
	holds(t, item, got, asked(1, 0, 3))

	s, item, _ = kept(given(asked(2, 2, 12), 2, ReleaseDrain, RunOver), true)
	got, err = s.Submit(t.Context(), asked(2, 2, 3))
	if err != nil {
		t.Errorf("Submit() over the controller's: error = %v", err)
	}
	holds(t, item, got, given(asked(3, 0, 3), 2, ReleaseDrain, ""))

	s, item, _ = kept(asked(2, 2, 12), true)
	got, err = s.Release(t.Context(), "7-a", 2, ReleaseNow)
	if err != nil {
		t.Errorf("Release() of the controller's: error = %v", err)
	}
	plain := asked(2, 0, 12)
	plain.OriginalCount = 0
	holds(t, item, got, given(plain, 2, ReleaseNow, ""))
}

// What the controller asks for and gives back would be a client's without the run: it is not written so.
func TestController_IsNotWrittenWithoutTheRun(t *testing.T) {
	for name, do := range map[string]func(*Store) error{
		"Submit": func(s *Store) error { _, err := s.Submit(t.Context(), asked(3, 3, 12)); return err },
		"ReleaseExactly": func(s *Store) error {
			_, err := s.ReleaseExactly(t.Context(), "7-a", 2, ReleaseNow, RunOver)
			return err
		},
		"Grow": func(s *Store) error {
			r, err := s.Request(t.Context(), Consistent, "7-a")
			if err == nil {
				_, err = s.Grow(t.Context(), r, 13)
			}
			return err
		},
	} {
		s, item, calls := kept(asked(2, 2, 12), true)
		if err := do(s); !errors.Is(err, ErrRefused) || *calls != 1 || item.Version != 5 {
			t.Errorf("%s error = %v after %d writes, version %d, want %v after 1, version 5", name, err, *calls, item.Version, ErrRefused)
		}
	}
}

// Only a definite refusal: after a lost reply the request may be stored with its run.
func TestSubmit_RefusedAfterALostReply_H13(t *testing.T) {
	calls := 0
	s := New(stubTable{
		getFunc: func(...Key) ([]Item, error) { return nil, nil },
		putFunc: func(Item, int64) error {
			if calls++; calls == 1 {
				return errReply
			}
			return ErrRefused
		},
	})
	if _, err := s.Submit(t.Context(), asked(1, 1, 2)); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRefused) || calls != 2 {
		t.Errorf("Submit() error = %v after %d writes, want only %v after 2", err, calls, ErrUnavailable)
	}
}

func TestGrow(t *testing.T) {
	grown := func(count int) RunRequest {
		r := asked(2, 2, 12)
		r.Count = count
		return r
	}
	for _, tt := range []struct {
		name   string
		have   RunRequest
		count  int
		then   RunRequest
		writes int
		want   error
	}{
		{"Raised", grown(12), 15, grown(15), 1, nil},
		{"ToTheClientsCountAtMost", grown(12), 21, grown(20), 1, nil},
		{"NeverLowered", grown(12), 11, grown(12), 0, nil},
		{"NotAClients", asked(2, 2, 3), 4, asked(2, 2, 3), 0, ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, item, calls := kept(tt.have, false)
			r, err := s.Request(t.Context(), Consistent, "7-a")
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Grow(t.Context(), r, tt.count)
			if !errors.Is(err, tt.want) || *calls != tt.writes {
				t.Errorf("Grow() error = %v after %d writes, want %v after %d", err, *calls, tt.want, tt.writes)
			}
			holds(t, item, got, tt.then)
			if tt.writes == 1 {
				if _, err := s.Grow(t.Context(), r, 20-tt.writes); !errors.Is(err, ErrConflict) {
					t.Errorf("Grow() of what was changed: error = %v, want %v", err, ErrConflict)
				}
			}
		})
	}
}
