package store

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
)

// A clock reading may be older than the record's last change: it was taken before a listing, or by a
// controller whose clock is slower than its predecessor's. The record's times stay in order all the same.
func TestInstance_TimesNeverGoBack(t *testing.T) {
	s := New(stubTable{putFunc: func(Item, int64) error { return nil }})
	early := now.Add(-time.Second)
	ended := instanceIn(statemachine.Terminated)
	ended.Since, ended.ChangedAt = At(now), At(now)
	idle := instanceIn(statemachine.Idle)
	idle.Since, idle.ChangedAt, idle.PooledAt = At(now), At(now), Time{}
	for _, tt := range []struct {
		name  string
		write func() (Instance, error)
	}{
		{"Retire", func() (Instance, error) { return s.Retire(t.Context(), ended, now.Add(time.Hour), early) }},
		{"SetRegistration", func() (Instance, error) {
			return s.SetRegistration(t.Context(), idle, idle.Registration, early)
		}},
		{"Pooled", func() (Instance, error) {
			return idle.After(Transition{Event: statemachine.Pooled, Now: early, Limit: time.Minute})
		}},
		{"Dismissed", func() (Instance, error) {
			return idle.After(Transition{Event: statemachine.Dismissed, Now: early, Reason: statemachine.ReasonDismissed})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.write()
			if err != nil {
				t.Fatal(err)
			}
			if !got.ChangedAt.Equal(At(now)) {
				t.Errorf("changedAt = %s, want that of the last change, %s", got.ChangedAt, now)
			}
			if got.Since.After(got.ChangedAt.Time) || !got.PooledAt.IsZero() && got.PooledAt.Time.Before(got.Since.Time) {
				t.Errorf("since %s, pooledAt %s, changedAt %s, want them in order", got.Since, got.PooledAt, got.ChangedAt)
			}
		})
	}
}
