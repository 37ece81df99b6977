package statemachine_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
)

// S19: every state that can end has a limit, and terminated has none.
func TestLimits_S19_EveryLivingStateHasOne(t *testing.T) {
	want := map[statemachine.State]time.Duration{
		statemachine.Created: 10 * time.Minute, statemachine.Claimed: 5 * time.Minute,
		statemachine.Running: 30 * time.Minute, statemachine.Idle: 7 * time.Minute,
	}
	for _, s := range append([]statemachine.State{statemachine.None}, statemachine.States()...) {
		if got := statemachine.DefaultLimits().For(s); got != want[s] {
			t.Errorf("DefaultLimits().For(%q) = %s, want %s", s, got, want[s])
		}
	}
}

// S36, S67: the default window is three periods of 5 s, the claim gate 10 s.
func TestLimits_S36_WindowIsThreePeriods(t *testing.T) {
	l := statemachine.DefaultLimits()
	if got := l.Window(); got != 15*time.Second {
		t.Errorf("Window() = %s, want 15s", got)
	}
	l.Beat = time.Second
	if got := l.Window(); got != 3*time.Second {
		t.Errorf("Window() with a period of 1s = %s, want 3s", got)
	}
	if l.ClaimGate != 10*time.Second {
		t.Errorf("ClaimGate = %s, want 10s", l.ClaimGate)
	}
}

// An idle machine beats three times as rarely, but often enough that three periods end before it counts as lost.
func TestLimits_G7_IdleWindowEndsBeforeSilence(t *testing.T) {
	for _, tt := range []struct{ beat, silence, want time.Duration }{
		{5 * time.Second, 60 * time.Second, 15 * time.Second}, {5 * time.Second, 40 * time.Second, 10 * time.Second},
		{3 * time.Second, 15 * time.Second, 3750 * time.Millisecond}, {5 * time.Second, 16 * time.Second, 5 * time.Second},
	} {
		l := statemachine.DefaultLimits()
		l.Beat, l.Silence = tt.beat, tt.silence
		if got := l.IdleBeat(); got != tt.want || l.IdleWindow() != 3*got || l.IdleWindow() >= l.Silence {
			t.Errorf("beat %s, silence %s: IdleBeat() = %s, IdleWindow() = %s, want %s and three times that", tt.beat, tt.silence, got, l.IdleWindow(), tt.want)
		}
	}
}

// H45: zero is invalid, not "forever" and not "at once". All problems are named together.
func TestLimits_H45_ZeroIsInvalid(t *testing.T) {
	if err := statemachine.DefaultLimits().Validate(); err != nil {
		t.Fatalf("DefaultLimits().Validate() = %v, want nil", err)
	}
	var zero statemachine.Limits
	err := zero.Validate()
	if err == nil {
		t.Fatal("Limits{}.Validate() = nil, want an error per field")
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[statemachine.Limits]()) {
		name := "limits." + strings.ToLower(f.Name[:1]) + f.Name[1:] + ":"
		if !strings.Contains(err.Error(), name) {
			t.Errorf("Limits{}.Validate() does not name %s", name)
		}
		l := statemachine.DefaultLimits()
		reflect.ValueOf(&l).Elem().FieldByIndex(f.Index).SetInt(-1)
		if err := l.Validate(); err == nil || !strings.HasPrefix(err.Error(), name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Validate() with negative %s = %v, want it alone to be named", f.Name, err)
		}
	}
}
