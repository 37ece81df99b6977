package reconciler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
)

// A refusal that lasts costs ever fewer calls, and an operator who mended it waits no longer than a minute. H09
func TestRefusedPause_H09(t *testing.T) {
	for lasts, want := range map[time.Duration]time.Duration{
		0: reapAgain, 8 * time.Second: reapAgain, 40 * time.Second: 10 * time.Second, 4 * time.Minute: time.Minute, 24 * time.Hour: time.Minute,
	} {
		if got := refusedPause(lasts); got != want {
			t.Errorf("refusedPause(%s) = %s, want %s", lasts, got, want)
		}
	}
}

// Of machines that were to end together, only those that were refused are asked for again: each has an error of its
// own, however they are joined. H67
func TestRefusedOf_H67(t *testing.T) {
	one := func(id string, cause error) error { return &fleet.TerminateError{ID: id, Cause: cause} }
	cause := errors.New("no")
	for _, tt := range []struct {
		err  error
		want []string
	}{
		{nil, nil}, {cause, nil}, {one("a", cause), []string{"a"}}, {fmt.Errorf("x: %w", one("a", cause)), []string{"a"}},
		{errors.Join(one("a", cause), errors.Join(one("b", errors.Join(cause, cause)), nil), one("c", cause)), []string{"a", "b", "c"}},
	} {
		if got := slices.Sorted(maps.Keys(refusedOf(tt.err))); !slices.Equal(got, tt.want) {
			t.Errorf("refusedOf(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
}
