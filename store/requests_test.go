package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
)

// A request id is a key, and a label that GitHub neither folds nor splits. S14
func TestRequestID_Valid_S14(t *testing.T) {
	for _, tt := range []struct {
		id   RequestID
		want bool
	}{
		{"1", true}, {"12345678901", true}, {"4711-build", true}, {"a-", true}, {RequestID(strings.Repeat("9", 100)), true},
		{"", false}, {"-1", false}, {"A", false}, {"a,b", false}, {"a b", false}, {"a_b", false}, {"a.b", false}, {"a#b", false},
		{"ä", false}, {"1\n", false}, {"1\x00", false}, {RequestID(strings.Repeat("9", 101)), false},
	} {
		if err := tt.id.Valid(); (err == nil) != tt.want {
			t.Errorf("RequestID(%q).Valid() = %v, want valid = %t", tt.id, err, tt.want)
		}
	}
}

func TestRunRequest_SameSpec(t *testing.T) {
	base := RunRequest{ID: "1", Attempt: 1, Count: 2, UsageClasses: []string{Spot}, ResourceClass: "large", MaxRuntime: 60, Timeout: 30}
	for _, tt := range []struct {
		name   string
		change func(*RunRequest)
		want   bool
	}{
		{"Nothing", func(*RunRequest) {}, true},
		{"Attempt", func(r *RunRequest) { r.Attempt = 2 }, true},
		{"Release", func(r *RunRequest) { r.ReleasedAttempt, r.Release = 1, ReleaseNow }, true},
		{"CreatedAt", func(r *RunRequest) { r.CreatedAt = At(now) }, true},
		{"EmptyForNone", func(r *RunRequest) { r.AllowedInstanceTypes = []string{} }, true},
		{"Count", func(r *RunRequest) { r.Count = 3 }, false},
		{"UsageClasses", func(r *RunRequest) { r.UsageClasses = []string{Spot, OnDemand} }, false},
		{"Types", func(r *RunRequest) { r.AllowedInstanceTypes = []string{"*"} }, false},
		{"Class", func(r *RunRequest) { r.ResourceClass = "small" }, false},
		{"MaxRuntime", func(r *RunRequest) { r.MaxRuntime = 61 }, false},
		{"Timeout", func(r *RunRequest) { r.Timeout = 31 }, false},
	} {
		other := base
		tt.change(&other)
		if got := base.SameSpec(other); got != tt.want {
			t.Errorf("%s: SameSpec() = %t, want %t", tt.name, got, tt.want)
		}
	}
}

// Every phase meets every event, and only the table decides; the instant of each phase is stamped
// when it is entered.
func TestPutStatus_EveryPhaseAndEvent(t *testing.T) {
	before := At(now.Add(-time.Minute))
	for _, from := range statemachine.Phases() {
		for _, event := range statemachine.RequestEvents() {
			t.Run(fmt.Sprintf("%s/%s", from, event), func(t *testing.T) {
				st := RunStatus{
					ID: "1", Attempt: 2, Phase: from, Version: 4, ChangedAt: before,
					PendingAt: before, ReadyAt: before, FailedAt: before, ReleasedAt: before,
				}
				s, calls := recorded(func(int, Item) error { return nil })
				got, err := s.PutStatus(t.Context(), st, event, now)
				table := from
				if event == statemachine.Accept { // a higher attempt starts again from any phase
					table = statemachine.Unseen
				}
				next, noRule := statemachine.NextPhase(table, event)
				if noRule != nil {
					if !errors.Is(err, statemachine.ErrNoRule) || len(*calls) != 0 {
						t.Errorf("PutStatus() error = %v after %d writes, want %v after 0", err, len(*calls), statemachine.ErrNoRule)
					}
					return
				}
				if err != nil {
					t.Fatalf("PutStatus() error = %v", err)
				}
				want := st
				want.Phase, want.Version, want.ChangedAt = next, 5, At(now)
				switch {
				case event == statemachine.Accept:
					want.PendingAt, want.ReadyAt, want.FailedAt, want.ReleasedAt = At(now), Time{}, Time{}, Time{}
				case next == from:
				case next == statemachine.Ready:
					want.ReadyAt = At(now)
				case next == statemachine.Failed:
					want.FailedAt = At(now)
				case next == statemachine.PhaseReleased:
					want.ReleasedAt = At(now)
				}
				if diff := cmp.Diff(want, got, anyHistory); diff != "" {
					t.Errorf("PutStatus() (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestDrainOrder_Matches(t *testing.T) {
	in := Instance{ID: "i-1", ResourceClass: "large", CreatedAt: At(now), Term: 7}
	day := now.Add(24 * time.Hour)
	for _, tt := range []struct {
		name  string
		order DrainOrder
		want  bool
	}{
		{"TakenUpByNobody", DrainOrder{CreatedAt: At(day)}, false},
		{"Everything", DrainOrder{EffectiveAt: At(now.Add(time.Second)), Term: 7}, true},
		{"MadeAtTheSameInstant", DrainOrder{EffectiveAt: At(now), Term: 7}, true},
		{"MadeAfterTheOrder", DrainOrder{EffectiveAt: At(now.Add(-time.Millisecond)), Term: 7, CreatedAt: At(day)}, false},
		{"OfAnEarlierTermWithAClockAhead", DrainOrder{EffectiveAt: At(now.Add(-time.Hour)), Term: 8}, true},
		{"OfALaterTermWithAClockBehind", DrainOrder{EffectiveAt: At(day), Term: 6}, false},
		{"Instance", DrainOrder{InstanceID: "i-1", EffectiveAt: At(now), Term: 7}, true},
		{"OtherInstance", DrainOrder{InstanceID: "i-2", EffectiveAt: At(now), Term: 7}, false},
		{"Class", DrainOrder{ResourceClass: "large", EffectiveAt: At(now), Term: 7}, true},
		{"OtherClass", DrainOrder{ResourceClass: "small", EffectiveAt: At(now), Term: 7}, false},
		{"InstanceOfOtherClass", DrainOrder{InstanceID: "i-1", ResourceClass: "small", EffectiveAt: At(now), Term: 7}, false},
		{"OfAnEarlierVersion", DrainOrder{CreatedAt: At(now), ExpiresAt: day}, true},
		{"OfAnEarlierVersionAndOlder", DrainOrder{CreatedAt: At(now.Add(-time.Millisecond)), ExpiresAt: day}, false},
	} {
		if got := tt.order.Matches(in); got != tt.want {
			t.Errorf("%s: Matches() = %t, want %t", tt.name, got, tt.want)
		}
	}
	in.Term = 0 // a controller of the version before led for a while
	for since, want := range map[time.Duration]bool{-time.Millisecond: false, 0: true} {
		if got := (DrainOrder{EffectiveAt: At(now.Add(since)), Term: 7}).Matches(in); got != want {
			t.Errorf("without a term, %s after the order: Matches() = %t, want %t", -since, got, want)
		}
	}
}

func TestKey_Owners(t *testing.T) {
	if id, ok := RequestKey("4711", KindRunStatus).RequestID(); !ok || id != "4711" {
		t.Errorf("RequestID() = %q, %t, want 4711", id, ok)
	}
	if p, ok := InstanceKey("ROLE:i-1", KindSignal).Principal(); !ok || p != "ROLE:i-1" {
		t.Errorf("Principal() = %q, %t, want ROLE:i-1", p, ok)
	}
	for _, k := range []Key{LeaseKey, LaunchKey("l-1"), DrainKey("d-1")} {
		if id, ok := k.RequestID(); ok {
			t.Errorf("%v.RequestID() = %q, want none", k, id)
		}
		if p, ok := k.Principal(); ok {
			t.Errorf("%v.Principal() = %q, want none", k, p)
		}
	}
}
